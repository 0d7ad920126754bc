"""Constants of DuckDB's SQL where none can be bound."""

import re
from pathlib import Path


def text_literal(text: str) -> str:
    """A text constant."""
    return "'" + text.replace("'", "''") + "'"


def file_name(path: Path) -> str:
    """This one file, even if its name would match others."""
    return text_literal(re.sub(r"([*?\[])", r"[\1]", str(path)))
