"""Tables and views: how rows meet, how far one person moves a sum, and the rows that anybody may see.

Those are made up, or of public tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.asking.batch import plan_text
from adomnia.errors import Refusal
from adomnia.options import CONFIDENCE
from adomnia.plans.public_columns import PublicRows, read_public_columns
from adomnia.pricing.questions import Question
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Total
from adomnia.session.mock import make_rows
from adomnia.sql.rows.blocks import rows_of
from adomnia.sql.rows.views import list_sources, open_view

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Catalog, Table
    from adomnia.plans.columns import KeyColumn
    from adomnia.privacy.expressions import Column
    from adomnia.session.answer import Answer
    from adomnia.wire.asking import Ask

__all__ = [
    "ask_made_up",
    "count_rows_of_a_person",
    "list_sources",
    "make_rows",
    "measure_sum",
    "open_view",
    "read_public",
]


def count_rows_of_a_person(source: str, catalog: Catalog) -> int:
    """How many rows of one person a source of rows can have at most; a Refusal where it cannot be read."""
    return rows_of(f"SELECT 1 AS one FROM {source}", catalog).relation.rows_per_person  # noqa: S608 - only read


def measure_sum(table: Table, column: Column) -> Fraction | None:
    """How far one person moves the sum of a column, as the core derives it; None of what has no sum."""
    if column.domain is None:
        return None
    # Without its columns: what one person moves follows from their rows and the bounds of the one that is added up.
    relation = Private(table.name, table.rows_per_person, ())
    return Query(relation, (), Total(column, column.domain)).sensitivity().l1 * column.domain.step


def ask_made_up(visit: Visit, asked: Ask) -> Answer:
    """The answer to a question on made-up rows; nothing is read or spent."""
    with visit.curator.mock() as made_up:
        answer: Answer = asked.put_to(made_up.session(visit.visitor.name))
    return answer


def read_public(visit: Visit, text: str) -> tuple[KeyColumn, ...]:
    """The answer to a question about public tables alone, for whoever is signed in: exact, at no price."""
    plan = plan_text(Question(text), visit.catalog, CONFIDENCE)
    if not isinstance(plan, PublicRows):
        raise Refusal("The question", "is not about public tables alone", "ask it in a session", code="not_public")
    return read_public_columns(plan, visit.curator.engine, visit.catalog)
