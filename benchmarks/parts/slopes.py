"""What one more row, person, group or column costs on DuckDB: a table is changed in one of them at a time."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import adomnia
from parts.engines import take_turns
from parts.memory import Watch, in_a_process_of_its_own, own_peak, size_of

BATCH = 1_000_000
CATALOG = """
[dataset]
name = "slopes"
version = 1
unit = "data.person"
[budget]
epsilon = 1_000_000
[analysts.somebody]
epsilon = 1_000_000
[tables.data]
source = "data.parquet"
rows_per_person = 1000
[tables.data.columns]
person = { type = "id" }
"""


@dataclass(frozen=True)
class Shape:
    """A table: rows of people, each in one of so many groups and with so many columns of numbers."""

    rows: int = 4_000_000
    people: int = 800_000
    groups: int = 50
    columns: int = 2


CHANGES = {
    "rows": (1_000_000, 2_000_000, 4_000_000, 8_000_000),
    "people": (100_000, 800_000, 1_600_000, 3_200_000),
    "groups": (1, 1_000, 10_000, 100_000),
    "columns": (1, 2, 4, 8),
}


def measure_slopes(scale: float = 1.0) -> dict[str, list[dict[str, Any]]]:
    """Every point of every slope, with `scale` times the rows and people."""
    usual = _scaled(Shape(), scale)
    found: dict[str, list[dict[str, Any]]] = {}
    for name, values in CHANGES.items():
        sizes = [max(1, int(value * scale)) if name in ("rows", "people") else value for value in values]
        found[name] = [in_a_process_of_its_own(_measure, replace(usual, **{name: size})) for size in sizes]
        for point in found[name]:
            answer, index = point["answer_ms"], point["index_seconds"]
            print(f"  {point[name]:>9,} {name:<8} answer {answer:8.1f} ms   index {index:6.1f} s", flush=True)
    return found


def _scaled(shape: Shape, scale: float) -> Shape:
    return replace(shape, rows=int(shape.rows * scale), people=int(shape.people * scale))


def _measure(shape: Shape) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _write(folder, shape)
        start = perf_counter()
        with Watch(folder / ".adomnia", lambda: None) as watch:
            curator = adomnia.open(folder)
            built = perf_counter() - start
        with curator:
            means = ", ".join(f"AVG(x{place}) AS m{place}" for place in range(shape.columns))
            sql = f"SELECT g, {means} FROM data GROUP BY g"  # noqa: S608 - of our own making
            asked = partial(curator.session("somebody").sql, sql, epsilon=10, replay=False, allow_uninformative=True)
            (times,) = take_turns(asked)
        told = {"index_seconds": built, "answer_ms": median(times) * 1000, "memory_bytes": own_peak()}
        return {**asdict(shape), **told, "index_bytes": size_of(folder / ".adomnia"), "disk_bytes": watch.disk}


def _write(folder: Path, shape: Shape) -> None:
    """People have as many rows each as chance gives them, few enough that no cap leaves out one."""
    draw = np.random.default_rng(22)
    lines = [f'g = {{ type = "integer", lower = 0, upper = {shape.groups - 1} }}'] if shape.groups > 1 else []
    lines = lines or ['g = { type = "integer", lower = 0, upper = 1 }']
    lines += [f'x{place} = {{ type = "number", lower = 0, upper = 100 }}' for place in range(shape.columns)]
    (folder / "catalog.toml").write_text(CATALOG + "\n".join(lines) + "\n")
    writer: pq.ParquetWriter | None = None
    for start in range(0, shape.rows, BATCH):
        rows = min(BATCH, shape.rows - start)
        table = {"person": draw.integers(0, shape.people, rows), "g": draw.integers(0, shape.groups, rows)}
        table |= {f"x{place}": draw.uniform(0, 100, rows) for place in range(shape.columns)}
        batch = pa.table(table)
        writer = writer or pq.ParquetWriter(folder / "data.parquet", batch.schema)
        writer.write_table(batch)
    if writer is not None:
        writer.close()
