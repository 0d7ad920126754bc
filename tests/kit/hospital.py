"""A small hospital: the schema of the adversarial corpus, rows made up for a test, and curators over them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.engines.duckdb import DuckDB
from adomnia.engines.duckdb.engine import Running
from adomnia.engines.limits import Limits
from adomnia.ledger import Ledger
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.session.curator import Curator, read_catalog
from kit.bits import SeededBits
from kit.engines import is_foreign, load_keyed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog, Table
    from adomnia.engines.contract import Engine, Statement
    from adomnia.noise import Integers
    from adomnia.privacy.queries import Query
    from adomnia.privacy.relations import Select

Row = dict[str, Any]
Rows = Sequence[Row]

KEY = bytes(range(32))
CITIES = ("Oslo", "Bergen", "Tromso", "Hamar")

CATALOG = """
[dataset]
name = "hospital"
version = 1
unit = "people.person_id"
vacuous_answers = "warn"  # most tests ask few rows for little

[budget]
epsilon = 1_000_000
delta = 1e-6
approximate = true

[analysts.alice]
epsilon = 100_000

[analysts.bob]
epsilon = 100_000
delta = 1e-7

[analysts.carol]
epsilon = 1

[tables.people]
source = "people.parquet"
rows_per_person = 1

[tables.people.columns]
person_id = { type = "id" }
name = { type = "text" }
age = { type = "integer", lower = 0, upper = 120 }
sex = { type = "category", values = ["F", "M", "X"] }
city = { type = "category", values = "cities.city" }
salary = { type = "number", lower = 0, upper = 500_000 }
eye_color = { type = "text" }
member = { type = "boolean" }
score = { type = "number", lower = -1.5, upper = 2.25, step = 0.1 }
weight = { type = "number" }

[tables.visits]
source = "visits.parquet"
person = "person_id -> people.person_id"
rows_per_person = 3

[tables.visits.columns]
visit_id = { type = "id" }
person_id = { type = "id" }
hospital = { type = "category", values = ["H1", "H2", "H3", "H4", "H5"] }
day = { type = "date" }
diagnosis = { type = "text" }
cost = { type = "number", lower = 0, upper = 100_000 }
urgent = { type = "boolean" }

[tables.cities]
source = "cities.csv"
public = true

[tables.cities.columns]
city = { type = "text" }
region = { type = "text" }
population = { type = "integer" }
"""

# The same hospital with what was bought at a visit, which belongs to whoever the visit belongs to, and with public
# facts of which some stand twice.
LINKED = (
    CATALOG
    + """
[tables.items]
source = "items.parquet"
person = "visit_id -> visits.visit_id"
rows_per_person = 4

[tables.items.columns]
item_id = { type = "id" }
visit_id = { type = "id" }
kind = { type = "category", values = ["drug", "test", "bed"] }
price = { type = "number", lower = -10, upper = 250, step = 1 }
amount = { type = "integer", lower = -5, upper = 20 }
bought = { type = "date", lower = 2020-01-01, upper = 2020-12-31 }

[tables.zones]
source = "zones.csv"
public = true

[tables.zones.columns]
city = { type = "text" }
zone = { type = "text" }
area = { type = "integer" }
since = { type = "date" }

[views.grown]
sql = "SELECT person_id, sex, salary / 12 AS monthly, age FROM people WHERE age >= 18"

