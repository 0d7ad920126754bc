"""Sample and aggregate: what a function makes of blocks of people is paid for, computed once, and summed up with noise.

Proof: docs/proofs/block_programs.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.measurements import Record
from adomnia.curator.paying import Kernel, PaymentRequest, keep, reserve
from adomnia.ledger import Hold
from adomnia.ledger.requests import Receipt
from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Event, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Left
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, Total
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.estimates import furthest_step, round_to_grid
from adomnia.statistics.contract import Measure, Measured
from adomnia.statistics.quantile import Quantile
from adomnia.statistics.sum import Sum

Kind: TypeAlias = Literal["average", "median"]
Compute: TypeAlias = Callable[[Bits], NDArray[np.float64]]
"""Reads the blocks, by a draw of who is in which, and gives the result of each: anything that is a double."""

_HALF = Fraction(1, 2)
_CONFIDENCE = Fraction(19, 20)  # of the interval that is chosen with a median


@dataclass(frozen=True)
class BlockSummary:
    """What is released of the results of blocks: how many these are, on which grid, and what it costs."""

    kind: Kind
    blocks: int
    domain: Numbers
    price: Pure

    @cached_property
    def statistic(self) -> Sum | Quantile:
        """What is estimated of results in steps off the middle of their grid, each by itself a row of somebody."""
        reach = furthest_step(self.domain)
        steps = Numbers(Fraction(-reach), Fraction(reach), Fraction(1))
        off = Column("off", Quantity(steps.lower, steps.upper, whole=True), steps)
        results = Private("results", 1, (off,))
        if self.kind == "average":
            return Sum(Query(results, (), Total(off, steps)))
        return Quantile(Query(results, (), Histogram(off, steps, (_HALF,), _CONFIDENCE)), _HALF)

    @property
    def measure(self) -> Measure:
        """A person moves one result, which is one row out and one in: each is hidden at half of the price."""
        return Measure(self.statistic.query, self.price / 2, self.statistic.by)

    def release(self, found: NDArray[np.float64], reserved: Event, bits: Bits) -> Measured:
        """The noisy summary of what was found in the blocks, sealed until its mechanism opens it."""
        if found.shape != (self.blocks,):
            raise ValueError(f"BlockSummary results must be one for each of {self.blocks} blocks, got others.")
        steps = round_to_grid(self.domain, found) - self.domain.middle
        query, mechanism = self.measure.query, self.measure.mechanism
        moved = query.sensitivity()
        facts = (Sensitivity(2 * moved.l1, 4 * moved.l2_squared, 2 * moved.linf), reserved)  # one row out and one in
        secret: Secret | SecretHistogram
        if query.form == "histogram":
            secret = SecretHistogram(_count_values(query.histogram, steps), 1, *facts)
        else:
            secret = Secret(np.array(steps.sum(), dtype=np.int64), *facts)
        return Measured(np.asarray(mechanism.release(secret, bits)).reshape(mechanism.shape(query)), mechanism)


def sum_up_blocks(
    kernel: Kernel, request: PaymentRequest, summary: BlockSummary, compute: Compute
) -> tuple[Measured, Receipt, Left]:
    """The noisy summary of what `compute` finds in the blocks, once it is paid for; and what is left of the budget.

    A Failure keeps the debit: what went wrong may depend on data.
    """
    hold = reserve(kernel, request, summary.price)
    assert isinstance(hold, Hold)  # noqa: S101 - whoever asks chooses a request id and an identity that are new

    def work() -> tuple[Measured, Record]:
        measured, record = summary.release(compute(kernel.bits), hold.event, kernel.bits), Record()
        record.add_round((summary.measure,), (measured,))
        return measured, record

    measured, receipt = keep(kernel, hold, work)
    assert hold.left is not None  # noqa: S101 - what was kept has it
    return measured, receipt, hold.left


def _count_values(histogram: Histogram, steps: Integers) -> Callable[[Sequence[int] | None], Integers]:
    """How many results are in each bucket of values, or are each value of some buckets, in one cell."""
    places = np.sort(steps - histogram.domain.grid_lower)

    def read(buckets: Sequence[int] | None) -> Integers:
        inside = places >> histogram.shift
        wanted = inside if buckets is None else places[np.isin(inside, list(buckets))]
        found, counts = np.unique(wanted, return_counts=True)
        return np.stack([np.zeros_like(found), found, counts])

    return read
