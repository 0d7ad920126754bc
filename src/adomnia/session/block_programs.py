"""Sample and aggregate with a function of yours: it sees blocks of people one by one, and all see a noisy summary."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from hashlib import sha256
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.curator.estimating import round_to_grid
from adomnia.engines.registry import load_engine
from adomnia.errors import Failure, Refusal
from adomnia.ledger import Hold
from adomnia.plans.canonical import canonical
from adomnia.pricing.payment import check_confidence
from adomnia.privacy.amounts import show_up
from adomnia.privacy.domains import Numbers
from adomnia.privacy.estimates import furthest_step
from adomnia.privacy.filters import Budget
from adomnia.privacy.units import ROW
from adomnia.session.answer import Answer
from adomnia.session.columns import ValueColumn
from adomnia.session.curator import MEMORY, Curator, open_ledger
from adomnia.session.declared import TABLE, Declared
from adomnia.session.people_blocks import cut_into_blocks
from adomnia.session.programs import run_program
from adomnia.session.protect import OWNER, protect_tables
from adomnia.session.request_ids import choose_request_id
from adomnia.statistics.contract import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray

    from adomnia.catalog.model import Catalog
    from adomnia.curator.kernel import Kernel
    from adomnia.noise import Bits, Integers
    from adomnia.privacy.events import Pure
    from adomnia.statistics.contract import Bounds

_QUESTIONS = {"average": "SELECT SUM(off) AS estimate FROM data", "median": "SELECT MEDIAN(off) AS estimate FROM data"}
_MOST_BLOCKS = 10_000  # each is a process
_COARSER = 2**9  # the steps of a median: 2**11 to 2**12 between the bounds
_HALF_STEP = 0.5  # so far does rounding move a result
_log = logging.getLogger("adomnia.curator")


@dataclass(frozen=True)
class BlockProgram:
    """A function of a block's rows, what is made of its results, and what to pay.

    Guarantee   epsilon-DP for a person with all their rows, as long as what the function gives for a block depends on
                that block's rows alone. One result of a block is then replaced at most, which is one row out and one
                row in: the results are asked at half of epsilon, under which each of the two is hidden.
    Proof       docs/proofs/block_programs.md.
    """

    function: Callable[[Any], object]
    blocks: int
    domain: Numbers
    aggregate: str
    price: Pure
    time_limit_seconds: float

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"sample_and_aggregate function must be callable, got {type(self.function).__name__}.")
        if type(self.blocks) is not int or not 2 <= self.blocks <= _MOST_BLOCKS:
            raise ValueError(f"sample_and_aggregate blocks must be from 2 to {_MOST_BLOCKS}, got {self.blocks!r}.")
        if self.aggregate not in _QUESTIONS:
            raise ValueError(f"sample_and_aggregate aggregate must be average or median, got {self.aggregate!r}.")
        if not 0 < self.time_limit_seconds < inf:
            given = self.time_limit_seconds
            raise ValueError(f"sample_and_aggregate time_limit_seconds must be > 0, got {given}.")

    def run(self, rows: pa.Table) -> float:
        """What the function makes of a block; not a number where the block has no rows."""
        return run_program(self.function, rows.to_pandas(), self.time_limit_seconds) if len(rows) else nan

    def try_out(self, made_up: pa.Table) -> None:
        """Refuse a function that makes no number of made-up rows: before anything is paid, and from public facts."""
        if isnan(self.run(made_up)):
            why = f"makes no number of {len(made_up)} made-up rows: it raises, returns another thing, or is too slow"
            fix = "call it on rows of own.mock(), import what it needs before, raise time_limit_seconds, or anyway=True"
            raise Refusal("The function", why, fix, code="no_number")

    def open_results(self, steps: Integers, bits: Bits) -> Curator:
        """The results of all blocks as a dataset of their own: steps from the middle, every row protected by itself."""
        import pyarrow as pa

        engine, reach = load_engine(), furthest_step(self.domain)
        declared = Declared("row", Budget(self._half.epsilon), bounds={"off": (-reach, reach)})
        table = pa.table({"off": pa.array(steps - self.domain.middle, pa.int64())})
        protected = protect_tables(table, {}, declared, engine.find_facts)
        loaded = engine.load(protected.catalog, protected.frames)
        return Curator(protected.catalog, loaded, open_ledger(protected.catalog, MEMORY), bits)

    def check_price(self, bits: Bits, confidence: float) -> None:
        """Refuse what cannot be asked, by results that are all in the middle: before anything is paid."""
        check_confidence(confidence)
        with self.open_results(np.full(self.blocks, self.domain.middle, dtype=np.int64), bits) as results:
            try:
                results.session(OWNER).price(_QUESTIONS[self.aggregate], epsilon=self._half.epsilon)
            except Refusal as refusal:
                what = f"At half of epsilon={show_up(self.price.epsilon)}, which results of blocks are asked at,"
                why = f"{refusal.what} {refusal.why}"
                raise Refusal(what, why, f"{refusal.fix}, and pass twice that", code=refusal.code) from None

    def measure(self, found: NDArray[np.float64], bits: Bits) -> Estimate:
        """The noisy average or median of what was found in the blocks."""
        steps, text = round_to_grid(self.domain, found), _QUESTIONS[self.aggregate]
        with self.open_results(steps, bits) as results:
            answer = results.session(OWNER).sql(text, epsilon=self._half.epsilon, anyway=True)
        (column,) = answer.columns
        assert isinstance(column, ValueColumn)  # noqa: S101 - an aggregate
        return self._scale(column.estimate)

    @property
    def _half(self) -> Pure:
        return self.price / 2

    def _scale(self, noisy: Estimate) -> Estimate:
        """From steps off the middle, of all blocks together for an average, to numbers between the bounds."""
        domain, parts = self.domain, self.blocks if self.aggregate == "average" else 1
        limits = float(domain.lower), float(domain.upper)

        def place(off: Any) -> NDArray[np.float64]:  # noqa: ANN401 - an array of numbers, of whatever shape
            found = (domain.middle + np.ravel(off).astype(np.float64) / parts) * float(domain.step)
            return np.clip(found, *limits)

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = noisy.interval(confidence, cells)
            return place(lower - _HALF_STEP * parts), place(upper + _HALF_STEP * parts)

        return Estimate(place(noisy.values), interval, f"noisy {self.aggregate} over blocks", limits=limits)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before the number is used."""
        return (
            f"It is about what the function makes of each of {self.blocks:,} blocks of people, drawn anew.",
            "A block where it fails, gives no number or takes too long counts as the middle of the bounds.",
            "The interval is about the noise alone, not about how far blocks differ by chance.",
            "It is private as long as the function looks at its block alone: a time limit is not a sandbox.",
        )


