"""Exact noise against OpenDP's vector draws on integers: interleaved runs in one process, medians of their ratios.

OpenDP draws 1e5 values, scaled to 1e6. Exits with 1 if a bar is missed.
"""

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import opendp.prelude as dp

from adomnia.noise import SystemBits, discrete_gaussian, discrete_laplace, weighted_choice

DRAWS, PEER_DRAWS, ROUNDS = 10**6, 10**5, 7
BITS = SystemBits()


class Result(NamedTuple):
    """One line of the table."""

    workload: str
    measured: str
    bar: str
    reached: bool


def seconds(run: Callable[[], Any]) -> float:
    """How long one run takes."""
    start = perf_counter()
    run()
    return perf_counter() - start


def against_peer(workload: str, ours: Callable[[], Any], peer: Callable[[], Any], bar: float) -> Result:
    """Our draws and the peer's in turn, so that a busy machine slows both."""
    ours()  # the table of a scale is built once, before the clock starts
    pairs = [(seconds(ours), seconds(peer) * DRAWS / PEER_DRAWS) for _ in range(ROUNDS)]
    ratio = median(theirs / own for own, theirs in pairs)
    speed = DRAWS / median(own for own, _ in pairs) / 1e6
    return Result(workload, f"{ratio:6.0f}x OpenDP ({speed:.1f} M/s)", f"at least {bar:.0f}x", ratio >= bar)


def against_clock(workload: str, ours: Callable[[], Any], rounds: int, limit: float) -> Result:
    """The median time of one run."""
    ours()
    milliseconds = 1000 * median(seconds(ours) for _ in range(rounds))
    return Result(workload, f"{milliseconds:8.3f} ms", f"under {limit:g} ms", milliseconds < limit)


def peers() -> dict[str, Callable[[float], Callable[[], Any]]]:
    """OpenDP's integer measurements on a vector of zeros, by name and scale."""
    dp.enable_features("contrib")
    zeros = [0] * PEER_DRAWS
    vectors = dp.vector_domain(dp.atom_domain(T="i64"))

    def laplace(scale: float) -> Callable[[], Any]:
        measurement = dp.m.make_laplace(vectors, dp.l1_distance(T="i64"), scale=float(scale))
        return lambda: measurement(zeros)

    def gaussian(scale: float) -> Callable[[], Any]:
        measurement = dp.m.make_gaussian(vectors, dp.l2_distance(T="i64"), scale=float(scale))
        return lambda: measurement(zeros)

    return {"laplace": laplace, "gaussian": gaussian}


def results() -> Iterator[Result]:
    """All workloads."""
    peer = peers()
    for scale in (10, 10**6):
        laplace = partial(discrete_laplace, Fraction(scale), (DRAWS,), BITS)
        gaussian = partial(discrete_gaussian, Fraction(scale) ** 2, (DRAWS,), BITS)
        yield against_peer(f"1e6 discrete Laplace, scale {scale:g}", laplace, peer["laplace"](scale), 80)
        yield against_peer(f"1e6 discrete Gaussian, deviation {scale:g}", gaussian, peer["gaussian"](scale), 60)
    scores = np.arange(DRAWS) * 7919 % 100_003
    choice = partial(weighted_choice, scores, Fraction(1, 1000), BITS)
    yield against_clock("choice among 1e6 candidates", choice, 15, 100)
    for scale in (10, 10**6):
        laplace = partial(discrete_laplace, Fraction(scale), (50,), BITS)
        gaussian = partial(discrete_gaussian, Fraction(scale) ** 2, (50,), BITS)
        yield against_clock(f"50 discrete Laplace, scale {scale:g}", laplace, 500, 0.3)
        yield against_clock(f"50 discrete Gaussian, deviation {scale:g}", gaussian, 500, 0.3)


def main() -> int:
    """Print the table; 1 if a bar is missed."""
    missed = 0
    for line in results():
        print(f"{line.workload:39} {line.measured:28} {line.bar:14} {'ok' if line.reached else 'MISSED'}", flush=True)
        missed += not line.reached
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
