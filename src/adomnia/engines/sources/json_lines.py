# ruff: noqa: S608 - SQL is what this module writes; names and paths are quoted
"""JSON lines: an object on each line. A line that is none, or cannot be read, is no row, and changes no other line."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from adomnia.engines.sources.texts import file_name, text_literal

ENDINGS = frozenset({".jsonl", ".ndjson"})
_LONGEST_LINE = 16_000_000


def read_keys(connection: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[str, str]]:
    """The keys of all objects, in their order of appearance: there is no header."""
    keys = f"SELECT UNNEST(json_keys(object)) AS name, ROW_NUMBER() OVER () AS line FROM {_objects(path)}"
    found = connection.execute(f"SELECT name FROM ({keys}) GROUP BY name ORDER BY MIN(line), name").fetchall()
    return [(str(name), "VARCHAR") for (name,) in found]


def render_json_lines(path: Path, names: Sequence[str]) -> str:
    """SQL that reads the values of keys as texts c0, c1, ..."""
    values = (f"json_extract_string(object, {_pointer(name)}) AS c{place}" for place, name in enumerate(names))
    return f"(SELECT {', '.join(values)} FROM {_objects(path)})"


def _objects(path: Path) -> str:
    # No character but the end of a line has a meaning: one that no JSON may hold parts columns, and nothing quotes.
    lines = (
        f"read_csv({file_name(path)}, auto_detect = false, header = false, delim = chr(1), quote = '', escape = '', "
        f"columns = {{line: 'VARCHAR'}}, strict_mode = false, ignore_errors = true, max_line_size = {_LONGEST_LINE})"
    )
    return f"(SELECT TRY_CAST(line AS JSON) AS object FROM {lines} WHERE json_type(TRY_CAST(line AS JSON)) = 'OBJECT')"


def _pointer(name: str) -> str:
    return text_literal("/" + name.replace("~", "~0").replace("/", "~1"))
