"""What the fields of a form are called, and how columns are named in them.

Names of arguments have a prefix: a method may call one like a field of the price.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.methods.contract import Parameter
    from adomnia.sql.reading.refusals import Position

Fields: TypeAlias = "Mapping[str, str]"  # what was typed, by the names of the fields
OWN = "own"  # chosen instead of a column: an expression that is typed beside it
_CHOSEN = "="  # before the name of a column that is chosen, so that none is read for anything else
_PLAIN_TERM = re.compile(r"[^\W\d][\w.]*")


def field_of(parameter: Parameter) -> str:
    """The field of an argument."""
    return f"arg-{parameter.name}"


def own_of(parameter: Parameter) -> str:
    """The field of an expression that stands for a column."""
    return f"{field_of(parameter)}.own"


def box_of(parameter: Parameter, column: str) -> str:
    """The field of a column that can be ticked: each has a name of its own, because a form keeps one of a name."""
    return f"{field_of(parameter)}:{column}"


def choose_column(column: str) -> str:
    """What a field holds that a column is chosen in."""
    return _CHOSEN + column


def write_term(name: str) -> str | None:
    """The name of a column in a formula; None where no formula can name it.

    >>> write_term("age"), write_term("education-num"), write_term("`")
    ('age', '`education-num`', None)
    """
    if _PLAIN_TERM.fullmatch(name):
        return name
    return None if "`" in name else f"`{name}`"


class BadField(Refusal):
    """A refusal of what one field holds; its position, if any, is a place in that field."""

    def __init__(  # noqa: PLR0913, PLR0917 - those of a refusal, and the field
        self,
        field: str,
        what: str,
        why: str,
        fix: str,
        position: Position | None = None,
        code: str = "bad_argument",
    ) -> None:
        super().__init__(what, why, fix, position, code=code)
        self.field = field


def refuse_field(field: str, cause: Refusal, position: Position | None) -> BadField:
    """The same refusal, of a field."""
    return BadField(field, cause.what, cause.why, cause.fix, position, cause.code)
