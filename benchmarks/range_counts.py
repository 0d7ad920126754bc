"""10,000 random range counts of one column at 1% error: what they cost one by one, from one release, and by PMW.

100,000 people in 1,000 bins. An answer is good if it is off by at most 1% of the people, and 95% of all answers shall
be. Independent answers have Gaussian noise, or Laplace noise where epsilon is paid. The release is `range_counts`, with
noise of the real mechanism; a release is lucky or not in all its ranges together, so that several are averaged. Private
multiplicative weights (Hardt & Rothblum 2010) are simulated with modern accounting: above-threshold pays once for all
questions that its hypothesis answers well, and again after every hit, whose answer is bought with noise of its own.
They start from nothing, or warm from a release; for either the best of 36 settings is shown, as nobody could choose it
without looking at the data.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import log
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import erf

from adomnia.mechanisms.secret import Secret
from adomnia.methods.contract import Frame, NumberColumn
from adomnia.methods.registry import METHODS
from adomnia.noise import SystemBits
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Price, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.relations import Private
from adomnia.statistics.contract import Measured

if TYPE_CHECKING:
    from adomnia.methods.synthesis.strategies import GramRelease

Kind: TypeAlias = type[Concentrated] | type[Pure]
PEOPLE, BINS, QUESTIONS = 100_000, 1_000, 10_000
OFF, GOOD = 0.01, 0.95
LEAST_RATIO = 100.0
RELEASES = 20
WARM = (0.25, 1.0, 4.0)
PROTECTION = 2 ** (2 / 3)  # the best ratio of the noises of questions and threshold
ANSWER = log(1 / (1 - GOOD)) / (OFF * PEOPLE)  # the epsilon of one answer by Laplace noise that is as good
EPSILONS = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
STEPS = (0.005, 0.02, 0.05)
THRESHOLDS = (0.5, 0.75)  # of the error that is allowed


@dataclass(frozen=True)
class Questions:
    """Random ranges of bins, and the exact numbers of people in all bins."""

    starts: np.ndarray
    ends: np.ndarray
    people: np.ndarray

    def answer(self, counts: np.ndarray) -> np.ndarray:
        """The sums over all ranges."""
        sums = np.concatenate([[0.0], np.cumsum(counts)])
        return sums[self.ends] - sums[self.starts]

    def vary(self, covariance: np.ndarray) -> np.ndarray:
        """The variances of these sums."""
        sums = np.zeros((BINS + 1, BINS + 1))
        sums[1:, 1:] = np.cumsum(np.cumsum(covariance, axis=0), axis=1)
        return sums[self.ends, self.ends] - 2 * sums[self.starts, self.ends] + sums[self.starts, self.starts]


def draw_questions() -> Questions:
    """Skewed values with two peaks and some round numbers that many have."""
    random = np.random.default_rng(7)
    skewed = random.lognormal(5.3, 0.7, PEOPLE * 6 // 10)
    peak = random.normal(620, 40, PEOPLE * 3 // 10)
    round_numbers = 50.0 * random.integers(1, 20, PEOPLE // 10)
    values = np.clip(np.concatenate([skewed, peak, round_numbers]), 0, BINS - 1).astype(int)
    cuts = np.sort(random.integers(0, BINS + 1, (4 * QUESTIONS, 2)), axis=1)
    cuts = cuts[cuts[:, 0] < cuts[:, 1]][:QUESTIONS]
    return Questions(cuts[:, 0], cuts[:, 1], np.bincount(values, minlength=BINS).astype(float))


def build_release() -> object:
    """The method on a column of so many whole numbers."""
    domain = Numbers.integers(0, BINS - 1)
    number = NumberColumn("x", Column("x", Quantity(Fraction(0), Fraction(BINS - 1), True), domain), domain)
    frame = Frame(Private("people", 1, (number.value,)), {"x": number}, {}, order=("x",))
    method = METHODS["range_counts"]
    arguments = {each.name: each.default for each in method.parameters} | {"column": number, "missing": "left_out"}
    return method.build(frame, arguments | {"bins": BINS})


def release(asked: object, questions: Questions, price: Price) -> GramRelease:
    """Counts with noise of the real mechanism."""
    (measure,) = asked.planned_measures(price)
    exact = measure.query.apply([questions.people.astype(np.int64)])
    secret = Secret(exact, measure.query.sensitivity(), price)
    noisy = np.asarray(measure.mechanism.release(secret, SystemBits()))
    return asked.specialize_for(price).tabulate(Measured(noisy, measure.mechanism)).product.estimates


def price_release(asked: object, questions: Questions, kind: Kind) -> float:
    """The least amount at which so many answers are good, by their known variances."""
    unit = questions.vary(release(asked, questions, kind(1)).covariance)
    power = 1 if kind is Concentrated else 2

    def miss(logarithm: float) -> float:
        return float(np.mean(erf(OFF * PEOPLE / np.sqrt(2 * unit / np.exp(power * logarithm))))) - GOOD

    return float(np.exp(brentq(miss, log(1e-8), 0.0)))


def price_independent(kind: Kind) -> float:
    """Of noise on each answer by itself."""
    return QUESTIONS * (ANSWER if kind is Pure else 1.959964**2 / (2 * (OFF * PEOPLE) ** 2))


class Run(NamedTuple):
    """What came of one setting."""

    rho: float
    epsilon: float
    good: float
    hits: int


@dataclass(frozen=True)
class Weights:
    """Multiplicative weights: the epsilon of above-threshold, how far a hit moves the hypothesis, and the threshold."""

    epsilon: float
    step: float
    threshold: float

    def run(self, questions: Questions, start: np.ndarray, random: np.random.Generator) -> Run:
        """The rho and the epsilon that were spent, the share of good answers, and the number of hits."""
        own = self.epsilon / (1 + PROTECTION)
        exact, shares = questions.answer(questions.people), start / start.sum()
        threshold, hits, good = self._threshold(own, random), 0, 0
        for start_bin, end, truth in zip(questions.starts, questions.ends, exact, strict=True):
            answer = shares[start_bin:end].sum() * PEOPLE
            if abs(truth - answer) + random.laplace(0, 2 / (self.epsilon - own)) >= threshold:
                noisy = truth + random.laplace(0, 1 / ANSWER)
                shares[start_bin:end] *= np.exp(self.step * np.sign(noisy - answer))
                shares /= shares.sum()
                threshold, hits, answer = self._threshold(own, random), hits + 1, noisy
            good += abs(answer - truth) <= OFF * PEOPLE
        rho = ((hits + 1) * self.epsilon**2 + hits * ANSWER**2) / 2
        return Run(rho, (hits + 1) * self.epsilon + hits * ANSWER, good / QUESTIONS, hits)

    def _threshold(self, own: float, random: np.random.Generator) -> float:
        return self.threshold * OFF * PEOPLE + random.laplace(0, 1 / own)


def best_weights(questions: Questions, start: np.ndarray, kind: Kind) -> tuple[float, float, str]:
    """What the cheapest of all settings with enough good answers costs; of none, the one with the most."""
    settings = (Weights(*each) for each in product(EPSILONS, STEPS, THRESHOLDS))
    runs = [each.run(questions, start.copy(), np.random.default_rng(3)) for each in settings]
    enough = [run for run in runs if run.good >= GOOD] or [max(runs, key=lambda run: run.good)]
    best = min(enough, key=lambda run: run.rho if kind is Concentrated else run.epsilon)
    return best.rho if kind is Concentrated else best.epsilon, best.good, f"{best.hits:,} hits"


def compare(asked: object, questions: Questions, kind: Kind) -> float:
    """Print what each costs in one kind of price; return how much less the release costs than answers one by one."""
    independent, least = price_independent(kind), price_release(asked, questions, kind)
    exact, goods = questions.answer(questions.people), []
    for _ in range(RELEASES):
        off = questions.answer(release(asked, questions, kind(Fraction(least))).values) - exact
        goods.append(np.mean(np.abs(off) <= OFF * PEOPLE))
    shown = [
        ("independent answers", independent, GOOD, ""),
        ("one release", least, float(np.mean(goods)), asked.specialize_for(kind(1)).strategy),
        ("multiplicative weights, cold", *best_weights(questions, np.ones(BINS), kind)),
    ]
    for part in WARM:
        start = np.maximum(release(asked, questions, kind(Fraction(part * least))).values, 1.0)
        spent, good, hits = best_weights(questions, start, kind)
        shown.append((f"the same, warm from {part:g} times the release", part * least + spent, good, hits))
    print(f"{'':44} {'rho' if kind is Concentrated else 'epsilon':>10} {'good':>6} {'ratio':>8}")
    for name, spent, good, told in shown:
        print(f"{name:44} {spent:10.3g} {good:6.1%} {independent / spent:8.3g}  {told}")
    return independent / least


def main() -> int:
    """Print what each costs; 1 where the release is not that much cheaper."""
    questions, asked = draw_questions(), build_release()
    ratio, _ = (compare(asked, questions, kind) for kind in (Concentrated, Pure))
    print(
        f"rho of one release against independent answers: {ratio:.0f}x less, at least {LEAST_RATIO:.0f}x is asked for"
    )
    return 0 if ratio >= LEAST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
