"""The page docs/performance.md, written from what performance.py measured."""

from __future__ import annotations

from itertools import chain
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "spark": "Spark"}
BARS = {"duckdb": 1.2, "postgres": 1.3, "spark": 1.3}
BARRED = ("COUNT, SUM, AVG by city", "SUM, AVG by city, clustered")
EXPRESSION, EXPRESSION_BARS = "AVG of one by city", {**BARS, "duckdb": 1.8}  # DuckDB multiplies whole columns at once
BARS_FROM = 10_000_000  # rows: below, a raw query takes less time than the machine's own noise
LARGE, LARGE_SECONDS, LARGE_BYTES = 100_000_000, 600, 12 * 2**30
COMPARED = 1_000_000  # rows: up to there docs/comparison.md has the peers
FAR_ROWS, FAR_PEOPLE = 10**10, 10**8
BUSY = 0.5  # of the cores, by the time a part began

RowFilter = dict[str, Any]


def render(kept: RowFilter) -> str:
    """The whole page."""
    parts = kept["parts"]
    written = [_opening(kept["machine"], parts)]
    written += [_engine(name, parts[name]) for name in NAMES if name in parts]
    if "slopes" in parts:
        (slopes,) = parts["slopes"].values()
        written += [_slopes(slopes["found"]), _far(slopes["found"], parts, kept["cores"])]
    if "peers" in parts:
        written.append(_peers(parts["peers"]))
    return "\n".join(written)


def list_missed(kept: RowFilter) -> list[str]:
    """The bars that were missed, in words."""
    return [
        missed for name in NAMES if name in kept["parts"] for missed in _missed(name, _by_size(kept["parts"][name]))
    ]


def ratio_of(question: RowFilter) -> float:
    """How many times as long as raw an answer takes, beside its fixed cost."""
    return float(max(question["private_ms"] - question["fixed_ms"], 0) / question["raw_ms"])


def _bar_of(engine: str, rows: int, question: RowFilter) -> float | None:
    if rows < BARS_FROM:
        return None
    if question["name"] in BARRED:
        return BARS[engine]
    return EXPRESSION_BARS[engine] if question["name"] == EXPRESSION else None


def _missed(engine: str, sizes: list[RowFilter]) -> Iterator[str]:
    for size in sizes:
        for each in size["questions"]:
            most = _bar_of(engine, size["rows"], each)
            if most is not None and ratio_of(each) > most:
                yield f"{NAMES[engine]}, {size['rows']:,} rows, {each['name']}: {ratio_of(each):.2f}, bar {most}"
        index = size["index"]
        large = engine == "duckdb" and size["rows"] == LARGE
        if large and (index["seconds"] > LARGE_SECONDS or index["memory_bytes"] > LARGE_BYTES):
            took = f"{index['seconds']:,.0f} s and {_gib(index['memory_bytes'])}"
            bar = f"bar {LARGE_SECONDS} s and {_gib(LARGE_BYTES)}"
            yield f"{NAMES[engine]}, {size['rows']:,} rows, index: {took}, {bar}"


def _by_size(sizes: RowFilter) -> list[RowFilter]:
    """What was found at each size, the smallest first."""
    return [sizes[rows]["found"] for rows in sorted(sizes, key=int)]


def _gib(size: float) -> str:
    return f"{size / 2**30:,.2f} GiB"


def _opening(machine: dict[str, str], parts: RowFilter) -> str:
    lines = "\n".join(f"- {value}" for value in machine.values())
    measured = list(chain.from_iterable(sizes.values() for sizes in parts.values()))
    days = sorted({each["day"] for each in measured})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    busiest = max(each["busy"] for each in measured)
    beside = ""
    if busiest > BUSY:
        beside = f"""
**Other work ran on the same machine** while some of this was measured: before a part began, up to {busiest:.1f}
processes waited for each core. Times are longer by about as much; ratios are of things that were done in turn, and
moved less by it.
"""
    return f"""# Performance

What a private answer costs beside the same SQL on the raw engine, and how that grows. Written by
`python benchmarks/performance.py`, which is part of `make bench`; all numbers are in
[performance.json](performance.json).

The tables are trips of people who have between 1 and 100 of them, five on average; at most 10 rows of a person count.
Raw, private, and private over a table of a thousand rows are asked in turn, at least five times, and medians are
compared. The last is the **fixed cost**: reading the question, its price, two durable writes to the ledger, the second
look, the noise and its intervals, whatever the number of rows. The **ratio** is what is left of a private answer
without it, against raw. It can be below 1: what the cap leaves out is not read.

Measured on {when}:

{lines}
{beside}"""


