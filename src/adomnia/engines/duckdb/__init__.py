"""DuckDB as the engine: it reads the owner's files once, into the index, and then only the index, locked down."""

from adomnia.engines.duckdb.engine import DuckDB

__all__ = ["DuckDB"]
