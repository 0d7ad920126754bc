"""How long private answers take beside the raw engine, and how that grows: docs/performance.md, written by this.

    python benchmarks/performance.py [duckdb] [postgres] [spark] [slopes] [peers] [--rows 100000 ...] [--large]

Each part that is named is measured, kept in docs/performance.json, and written to the page; without a name, all of them
are, in about twenty minutes. Raw, private, and private over almost no rows are asked in turn, and medians are compared.
--large adds a hundred million rows on DuckDB: about 15 GB of disk, and half an hour. Other numbers of rows than the
usual ones are printed and not kept. Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parts import page
from parts.engines import SERVERS, find_obstacle, measure_engine
from parts.peers import measure_peers
from parts.slopes import Shape, measure_slopes

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "performance.json"
PAGE = ROOT / "docs" / "performance.md"
USUAL, LARGE = (1_000_000, 10_000_000), 100_000_000
PARTS = (*SERVERS, "slopes", "peers")


def describe_machine() -> dict[str, str]:
    """What the figures are measured on."""
    told = [line.split(":")[1].strip() for line in _read_processors() if "model name" in line]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{os.cpu_count()} cores, {told[0] if told else platform.machine()}",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release().split('-')[0]}, Python {platform.python_version()}",
        "versions": ", ".join(filter(None, map(_tell_version, ("duckdb", "psycopg", "pyspark", "numpy", "pyarrow")))),
    }


def _read_processors() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def _tell_version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def measure(part: str, rows: int) -> dict[str, Any]:
    """One part at one size, with the day and how busy the machine was already."""
    works: dict[str, Callable[[], Any]] = {
        "slopes": lambda: measure_slopes(rows / Shape().rows),
        "peers": partial(measure_peers, rows),
    }
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"== {part}, {rows:,} rows", flush=True)
    found = works[part]() if part in works else measure_engine(part, rows)
    return {"day": datetime.now(UTC).date().isoformat(), "busy": busy, "found": found}


def sizes_of(part: str, *, large: bool) -> tuple[int, ...]:
    """The numbers of rows that are kept of a part."""
    if part == "slopes":
        return (Shape().rows,)
    return (*USUAL, LARGE) if large and part == "duckdb" else USUAL


def load_kept(machine: dict[str, str]) -> dict[str, Any]:
    """What was measured before on this machine: figures of two machines are not compared."""
    empty: dict[str, Any] = {"machine": machine, "cores": os.cpu_count(), "parts": {}}
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else empty
    return kept if kept["machine"] == machine else empty


def keep(part: str, rows: int, found: dict[str, Any]) -> None:
    """Add what was found to what is kept, and write the page anew."""
    kept = load_kept(describe_machine())
    kept["parts"].setdefault(part, {})[str(rows)] = found
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    PAGE.write_text(page.render(kept))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; all without one")
    parser.add_argument("--rows", type=int, nargs="+", help="instead of the usual numbers of rows")
    parser.add_argument("--large", action="store_true", help="a hundred million rows on DuckDB too")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    tried: dict[str, Any] = {"parts": {}}
    for part in asked.parts or PARTS:
        if obstacle := find_obstacle(part):
            print(f"LEFT OUT: {part}. {obstacle}", flush=True)
            continue
        for rows in asked.rows or sizes_of(part, large=asked.large):
            found = measure(part, rows)
            tried["parts"].setdefault(part, {})[str(rows)] = found
            if rows in sizes_of(part, large=True):
                keep(part, rows, found)
    for missed in page.list_missed(tried):
        print(f"MISSED: {missed}", flush=True)
    return 1 if page.list_missed(tried) else 0


if __name__ == "__main__":
    sys.exit(main())
