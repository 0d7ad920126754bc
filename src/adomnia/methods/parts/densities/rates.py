"""How far a private histogram is from the density that it estimates, and how many bins make that least.

Of n values between 0 and 1 in d bins, with Laplace noise of scale c / epsilon on every count, the integrated squared
error is on average about

    R(f') / (12 d**2)  +  (d - R(f)) / n  +  2 c**2 d**2 / (epsilon n)**2,        R(g) the integral of g**2:

what averaging in bins loses, what sampling adds, and what noise adds. c is 1 where a person is added or removed, and 2
where one is replaced. With d = n**(1/3) the first two fall as n**(-2/3), which no histogram of bins of one width
does better; so does the third, as long as epsilon is n**(-1/3) or more: privacy costs nothing of the rate.
"""

from typing import NamedTuple

_MOST = 2.0**53


class ExpectedError(NamedTuple):
    """The three parts of the integrated squared error."""

    averaging: float
    sampling: float
    noise: float

    @property
    def total(self) -> float:
        """All of them."""
        return sum(self)


class Shape(NamedTuple):
    """What the error depends on of a density on [0, 1]: the integrals of its square and of that of its slope."""

    square: float
    slope_square: float


def expected_ise(shape: Shape, bins: int, rows: float, epsilon: float, moved: int = 1) -> ExpectedError:
    """The integrated squared error to expect; `moved` is by how much one person moves all counts together.

    >>> beta = Shape(square=1.2, slope_square=12.0)  # the density 6 x (1 - x)
    >>> [round(part, 4) for part in expected_ise(beta, bins=10, rows=1000, epsilon=1, moved=2)]
    [0.01, 0.0088, 0.0008]
    """
    return ExpectedError(
        shape.slope_square / (12 * bins**2),
        (bins - shape.square) / rows,
        2 * (moved * bins / (epsilon * rows)) ** 2,
    )


def count_bins(rows: float) -> int:
    """How many bins the rate asks for: the cube root of the number of rows, at least one.

    >>> [count_bins(rows) for rows in (-5, 1000, 27_000)]
    [1, 10, 30]
    """
    root: float = min(max(rows, 1.0), _MOST) ** (1 / 3)
    return round(root)
