"""How many rows people have: asked for once, and what it tells about any cap ever after; docs/proofs/profile.md."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import call, number
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Identity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import OwnValue, PerPerson, Private
from adomnia.privacy.scans import Rows

if TYPE_CHECKING:
    from adomnia.catalog import model
    from adomnia.privacy.expressions import Expression
    from adomnia.statistics.contract import Floats

_BEYOND = 16  # how many times the largest cap is looked at: what it leaves out should be known too
_FALSE_ALARM = 0.05  # the chance that any empty bin is taken for one with people in it
_FURTHER = 4  # people whom noise hides are allowed for up to so many times the most rows that are seen


def ladder(most: int) -> tuple[int, ...]:
    """Whole numbers up to `most` that grow by the square root of two: caps to choose from, and edges between bins.

    >>> ladder(20)
    (1, 2, 3, 4, 6, 8, 11, 16, 20)
    """
    steps = (round(2 ** (power / 2)) for power in range(2 * most.bit_length() + 1))
    return (*sorted({step for step in steps if step < most}), most)


def profile_edges(most: int) -> tuple[int, ...]:
    """The edges of a profile: 0, all caps, and beyond them as far as it looks."""
    caps = ladder(most)
    return (0, *caps, *(edge for edge in ladder(_BEYOND * most) if edge > most))


def profile_query(table: model.Table) -> Query:
    """How many people have more rows than one edge and no more than the next: everybody is in one bin.

    Of the columns only those count that say whose rows they are: a profile outlives changes to all others.
    """
    edges = profile_edges(table.rows_per_person)
    owners = tuple(column for column in table.columns if isinstance(column.kind, Identity))
    rows = OwnValue("rows of a person", Rows(), Numbers.integers(1, edges[-1]))
    people = PerPerson(Private(table.name, table.rows_per_person, owners), (), (rows,))
    last = len(edges) - 2
    cases: list[Expression] = []
    for place, edge in enumerate(edges[1:-1]):
        cases += [call("<=", rows.column, number(edge)), number(place)]
    value = call("case", *cases, number(last))
    return Query(people, (Bucket(value, Numbers.integers(0, last), value),), Rows())


def hidden_people(profile: model.Profile, rows: int) -> int:
    """How many people may have more rows than an edge of the profile; more are hidden in one of 20 cases at most."""
    beyond = [people for edge, people in zip(profile.edges, profile.people, strict=False) if edge >= rows]
    return max(0, ceil(sum(beyond) + 2 * sqrt(2 * len(beyond)) / profile.epsilon))


@dataclass(frozen=True)
class Contributions:
    """People by their number of rows, as far as noise lets see.

    `people[j]` have more than `edges[j]` rows and at most `edges[j + 1]`. In a bin where none are seen up to `unseen`
    may be. `blur` is the mean size of the noise of one bin.
    """

    edges: tuple[int, ...]
    people: tuple[float, ...]
    unseen: float
    blur: float

    @classmethod
    def seen(cls, profile: model.Profile) -> Contributions:
        """What a profile shows; bins that noise alone could fill count as empty."""
        blur = 1 / float(profile.epsilon)
        unseen = blur * log(len(profile.people) / _FALSE_ALARM)
        people = tuple(float(found) if found >= unseen else 0.0 for found in profile.people)
        return cls(profile.edges, people, unseen, blur)

    @cached_property
    def _middles(self) -> Floats:
        return np.array([(below + 1 + edge) / 2 for below, edge in pairwise(self.edges)])

    @cached_property
    def rows(self) -> float:
        """All rows of the people who are seen."""
        return float(np.dot(self.people, self._middles))

    def dropped(self, caps: Floats) -> Floats:
        """How many rows lie beyond each cap."""
        return np.array(self.people) @ self._over(caps)

    def deviation(self, cap: int) -> float:
        """The standard deviation of that number, by the noise of the bins that are seen."""
        over = self._over(np.array([cap]))[:, 0] * (np.array(self.people) > 0)
        return float(np.sqrt(2 * np.square(over).sum())) * self.blur

    def bias(self, caps: Floats, most: int) -> Floats:
        """What each cap may cost in rows, as against the largest: those it leaves out, and those of people nobody sees.

        Without the second term heavy tails are cut too low: about as many people as the noise is large may have up to
        four times the most rows that are seen.
        """
        more = self.dropped(caps) - self.dropped(np.array([most]))
        return more + self.blur * np.maximum(0, min(_FURTHER * self.top, most) - caps)

    @property
    def top(self) -> int:
        """The most rows that anybody is seen to have."""
        return max((edge for edge, found in zip(self.edges[1:], self.people, strict=True) if found), default=0)

    def _over(self, caps: Floats) -> Floats:
        return np.maximum(0.0, self._middles[:, None] - np.asarray(caps, dtype=np.float64))
