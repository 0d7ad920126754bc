"""What every transform says of itself: what it is computed from, how, and how far a person moves it.

The second look derives the last of these again, by rules of its own: `engines/check/transforms.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import ClassVar, TypeAlias

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import AnyKey
from adomnia.privacy.scans import Exact, Form, Integers, Scan
from adomnia.privacy.sensitivity import Sensitivity

Inner: TypeAlias = tuple[tuple[AnyKey, ...], Scan]  # one scan over the same rows, in every cell of keys


class Transform(ABC):
    """What is computed from the exact integers of scans, before noise and by public facts alone."""

    tag: ClassVar[str]
    form: ClassVar[Form] = "cells"
    of_people: ClassVar[bool] = False
    different: ClassVar[bool] = False
    clips: ClassVar[bool] = False
    adds_up: ClassVar[bool] = False
    counted: ClassVar[None] = None
    centred: ClassVar[bool] = False
    usual_move: ClassVar[None] = None
    by_block: ClassVar[bool] = False  # whether a person is in one block of the scan, whose cell may become any other
    recurs: ClassVar[bool] = False  # whether later rounds compute others from the same scans

    @abstractmethod
    def check(self, keys: tuple[AnyKey, ...]) -> None:
        """Refuse to be computed in the cells of other keys than it is made for."""

    @abstractmethod
    def inner(self, keys: tuple[AnyKey, ...]) -> tuple[Inner, ...]:
        """The scans that it is computed from."""

    @property
    @abstractmethod
    def results(self) -> int:
        """How many numbers it gives."""

    @abstractmethod
    def largest(self, rows: int) -> int:
        """A bound on the size of all numbers on the way to a result, over so many rows."""

    @abstractmethod
    def derive(self, inner: Iterable[Sensitivity]) -> Sensitivity:
        """How far a person moves it who moves its scans by so much."""

    @abstractmethod
    def apply(self, exact: Sequence[Exact], largest: int) -> Integers:
        """The exact results from those of its scans, in integers wide enough for what can be `largest`."""

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What its scans look at in a row."""
        return ()

    @property
    def grids(self) -> tuple[Numbers, ...]:
        """The numbers that its results are made of."""
        return ()

    @property
    def step(self) -> Fraction:
        """What its integers count in."""
        return Fraction(1)

    def result_shape(self, _cells: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of what it gives."""
        return (self.results,)

    def simulate(self, rows: int) -> int | list[int]:
        """What it gives where each cell has so many rows."""
        return rows

    def spread_evenly(self, rows: Fraction) -> list[Fraction]:
        """The same, exactly, of values that are spread evenly over their bounds."""
        return [rows]