def _engine(name: str, sizes: RowFilter) -> str:
    found = _by_size(sizes)
    rows = [
        f"| {size['rows']:,} | {each['name']} | {each['raw_ms']:,.1f} | {each['private_ms']:,.1f} | "
        f"{each['fixed_ms']:,.1f} | {ratio_of(each):.2f} | {_bar_of(name, size['rows'], each) or ''} |"
        for size in found
        for each in size["questions"]
    ]
    missed = list(_missed(name, found))
    said = "All bars are kept." if not missed else "**Missed**: " + "; ".join(missed) + "."
    lines, built = "\n".join(rows), "\n".join(_index(name, size) for size in found)
    return f"""## {NAMES[name]}

The index is built once for each version of the data.

| rows | people | seconds | memory | disk while it is built | disk |
|---:|---:|---:|---:|---:|---:|
{built}

{_MEMORY[name]} {said}

| rows | question | raw ms | private ms | fixed ms | ratio | bar |
|---:|---|---:|---:|---:|---:|---:|
{lines}
"""


_MEMORY = {
    "duckdb": (
        "Memory is that of the process at its peak; rows that do not fit are spilled to disk.\nIt may take 1200 MB, "
        "for a hundred million rows 4 GB (`--memory` of the server, `limits` in Python): into less,\nso many people "
        "may not fit."
    ),
    "postgres": "Memory is that of all processes of the server at their peak, with 1 GiB of shared buffers.",
    "spark": "Memory is that of Python and of the JVM together at their peak.",
}


def _index(engine: str, size: RowFilter) -> str:
    index = size["index"]
    busiest = "" if engine == "postgres" else _gib(index["disk_bytes"])
    cells = [f"{size['rows']:,}", f"{size['people']:,}", f"{index['seconds']:,.1f}", _gib(index["memory_bytes"])]
    return "| " + " | ".join([*cells, busiest, _gib(index["index_bytes"])]) + " |"


def _slope(points: list[RowFilter], at: str, what: str) -> tuple[float, float]:
    """Start and slope of the line nearest to the points."""
    slope, start = np.polyfit([point[at] for point in points], [point[what] for point in points], 1)
    return float(start), float(slope)


_UNITS = {
    "rows": (1e6, "a million rows"),
    "people": (1e6, "a million people"),
    "groups": (1e3, "a thousand groups"),
    "columns": (1, "a column"),
}


def _slopes(slopes: dict[str, list[RowFilter]]) -> str:
    lines = []
    for name, (scale, said) in _UNITS.items():
        points = slopes[name]
        answers = ", ".join(f"{point['answer_ms']:,.0f} at {point[name]:,}" for point in points)
        answer, index = (
            round(_slope(points, name, what)[1] * scale, 2) + 0.0 for what in ("answer_ms", "index_seconds")
        )
        size = _slope(points, name, "index_bytes")[1] * scale / 2**20
        lines.append(f"| {said} | {answer:,.2f} ms | {index:,.2f} s | {size:,.1f} MiB | {answers} |")
    table, usual = "\n".join(lines), slopes["groups"][0]
    return f"""## Slopes

What one more of each costs on DuckDB: means by group, of {usual["rows"]:,} rows of {usual["people"]:,} people in 50
groups with 2 columns of numbers, changed in one of these at a time. No cap leaves out a row. A slope is that of the
straight line nearest to the points; one near zero is the noise of the machine.

| one more | an answer takes | the index takes | and on disk | answers in ms |
|---|---:|---:|---:|---|
{table}
"""


def _plane(points: list[RowFilter], what: str) -> tuple[float, float, float]:
    """The plane nearest to the points: at none, and for one more row and one more person."""
    facts = np.array([[1.0, point["rows"], point["people"]] for point in points])
    found, *_ = np.linalg.lstsq(facts, np.array([float(point[what]) for point in points]), rcond=None)
    start, row, person = (float(each) for each in found)
    return start, row, person


def _reach(plane: tuple[float, float, float], rows: int, people: int) -> float:
    start, row, person = plane
    return start + max(row, 0.0) * rows + max(person, 0.0) * people


