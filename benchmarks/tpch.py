"""The queries of TPC-H with a customer as the person who is hidden: error against the truth, time against raw DuckDB.

    pip install '.[bench]'
    python benchmarks/tpch.py [--scale 0.1 1] [--write]

Every query of `examples/tpch` is asked at epsilon 1 and of plain DuckDB in turn. The truth is DuckDB's: no caps, and a
CLAMP that changes nothing. Of each output, the median of the errors over all groups and answers is printed. Times may
be 1.5 times those of DuckDB where stored columns are aggregated, 4 times where expressions are clamped in the query,
plus what every answer costs whatever its size. Where a customer has many rows, the query is asked once more with
effort="high", for the rho that epsilon 1 and delta 1e-6 amount to; that takes longer by intention and has no bar.
`--write` puts the tables into `docs/tpch.md`. Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

import duckdb

import adomnia
from adomnia.privacy.losses import rho_of
from trips import FIXED_MILLISECONDS, fsync, interleaved, raw_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from adomnia.pricing.questions import Payment
    from adomnia.session.contract import Session

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "tpch"
PAGE = ROOT / "docs" / "tpch.md"
PLAIN, PER_CUSTOMER, EFFORT = "", " per customer", " high effort"
FOLDERS = {"queries": PLAIN, "per_customer": PER_CUSTOMER}
TABLES = ("customer", "orders", "lineitem", "nation", "region", "part", "supplier", "partsupp")

STORED_RATIO, EXPRESSION_RATIO = 1.5, 4.0
STORED = {"q04", "q13", "q18", "q21", "q22", "q22_mean"}  # the others add up expressions
ONE_ROW = {"q13", "q18", "q22", "q22_mean"}  # of a customer: no effort makes them better
PAIRS, PAIRS_OF_EFFORT = 15, 5
DELTA = Fraction(1, 10**6)

# What stands in a file as the answer to an earlier question, in the truth is that question.
ASKED_BEFORE = {
    "q22": ("5000", "(SELECT AVG(c_acctbal) FROM customer WHERE c_acctbal > 0 AND SUBSTRING(c_phone, 1, 2) IN {codes})")
}
COUNTRY_CODES = "('13', '31', '23', '29', '30', '18', '17')"

Cells: TypeAlias = dict[tuple[object, ...], dict[str, float]]


@dataclass(frozen=True)
class Question:
    """A query, what the truth of it is asked as, how many times as long as that it may take, and what is paid."""

    name: str
    sql: str
    truth: str
    ratio: float
    payment: Payment

    @property
    def pairs(self) -> int:
        return PAIRS if math.isfinite(self.ratio) else PAIRS_OF_EFFORT


@dataclass
class Errors:
    """Of one output: how far its cells are off, in themselves and as a share of the truth where that is not zero."""

    absolute: list[float] = field(default_factory=list)
    relative: list[float] = field(default_factory=list)

    def add(self, found: float, truth: float) -> None:
        self.absolute.append(abs(found - truth))
        if truth:
            self.relative.append(abs(found / truth - 1))


@dataclass(frozen=True)
class Figures:
    """What was measured of a query at one scale."""

    question: Question
    groups: int
    errors: dict[str, Errors]
    raw_ms: float
    private_ms: float
    bar_ms: float

    @property
    def kept(self) -> bool:
        return self.private_ms <= self.bar_ms


def questions() -> Iterator[Question]:
    """All query files, in order of their numbers, in all ways that they are asked."""
    paths = [path for folder in FOLDERS for path in (EXAMPLE / folder).glob("*.sql")]
    for path in sorted(paths, key=lambda path: (path.stem, path.parent.name != "queries")):
        way, sql = FOLDERS[path.parent.name], path.read_text()
        ratio = STORED_RATIO if way == PLAIN and path.stem in STORED else EXPRESSION_RATIO
        yield Question(path.stem + way, sql, truth(path.stem, sql), ratio, {"epsilon": 1})
        if way == PLAIN and path.stem not in ONE_ROW:
            payment: Payment = {"rho": rho_of(1, DELTA), "effort": "high"}
            yield Question(path.stem + EFFORT, sql, truth(path.stem, sql), math.inf, payment)


def truth(name: str, sql: str) -> str:
    """The text to ask of the raw tables."""
    if name not in ASKED_BEFORE:
        return sql
    answer, earlier = ASKED_BEFORE[name]
    return sql.replace(answer, earlier.format(codes=COUNTRY_CODES))


def prepare(folder: Path, scale: str) -> None:
    """The data, the same as tables of DuckDB, and the catalog with a budget that is never used up."""
    generator = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent)) or shutil.which("tpchgen-cli")
    if generator is None:
        raise SystemExit("tpchgen-cli is missing: pip install '.[bench]'")
    command = [generator, "parquet", "--scale-factor", scale, "--output-dir", str(folder)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - arguments are our own
    catalog = (EXAMPLE / "catalog.toml").read_text()
    (folder / "catalog.toml").write_text(re.sub(r"(?m)^epsilon = [\d.]+$", "epsilon = 1_000_000", catalog))
    with duckdb.connect(str(folder / "raw.duckdb")) as raw:
        raw.execute("CREATE MACRO clamp(value, lower, upper) AS value")
        for name in TABLES:
            raw.execute(f"CREATE TABLE {name} AS FROM read_parquet($1)", [str(folder / f"{name}.parquet")])


def cells(table: pa.Table, outputs: list[str]) -> Cells:
    """The values of an answer by its keys."""
    return {
        tuple(_key(row[name]) for name in table.column_names if name in row and not _is_value(name, outputs)): {
            name: float(row[name] or 0) for name in outputs
        }
        for row in table.to_pylist()
    }


def _is_value(name: str, outputs: list[str]) -> bool:
    return name in outputs or name.removesuffix("_lower") in outputs or name.removesuffix("_upper") in outputs


def _key(value: object) -> object:
    """DuckDB truncates a date to a timestamp."""
    return value.date() if isinstance(value, datetime) else value


@dataclass
class Asked:
    """Asks a question again and again, and keeps how far the answers are off."""

    question: Question
    session: Session
    raw: duckdb.DuckDBPyConnection
    errors: dict[str, Errors] = field(default_factory=dict)
    groups: int = 0

    def __post_init__(self) -> None:
        self.truth = raw_answer(self.raw, self.question.truth)
        self.answers: list[pa.Table] = []

    def private(self) -> None:
        self.answers.append(self.session.sql(self.question.sql, replay=False, **self.question.payment).to_arrow())

    def compare(self) -> None:
        names = self.answers[0].column_names
        outputs = [name for name in names if f"{name}_lower" in names]
        true = cells(self.truth, outputs)
        self.errors = {name: Errors() for name in outputs}
        for answer in self.answers:
            found = cells(answer, outputs)
            self.groups = len(found)
            for key, values in found.items():
                for name, value in values.items():
                    self.errors[name].add(value, true.get(key, {}).get(name, 0.0))


def measured(folder: Path) -> Iterator[Figures]:
    """All queries at one scale."""
    with duckdb.connect(str(folder / "raw.duckdb"), read_only=True) as raw, adomnia.open(folder) as curator:
        session = curator.session("analyst")
        for question in questions():
            asked = Asked(question, session, raw)
            raw_ms, private_ms, one_fsync = interleaved(
                partial(raw_answer, raw, question.sql), asked.private, partial(fsync, folder), pairs=question.pairs
            )
            asked.compare()
            bar = question.ratio * raw_ms + FIXED_MILLISECONDS + 2 * one_fsync
            yield Figures(question, asked.groups, asked.errors, raw_ms, private_ms, bar)


def _percent(errors: Errors) -> str:
    """To two digits; what is off by more than the truth itself says nothing."""
    if not errors.relative:
        return "no group"
    share = 100 * median(errors.relative)
    return f"{_digits(share)}%"


def _groups(group: tuple[Figures, ...]) -> str:
    """How many, at each scale where that makes a difference."""
    return ", ".join(f"{groups:,}" for groups in dict.fromkeys(figures.groups for figures in group))


def _bar(question: Question) -> str:
    return f"{question.ratio:g}x" if math.isfinite(question.ratio) else "none"


def _digits(value: float) -> str:
    if not value:
        return "0"
    places = max(0, 1 - math.floor(math.log10(abs(value))))
    return f"{round(value, 1 - math.floor(math.log10(abs(value)))):,.{places}f}"


def tables(scales: dict[str, list[Figures]]) -> str:
    """The two tables of the page: errors, and times."""
    columns = [f"{what}, scale {scale}" for scale in scales for what in ("relative error", "absolute error")]
    lines = [f"| query | output | groups | {' | '.join(columns)} |", "|---" * (3 + len(columns)) + "|"]
    for group in zip(*scales.values(), strict=True):
        for output in group[0].errors:
            found = [figures.errors[output] for figures in group]
            shown = [text for each in found for text in (_percent(each), _digits(median(each.absolute)))]
            lines.append(f"| {group[0].question.name} | `{output}` | {_groups(group)} | {' | '.join(shown)} |")
    columns = [f"{what}, scale {scale}" for scale in scales for what in ("DuckDB", "private")]
    lines += ["", f"| query | bar | {' | '.join(columns)} |", "|---" * (2 + len(columns)) + "|"]
    for group in zip(*scales.values(), strict=True):
        shown = [f"{ms:.0f} ms" for figures in group for ms in (figures.raw_ms, figures.private_ms)]
        lines.append(f"| {group[0].question.name} | {_bar(group[0].question)} | {' | '.join(shown)} |")
    return "\n".join(lines)


def write(page: Path, text: str) -> None:
    """Put the tables between the marks of a page."""
    begin, end = "<!-- begin figures -->", "<!-- end figures -->"
    before, _, rest = page.read_text().partition(begin)
    after = rest.partition(end)[2]
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", nargs="+", default=["0.1", "1"])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    scales: dict[str, list[Figures]] = {}
    for scale in arguments.scale:
        print(f"scale {scale}\n{'':<20}{'groups':>8}{'error':>9}{'raw':>12}{'private':>12}{'bar':>12}", flush=True)
        scales[scale] = []
        with tempfile.TemporaryDirectory() as name:
            prepare(Path(name), scale)
            for figures in measured(Path(name)):
                scales[scale].append(figures)
                print(line(figures), flush=True)
    if arguments.write:
        write(PAGE, tables(scales))
    return 0 if all(figures.kept for found in scales.values() for figures in found) else 1


def line(figures: Figures) -> str:
    worst = max(figures.errors.values(), key=lambda errors: median(errors.relative or [0.0]))
    times = f"{figures.raw_ms:>9.1f} ms{figures.private_ms:>9.1f} ms{figures.bar_ms:>9.1f} ms"
    return (
        f"{figures.question.name:<20}{figures.groups:>8}{_percent(worst):>9}{times}{'' if figures.kept else ' MISSED'}"
    )


if __name__ == "__main__":
    sys.exit(main())
