"""What each way to find quantiles is expected to be off by: from public facts, before anything is paid.

Ranks are off as the mechanism says; a rank is worth the spread of the values over their number. Values are
supposed to lie evenly over twice their interquartile range: that is the spread, as an earlier release told it, or half
of the declared range where nobody told one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, log1p, log10, pi, sqrt
from types import MappingProxyType

from adomnia.mechanisms.admissible import cauchy_rates
from adomnia.privacy.events import Price, Pure

_MEAN = 0.8  # of the size of a normal error, in its standard deviations
_UNEVEN = 4  # values within a bin are not where even ones would be: off by such a part of its width
_CHEAPEST, _DEAREST = 1e-6, 40.0  # epsilons beyond which an expected error is that of these
_BESIDE_ONE, _BESIDE_SEVERAL = 1.6, 1.3  # the error with an interval over the one without: benchmarks/quantiles.py
_SIZES = tuple(2**bits for bits in range(3, 10))


@dataclass(frozen=True)
class QuantileFacts:
    """What is known of a question: shares, the declared range, supposed rows and spread, rows a person, the price."""

    shares: tuple[Fraction, ...]
    width: float
    rows: int
    spread: float
    rows_per_person: int
    price: Price

    @property
    def per_rank(self) -> float:
        """How far apart neighbouring values are."""
        return 2 * self.spread / max(self.rows, 1)

    @property
    def outermost(self) -> float:
        """The share that is nearest to an end, from that end."""
        return float(min(min(each, 1 - each) for each in self.shares))

    @property
    def epsilon(self) -> float:
        """The epsilon of the price, or the one that costs its rho."""
        return float(self.price.epsilon) if isinstance(self.price, Pure) else sqrt(2 * float(self.price.rho))

    def deviation(self, times: int) -> float:
        """The standard deviation of the noise of a count, where each row is counted so many times at once."""
        rows = self.rows_per_person
        if isinstance(self.price, Pure):
            return sqrt(2) * times * rows / float(self.price.epsilon)
        return sqrt(times / (2 * float(self.price.rho))) * rows


@dataclass(frozen=True)
class Expectation:
    """How far off quantiles are expected to be, and in how many bins rows are counted for it, if in any."""

    error: float
    bins: int = 0


def expect_exponential(facts: QuantileFacts) -> Expectation:
    """A choice by rank, several by halving: each level has its part of the price."""
    levels = len(facts.shares).bit_length()
    per_level = facts.epsilon if isinstance(facts.price, Pure) else sqrt(8 * float(facts.price.rho) * levels)
    scale = max(1 - facts.outermost, 0.5) * 2 * facts.rows_per_person * levels / per_level
    # Where rows are few, some value far away is as likely as those near.
    far = facts.width / (2 * facts.spread) * exp(-min(facts.outermost * facts.rows / scale, 500))
    missed = min(1.0, far)
    return Expectation((1 - missed) * scale * facts.per_rank + missed * facts.width / 4)


def expect_brackets(facts: QuantileFacts) -> Expectation:
    """A choice by rank at a part of the price, and counts around it: so many times the error of a choice alone."""
    alone = expect_exponential(facts)
    return Expectation(min((_BESIDE_ONE if len(facts.shares) == 1 else _BESIDE_SEVERAL) * alone.error, facts.width / 4))


def expect_histogram(facts: QuantileFacts) -> Expectation:
    """Counts in as many bins as suit the noise."""
    return _best(facts, lambda bins: sqrt(bins / 4) * facts.deviation(1))


def expect_tree(facts: QuantileFacts) -> Expectation:
    """Counts on several levels: a rank is the sum of few counts, each with more noise."""
    return _best(facts, lambda bins: sqrt(count_levels(bins) / 4) * facts.deviation(count_levels(bins)))


def expect_smooth(facts: QuantileFacts) -> Expectation:
    """Cauchy noise at the smooth bound of evenly spread values, cut at the bounds: before that it has no mean."""
    alpha, beta = map(float, cauchy_rates(Fraction(min(max(facts.epsilon, _CHEAPEST), _DEAREST))))
    # k people move a quantile by k and a half ranks at most, for k = 1 / beta - 1/2 or the whole number beside it.
    steps = max(1 / beta - 0.5, 0.0)
    reach = max((k + 0.5) * exp(-beta * k) for k in (floor(steps), ceil(steps)))
    scale = facts.per_rank * facts.rows_per_person * reach / alpha
    return Expectation(min(scale / pi * log1p((facts.width / (2 * scale)) ** 2), facts.width / 4))


def count_levels(bins: int) -> int:
    """The levels of a tree of so many bins: the whole range is not counted by itself."""
    return max(1, bins.bit_length() - 1)


def _best(facts: QuantileFacts, deviation: Callable[[int], float]) -> Expectation:
    found = (
        Expectation(_MEAN * deviation(bins) * facts.per_rank + facts.width / (_UNEVEN * bins), bins) for bins in _SIZES
    )
    best = min(found, key=lambda each: each.error)
    return Expectation(min(best.error, facts.width / 4), best.bins)


WITH_INTERVAL = ("brackets", "tree", "histogram")
WAYS: Mapping[str, Callable[[QuantileFacts], Expectation]] = MappingProxyType(
    {
        "brackets": expect_brackets,
        "exponential": expect_exponential,
        "tree": expect_tree,
        "histogram": expect_histogram,
        "smooth": expect_smooth,
    }
)


def compare(facts: QuantileFacts, *, told: bool) -> dict[str, Expectation]:
    """What each way is expected to be off by, the best first.

    The smooth one takes part for one quantile alone, and only where an earlier release told the spread: its noise
    follows from the data, so that nothing else tells its error.
    """
    names = [name for name in WAYS if name != "smooth" or (told and len(facts.shares) == 1)]
    found = {name: WAYS[name](facts) for name in names}
    return dict(sorted(found.items(), key=lambda item: item[1].error))


def say(compared: Mapping[str, Expectation]) -> str:
    """The comparison in words."""
    return ", ".join(f"{name} {_digits(each.error)}" for name, each in compared.items())


def _digits(error: float) -> str:
    return f"{error:.3g}" if error == 0 or abs(log10(error)) < 6 else f"{error:.2e}"
