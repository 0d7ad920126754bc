"""DuckDB as the engine: it reads the owner's files once, into the index, and then only the index, locked down."""

from adomnia.engines.duckdb.engine import DuckDB, silent
from adomnia.engines.duckdb.sources import values_of

__all__ = ["DuckDB", "silent", "values_of"]
