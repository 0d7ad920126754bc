"""Catalogs as data: written to a folder, and changed as a mismatch proposes."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from adomnia.catalog.write import toml_string
from adomnia.inspection.changes import apply_changes

if TYPE_CHECKING:
    from pathlib import Path

    from adomnia.inspection.changes import Mismatch

HEAD = """
[dataset]
name = "rides"
version = 1
unit = "{unit}"
[budget]
epsilon = 1.0
[analysts.alice]
epsilon = 1.0
"""


def write_catalog(folder: Path, unit: str, tables: str) -> Path:
    (folder / "catalog.toml").write_text(HEAD.format(unit=unit) + tables, encoding="utf-8")
    return folder


def apply_mismatch(folder: Path, mismatch: Mismatch) -> None:
    """Change the catalog of a folder as a mismatch proposes."""
    path = folder / "catalog.toml"
    content = apply_changes(tomllib.loads(path.read_text(encoding="utf-8")), mismatch.changes)
    path.write_text(_dump(content), encoding="utf-8")


def _dump(content: dict) -> str:
    return "\n".join(f"{key} = {_value(value)}" for key, value in content.items()) + "\n"


def _value(value: object) -> str:
    match value:
        case dict():
            return f"{{ {', '.join(f'{toml_string(key)} = {_value(each)}' for key, each in value.items())} }}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case str():
            return toml_string(value)
        case bool():
            return str(value).lower()
    return str(value)
