"""The engines by name. Another one is a folder with its dialect, and a line here."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from adomnia.engines.contract import EngineClass


def _duckdb() -> EngineClass:
    from adomnia.engines.duckdb.engine import DuckDB

    return DuckDB


# Loaded when first asked for: an engine takes longer to load than the command line may to start.
ENGINES: Mapping[str, Callable[[], EngineClass]] = MappingProxyType({"duckdb": _duckdb})
EMBEDDED = "duckdb"  # what reads files and tables in memory


def load_engine(name: str = EMBEDDED) -> EngineClass:
    """The engine of that name."""
    return ENGINES[name]()
