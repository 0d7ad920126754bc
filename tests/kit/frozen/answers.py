"""Seeded answers in all their digits: of every method's example, with what its rounds measured, and of the corpus."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from adomnia.engines.registry import EMBEDDED
from adomnia.methods.analysis import Analysis
from adomnia.methods.registry import METHODS
from adomnia.plans.columns import KeyColumn
from adomnia.pricing.payment import with_delta
from adomnia.privacy.events import Concentrated, Pure
from adomnia.sql.lower import lower
from kit import corpus
from kit.altering import alter
from kit.bits import SeededBits
from kit.engines import loaded
from kit.frozen.numbers import describe_measured, write_labels, write_table, write_values
from kit.methods import executed, prepare_catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.plans.columns import ValueColumn
    from adomnia.privacy.events import Price
    from adomnia.session.answer import Answer
    from adomnia.statistics.contract import Floats, ResultTable, Statistic
    from kit.methods import Execution

_CONFIDENCE = 0.95
# Those that the contract of methods pays: what is executed there is not executed again.
_PRICES = {"epsilon 1/3": Pure(Fraction(1, 3)), "rho 1/7": Concentrated(Fraction(1, 7))}
_DELTA = Fraction(1, 10**6)
# Files of the corpus whose questions are asked again with Gaussian noise: of every statistic, and of formulas.
_GAUSSIAN = ("computed", "counts", "formulas", "means", "moments", "quantiles", "sums")


def answer_methods() -> Iterator[tuple[str, str]]:
    """Of every method, for both sorts of prices: its table, its notes, and the noisy integers of all its rounds.

    As it is written, and where another analysis suits the price, as a question is measured that pays it.
    """
    catalog = prepare_catalog()
    for name, method in METHODS.items():
        plan = with_delta(lower(method.example, catalog), _DELTA)
        for paid, price in _PRICES.items():
            yield f"{name}, {paid}", "\n".join(_describe(executed(plan, price)))
            suited = plan.with_statistics(partial(_specialize, price))
            if suited != plan:
                yield f"{name}, suited to {paid}", "\n".join(_describe(executed(suited, price)))


def _specialize(price: Price, statistic: Statistic) -> Statistic:
    return statistic.specialize_for(price) if isinstance(statistic, Analysis) else statistic


def _describe(execution: Execution) -> Iterator[str]:
    yield from _write_table(execution.table)
    yield from (f"note: {note}" for note in execution.table.notes)
    yield f"{len(execution.rounds)} rounds"
    yield from describe_measured(execution.measured)


def _write_table(table: ResultTable) -> Iterator[str]:
    """Labels, values and facts."""
    columns = {name: write_labels(values) for name, values in table.labels.items()}
    for name, estimate in table.estimates.items():
        ends = (_pair(*estimate.interval(_CONFIDENCE, cells)) for cells in (1, table.rows))
        columns[name] = write_values(estimate.values.tolist(), *ends)
    for name, tell in table.facts.items():
        columns[name] = write_labels(tell())
    return write_table(columns)


def _pair(lower: Floats, upper: Floats) -> list[tuple[float, float]]:
    return list(zip(lower.tolist(), upper.tolist(), strict=True))


def answer_corpus() -> Iterator[tuple[str, str]]:
    """Every question of the corpus that is answered, over rows full of edge values, and some with Gaussian noise."""
    with (
        TemporaryDirectory() as folder,
        closing(loaded(EMBEDDED, (catalog := corpus.declare(Path(folder))), corpus.frames(catalog))) as engine,
        corpus.curated(catalog, engine) as curator,
    ):
        for asked in corpus.questions():
            for paid in ({"epsilon": 1}, *([{"rho": 1}] if asked.topic in _GAUSSIAN else [])):
                alter(curator, bits=SeededBits(asked.text))
                key = f"{asked} -- {' '.join(paid)}"
                # Answers are named by notes of later ones, which say how many rows a group had.
                request_id = sha256(key.encode()).hexdigest()[:8]
                answer = curator.session("bob").sql(asked.text, **paid, request_id=request_id)
                yield key, "\n".join(_write_answer(answer))


def _write_answer(answer: Answer) -> Iterator[str]:
    yield from write_table({column.name: _write_column(answer, column) for column in answer.typed_columns})
    yield from (f"cap: {cap}" for cap in answer.caps)
    yield from (f"note: {note}" for note in answer.notes)


def _write_column(answer: Answer, column: KeyColumn | ValueColumn) -> list[str]:
    values = answer[column.name]
    if isinstance(column, KeyColumn):
        return write_labels(values)
    return write_values(
        values, *(answer.interval(column.name, simultaneous=simultaneous) for simultaneous in (False, True))
    )
