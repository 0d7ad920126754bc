"""Analyses of several rounds: what they ask later depends on noisy answers, in constants alone."""

from abc import abstractmethod
from collections.abc import Generator, Sequence
from itertools import chain
from math import prod
from typing import TypeVar

from adomnia.methods.analysis import Analysis, stack
from adomnia.methods.contract import Factor
from adomnia.methods.simulation import SUPPOSED_ROWS, drive
from adomnia.privacy.events import Price
from adomnia.privacy.keys import key_cells
from adomnia.statistics.contract import Measured, ResultTable, Round, Steps

_Found = TypeVar("_Found")


class SeveralRounds(Analysis):
    """An analysis whose rehearsal is its own steps, answered as for rows that lie evenly within their bounds."""

    @abstractmethod
    def steps(self, price: Price) -> Steps: ...

    def planned_measures(self, price: Price) -> Round:
        return drive(self, price, SUPPOSED_ROWS)[0]


def together(
    flows: Sequence[Generator[Round, tuple[Measured, ...], _Found]],
) -> Generator[Round, tuple[Measured, ...], list[_Found]]:
    """Several flows of equally many rounds as one, and what each of them finds."""
    asked = [next(flow) for flow in flows]
    while True:
        measured = iter((yield tuple(chain.from_iterable(asked))))
        answers = [tuple(next(measured) for _ in each) for each in asked]
        found: list[_Found] = []
        going: list[Round] = []
        for flow, answer in zip(flows, answers, strict=True):
            try:
                going.append(flow.send(answer))
            except StopIteration as end:
                found.append(end.value)
        if found:
            return found
        asked = going


def split_cells(by: Sequence[Factor], measured: Measured) -> list[Measured]:
    """What was measured of each group by itself, in their order."""
    many = prod(len(key_cells(factor.key)) for factor in by)
    values = measured.values.reshape(many, *measured.values.shape[len(by) :])
    return [Measured(values[place], measured.mechanism, (measured, ("cell", place))) for place in range(many)]


def table_of(by: Sequence[Factor], tables: Sequence[ResultTable]) -> ResultTable:
    """The tables of all groups one below the other; without groups the only one."""
    return stack(by, tables) if by else tables[0]
