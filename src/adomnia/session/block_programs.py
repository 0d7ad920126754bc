"""Sample and aggregate with a function of yours: it sees blocks of people one by one, and all see a noisy summary."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from adomnia.asking.batch import choose_request_id
from adomnia.curator.block_results import BlockSummary, Kind, sum_up_blocks
from adomnia.curator.paying import PaymentRequest
from adomnia.errors import Refusal
from adomnia.messages.references import Option
from adomnia.messages.texts import Message, Note, NoteTemplate, define_note, write
from adomnia.plans.columns import ValueColumn
from adomnia.plans.plan import canonical
from adomnia.pricing.payment import check_confidence
from adomnia.pricing.quotes import check_drawable
from adomnia.privacy.amounts import show_up
from adomnia.privacy.domains import Numbers
from adomnia.privacy.units import ROW
from adomnia.session.answer import Answer
from adomnia.session.declared import TABLE
from adomnia.session.programs import run_program
from adomnia.session.protect import OWNER
from adomnia.statistics.contract import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray

    from adomnia.catalog.model import Catalog
    from adomnia.curator.paying import Kernel
    from adomnia.noise import Bits
    from adomnia.privacy.events import Pure
    from adomnia.statistics.contract import Bounds, Measured

_MOST_BLOCKS = 10_000  # each is a process
_BLOCKS = NoteTemplate(
    "function_of_blocks", "It is about what the function makes of each of {blocks:,} blocks of people, drawn anew."
)
_FAILING = define_note(
    "failing_blocks", "A block where it fails, gives no number or takes too long counts as the middle of the bounds."
)
_NOISE_ALONE = define_note(
    "blocks_noise_alone", "The interval is about the noise alone, not about how far blocks differ by chance."
)
_NO_SANDBOX = define_note(
    "no_sandbox", "It is private as long as the function looks at its block alone: a time limit is not a sandbox."
)
_COARSER = 2**9  # the steps of a median: 2**11 to 2**12 between the bounds
_HALF_STEP = 0.5  # so far does rounding move a result
_WHOLE = re.compile(r"^(-?[0-9]+)[.]0+$")


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
    aggregate: Kind
    price: Pure
    time_limit_seconds: float

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"sample_and_aggregate function must be callable, got {type(self.function).__name__}.")
        if type(self.blocks) is not int or not 2 <= self.blocks <= _MOST_BLOCKS:
            raise ValueError(f"sample_and_aggregate blocks must be from 2 to {_MOST_BLOCKS}, got {self.blocks!r}.")
        if self.aggregate not in get_args(Kind):
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
            fix = "call it on rows of own.mock(), import what it needs before, raise time_limit_seconds, or "
            raise Refusal("The function", why, fix + write("{allow_uninformative=True}"), code="no_number")

    @property
    def summary(self) -> BlockSummary:
        """What is released of the results."""
        return BlockSummary(self.aggregate, self.blocks, self.domain, self.price)

    def check_price(self) -> None:
        """Refuse a price that no noise can be drawn for, before anything is paid."""
        measure = self.summary.measure
        try:
            check_drawable(measure, measure.price)
        except Refusal as refusal:
            half = Option("epsilon", show_up(self.price.epsilon))
            what = Message("At half of ", half, ", which results of blocks are asked at,")
            why = f"{refusal.what} {refusal.why}"
            raise Refusal(what, why, refusal.fix + ", and pass twice that", code=refusal.code) from None

    def compute(self, frame: pa.Table, person: str | None, bits: Bits) -> NDArray[np.float64]:
        """The results of all blocks of a table, whose people are drawn into them anew."""
        return np.array([self.run(rows) for rows in cut_into_blocks(frame, person, self.blocks, bits)])

    def estimate(self, measured: Measured) -> Estimate:
        """The noisy average or median of the results."""
        return self._scale(self.summary.statistic.estimate(measured))

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
    def notes(self) -> tuple[Note, ...]:
        """What to know before the number is used."""
        return _BLOCKS(blocks=self.blocks), _FAILING, _NOISE_ALONE, _NO_SANDBOX


def choose_grid(bounds: Any, aggregate: Kind) -> Numbers:  # noqa: ANN401 - whatever was passed
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
    """Pay, run the function on all blocks, and tell what was released."""
    _, person = find_person(kernel.catalog)
    check_confidence(confidence)
    program.check_price()
    request = choose_request_id(None)
    identity = sha256(canonical((TABLE, "sample_and_aggregate", request))).digest()  # no function equals another
    paying, compute = PaymentRequest(OWNER, request, identity, asked=""), partial(program.compute, frame, person)
    measured, receipt, left = sum_up_blocks(kernel, paying, program.summary, compute)
    columns = (ValueColumn("estimate", program.estimate(measured)),)
    rows = np.zeros(1, dtype=np.intp)
    return Answer(columns, rows, confidence, receipt, False, left, notes=program.notes)


def cut_into_blocks(frame: pa.Table, person: str | None, blocks: int, bits: Bits) -> list[pa.Table]:
    """One table for each block: every person is in one by a draw of their own, and rows of nobody in none.

    Without a column of persons every row is one. A table tells nothing of the rows of other blocks: neither how many
    there are, nor the values that a column of categories has there. Proof: docs/proofs/block_programs.md.
    """
    import pyarrow as pa

    plain = _forget_others(frame)
    persons = np.arange(len(plain)) if person is None else _number_persons(plain.column(person).to_pylist())
    # Independent draws: those of all others have the same distribution, whoever comes or goes.
    drawn = (bits.words(int(persons.max(initial=-1)) + 1) % np.uint64(blocks)).astype(np.int64)
    placed = np.where(persons < 0, blocks, np.append(drawn, blocks)[persons])
    order = np.argsort(placed, kind="stable")
    ends = np.searchsorted(placed[order], np.arange(blocks + 1))
    return [plain.take(pa.array(order[ends[block] : ends[block + 1]])) for block in range(blocks)]


def _number_persons(keys: list[Any]) -> NDArray[np.int64]:
    """A number for each different person, and -1 for nobody."""
    known: dict[str, int] = {}
    spelled = [_spell_key(key) for key in keys]
    return np.array([-1 if key is None else known.setdefault(key, len(known)) for key in spelled], dtype=np.int64)


def _spell_key(key: Any) -> str | None:  # noqa: ANN401 - of any type
    """A key as text: where the index sees one person there must be one here, while two seen as one harm nobody."""
    if key is None or (isinstance(key, float) and isnan(key)):
        return None
    return _WHOLE.sub(r"\1", str(key + 0.0 if isinstance(key, float) else key).strip())


def _forget_others(frame: pa.Table) -> pa.Table:
    """The same rows, without what a table keeps beside them: the list of all categories, and what pandas noted."""
    import pyarrow as pa

    fields = [
        pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in frame.schema
    ]
    return frame.replace_schema_metadata(None).cast(pa.schema(fields))
