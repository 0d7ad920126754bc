"""How a release was made: what its readers are told of that, as values and as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

from adomnia.catalog.document_keys import NAME
from adomnia.plans.plan import canonical
from adomnia.pricing.bills import format_cost
from adomnia.privacy.amounts import show_up
from adomnia.privacy.losses import epsilon_of, loss
from adomnia.sql.methods.calls import name_of
from adomnia.sql.reading.parse import parse
from adomnia.sql.values.scope import find_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.catalog.model import Catalog
    from adomnia.privacy.events import Event

_USUAL_DELTA = Fraction(1, 10**9)  # where the dataset has none to tell a guarantee at


@dataclass(frozen=True)
class ReleaseFacts:
    """How a release was made; None where that is not known, as of releases that other versions made.

    `version` is that of the data, `catalog` the hash of what the catalog said of it, `meaning` that of the rows and
    columns that the question stood for. `guarantee` says how it was made and what is hidden, `made_with` the first of
    these alone, which stands below every answer. `plan` is what its answer is stored under in the ledger, `receipt`
    the hash of its debit. A `private` release is for whoever made it alone. `others` are facts that this version does
    not know.
    """

    dataset: str | None = None
    mechanism: str | None = None
    price: str | None = None
    paid_by: str | None = None
    guarantee: str | None = None
    made_with: str | None = None
    version: int | None = None
    catalog: str | None = None
    made_by: str | None = None
    made_at: str | None = None
    request_id: str | None = None
    receipt: str | None = None
    plan: str | None = None
    meaning: str | None = None
    confidence: float | None = None
    private: bool | None = None
    randomness: str | None = None
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def buyer(self) -> str | None:
        """Who alone may read the release; None for everybody."""
        return self.made_by if self.private and NAME.holds(self.made_by) else None

    def to_record(self) -> dict[str, Any]:
        """As plain data: what is known, and nothing else."""
        known = {name: getattr(self, name) for name in _KINDS}
        return {**{name: value for name, value in known.items() if value is not None}, **self.others}

    @classmethod
    def from_record(cls, told: Mapping[str, Any]) -> Self:
        """From plain data, perhaps of a stranger: what is not of its kind is no fact that this version knows."""
        known = {name: told[name] for name, kind in _KINDS.items() if type(told.get(name)) in kind}
        return cls(**known, others={name: value for name, value in told.items() if name not in known})


_KINDS: dict[str, tuple[type, ...]] = {each.name: (str,) for each in fields(ReleaseFacts) if each.name != "others"}
_KINDS |= {"version": (int,), "confidence": (float, int), "private": (bool,)}


def name_method(question: str) -> str:
    call = find_call(parse(question))
    return "" if call is None else name_of(call).lower()


def describe_guarantee(event: Event, catalog: Catalog) -> str:
    return f"{describe_making(event, catalog)} {catalog.unit.promise()}"


def describe_making(event: Event, catalog: Catalog) -> str:
    spent = loss(event)
    said = f"It was made with {format_cost(event)}"
    if spent.epsilon is None:
        delta = catalog.budget.delta or _USUAL_DELTA
        pure = show_up(epsilon_of(spent.rho, delta))
        said += f" (zero-concentrated differential privacy; epsilon {pure} at delta {show_up(spent.delta + delta)})"
    return f"{said}."


def hash_catalog(catalog: Catalog) -> str:
    """The hash of what the question was about: tables, views and people, whatever the budgets."""
    tables = tuple(
        (table.name, table.public, table.rows_per_person, "" if table.link is None else str(table.link), table.columns)
        for table in catalog.tables
    )
    views = tuple((view.name, view.sql) for view in catalog.views)
    about = (catalog.name, catalog.version, str(catalog.unit), tables, views)
    return sha256(canonical(about)).hexdigest()
