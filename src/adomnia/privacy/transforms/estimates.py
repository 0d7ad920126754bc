"""Estimates of blocks of people, added up: a person is in one block, so that one estimate of many moves, within bounds.

What a block's estimate is computed by is a public function, of which nothing is believed but that it looks at this
block's sums alone. Proof: docs/proofs/estimates.md.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import AnyKey, Blocks, Bucket
from adomnia.privacy.scans import Exact, Integers, Rows, spread
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.contract import Inner, Transform
from adomnia.privacy.vectors import Variable, Vector

MOST_STEPS = 2**16  # of the grid of a parameter
MOST_PARAMETERS = 16
_FARTHEST = 2**50  # steps from zero: as doubles exact, and a half step too
_SUPPOSED_WIDTH = 7  # standard deviations of the estimates: an interval that is chosen for them is about so wide
_SUPPOSED_PART = 64  # of all that is possible: so far do estimates spread before one is chosen


class BlockFunction(Protocol):
    """Makes estimates of the sums of blocks. A frozen dataclass with a tag, and fields that are plain values.

    A row of estimates is a function of the same row of sums, and of its place, and of nothing else. There are as many
    rows whatever the sums, and nothing is raised.
    """

    def estimate(self, sums: Any) -> Any:  # noqa: ANN401 - arrays, which nothing here computes with
        """From the exact sums (blocks, columns) the estimates (blocks, parameters), as doubles."""
        ...


@dataclass(frozen=True)
class BlockEstimates(Transform):
    """Sums over blocks of what a function makes of the exact sums of each: `domains` are the grids of its parameters.

    The sums are those of a vector, or the numbers of rows at each step of a variable.
    What is no number counts as the middle of its grid, and what is beyond it as the nearest end.
    """

    by_block: ClassVar[bool] = True
    sums: Vector | Variable
    function: BlockFunction
    domains: tuple[Numbers, ...]

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if not 1 <= len(self.domains) <= MOST_PARAMETERS:
            raise ValueError(f"{kind} domains must number between 1 and {MOST_PARAMETERS}, got {len(self.domains)}.")
        for domain in self.domains:
            if not 1 <= domain.width <= MOST_STEPS or domain.magnitude > _FARTHEST:
                raise ValueError(f"{kind} domains must be of 1 to {MOST_STEPS} steps within 2**50, got {domain}.")

    def check(self, keys: tuple[AnyKey, ...]) -> None:
        if list(map(type, keys)) != [Blocks]:
            raise ValueError(f"Query keys must be blocks of people where these are estimated, got {keys}.")

    def inner(self, keys: tuple[AnyKey, ...]) -> tuple[Inner, ...]:
        if isinstance(self.sums, Vector):
            return ((keys, self.sums),)
        return (((*keys, Bucket(self.sums.value, self.sums.domain, self.sums.value)), Rows()),)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return self.sums.expressions if isinstance(self.sums, Vector) else (self.sums.value,)

    @property
    def grids(self) -> tuple[Numbers, ...]:
        return self.domains

    def largest(self, rows: int) -> int:
        return rows * (self.sums.magnitude if isinstance(self.sums, Vector) else 1)

    def derive(self, _inner: Iterable[Sensitivity]) -> Sensitivity:
        return self.move  # a person is in one block, however many rows they have

    def apply(self, exact: Sequence[Exact], _largest: int) -> Integers:
        """The first axis of the sums is that of blocks."""
        sums = spread(*exact)
        with np.errstate(all="ignore"):
            found = self.function.estimate(sums)
        if found.shape != (len(sums), len(self.domains)) or found.dtype != np.float64:
            raise ValueError("BlockFunction estimates must be a double for each block and parameter, got others.")
        parameters = enumerate(self.domains)
        return np.concatenate([self.add_up(domain, round_to_grid(domain, found[:, at])) for at, domain in parameters])

    @abstractmethod
    def add_up(self, domain: Numbers, steps: Integers) -> Integers:
        """What is measured of the estimates of one parameter, in steps of its grid."""

    @property
    @abstractmethod
    def move(self) -> Sensitivity:
        """How far the results move where the estimates of one block become any others."""

    @abstractmethod
    def simulate(self, blocks: int) -> list[int]:
        """The numbers for so many blocks whose estimates spread about the middle as they usually do."""


@dataclass(frozen=True)
class EstimateMoments(BlockEstimates):
    """Of each parameter the sum of the distances v from the middle of its grid, and of the squares, v**2 // (2 reach).

    Squares so shortened cost nothing: where v moves by d, they move by at most 2 reach - d.
    """

    tag: ClassVar[str] = "EstimateMoments"

    @property
    def results(self) -> int:
        return 2 * len(self.domains)

    def add_up(self, domain: Numbers, steps: Integers) -> Integers:
        # At most 2**17 blocks of 2**16 steps, whose squares are of 2**32: 64 bits hold all of it.
        away = steps - domain.middle
        return np.array([away.sum(), (away * away // (2 * furthest_step(domain))).sum()], dtype=np.int64)

    @property
    def move(self) -> Sensitivity:
        moves = [2 * furthest_step(domain) for domain in self.domains]
        return Sensitivity(sum(moves), sum(move**2 for move in moves), max(moves))

    def simulate(self, blocks: int) -> list[int]:
        spreads = [domain.width**2 // (_SUPPOSED_WIDTH**2 * 2 * furthest_step(domain)) for domain in self.domains]
        return [number for spread in spreads for number in (0, blocks * spread)]


@dataclass(frozen=True)
class EstimateCounts(BlockEstimates):
    """Of each parameter how many blocks have their estimate at each step of its grid, one grid after the other."""

    tag: ClassVar[str] = "EstimateCounts"

    @property
    def results(self) -> int:
        return sum(domain.width + 1 for domain in self.domains)

    def add_up(self, domain: Numbers, steps: Integers) -> Integers:
        return np.bincount(steps - domain.grid_lower, minlength=domain.width + 1).astype(np.int64)

    @property
    def move(self) -> Sensitivity:
        # One count of each parameter falls by one and another rises, whether a person comes or goes.
        counts = 2 * len(self.domains)
        return Sensitivity(counts, counts, 1)

    def simulate(self, blocks: int) -> list[int]:
        return [count for domain in self.domains for count in _simulate_counts(domain.width + 1, blocks)]


def furthest_step(domain: Numbers) -> int:
    """How many steps the ends of a grid are from its middle."""
    return max(domain.grid_upper - domain.middle, domain.middle - domain.grid_lower)


def round_to_grid(domain: Numbers, values: NDArray[np.float64]) -> Integers:
    """Estimates in steps of their grid, each by itself: clamped before and after, and in the middle if no number."""
    lower, upper, step = float(domain.lower), float(domain.upper), float(domain.step)
    known = np.where(np.isfinite(values), values, domain.middle * step)
    steps = np.floor(np.minimum(np.maximum(known, lower), upper) / step + 0.5)
    # What no double should be is there all the same: the ends, before a conversion that has no meaning beyond them.
    within = np.where(np.isfinite(steps), steps, float(domain.middle))
    within = np.minimum(np.maximum(within, float(domain.grid_lower)), float(domain.grid_upper))
    return np.minimum(np.maximum(within.astype(np.int64), domain.grid_lower), domain.grid_upper)


def _simulate_counts(steps: int, blocks: int) -> list[int]:
    """Blocks that are spread about the middle by the normal distribution."""
    deviation = max(1.0, steps / _SUPPOSED_PART)
    weights = [exp(-(((place - (steps - 1) // 2) / deviation) ** 2) / 2) for place in range(steps)]
    whole = sum(weights)
    return [round(blocks * weight / whole) for weight in weights]
