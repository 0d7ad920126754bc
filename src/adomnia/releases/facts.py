"""From an answer to a release: what its readers are told of it, and where it is kept."""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

from adomnia.plans.canonical import canonical
from adomnia.pricing.bills import format_cost
from adomnia.privacy.amounts import show_up
from adomnia.privacy.conversions import epsilon_of
from adomnia.privacy.losses import loss
from adomnia.sql.methods.calls import find_call, name_of
from adomnia.sql.reading.parse import parse

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.privacy.events import Event

_USUAL_DELTA = Fraction(1, 10**9)  # where the dataset has none to tell a guarantee at


def name_method(question: str) -> str:
    call = find_call(parse(question))
    return "" if call is None else name_of(call).lower()


def describe_guarantee(event: Event, catalog: Catalog) -> str:
    spent = loss(event)
    said = f"It was made with {format_cost(event)}"
    if spent.epsilon is None:
        delta = catalog.budget.delta or _USUAL_DELTA
        pure = show_up(epsilon_of(spent.rho, delta))
        said += f" (zero-concentrated differential privacy; epsilon {pure} at delta {show_up(spent.delta + delta)})"
    return f"{said}. {catalog.unit.promise()}"


def hash_catalog(catalog: Catalog) -> str:
    """The hash of what the question was about: tables, views and people, whatever the budgets."""
    tables = tuple(
        (table.name, table.public, table.rows_per_person, "" if table.link is None else str(table.link), table.columns)
        for table in catalog.tables
    )
    views = tuple((view.name, view.sql) for view in catalog.views)
    about = (catalog.name, catalog.version, str(catalog.unit), tables, views)
    return sha256(canonical(about)).hexdigest()
