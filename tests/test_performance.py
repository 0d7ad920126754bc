"""The page of performance: it is written from figures that are kept, and tells the bars that are missed."""

from __future__ import annotations

import importlib.util
import json
from copy import deepcopy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def load_page():
    spec = importlib.util.spec_from_file_location("page", ROOT / "benchmarks" / "parts" / "page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = load_page()


def engine(rows, private=1500.0, seconds=60.0, memory=2**30):
    index = {"seconds": seconds, "memory_bytes": memory, "disk_bytes": 2**31, "index_bytes": 2**30}
    asked = {"raw_ms": 1000.0, "private_ms": private, "fixed_ms": 400.0}
    questions = [{"name": name, **asked} for name in ("COUNT WHERE", *PAGE.BARRED)]
    return {"rows": rows, "people": rows // 5, "index": index, "questions": questions}


def point(rows=4_000_000, people=800_000, groups=50, columns=2):
    """A table that takes 2 s and 100 bytes for a million rows and half of it for a million people."""
    millions = rows / 1e6 + people / 2e6
    sizes = {"index_bytes": 1e8 * millions, "disk_bytes": 3e8 * millions, "memory_bytes": 2**30}
    shape = {"rows": rows, "people": people, "groups": groups, "columns": columns}
    return {**shape, **sizes, "index_seconds": 2 * millions, "answer_ms": 10 + 5 * rows / 1e6 + groups / 1e3}


def measured(**parts):
    kept = {
        name: {str(rows): {"day": "2026-11-17", "busy": 0.1, "found": found}} for name, (rows, found) in parts.items()
    }
    return {"machine": {"processor": "2 cores, one of a kind", "memory": "24 GiB"}, "cores": 2, "parts": kept}


SLOPES = {
    "rows": [point(rows=rows * 10**6) for rows in (1, 2, 4, 8)],
    "people": [point(people=people * 10**5) for people in (1, 8, 16, 32)],
    "groups": [point(groups=groups) for groups in (1, 1000, 10**4, 10**5)],
    "columns": [point(columns=columns) for columns in (1, 2, 4, 8)],
}


def test_a_ratio_leaves_out_the_fixed_cost_and_a_bar_that_is_kept_is_said():
    page = PAGE.render(measured(postgres=(10**7, engine(10**7))))
    assert "| 10,000,000 | COUNT, SUM, AVG by city | 1,000.0 | 1,500.0 | 400.0 | 1.10 | 1.3 |" in page
    assert "| COUNT WHERE | 1,000.0 | 1,500.0 | 400.0 | 1.10 |  |" in page
    assert "All bars are kept." in page
    assert "Other work" not in page


def test_a_bar_that_is_missed_is_said_and_counted():
    kept = measured(postgres=(10**7, engine(10**7, private=1701.0)))
    assert len(PAGE.list_missed(kept)) == len(PAGE.BARRED)
    assert "**Missed**: PostgreSQL, 10,000,000 rows, COUNT, SUM, AVG by city: 1.30, bar 1.3" in PAGE.render(kept)


@pytest.mark.parametrize("limit", [{"seconds": 601.0}, {"memory": 12 * 2**30 + 1}])
def test_the_large_index_has_bars_of_its_own(limit):
    assert PAGE.list_missed(measured(duckdb=(10**8, engine(10**8)))) == []
    assert len(PAGE.list_missed(measured(duckdb=(10**8, engine(10**8, **limit))))) == 1


def test_small_tables_have_no_bar():
    assert PAGE.list_missed(measured(spark=(10**6, engine(10**6, private=9999.0)))) == []


def test_a_busy_machine_is_said():
    kept = deepcopy(measured(spark=(10**7, engine(10**7))))
    kept["parts"]["spark"][str(10**7)]["busy"] = 4.2
    assert "up to 4.2 processes waited" in " ".join(PAGE.render(kept).split())


def test_ten_billion_rows_are_carried_on_from_rows_and_people():
    page = " ".join(PAGE.render(measured(slopes=(4_000_000, SLOPES))).split())
    assert "| a million rows | 5.00 ms | 2.00 s | 95.4 MiB |" in page
    assert "| a million people | 0.00 ms | 1.00 s | 47.7 MiB |" in page
    assert "The index: 5.6 hours" in page  # 2 s for each of 10,000 millions of rows, and 1 s for 100 of people
    assert "0.91 TiB for the index" in page
    assert "A grouped answer: 50 s if all rows count, 5 s with a cap" in page


def test_peers_are_told_beside_ours():
    ours = {"name": "Ad Omnia", "seconds": 0.5, "memory_bytes": 2**28, "rows": 10**7}
    page = PAGE.render(measured(peers=(10**7, [ours, {**ours, "name": "Another", "seconds": 4.0}])))
    assert "| 10,000,000 | Another | 4.000 | 8.0 | 256 |" in page


def test_peers_on_small_tables_are_told_by_the_comparison_alone():
    ours = {"name": "Ad Omnia", "seconds": 0.5, "memory_bytes": 2**28, "rows": 10**6}
    assert "| 1,000,000 | Ad Omnia |" not in PAGE.render(measured(peers=(10**6, [ours])))


def test_the_page_is_the_one_of_the_figures_that_are_kept():
    kept = json.loads((ROOT / "docs" / "performance.json").read_text())
    assert (ROOT / "docs" / "performance.md").read_text() == PAGE.render(kept)
