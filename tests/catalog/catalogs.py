"""A small catalog that is right, and ways to make it wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.catalog.facts import Facts
from adomnia.catalog.read import read

if TYPE_CHECKING:
    from pathlib import Path

    from adomnia.catalog.model import Catalog, Table

CLINIC = """\
[dataset]
name = "clinic"
version = 3
unit = "people.person_id"

[budget]
epsilon = 10.0
delta = 1e-6
approximate = true

[analysts.alice]
epsilon = 2.0

[tables.people]
source = "people.parquet"
rows_per_person = 1
[tables.people.columns]
person_id = { type = "id" }
age = { type = "integer", lower = 0, upper = 120 }
salary = { type = "number", lower = 0, upper = 500_000 }
city = { type = "category", values = "cities.city" }
smoker = { type = "boolean" }
born = { type = "date", lower = 1900-01-01, upper = 2030-12-31 }
name = { type = "text" }

[tables.visits]
source = "visits.csv"
person = "person_id -> people.person_id"
rows_per_person = 10
columns = { visit_id = { type = "id" }, person_id = { type = "id" }, cost = { type = "number" } }

[tables.items]
source = "items.parquet"
person = "visit_id -> visits.visit_id"
rows_per_person = 50
[tables.items.columns]
visit_id = { type = "id" }
ward = { type = "category", values = ["B", "A"] }

[tables.cities]
source = "cities.csv"
public = true
"""


def cities(table: Table) -> list[Facts]:
    """Stands in for an engine that reads a public table."""
    return [Facts(2, values=("Oslo", "Bergen") if column.name == "city" else ()) for column in table.columns]


def changed(old: str, new: str) -> str:
    """The clinic with one thing different."""
    assert CLINIC.count(old) == 1, f"{old!r} must stand in the clinic once"
    return CLINIC.replace(old, new)


def reading(folder: Path, text: str, facts_of=cities) -> Catalog:
    """The catalog with this text."""
    (folder / "catalog.toml").write_text(text, encoding="utf-8")
    return read(folder, facts_of)
