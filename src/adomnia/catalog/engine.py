"""Which engine holds the index and runs questions: the one that is declared, or that of the place of private rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.catalog.document_keys import ENGINE
from adomnia.catalog.lakes import is_in_spark
from adomnia.catalog.model import EngineChoice
from adomnia.postgres import is_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.catalog.document import Document
    from adomnia.catalog.model import Table

_PATH = ("engine",)


def read_engine(document: Document, tables: Sequence[Table]) -> EngineChoice:
    """Read the section, or choose: where all private tables are in one database of PostgreSQL, the index is too."""
    private = [table.source for table in tables if not table.public]
    in_postgres = all(map(is_url, private)) and len(set(private)) == 1
    in_spark = [table.name for table in tables if is_in_spark(table.source)]
    if in_spark and document.content.get("engine", {}).get("name") != "spark":
        why = "is where only Spark reads, and the engine is another one"
        raise document.refusal(("tables", in_spark[0], "source"), why, 'write name = "spark" in [engine]')
    if "engine" not in document.content:
        return EngineChoice("postgres" if in_postgres else EngineChoice.name)
    declared = document.section(_PATH, ENGINE)
    choice = EngineChoice(declared["name"], declared.get("url"), declared.get("index"))
    for key in ("url", "index"):
        if key in declared and choice.name != "spark":
            raise document.refusal((*_PATH, key), f"is for spark, and {choice.name} takes none", "remove it")
    if choice.name == "postgres" and private and not in_postgres:
        why = "needs all private tables in one database of PostgreSQL, under one URL"
        fix = 'name them by it, or write "duckdb", which reads all sources into an index of its own'
        raise document.refusal((*_PATH, "name"), why, fix)
    return choice
