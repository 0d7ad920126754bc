"""The engines by name. Another one is a folder with its dialect, and a line here."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from adomnia.engines.contract import EngineClass
from adomnia.errors import Refusal


def _duckdb() -> EngineClass:
    from adomnia.engines.duckdb.engine import DuckDB

    return DuckDB


def _postgres() -> EngineClass:
    from adomnia.engines.postgres.engine import Postgres

    return Postgres


def _spark() -> EngineClass:
    from adomnia.engines.spark.engine import Spark

    return Spark


# Loaded when first asked for: an engine takes longer to load than the command line may to start.
ENGINES: Mapping[str, Callable[[], EngineClass]] = MappingProxyType(
    {"duckdb": _duckdb, "postgres": _postgres, "spark": _spark}
)
EMBEDDED = "duckdb"  # what reads files and tables in memory


def load_engine(name: str = EMBEDDED) -> EngineClass:
    """The engine of that name; a Refusal where it is not one of this installation."""
    if name not in ENGINES:
        why, fix = "is not an engine of this installation", f"name one of these in [engine]: {', '.join(ENGINES)}"
        raise Refusal(f"The engine {name}", why, fix)
    return ENGINES[name]()