def choose_grid(bounds: Any, aggregate: str) -> Numbers:  # noqa: ANN401 - whatever was passed
    """The grid of results: a median is chosen among its steps, and among fewer ones with less noise."""
    if not isinstance(bounds, tuple | list) or len(bounds) != len(("lower", "upper")):
        raise TypeError(f"sample_and_aggregate bounds must be (lower, upper), got {bounds!r}.")
    lower, upper = bounds
    fine = Numbers.bounded(lower, upper)
    return Numbers.bounded(lower, upper, _COARSER * fine.step) if aggregate == "median" else fine


def find_person(catalog: Catalog) -> tuple[str, str | None]:
    """The one private table, and its column of persons; None where every row is one."""
    tables = [table.name for table in catalog.tables if not table.public]
    if len(tables) > 1:
        why, fix = f"takes rows of one table, and {', '.join(tables)} are several", "protect one table by itself"
        raise Refusal("sample_and_aggregate()", why, fix, code="several_tables")
    return tables[0], None if catalog.unit == ROW else catalog.unit.column


def answer_program(program: BlockProgram, kernel: Kernel, frame: pa.Table, confidence: float) -> Answer:
    """Pay, run the function on all blocks, and measure: a Failure keeps the debit, for what failed may tell of rows."""
    _, person = find_person(kernel.catalog)
    program.check_price(kernel.bits, confidence)
    request = choose_request_id(None)
    plan = sha256(canonical((TABLE, "sample_and_aggregate", request))).digest()  # no function equals another
    hold = kernel.ledger.reserve(OWNER, request, plan, program.price)
    assert isinstance(hold, Hold)  # noqa: S101 - nobody has asked under this id
    estimate = None
    try:
        cut = cut_into_blocks(frame, person, program.blocks, kernel.bits)
        estimate = program.measure(np.array([program.run(rows) for rows in cut]), kernel.bits)
        receipt = hold.commit(json.dumps(estimate.values.tolist()).encode())
    except Exception as fault:  # noqa: BLE001 - whatever it is may quote data, and only its name is told
        _log.error("Request %s failed: %s", request, type(fault).__name__)
        estimate = None
    if estimate is None or hold.left is None:
        raise Failure(request)
    columns = (ValueColumn("estimate", estimate),)
    rows = np.zeros(1, dtype=np.intp)
    return Answer(columns, rows, confidence, receipt, False, hold.left, notes=program.notes)
