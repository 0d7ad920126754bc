"""What a catalog promises, in sentences: what `adomnia check` prints. Every number in them is derived, none is data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.privacy import relations
from adomnia.privacy.aggregates import Rows, Total
from adomnia.privacy.amounts import shown_down, shown_up
from adomnia.privacy.filters import Budget
from adomnia.privacy.keys import key_values
from adomnia.privacy.kinds import Quantity, Text, Truth
from adomnia.privacy.queries import Query

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog, Table
    from adomnia.privacy.expressions import Column


@dataclass(frozen=True)
class Promise:
    """One sentence, what it is about, and whether the owner should look at it again."""

    about: str
    says: str
    warning: bool = False


def promises(catalog: Catalog) -> list[Promise]:
    """The unit, each table and what one person can move in it, the budgets, and whether they fit together."""
    return [
        Promise("unit", catalog.unit.promise()),
        *(promise for table in catalog.tables for promise in _table(table)),
        Promise("budget", f"All answers together cost at most {_amount(catalog.budget)}"),
        *(Promise(analyst.name, f"May spend at most {_amount(analyst.budget)}") for analyst in catalog.analysts),
        _coalition(catalog),
    ]


def _table(table: Table) -> Iterator[Promise]:
    if table.public:
        yield Promise(table.name, "Public: about nobody, read exactly, at no price.")
        return
    relation = relations.Table(table.name, table.rows_per_person, table.columns)
    rows = Query(relation, (), Rows()).sensitivity().l1.numerator
    kept = "1 row" if table.rows_per_person == 1 else f"{table.rows_per_person:,} rows"
    yield Promise(table.name, f"A person counts with at most {kept}, and moves COUNT(*) by at most {rows:,}.")
    if table.profile_epsilon is not None:
        once = f"for epsilon {shown_up(table.profile_epsilon)} of the dataset's budget, once for each version"
        says = f"Each question takes the cap that suits its price, by a profile of how many rows people have: {once}."
        yield Promise(table.name, says)
    for column in table.columns:
        said = _column(relation, column)
        if said:
            yield Promise(f"{table.name}.{column.name}", said)


def _column(relation: relations.Table, column: Column) -> str:
    if isinstance(column.kind, Truth) or (isinstance(column.kind, Text) and column.kind.values is not None):
        return f"May group: all {len(key_values(column)):,} declared values come back."
    domain = column.domain
    if domain is None:
        return "Has no bounds, so it cannot be summed; add them." if isinstance(column.kind, Quantity) else ""
    moved = Query(relation, (), Total(column, domain)).sensitivity().l1 * domain.step
    bounds = f"{_plain(domain.lower)} to {_plain(domain.upper)}"
    return f"Clamped to {bounds}, steps of {_plain(domain.step)}: one person moves SUM by at most {_plain(moved)}."


def _plain(number: Fraction) -> str:
    return f"{number.numerator:,}" if number.denominator == 1 else f"{float(number):,}"


def _amount(budget: Budget) -> str:
    total = (
        f"epsilon {shown_down(budget.epsilon)} and delta {shown_down(budget.delta)}: in pure epsilon (Laplace noise)"
    )
    if not (budget.approximate and budget.rho):
        return f"{total}."
    return f"{total}, or in rho up to {shown_down(budget.rho)} in all (Gaussian noise)."


def _coalition(catalog: Catalog) -> Promise:
    """Whether analysts who act together can use up what others were given; docs/catalog.md argues the three cases."""
    budget, personal = catalog.budget, [analyst.budget for analyst in catalog.analysts]
    profiles = [Budget(table.profile_epsilon) for table in catalog.tables if table.profile_epsilon is not None]
    spends = [*personal, *profiles]
    epsilon, delta = (sum((getattr(one, part) for one in spends), Fraction()) for part in ("epsilon", "delta"))
    who = "Personal budgets and profiles add" if profiles else "Personal budgets add"
    given = f"{who} up to epsilon {shown_up(epsilon)} and delta {shown_up(delta)}"
    if epsilon > budget.epsilon or delta > budget.delta:
        says = f"{given}, more than the dataset has: some analysts can use up what others were given."
        return Promise("coalitions", says, warning=True)
    if all(one.delta == 0 for one in personal) or _fits_in_rho(budget, spends):
        return Promise("coalitions", f"{given}, within the dataset's: nobody can use up what another was given.")
    says = (
        f"{given}, within the dataset's. But once anybody has spent rho, the dataset counts a pure epsilon e as rho "
        "e^2 / 2, so that large pure spends can use up what others were given."
    )
    return Promise("coalitions", says)


def _fits_in_rho(budget: Budget, spends: list[Budget]) -> bool:
    # The most rho a personal budget can become: all of its epsilon in one pure spend, or all of its own rho.
    rho = sum(max(one.epsilon**2 / 2, one.rho) for one in spends)
    return rho <= budget.rho and sum(one.event_delta for one in spends) <= budget.event_delta
