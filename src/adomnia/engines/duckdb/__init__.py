"""DuckDB as the engine: it reads the owner's files once, into the index, and then only the index, locked down."""

from adomnia.engines.duckdb.engine import DuckDB, Progress, silent
from adomnia.engines.duckdb.facts import facts_of
from adomnia.engines.duckdb.limits import USUAL, Limits

__all__ = ["USUAL", "DuckDB", "Limits", "Progress", "facts_of", "silent"]
