"""Functions of our own in PostgreSQL: its own ones raise on some rows, or give other values than DuckDB does.

Each is total: no argument makes it fail. They are made in the schema of the index. Expressions are bound when they are
made; blocks look names up when they run, on the search path that the engine pins.
"""

from functools import lru_cache

from adomnia.engines.postgres.aggregates import OWN_AGGREGATES
from adomnia.engines.postgres.own import ONCE, Own
from adomnia.engines.postgres.own_arithmetic import ARITHMETIC
from adomnia.engines.postgres.own_days import list_days, list_times
from adomnia.engines.postgres.own_texts import list_texts


@lru_cache
def list_own() -> tuple[Own, ...]:
    """All functions of ours, each behind those that it calls."""
    return (*ARITHMETIC, *OWN_AGGREGATES, *list_texts(), *list_days(), *list_times())


def render_library(schema: str) -> tuple[str, ...]:
    """The statements that make all of them in a schema, whose name is quoted."""
    return tuple(statement for own in list_own() for statement in own.render(schema))


def list_names() -> frozenset[str]:
    """What they are called: nothing else that begins like that may lie in the schema."""
    twins = {own.called + ONCE for own in list_own() if own.twin}
    return frozenset({own.called for own in list_own()} | twins)