[views.stays]
sql = "SELECT person_id, hospital, COUNT(*) AS stays, MAX(cost) AS dearest FROM visits GROUP BY person_id, hospital"
"""
)

PLAIN_CITIES = [{"city": city, "region": "North", "population": 1000} for city in CITIES]
PUBLIC: dict[str, Rows] = {
    "cities": [
        {"city": "Oslo", "region": "East", "population": 700},
        {"city": "Bergen", "region": "West", "population": 290},
        {"city": "Tromso", "region": "North", "population": 78},
        {"city": "Hamar", "region": "East", "population": None},
    ],
    "zones": [
        {"city": "Oslo", "zone": "inner", "area": 18, "since": date(1950, 1, 1)},
        {"city": "Oslo", "zone": "outer", "area": 120, "since": date(2019, 12, 31)},
        {"city": "Bergen", "zone": "inner", "area": 17, "since": date(2020, 1, 1)},
        {"city": "Atlantis", "zone": None, "area": None, "since": None},
        {"city": None, "zone": "outer", "area": 0, "since": date(2020, 1, 2)},
    ],
}

_TYPES = {Quantity: pa.float64(), Boolean: pa.bool_(), Text: pa.string(), Day: pa.date32(), Identity: pa.int64()}
_TYPES[Moment] = pa.timestamp("us")

_LOADED: dict[tuple[Any, ...], DuckDB] = {}
_MOST_LOADED = 12


def person(person_id: int | None, **values: Any) -> Row:
    """A row of `people`; what is not said is NULL."""
    empty = dict.fromkeys(("name", "age", "sex", "city", "salary", "eye_color", "member", "score", "weight"))
    return {"person_id": person_id, **empty, **values}


def visit(person_id: int | None, **values: Any) -> Row:
    """A row of `visits`; what is not said is NULL."""
    return {
        "person_id": person_id,
        **dict.fromkeys(("visit_id", "hospital", "day", "diagnosis", "cost", "urgent")),
        **values,
    }


def item(visit_id: int | None, **values: Any) -> Row:
    """A row of `items`; what is not said is NULL."""
    return {"visit_id": visit_id, **dict.fromkeys(("item_id", "kind", "price", "amount", "bought")), **values}


def frame(rows: Rows, table: Table) -> pa.Table:
    """Rows as an Arrow table of the declared types."""
    return pa.table(
        {
            column.name: pa.array([row[column.name] for row in rows], _TYPES[type(column.kind)])
            for column in table.columns
        }
    )


def declare(folder: Path, text: str = CATALOG) -> Catalog:
    """Write the catalog and its public tables into a folder, and read it."""
    _write_catalog(folder, text)
    return replace(_catalog(text), folder=folder)


def _write_catalog(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "catalog.toml").write_text(text)
    public = PUBLIC if text == LINKED else {"cities": PLAIN_CITIES}
    for name, rows in public.items():
        (folder / f"{name}.csv").write_text("".join(_lines(rows)))


@cache
def _catalog(text: str) -> Catalog:
    """What a catalog declares: the same of the same text, wherever it lies. An engine is started to read one."""
    with TemporaryDirectory() as folder:
        _write_catalog(Path(folder), text)
        return read_catalog(Path(folder))


def _lines(rows: Rows) -> Iterator[str]:
    yield ",".join(rows[0]) + "\n"
    for row in rows:
        yield ",".join("" if value is None else str(value) for value in row.values()) + "\n"


def write(folder: Path, people: Rows, visits: Rows, text: str = CATALOG) -> Path:
    """A whole dataset on disk."""
    _write_catalog(folder, text)
    for table, rows in zip(_catalog(text).tables, (people, visits), strict=False):
        pq.write_table(frame(rows, table), folder / table.source)
    return folder


def load(catalog: Catalog, people: Rows, visits: Rows, items: Rows = ()) -> SpyEngine:
    """The engine over rows in memory, always under the same key."""
    rows = {"people": people, "visits": visits, "items": items}
    if is_foreign():
        frames = {table.name: frame(rows[table.name], table) for table in catalog.tables if not table.public}
        return SpyEngine(load_keyed(catalog, frames, KEY, Limits(threads=1)))
    public = [(catalog.folder / table.source).read_bytes() for table in catalog.tables if table.public]
    # Most tests of a file ask the same rows, and to build their index takes longer than to ask.
    known = (catalog.unit, catalog.tables, *public, repr(rows))
    if known not in _LOADED:
        _LOADED[known] = _load(catalog, rows)
    while len(_LOADED) > _MOST_LOADED:
        del _LOADED[next(iter(_LOADED))]
    return SpyEngine(_share(_LOADED[known]))


def _load(catalog: Catalog, rows: dict[str, Rows]) -> DuckDB:
    frames = {table.name: frame(rows[table.name], table) for table in catalog.tables if not table.public}
    engine = load_keyed(catalog, frames, KEY, Limits(threads=1))
    assert isinstance(engine, DuckDB)
    return engine


def _share(engine: DuckDB) -> DuckDB:
    """Another engine over the same index, which lives until all of them are closed."""
    other = copy(engine)
    other._connection = engine._connection.cursor()
    other._running = Running(other._connection, None)
    return other


@contextmanager
def curated(catalog: Catalog, people: Rows, visits: Rows, items: Rows = (), seed: object = 0) -> Iterator[Curator]:
    """A curator over rows in memory, with noise that depends on the seed alone."""
    analysts = {analyst.name: analyst.budget for analyst in catalog.analysts}
    ledger = Ledger.open(":memory:", catalog.budget, analysts)
    with Curator.open(catalog, load(catalog, people, visits, items), ledger, CountedBits(seed)) as curator:
        yield curator


class SpyEngine:
    """An engine that remembers which statements it ran."""

    def __init__(self, engine: Engine) -> None:
        self.inner = engine
        self.ran: list[Statement] = []
        self.dialect = engine.dialect

    def render(self, queries: tuple[Query, ...]) -> Statement:
        return self.inner.render(queries)

    def run(self, statement: Statement, queries: tuple[Query, ...]) -> tuple[Integers, ...]:
        self.ran.append(statement)
        return self.inner.run(statement, queries)

    def keys(self, statement: Statement, query: Query) -> Any:
        self.ran.append(statement)
        return self.inner.keys(statement, query)

    def render_rows(self, rows: Select) -> Statement:
        return self.inner.render_rows(rows)

    def read(self, statement: Statement, most: int) -> list[tuple[Any, ...]]:
        self.ran.append(statement)
        return self.inner.read(statement, most)

    def is_open(self) -> bool:
        return self.inner.is_open()

    def is_reachable(self) -> bool:
        return self.inner.is_reachable()

    def close(self) -> None:
        self.inner.close()


class CountedBits(SeededBits):
    """Seeded bits that remember how many words were asked for, and when."""

    def __init__(self, seed: object) -> None:
        super().__init__(seed)
        self.requests: list[int] = []

    def words(self, count: int) -> Any:
        self.requests.append(count)
        return super().words(count)
