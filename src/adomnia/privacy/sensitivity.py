"""How far one person can move the exact answer to a query."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nextafter
from typing import TYPE_CHECKING

from adomnia.privacy.amounts import Number, positive, whole
from adomnia.privacy.enclosures import sqrt_up

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, init=False)
class Sensitivity:
    """Bounds on the L1, squared L2 and Linf norms of the change one person makes, exact.

    `monotone` says that adding a person never lowers a coordinate. One direction, on purpose: "all coordinates the same
    way" would be lost when two queries are measured together, or when a person has several rows.

    >>> Sensitivity(l1=4, l2_squared=4, linf=1).times(3)
    Sensitivity(l1=Fraction(12, 1), l2_squared=Fraction(36, 1), linf=Fraction(3, 1), monotone=False)
    """

    l1: Fraction
    l2_squared: Fraction
    linf: Fraction
    monotone: bool

    def __init__(
        self,
        l1: Number,
        l2_squared: Number | None = None,
        linf: Number | None = None,
        monotone: bool = False,
    ) -> None:
        sum_of_changes = positive(l1, "Sensitivity", "l1")
        most = sum_of_changes**2
        squares = most if l2_squared is None else positive(l2_squared, "Sensitivity", "l2_squared")
        if squares is not most and squares > most:
            raise ValueError(f"Sensitivity l2_squared must be <= l1**2 = {most}, got {l2_squared}.")
        # No coordinate moves further than the whole vector does, in either norm.
        furthest = sum_of_changes if squares == most else min(sum_of_changes, sqrt_up(squares))
        largest = furthest if linf is None else positive(linf, "Sensitivity", "linf")
        if largest is not furthest and largest > furthest:
            raise ValueError(f"Sensitivity linf must be <= l1 and linf**2 <= l2_squared, got {linf}.")
        if not isinstance(monotone, bool):
            raise TypeError(f"Sensitivity monotone must be True or False, got {monotone!r}.")
        object.__setattr__(self, "l1", sum_of_changes)
        object.__setattr__(self, "l2_squared", squares)
        object.__setattr__(self, "linf", largest)
        object.__setattr__(self, "monotone", monotone)

    @property
    def l2(self) -> float:
        """The L2 norm as a float, rounded up."""
        root = sqrt_up(self.l2_squared)
        nearest = float(root)
        return nearest if nearest >= root else nextafter(nearest, inf)

    def __add__(self, other: Sensitivity) -> Sensitivity:
        """The two queries measured as one vector."""
        return Sensitivity(
            self.l1 + other.l1,
            self.l2_squared + other.l2_squared,
            max(self.linf, other.linf),
            self.monotone and other.monotone,
        )

    def times(self, rows: int) -> Sensitivity:
        """The same query where one person has at most that many rows."""
        count = whole(rows, "Sensitivity", "rows")
        if count == 1:
            return self
        l1, squares, linf = self.l1 * count, self.l2_squared * count**2, self.linf * count
        # A default linf is a root rounded up; multiplied, it may pass the root of the product by its last digit.
        return Sensitivity(l1, squares, linf if squares == l1**2 else min(linf, sqrt_up(squares)), self.monotone)
