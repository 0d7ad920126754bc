"""What one person can move in a table, and the profile of how many rows people have, if it was paid for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log
from typing import TYPE_CHECKING

from adomnia.privacy.amounts import show_up

if TYPE_CHECKING:
    from adomnia.catalog.model import Profile, Table
    from adomnia.privacy.units import Unit

_MISSED = 20  # 19 times in 20 the exact number is within the margin


@dataclass(frozen=True)
class ProfileBar:
    """About so many people have so many rows."""

    rows: str
    people: int
    share: float  # of the longest bar


@dataclass(frozen=True)
class ProfileView:
    """A profile: its bars, how far each may be off, and what it cost."""

    bars: tuple[ProfileBar, ...]
    margin: int
    epsilon: str


def describe_moves(table: Table, unit: Unit) -> str:
    """How often one person counts, or one row where each is hidden by itself, in words."""
    if not unit.table:
        return "One row counts once: it moves COUNT(*) by at most 1."
    times = "once" if table.rows_per_person == 1 else f"{table.rows_per_person:,} times"
    says = f"One person counts at most {times}: they move COUNT(*) by at most {table.rows_per_person:,}."
    return says if table.profile_epsilon is None else f"{says} Each question takes the number that suits its price."


def view_profile(profile: Profile | None) -> ProfileView | None:
    """The profile as bars. Noise may make a number negative, shown as 0; empty bins at the end are left out."""
    if profile is None:
        return None
    # The noise is Laplace of scale 1 / epsilon: beyond log(20) times that it is once in twenty.
    margin = ceil(log(_MISSED) / profile.epsilon)
    people = [max(0, number) for number in profile.people]
    last = max((place for place, number in enumerate(people) if number > margin), default=0)
    largest = max(people[: last + 1]) or 1
    bars = (
        ProfileBar(_range(above, most), number, number / largest)
        for (above, most), number in zip(pairwise(profile.edges), people[: last + 1], strict=False)
    )
    return ProfileView(tuple(bars), margin, show_up(profile.epsilon))


def _range(above: int, most: int) -> str:
    return f"{most:,}" if most == above + 1 else f"{above + 1:,} to {most:,}"