def _far(slopes: dict[str, list[RowFilter]], parts: RowFilter, cores: int) -> str:
    points = [*slopes["rows"], *slopes["people"]]
    largest = max(point["rows"] for point in points)
    longer = log2(FAR_ROWS) / log2(largest)
    index, disk, answer = (_plane(points, what) for what in ("index_seconds", "index_bytes", "answer_ms"))
    hours, sorted_hours = (_reach(index, FAR_ROWS, FAR_PEOPLE) / 3600 * each for each in (1, longer))
    kept_rows = 10 * FAR_PEOPLE
    seconds = [_reach(answer, rows, FAR_PEOPLE) / 1000 for rows in (FAR_ROWS, kept_rows)]
    return f"""## Ten billion rows, on paper

Nobody measured this. It is the plane through the points above, in rows and in people, carried on from {largest:,} rows
to {FAR_ROWS:,} rows of {FAR_PEOPLE:,} people on DuckDB and this machine; a thousand times as far as it was measured.

- The index: {hours:,.1f} hours if all of it grows with the rows, {sorted_hours:,.1f} if all of it were a sort, which
  takes n log n. It sorts each person's rows and no more, so that the truth is nearer to the first, as long as disks
  keep up.
- Disk: {_reach(disk, FAR_ROWS, FAR_PEOPLE) / 2**40:,.2f} TiB for the index{_spill(parts)}. Memory stays at its limit,
  and the rest is spilled.
- A grouped answer: {seconds[0]:,.0f} s if all rows count, {seconds[1]:,.0f} s with a cap of 10 rows a person, which
  leaves a tenth of them. Noise, ledger and second look depend on groups and columns alone.
{_check_line(slopes, parts)}- Scans, sums and sorts are spread over cores: the index is {hours * cores:,.0f}
  core-hours, to be divided by the cores at best.
- Numbers still fit: a sum over 2^48 rows is proved for each statement before it runs. People, and the rows of one, are
  counted up to 4.29 billion on DuckDB and 2.14 billion on PostgreSQL; so where every row is a person of its own, ten
  billion rows do not fit into one index.
{_others(parts)}"""


def _spill(parts: RowFilter) -> str:
    """What is on disk while the index is built, with as much for each row as the largest table took."""
    sizes = _by_size(parts.get("duckdb", {}))
    if not sizes:
        return ""
    far = sizes[-1]["index"]["disk_bytes"] / sizes[-1]["rows"] * FAR_ROWS / 2**40
    return f", {far:,.2f} TiB while it is built if rows spill as {sizes[-1]['rows']:,} of them did"


def _check_line(slopes: dict[str, list[RowFilter]], parts: RowFilter) -> str:
    """How far the plane is from the largest that was measured."""
    sizes = _by_size(parts.get("duckdb", {}))
    if not sizes:
        return ""
    largest, points = sizes[-1], [*slopes["rows"], *slopes["people"]]
    told = _reach(_plane(points, "index_seconds"), largest["rows"], largest["people"])
    return (
        f"- How good such a line is: for the index of {largest['rows']:,} trips it tells {told:,.0f} s, and "
        f"{largest['index']['seconds']:,.0f} s were measured.\n"
    )


def _others(parts: RowFilter) -> str:
    """The same for engines of which two sizes were measured, from the line through these."""
    lines = []
    for name in ("postgres", "spark"):
        sizes = _by_size(parts.get(name, {}))
        if len(sizes) > 1:
            points = [
                {
                    "rows": size["rows"],
                    "index": size["index"]["seconds"],
                    "answer": next(each["private_ms"] for each in size["questions"] if each["name"] == BARRED[0]),
                }
                for size in sizes
            ]
            index, answer = (_slope(points, "rows", what)[1] * FAR_ROWS for what in ("index", "answer"))
            lines.append(f"{NAMES[name]} {index / 3600:,.0f} hours and {answer / 60_000:,.0f} minutes")
    if not lines:
        return ""
    told = ", ".join(lines)
    return f"- The same from two sizes each, for the index and an answer on the cores of this one machine: {told}.\n"


def _peers(sizes: RowFilter) -> str:
    large = {rows: each for rows, each in sizes.items() if int(rows) > COMPARED}
    lines = "\n".join(
        f"| {each['rows']:,} | {each['name']} | {each['seconds']:.3f} | {each['seconds'] / found[0]['seconds']:.1f} | "
        f"{each['memory_bytes'] / 2**20:,.0f} |"
        for found in _by_size(large)
        for each in found
    )
    busiest = max((each["busy"] for each in large.values()), default=0.0)
    return f"""## Peers

[The comparison](comparison.md#the-same-question-measured) measures peers on a smaller table: cold and warm, in turn,
with spread and errors. This is the same question over larger ones: COUNT, SUM and AVG of fares by city at epsilon 1, at
most 10 rows of a person. Each package ran in a process and environment of its own, one after the other, while up to
{busiest:.1f} processes waited for each core: only the order of magnitude tells something. Seconds are of warm
answers. Peers cap the rows in each question; we did so once, in the index, whose time is told above.

| rows | | seconds | against ours | MiB of memory |
|---:|---|---:|---:|---:|
{lines}
"""
