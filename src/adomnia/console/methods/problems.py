"""What is wrong with one field of a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.sql.reading.refusals import Position


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
