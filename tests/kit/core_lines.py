"""How large the trusted core is: lines that do something, by folder, and by where the data and the ledger are."""

from __future__ import annotations

import ast
from functools import cache
from io import StringIO
from pathlib import Path
from tokenize import COMMENT, DEDENT, ENDMARKER, INDENT, NEWLINE, NL, generate_tokens

PACKAGE = Path(__file__).parents[2] / "src" / "adomnia"

# Whole folders, all of which has to be believed: docs/proofs/README.md states how large they are.
TRUSTED_CORE = ("privacy", "noise", "catalog", "mechanisms", "engines", "ledger", "curator")
# What only some deployments run: patterns of files below the package.
ADDED = {
    "a ledger in PostgreSQL": ("ledger/postgres_*.py",),
    "data in PostgreSQL": ("engines/postgres/*.py",),
    "data in Spark": ("engines/spark/*.py",),
}

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
_SILENT = {COMMENT, NL, NEWLINE, INDENT, DEDENT, ENDMARKER}


@cache
def lines_of_code(path: Path) -> int:
    """Lines that do something: what has to be believed, without blank lines, comments and docstrings."""
    text = path.read_text()
    tokens = [token for token in generate_tokens(StringIO(text).readline) if token.type not in _SILENT]
    spoken = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    owners = [node for node in ast.walk(ast.parse(text)) if isinstance(node, _DOCUMENTED) and ast.get_docstring(node)]
    return len(spoken - {line for node in owners for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)})


def count_core() -> dict[str, int]:
    """The lines of each folder of the trusted core, and of the errors, which stand beside them."""
    folders = {part: sum(map(lines_of_code, (PACKAGE / part).rglob("*.py"))) for part in TRUSTED_CORE}
    return {"errors": lines_of_code(PACKAGE / "errors.py"), **folders}


def list_added(deployment: str) -> list[Path]:
    """The files of the core that a deployment adds to DuckDB with a ledger in SQLite."""
    return sorted(path for pattern in ADDED[deployment] for path in PACKAGE.glob(pattern))


def count_added(deployment: str) -> int:
    """The lines of these."""
    return sum(map(lines_of_code, list_added(deployment)))
