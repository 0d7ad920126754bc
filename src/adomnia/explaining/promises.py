"""What a catalog promises, in sentences that `adomnia check` prints. Every number is derived from what is declared."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import floor, isinf, log10
from typing import TYPE_CHECKING

from adomnia.accounting.groups import group_privacy
from adomnia.accounting.meaning import concentrated_detection, odds_factor, posterior
from adomnia.privacy import relations
from adomnia.privacy.amounts import EPSILON_UNIT, show_down, show_up
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.filters import Budget
from adomnia.privacy.keys import key_values
from adomnia.privacy.kinds import Boolean, Quantity, Text
from adomnia.privacy.losses import epsilon_of, loss
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows, Total
from adomnia.privacy.units import ROW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adomnia.catalog.model import Analyst, Catalog, Table
    from adomnia.privacy.events import Event
    from adomnia.privacy.expressions import Column
    from adomnia.privacy.units import Unit


SEVERAL_ROWS = 10  # of one person, where each row is hidden by itself
HOUSEHOLD = 4  # people who live together: whoever knows one of them often knows them all
LARGE_EPSILON = 3  # above it, what was 1 in 100 can become more than 1 in 6
_SMALL_DELTA = Fraction(1, 10**9)
_WHOSE_PRESENCE = ("you are", "a certain row is")
_PRIORS = (Fraction(1, 100), Fraction(1, 2))


@dataclass(frozen=True)
class Promise:
    """One sentence, what it is about, and whether the owner should look at it again."""

    about: str
    says: str
    warning: bool = False


@dataclass(frozen=True)
class Coalition:
    """The most that this many analysts can spend together, whoever they are."""

    size: int
    epsilon: Fraction
    delta: Fraction


def promises(catalog: Catalog, releases: Sequence[Event] = ()) -> list[Promise]:
    """The promises of a catalog: its unit, each table and its sensitivities, the budgets, and whether they fit.

    `releases` are what was paid so far for those that everybody may read.
    """
    return [
        *_unit(catalog),
        *(promise for table in catalog.tables for promise in _table(table, catalog.unit)),
        Promise("budget", f"All answers together cost at most {_format_budget(catalog.budget)}"),
        *_large_budget(catalog),
        *_meanings(catalog),
        *_lifetime(catalog),
        *(promise for analyst in catalog.analysts for promise in _analyst(analyst)),
        *_coalitions(catalog, releases),
        describe_coalition(catalog, releases),
    ]


def coalitions(catalog: Catalog, releases: Sequence[Event] = ()) -> list[Coalition]:
    """The most that one analyst, any two, and so on up to all can spend; never more than the dataset's budget.

    What was published counts for all of them. Whoever may publish can spend all that the dataset has.
    """
    budget = catalog.budget
    if any(analyst.publish for analyst in catalog.analysts):
        return [Coalition(size, budget.epsilon, budget.delta) for size in range(1, len(catalog.analysts) + 1)]
    common = _in_epsilon(releases, budget)
    epsilons, deltas = (
        accumulate(sorted((getattr(analyst.budget, part) for analyst in catalog.analysts), reverse=True))
        for part in ("epsilon", "delta")
    )
    return [
        Coalition(size, min(epsilon + common[0], budget.epsilon), min(delta + common[1], budget.delta))
        for size, (epsilon, delta) in enumerate(zip(epsilons, deltas, strict=True), 1)
    ]


def format_probability(probability: float) -> str:
    """Format a probability with three digits, and with more where it is nearly 1.

    >>> format_probability(0.0267312), format_probability(0.9999546)
    ('2.67 in 100', '99.9955 in 100')
    """
    percent, doubt = 100 * probability, 100 * (1 - probability)
    if not 0 < doubt < 1:
        return f"{percent:.3g} in 100"
    return f"{percent:.{1 - floor(log10(doubt))}f} in 100"


def format_factor(factor: float) -> str:
    """Format a factor with three digits, or as a whole number where it is large.

    >>> format_factor(2.71828), format_factor(22026.47)
    ('2.72 times', '22,026 times')
    """
    if isinf(factor):
        return "any number of times"
    return f"{factor:,.0f} times" if 1000 <= factor < 10**9 else f"{factor:.3g} times"


def _unit(catalog: Catalog) -> Iterator[Promise]:
    """Whose presence is hidden; and where that is a row, what it means to a person who has several."""
    if catalog.unit != ROW:
        yield Promise("unit", catalog.unit.promise())
        return
    private = [table.name for table in catalog.tables if not table.public]
    yield Promise("unit", catalog.unit.promise(f"one row of {' or of '.join(private)}"))
    says = 'unit = "row" hides one row, not one person: it is right only if nobody has two rows.'
    yield Promise("unit", says, warning=True)


def _table(table: Table, unit: Unit) -> Iterator[Promise]:
    if table.public:
        yield Promise(table.name, "Public: about nobody, read exactly, at no price.")
        return
    relation = relations.Private(table.name, table.rows_per_person, table.columns)
    rows = Query(relation, (), Rows()).sensitivity().l1.numerator
    kept = "1 row" if table.rows_per_person == 1 else f"{table.rows_per_person:,} rows"
    who = f"One row of {table.name} counts once" if unit == ROW else f"A person counts with at most {kept}"
    yield Promise(table.name, f"{who}, and moves COUNT(*) by at most {rows:,}.")
    if table.profile_epsilon is not None:
        once = f"for epsilon {show_up(table.profile_epsilon)} of the dataset's budget, once for each version"
        says = f"Each question takes the cap that suits its price, by a profile of how many rows people have: {once}."
        yield Promise(table.name, says)
    if table.preview_epsilon is not None:
        once = f"epsilon {show_up(table.preview_epsilon)} of the dataset's budget, once for each version"
        yield Promise(table.name, f"Everybody may read preview rows, which are of nobody: {once}, as for a release.")
    for column in table.columns:
        said = _column(relation, column, unit)
        if said:
            yield Promise(f"{table.name}.{column.name}", said)


def _column(relation: relations.Private, column: Column, unit: Unit) -> str:
    if isinstance(column.kind, Boolean) or (isinstance(column.kind, Text) and column.kind.values is not None):
        read = f" Values that are not listed are read as {key_values(column)[-1]}." if _has_others(column) else ""
        return f"May group: all {len(key_values(column)):,} declared values come back.{read}"
    domain = column.domain
    if domain is None:
        return "Has no bounds, so it cannot be summed; add them." if isinstance(column.kind, Quantity) else ""
    moved = Query(relation, (), Total(column, domain)).sensitivity().l1 * domain.step
    bounds = f"{_plain(domain.lower)} to {_plain(domain.upper)}"
    return f"Clamped to {bounds}, steps of {_plain(domain.step)}: one {unit.noun} moves SUM by at most {_plain(moved)}."


def _has_others(column: Column) -> bool:
    return isinstance(column.kind, Text) and column.kind.others


def _plain(number: Fraction) -> str:
    return f"{number.numerator:,}" if number.denominator == 1 else f"{float(number):,}"


def _format_budget(budget: Budget) -> str:
    total = f"epsilon {show_down(budget.epsilon)} and delta {show_down(budget.delta)}"
    if not (budget.approximate and budget.delta):
        return f"{total}: in pure epsilon (Laplace noise)."
    rho = f", or in rho up to {show_down(budget.rho)} in all (Gaussian noise)" if budget.rho else ""
    return f"{total}: in epsilon (Laplace noise){rho}."


def _lifetime(catalog: Catalog) -> Iterator[Promise]:
    """What other datasets about the same people spend too."""
    if catalog.ledger is None or catalog.ledger.lifetime_budget is None:
        return
    name, budget = catalog.ledger.lifetime, catalog.ledger.lifetime_budget
    total = f"epsilon {show_down(budget.epsilon)} and delta {show_down(budget.delta)}"
    says = f'This dataset, and every other one that names "{name}", together cost at most {total}'
    yield Promise("lifetime", f"{says}: each spend is counted there too.")
    yield Promise("lifetime", f"After all answers of all of them in pure epsilon, {_beliefs(budget.epsilon)}.")
    if budget.epsilon < catalog.budget.epsilon:
        own = f"epsilon {show_down(catalog.budget.epsilon)}"
        yield Promise("lifetime", f"It is less than {own}, the budget of this dataset, which so is never all spent.")


def _meanings(catalog: Catalog) -> Iterator[Promise]:
    """What the budgets mean to a person, and to people who live together."""
    budget, largest = catalog.budget, max(analyst.budget.epsilon for analyst in catalog.analysts)
    by_row = catalog.unit == ROW
    you = _WHOSE_PRESENCE[by_row]
    yield Promise("meaning", f"After all answers in pure epsilon, {_beliefs(budget.epsilon, you)}.")
    if largest < budget.epsilon:
        yield Promise("meaning", f"After all that any one analyst gets in pure epsilon, {_beliefs(largest, you)}.")
    if budget.approximate and budget.rho:
        alarms = _PRIORS[0]
        hits = format_probability(concentrated_detection(alarms, budget.rho, budget.event_delta))
        them, those = ("rows that", "those that") if by_row else ("people who", "those who")
        wrong = f"a test that names {format_probability(float(alarms))} of the {them} are not in the data"
        yield Promise("meaning", f"After all answers in rho, {wrong} names at most {hits} of {those} are.")
    yield from _group_meanings(catalog, largest)


def _group_meanings(catalog: Catalog, largest: Fraction) -> Iterator[Promise]:
    """What the budgets mean to people who live together, or to the rows that one person may have."""
    budget = catalog.budget
    size, about, whole = HOUSEHOLD, f"household of {HOUSEHOLD}", "the household as a whole"
    if catalog.unit == ROW:
        size, about, whole = (
            SEVERAL_ROWS,
            f"{SEVERAL_ROWS} rows",
            f"{SEVERAL_ROWS} rows together, as one person may have",
        )
    yield Promise(
        about,
        f"All answers in pure epsilon are epsilon {_for_group(budget.epsilon, size)} for {whole}, "
        f"those of any one analyst at most epsilon {_for_group(largest, size)}.",
    )
    if budget.approximate and budget.rho:
        delta = budget.delta - budget.event_delta
        epsilon = epsilon_of(loss(group_privacy(Concentrated(budget.rho), size)).rho, delta)
        says = f"epsilon {show_up(epsilon)} and delta {show_up(delta)} for {whole}"
        yield Promise(about, f"All answers with Gaussian noise alone are {says}.")


def _large_budget(catalog: Catalog) -> Iterator[Promise]:
    """A warning where answers may tell much about one person."""
    budget, you = catalog.budget, _WHOSE_PRESENCE[catalog.unit == ROW]
    if budget.epsilon > LARGE_EPSILON:
        rare = _PRIORS[0]
        before, after, usual = (
            format_probability(chance) for chance in (float(rare), posterior(rare, budget.epsilon), posterior(rare, 1))
        )
        says = f"is large: someone who gives {before} that {you} in the data can give {after} after all answers"
        yield Promise(
            "large budget", f"Epsilon {show_up(budget.epsilon)} {says}; with epsilon 1 it were {usual}.", warning=True
        )


def _for_group(epsilon: Fraction, size: int) -> str:
    group = group_privacy(Pure(epsilon), size)
    assert isinstance(group, Pure)  # noqa: S101 - as docs/proofs/groups.md says of pure guarantees
    return show_up(group.epsilon)


def _beliefs(epsilon: Fraction, you: str = "you are") -> str:
    rare, even = _PRIORS
    return (
        f"a guess of {format_probability(float(rare))} that {you} in the data can become at most "
        f"{format_probability(posterior(rare, epsilon))}, and one of {format_probability(float(even))} at "
        f"most {format_probability(posterior(even, epsilon))}: odds grow at most {format_factor(odds_factor(epsilon))}"
    )


def _analyst(analyst: Analyst) -> Iterator[Promise]:
    yield Promise(analyst.name, f"May spend at most {_format_budget(analyst.budget)}")
    if analyst.publish:
        yield Promise(analyst.name, "May publish releases, which the dataset's budget alone pays for: up to all of it.")
    policy, epsilon = analyst.policy, analyst.budget.epsilon
    most = epsilon if policy.ceiling is None else policy.ceiling
    if policy.questions is not None:
        most = min(most, epsilon / policy.questions)
        says = f"epsilon {show_down(most)} for each of {policy.questions:,} questions"
        yield Promise(analyst.name, f"The policy {policy.name} sets the price: {says}.")
    if policy.spend is not None:
        most, share = min(most, epsilon * policy.spend), show_up(100 * policy.spend)
        says = f"epsilon {show_down(most)} for the first question, and {share}% of what is left for each further one"
        yield Promise(analyst.name, f"The policy {policy.name} sets the price: {says}.")
    if policy.ceiling is not None:
        yield Promise(analyst.name, f"No question costs more than epsilon {show_down(policy.ceiling)}.")
    if most < EPSILON_UNIT:
        yield Promise(analyst.name, "No question can be asked: prices below 1e-12 are none.", warning=True)


def _coalitions(catalog: Catalog, releases: Sequence[Event]) -> Iterator[Promise]:
    found, budget = coalitions(catalog, releases), catalog.budget
    for one in found:
        if one.size in list_sizes(len(found)):
            who, may = ("any analyst", "May") if one.size == 1 else (f"any {one.size:,} analysts", "Together may")
            spent = f"epsilon {show_up(one.epsilon)} and delta {show_up(one.delta)}"
            share = f"{show_up(100 * one.epsilon / budget.epsilon)}% of the dataset's epsilon"
            yield Promise(who, f"{may} spend at most {spent}: {share}.")


def list_sizes(number: int) -> set[int]:
    """Which sizes of coalitions are worth a line: 1, 2, 5, 10, 20, 50 and so on, and all."""
    steps = {step * 10**power for step in (1, 2, 5) for power in range(len(str(number)))}
    return {size for size in steps if size < number} | {number}


def describe_coalition(catalog: Catalog, releases: Sequence[Event] = ()) -> Promise:
    """Whether analysts together can use up what others were given; docs/catalog.md explains the cases."""
    budget, personal = catalog.budget, [analyst.budget for analyst in catalog.analysts]
    profiles = [Budget(table.profile_epsilon) for table in catalog.tables if table.profile_epsilon is not None]
    spends = [*personal, *profiles]
    epsilon, delta = (sum((getattr(one, part) for one in spends), Fraction()) for part in ("epsilon", "delta"))
    common = _in_epsilon(releases, budget)
    epsilon, delta = epsilon + common[0], delta + common[1]
    counted = ["personal budgets", *["profiles"] * bool(profiles), *["releases so far"] * bool(releases)]
    who = " and ".join(filter(None, (", ".join(counted[:-1]), counted[-1])))
    given = f"{who[0].upper()}{who[1:]} add up to epsilon {show_up(epsilon)} and delta {show_up(delta)}"
    publishers = [analyst.name for analyst in catalog.analysts if analyst.publish]
    in_rho = any(loss(event).epsilon is None for event in releases)
    fits = _fits_in_rho(budget, spends, releases)
    exceeds = not fits if in_rho else epsilon > budget.epsilon or delta > budget.delta
    if exceeds:
        says = f"{given}, more than the dataset has: some analysts can use up what others were given."
        return Promise("coalitions", says, warning=True)
    if publishers:
        says = (
            f"{given}, within the dataset's. But {', '.join(publishers)} may publish releases, which the dataset alone "
            "pays for, and can use up what others were given."
        )
        return Promise("coalitions", says)
    if fits or all(one.delta == 0 for one in personal):
        return Promise("coalitions", f"{given}, within the dataset's: nobody can use up what another was given.")
    says = (
        f"{given}, within the dataset's. But once anybody has spent rho, the dataset counts a pure epsilon e as rho "
        "e^2 / 2, so that large pure spends can use up what others were given."
    )
    return Promise("coalitions", says)


def _fits_in_rho(budget: Budget, spends: list[Budget], releases: Sequence[Event]) -> bool:
    # The most rho a personal budget can become: all of its epsilon in one pure spend, or all of its own rho.
    paid = [loss(event) for event in releases]
    rho = sum(max(one.epsilon**2 / 2, one.rho) for one in spends) + sum(one.rho for one in paid)
    failing = sum(one.event_delta for one in spends) + sum(one.delta for one in paid)
    return rho <= budget.rho and failing <= budget.event_delta


def _in_epsilon(releases: Sequence[Event], budget: Budget) -> tuple[Fraction, Fraction]:
    """What releases cost in all, as an epsilon and a delta; of what was paid in rho, at the delta of the budget."""
    paid = [loss(event) for event in releases]
    epsilons = [one.epsilon for one in paid]
    delta = sum((one.delta for one in paid), Fraction())
    if None not in epsilons:
        return sum((each for each in epsilons if each is not None), Fraction()), delta
    failing = budget.delta or _SMALL_DELTA
    return epsilon_of(sum((one.rho for one in paid), Fraction()), failing), delta + failing
