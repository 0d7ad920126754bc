"""The questions that all engines are asked: those of the fixtures and of the corpus, over rows full of edge values."""

from __future__ import annotations

import json
import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import count, cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from adomnia.catalog.model import Analyst, Link
from adomnia.ledger import Ledger
from adomnia.privacy.filters import Budget
from adomnia.session.curator import Curator
from kit.bits import SeededBits
from kit.hospital import frame
from sql.hospital import CITIES, CITY_TABLE, HOSPITAL, PERSON, WIDE, ZONES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog
    from adomnia.engines.contract import Engine
    from kit.hospital import Row

FIXTURES = Path(__file__).parents[1] / "fixtures"
BUDGET = Budget(Fraction(10**7), Fraction(1, 10), approximate=True)

# Numbers at their bounds and beyond, not finite, and between two points of a grid.
FAR = (None, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 0.0, 1.0, 0.3, 499_999.875, 2.0**53 + 1, -7.0)
NEAR = (40.5, 17.0, 119.5, 120.0, 52.0, 18.0, 65.0, 3.0, 101.0, 33.0)
WORDS = (
    None,
    "",
    "Ann Lee",
    "naïve",
    "%",
    "o'clock",
    '"',
    "12.5",
    "2020-01-02",
    "日本",
    "ANN",
    "a_b",
    " brown ",
    "flu",
)
DAYS = (None, date(1, 1, 1), date(9999, 12, 31), date(2022, 1, 1), date(2024, 2, 29), date(2024, 12, 30))
BIRTHS = (date(1899, 12, 31), None, date(1900, 1, 1), date(1970, 1, 1), date(2030, 12, 31), date(2000, 2, 29))


@dataclass(frozen=True)
class Asked:
    """A question, and the file that it is from."""

    text: str
    topic: str

    def __str__(self) -> str:
        return f"{self.topic}: {' '.join(self.text.split())}"


def questions() -> list[Asked]:
    """Every question of the fixtures, of the identities and of the adversarial corpus that is answered, each once."""
    found: dict[str, Asked] = {}
    for text, topic in _texts():
        found.setdefault(" ".join(text.split()), Asked(text, topic))
    return list(found.values())


def refused() -> list[Asked]:
    """Every question of the fixtures and of the adversarial corpus that is refused, each once."""
    texts = (*_fixtures(refused=True), *_adversarial(refused=True))
    return list({text: Asked(text, topic) for text, topic in texts}.values())


def _texts() -> Iterator[tuple[str, str]]:
    yield from _fixtures(refused=False)
    for text, identities in json.loads((FIXTURES / "identities.json").read_text()).items():
        if "epsilon" in identities:
            yield text, "identities"
    yield from _adversarial(refused=False)


def _fixtures(*, refused: bool) -> Iterator[tuple[str, str]]:
    for path in sorted((FIXTURES / "sql").glob("*.sql")):
        for block in path.read_text().strip().split("\n\n"):
            text, _, expected = block.rpartition("\n")
            if expected.startswith("refused ") is refused:
                yield text, path.stem


def _adversarial(*, refused: bool) -> Iterator[tuple[str, str]]:
    for entry in yaml.safe_load((FIXTURES / "adversarial_sql.yaml").read_text()):
        if entry["expected"].startswith("REJECT") is refused:
            for text in [entry["sql"]] if isinstance(entry["sql"], str) else entry["sql"]:
                yield text, "adversarial"


def declare(folder: Path) -> Catalog:
    """The schema of the fixtures in a folder that holds its public tables, with somebody who may ask."""
    zones = [(CITIES[place % 30], ("inner", "outer")[place % 2], 0.5 * place) for place in range(60)]
    cities = [(city, ("East", "North", "West")[at % 3], 10_000 * at // 2) for at, city in enumerate(CITIES)]
    for table, rows in ((CITY_TABLE, cities), (ZONES, zones)):
        lines = [[column.name for column in table.columns], *rows]
        (folder / table.source).write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    wide = replace(WIDE, columns=(PERSON, *WIDE.columns), link=Link("person_id", "people", "person_id"))
    tables = tuple(wide if table.name == "wide" else table for table in HOSPITAL.tables)
    analysts = (Analyst("bob", BUDGET),)
    return replace(HOSPITAL, folder=folder, tables=tables, analysts=analysts, budget=BUDGET, vacuous_answers="warn")


def rows() -> dict[str, list[Row]]:
    """More rows of one person than any cap, rows of nobody, rows whose parent is missing, values of every sort."""
    numbers = cycle([number for pair in zip(FAR, cycle(NEAR), strict=False) for number in pair])
    people = {
        "person_id": (at % 40 for at in count()),
        "name": cycle(WORDS),
        "age": cycle([number for pair in zip(NEAR, FAR, strict=False) for number in pair]),
        "sex": cycle((None, "F", "M", "X", "rare", "F", "M")),
        "city": cycle((*CITIES[:9], None, "Atlantis", CITIES[-1])),
        "salary": cycle((*FAR, 12_345.678, 90_000.0, 250_000.25, 75_000.0, 90_000.5)),
        "eye_color": cycle((*WORDS, "brown", "green", "blue")),
        "active": cycle((None, True, False, True)),
        "score": cycle((-1.5, 0.25, 0.05, None, -9.0, 0.95, math.nan)),
        "weight": cycle(FAR),
        "children": cycle((None, 0, 1, 2, 3, -1, 2**53, 2)),
        "born": cycle(BIRTHS),
    }
    visits = {
        "visit_id": (None if at % 19 == 18 else at for at in count()),
        "person_id": cycle((1,) * 14 + (2, 2, 3, 99, None, 4, 5, 6, 7, 8, 9, 10, 11, 3, 2)),
        "hospital": cycle(("H1", "H2", None, "H9", "H3", "H5")),
        "day": cycle(DAYS),
        "diagnosis": cycle(WORDS),
        "cost": numbers,
    }
    items = {
        "item_id": count(),
        "visit_id": cycle((0, 1, 2, 3, 7, 777, None, 14, 15, 16, 22, 23, 0, 0)),
        "kind": cycle(("drug", None, "test", "rare", "bed")),
        "price": cycle((None, -120.0, 0.5, 249.6, math.nan, 100.0, 1e9)),
        "amount": cycle((20.0, None, -7.0, 1e9, 3.0)),
        "bought": cycle((*DAYS, *BIRTHS)),
    }
    wide = {"person_id": cycle((1, 1, 1, 1, 2, None)), **{f"c{at}": cycle(CITIES[at : at + 3 + at]) for at in range(4)}}
    sizes = {"people": (people, 75), "visits": (visits, 110), "items": (items, 60), "wide": (wide, 20)}
    return {name: _lay_out(columns, size) for name, (columns, size) in sizes.items()}


def _lay_out(columns: dict[str, Iterator], size: int) -> list[Row]:
    return [dict(zip(columns, row, strict=True)) for row in islice(zip(*columns.values(), strict=True), size)]


def frames(catalog: Catalog) -> dict[str, object]:
    """The rows of all private tables, as an engine is handed them."""
    held = rows()
    return {table.name: frame(held[table.name], table) for table in catalog.tables if not table.public}


@contextmanager
def curated(catalog: Catalog, engine: Engine) -> Iterator[Curator]:
    """A curator over an engine, of whom bob may ask as much as he likes; the engine stays open."""
    ledger = Ledger.open(":memory:", catalog.budget, {each.name: each.budget for each in catalog.analysts})
    try:
        yield Curator.open(catalog, engine, ledger, SeededBits(0))
    finally:
        ledger.close()
