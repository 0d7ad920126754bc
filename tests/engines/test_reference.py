"""docs/engines.md says which function is offered where, as the tables of the engines do."""

from __future__ import annotations

from pathlib import Path

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.postgres.dialect import POSTGRES
from adomnia.engines.postgres.functions import REMARKS as POSTGRES_REMARKS
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.functions import REMARKS as SPARK_REMARKS
from adomnia.privacy.functions.registry import FUNCTIONS

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


ENGINES = {
    "DuckDB": (DUCKDB, {}),
    "PostgreSQL": (POSTGRES, POSTGRES_REMARKS),
    "Spark": (SPARK, SPARK_REMARKS),
}


def render_function_table():
    """All functions that have a spelling in questions; those that every engine has without a remark in one row."""
    lines = [f"| function | {' | '.join(ENGINES)} |", f"|---|{'---|' * len(ENGINES)}"]
    rows = {function.written: list(list_cells(function.name)) for function in FUNCTIONS.values() if function.written}
    told = {written: cells for written, cells in rows.items() if set(cells) != {"yes"}}
    lines += [f"| `{escape(written)}` | {' | '.join(cells)} |" for written, cells in told.items()]
    everywhere = ", ".join(f"`{escape(written)}`" for written in rows if written not in told)
    lines.append(f"| {everywhere} | {' | '.join(['yes'] * len(ENGINES))} |")
    return "\n".join(lines) + "\n"


def list_cells(name):
    for dialect, remarks in ENGINES.values():
        yield f"no: {dialect.refused[name]}" if name in dialect.refused else remarks.get(name, "yes")


def escape(written):
    return written.replace("|", "\\|")


def test_the_page_has_the_table_of_all_functions():
    assert render_function_table() in PAGE.read_text()


def test_every_function_that_can_be_asked_for_is_in_the_table():
    table = render_function_table()
    assert all(f"`{each.written}`".replace("|", "\\|") in table for each in FUNCTIONS.values() if each.written)
    assert "| `LOG2(a)` | yes | no: PostgreSQL has no logarithm" in table
    assert "| `EXP(a)` | yes | where the server's C library" in table
