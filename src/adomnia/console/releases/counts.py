"""Counts of a release by one column or two: asked of the release itself, so that nothing is spent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.api.actions.releases import SCHEMA, list_keys
from adomnia.errors import Refusal
from adomnia.explaining.sql_text import choose_alias, quote_identifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adomnia.session.answer import Answer
    from adomnia.session.askable import AskableRelease

FIRST, SECOND = "by", "and"  # what the page calls the columns that it counts by


@dataclass(frozen=True)
class ReleaseCount:
    """The answer to a question about a release; `problem` is why there is none."""

    keys: tuple[str, ...]
    sql: str
    answer: Answer | None = None
    problem: Refusal | None = None

    @property
    def drawable(self) -> Answer | None:
        """The answer as it is drawn: bars of one column, a grid of two."""
        if self.answer is None:
            return None
        counted = self.answer.columns[-1].name
        if len(self.keys) == 1:
            return replace(self.answer, figure={"kind": "bars", "x": self.keys[0], "y": counted})
        return replace(self.answer, figure={"kind": "heat", "x": self.keys[1], "y": self.keys[0], "value": counted})


def read_keys(release: AskableRelease, asked: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that an address names, at most two; none where it names none of the release."""
    known = {name.lower(): name for name in list_keys(release)}
    named = (known.get(asked.get(field, "").lower()) for field in (FIRST, SECOND))
    return tuple(dict.fromkeys(name for name in named if name is not None))


def count_by(release: AskableRelease, keys: Sequence[str]) -> ReleaseCount:
    """Counts by these columns; by none: by the first two if they were measured together, else by the first."""
    if keys:
        return _count(release, tuple(keys))
    first = list_keys(release)[:2]
    both = _count(release, first)
    return _count(release, first[:1]) if both.problem is not None and len(first) > 1 else both


def write_count(release: AskableRelease, keys: Sequence[str]) -> str:
    """The question how many rows there are by these columns."""
    names = ", ".join(map(quote_identifier, keys))
    alias = choose_alias("n", {key.lower() for key in keys})
    table = f"{SCHEMA}.{quote_identifier(release.name)}"
    return f"SELECT {names}, COUNT(*) AS {alias}\nFROM {table}\nGROUP BY {names}"


def _count(release: AskableRelease, keys: tuple[str, ...]) -> ReleaseCount:
    sql = write_count(release, keys)
    try:
        return ReleaseCount(keys, sql, release.sql(sql))
    except Refusal as problem:
        return ReleaseCount(keys, sql, problem=problem)
