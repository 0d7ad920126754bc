"""Rows of public tables: read exactly, by a statement that reads nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from adomnia.engines.check import check_public
from adomnia.errors import Failure, Refusal
from adomnia.plans.columns import KeyColumn
from adomnia.privacy.kinds import Moment, Quantity
from adomnia.privacy.wall_time import read_seconds
from adomnia.work import spend

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.engines.contract import Engine, Statement
    from adomnia.plans.columns import Cell
    from adomnia.privacy.kinds import Kind
    from adomnia.privacy.relations import Select

MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class PublicRows:
    """Rows of public tables: the names of the outputs, what they are sorted by, and which are shown.

    Outputs beyond the names are not shown: rows are sorted by them.
    """

    names: tuple[str, ...]
    rows: Select
    order: tuple[tuple[int, bool, bool], ...]  # places of outputs, whether descending, and whether NULL comes first
    limit: int | None
    offset: int = 0


def read_public_columns(asked: PublicRows, engine: Engine, catalog: Catalog) -> tuple[KeyColumn, ...]:
    """The columns of the answer, its rows sorted and cut as asked."""
    statement = engine.render_rows(asked.rows)
    check_public(statement, catalog, engine.dialect)
    most = MOST_ROWS + 1 if asked.order or asked.limit is None else asked.offset + asked.limit
    rows = _read(statement, engine, min(most, MOST_ROWS + 1))
    if len(rows) > MOST_ROWS:
        why, fix = f"has more than {MOST_ROWS:,} rows", "add a condition, or LIMIT without ORDER BY"
        raise Refusal("The answer", why, fix, code="too_complex")
    for place, descending, nulls_first in reversed(asked.order):
        known = sorted((row for row in rows if row[place] is not None), key=itemgetter(place), reverse=descending)
        missing = [row for row in rows if row[place] is None]
        rows = missing + known if nulls_first else known + missing
    shown = rows[asked.offset :][: asked.limit]
    return tuple(
        KeyColumn(name, tuple(_plain(row[place], output.value.kind) for row in shown))
        for place, (name, output) in enumerate(zip(asked.names, asked.rows.outputs, strict=False))
    )


def _read(statement: Statement, engine: Engine, most: int) -> list[tuple[Any, ...]]:
    """The rows; what goes wrong with public tables is public, and the question's own fault."""
    try:
        return engine.read(statement, most)
    except Failure:
        if not (engine.is_open() and engine.is_reachable()):
            raise
    spend(0)  # where nobody waits any more, that is why it ended
    why = "takes more time or memory than a question that costs nothing may"
    raise Refusal("The question", why, "add a condition, select fewer columns, or join fewer rows", code="too_complex")


def _plain(value: Cell | None, kind: Kind) -> Cell | None:
    """Whole numbers without a point, and the timestamps that are a number of seconds: expressions are doubles."""
    if isinstance(value, int | float) and isinstance(kind, Moment):
        return read_seconds(int(value))
    return int(value) if isinstance(value, float) and isinstance(kind, Quantity) and kind.whole else value
