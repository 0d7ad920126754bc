"""Answers as columns of plain JSON: quick to write and to read with a million cells, and plain for every language."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from math import inf, isfinite, nan
from typing import Any, Literal, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from adomnia.ledger.requests import Receipt
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show_all
from adomnia.plans.columns import Cap, Cell, KeyColumn, LeftOut, MeasuredCells, ValueColumn, read_dates
from adomnia.privacy.wall_time import FIRST
from adomnia.session.answer import Answer
from adomnia.session.models import ModelAnswer, choose_class
from adomnia.statistics.contract import About, Bounds, Estimate, Floats
from adomnia.wire.amounts import JSON_SAFE
from adomnia.wire.models import CostReply, LeftReply, Reply, Rows, TextReply, notes_of, require, texts_record

Intervals: TypeAlias = Callable[[str, float, bool], Bounds]
"""Asked for other intervals of a column than those that came: its name, a confidence, whether all cells together."""

# What is not shown has a type all the same.
_MADE_UP: dict[str, list[Cell | None]] = {
    "integer": [0],
    "number": [0.0],
    "boolean": [False],
    "date": [date.min],
    "timestamp": [FIRST],
    "text": [""],
    "null": [],
}
_TYPES = (
    (str, "text"),
    (bool, "boolean"),
    (datetime, "timestamp"),
    (date, "date"),
    (float, "number"),
    (int, "integer"),
)
_PLAIN = {"text": str, "boolean": bool, "null": type(None)}  # what arrives as it left


class ColumnReply(Reply):
    """A column. Keys are public values; values are noisy, each with an interval; facts follow from noisy values."""

    name: str
    kind: Literal["key", "value", "fact"]
    type: Literal["text", "integer", "number", "boolean", "date", "timestamp", "null"] = Field(
        description="Dates and times are ISO texts, integers from 2**53 on texts of digits; null: no row has a value."
    )
    values: list[str | bool | int | float | None]
    lower: list[str | int | float | None] | None = Field(
        None, description="Of values: the lower end of each interval; null where it has none. Of dates, ISO texts."
    )
    upper: list[str | int | float | None] | None = Field(None, description="Of values: the upper end, likewise.")
    floor: float | None = Field(
        None, description="Of facts such as p-values: one that is not above this number says no more than < floor."
    )
    method: str | None = Field(None, description="Of values: how the intervals are computed.")
    about: About = Field(
        "data",
        description="Of values: whether intervals hold the data's value, the population's, or what is credible given a "
        "prior; null where none was bought.",
    )
    shortened: bool = Field(False, description="Of values: whether what people with much add was shortened.")
    cells: Rows | None = Field(None, description="Of values: how many groups were measured, shown or not.")
    possible: list[str | float | None] | None = Field(
        None,
        min_length=2,
        max_length=2,
        description="Of values: the least and the most that the exact one can be, whatever the data; where an interval "
        "holds both, the value is null. null where that is not known, or has no end.",
    )
    missing: list[Literal["uninformative", "not estimable"] | None] | None = Field(
        None,
        description="Of values: why each that is null is missing. Uninformative: its interval is all that is possible. "
        "Sent where any is null.",
    )


class LeftOutReply(Reply):
    """What a cap leaves out: a share of all rows, and how many people may have more rows than were seen."""

    share: float
    deviation: float
    hidden_people: int
    seen_rows: int


class CapReply(Reply):
    """How many rows of a person count in a table."""

    table: str
    rows: int
    leaves_out: LeftOutReply | None
    shortened: bool
    says: str = Field(description="The same in a sentence.")

    @model_validator(mode="before")
    @classmethod
    def _say(cls, told: Cap | dict[str, Any]) -> dict[str, Any]:
        return {**vars(told), "says": str(told)} if isinstance(told, Cap) else told

    def cap(self) -> Cap:
        """What was told of."""
        left_out = None if self.leaves_out is None else LeftOut(**dict(self.leaves_out))
        return Cap(self.table, self.rows, left_out, self.shortened)


class ReceiptReply(Reply):
    """Proof of a debit: the hash of the ledger's entry that says who paid how much for what."""

    request_id: str
    hash: str
    analyst: str | None
    plan: str

    @model_validator(mode="before")
    @classmethod
    def _write_plan(cls, told: Receipt | dict[str, Any]) -> dict[str, Any]:
        return {**vars(told), "plan": told.plan.hex()} if isinstance(told, Receipt) else told

    def receipt(self, cost: CostReply) -> Receipt:
        """What was told of, whose cost stands beside it."""
        return Receipt(self.analyst, self.request_id, bytes.fromhex(self.plan), cost.event, self.hash)


class AnswerReply(Reply):
    """An answer: columns of equal length, what they cost, and what is left."""

    columns: list[ColumnReply]
    rows: Rows
    confidence: float
    simultaneous: bool = Field(description="Whether the intervals of a column hold all of its groups at once.")
    cost: CostReply | None = Field(description="What was paid, now or the first time; null for public rows.")
    receipt: ReceiptReply | None
    replayed: bool = Field(description="Whether it was paid before and cost nothing now.")
    left: LeftReply
    caps: list[CapReply]
    notes: list[str] = Field([], description="What else to know before the numbers are used, in sentences.")
    figure: dict[str, Any] = Field({}, description="Of a method: what its picture shows, by the names of columns.")
    model: dict[str, Any] = Field({}, description="Of a model: what predictions need.")
    texts: list[TextReply] = Field([], description="What those of these sentences name that are not plain.")


class BatchReply(Reply):
    """The answers to a batch, in the order of its questions; all have one receipt."""

    answers: list[AnswerReply]


@dataclass(frozen=True, repr=False)
class ReceivedAnswer(Answer):
    """An answer of a server: it holds the rows that are shown, and knows of how many `cells` they were chosen."""

    cells: int = 1

    def _bounds(self, column: ValueColumn, confidence: float, simultaneous: bool) -> Bounds:
        lower, upper = column.estimate.interval(confidence, self.cells if simultaneous else 1)
        return lower[self.rows], upper[self.rows]


@dataclass(frozen=True, repr=False)
class ReceivedModel(ModelAnswer, ReceivedAnswer):
    """The answer of a model, from a server."""


class ColumnNumbers:
    """Numbers of a column, listed for JSON a part at a time: as a list, each takes four times as much memory.

    Where there is none, None is listed. Whole ones are integers, unless one of them may have been rounded.
    """

    def __init__(self, numbers: Floats, whole: bool) -> None:
        self._numbers = numbers
        null = np.isnan(numbers)
        self._null = bool(null.any())
        self._exact = whole and bool((np.abs(numbers[~null]) < JSON_SAFE).all())  # which infinity is not

    def __len__(self) -> int:
        return len(self._numbers)

    def part(self, start: int, stop: int) -> list[Any]:
        """The numbers from one place to another."""
        numbers = self._numbers[start:stop]
        if self._exact and not self._null:
            return list(numbers.astype(np.int64).tolist())
        if self._exact:
            return [int(number) if isfinite(number) else None for number in numbers.tolist()]
        return [number if isfinite(number) else None for number in numbers.tolist()]


def answer_record(answer: Answer, *, simultaneous: bool = False) -> dict[str, Any]:
    """The answer as plain data; `simultaneous`: with intervals that hold all cells of a column at once."""
    columns = [
        {name: part.part(0, len(part)) if isinstance(part, ColumnNumbers) else part for name, part in column.items()}
        for column in column_records(answer, simultaneous=simultaneous)
    ]
    return {"columns": columns, **answer_facts(answer, simultaneous=simultaneous)}


def column_records(answer: Answer, *, simultaneous: bool = False) -> Iterator[dict[str, Any]]:
    """The columns of an answer, one at a time: the intervals of one are computed when it is asked for."""
    for column in answer.typed_columns:
        yield _key(column, answer) if isinstance(column, KeyColumn) else _values(column, answer, simultaneous)


def answer_facts(answer: Answer, *, simultaneous: bool = False) -> dict[str, Any]:
    """What an answer says beside its columns, as plain data."""
    receipt = answer.receipt
    return {
        "rows": len(answer),
        "confidence": answer.confidence,
        "simultaneous": simultaneous,
        "cost": None if receipt is None else CostReply.record(receipt.event),
        "receipt": None if receipt is None else ReceiptReply.record(receipt),
        "replayed": answer.replayed,
        "left": LeftReply.record(answer.left),
        "caps": list(map(CapReply.record, answer.caps)),
        "notes": list(show_all(answer.notes, Surface.JSON)),
        **texts_record(answer.notes),
        **({"figure": dict(answer.figure)} if answer.figure else {}),
        **({"model": dict(answer.model)} if answer.model else {}),
    }


def answer_of(told: AnswerReply, intervals: Intervals) -> Answer:
    """The answer that was told of; for other intervals than it holds, `intervals` is asked."""
    _check_lengths(told)
    columns = tuple(_column(each, told.confidence, intervals) for each in told.columns)
    kind = ReceivedModel if choose_class(columns, told.model) is ModelAnswer else ReceivedAnswer
    return kind(
        typed_columns=columns,
        rows=np.arange(told.rows, dtype=np.intp),
        confidence=told.confidence,
        receipt=None if told.receipt is None else told.receipt.receipt(require(told.cost)),
        replayed=told.replayed,
        left=told.left.left(),
        caps=tuple(each.cap() for each in told.caps),
        notes=notes_of(told.texts, told.notes),
        figure=told.figure,
        model=told.model,
        cells=max((require(each.cells) for each in told.columns if each.kind == "value"), default=1),
    )


def ends_of(told: AnswerReply, name: str, rows: int) -> Bounds:
    """The intervals of one column of an answer that has so many rows."""
    _check_lengths(told)
    if told.rows != rows:
        raise ValueError(f"Answer must have {rows} rows, got {told.rows}.")
    return _bounds({column.name: column for column in told.columns}[name])


def _values(column: ValueColumn, answer: Answer, simultaneous: bool) -> dict[str, Any]:
    estimate, found = column.estimate, answer.read(column, simultaneous)
    return {
        "name": column.name,
        "kind": "value",
        "type": "date" if estimate.dates else "integer" if estimate.whole else "number",
        "values": _ends(found.values, estimate),
        "lower": _ends(found.lower, estimate),
        "upper": _ends(found.upper, estimate),
        "method": estimate.method,
        "cells": estimate.values.size,
        "about": estimate.about,
        **({"shortened": True} if estimate.shortened else {}),
        **_possible(estimate),
        **_missing(found),
    }


def _missing(found: MeasuredCells) -> dict[str, Any]:
    """Why values are null, where any is."""
    if not bool(np.isnan(found.values).any()):
        return {}
    words = np.where(found.uninformative, "uninformative", np.where(np.isnan(found.values), "not estimable", ""))
    return {"missing": [word or None for word in words.tolist()]}


def _possible(estimate: Estimate) -> dict[str, Any]:
    """What the exact value can be, where that is known."""
    if estimate.possible is None:
        return {}
    ends = np.array(estimate.possible)
    if estimate.dates:
        return {"possible": _written(read_dates(ends), "date")}
    return {"possible": ColumnNumbers(ends, whole=False).part(0, 2)}


def _ends(numbers: Floats, estimate: Estimate) -> list[Any] | ColumnNumbers:
    return _written(read_dates(numbers), "date") if estimate.dates else ColumnNumbers(numbers, estimate.whole)


def _key(column: KeyColumn, answer: Answer) -> dict[str, Any]:
    values = [column.values[row] for row in answer.rows.tolist()]
    # Of no rows, the first value that is not shown has the type.
    kind = _type(values or list(column.values[:1]))
    told = "fact" if column.fact else "key"
    floor = {} if column.floor is None else {"floor": column.floor}
    return {"name": column.name, "kind": told, "type": kind, "values": _written(values, kind), **floor}


def _type(values: list[Cell | None]) -> str:
    kinds = {type(value) for value in values} - {type(None)}
    return next((name for kind, name in _TYPES if kind in kinds), "null")


def _written(values: Sequence[Cell | None], kind: str) -> list[Any]:
    match kind:
        case "date" | "timestamp":
            return [None if value is None else value.isoformat() for value in values]  # type: ignore[union-attr]
        case "integer" if any(value is not None and abs(value) >= JSON_SAFE for value in values):  # type: ignore[arg-type]
            return [value if value is None or abs(value) < JSON_SAFE else str(value) for value in values]  # type: ignore[arg-type]
        case "number":
            return [value if value is None or abs(value) < inf else None for value in values]  # type: ignore[arg-type]
    return list(values)


def _column(told: ColumnReply, confidence: float, intervals: Intervals) -> KeyColumn | ValueColumn:
    if told.kind != "value":
        return KeyColumn(told.name, tuple(_read(told.values, told.type)), fact=told.kind == "fact", floor=told.floor)
    return ValueColumn(told.name, _estimate(told, confidence, intervals))


def _read(values: list[Any], kind: str) -> list[Cell | None]:
    match kind:
        case _ if not values:
            return _MADE_UP[kind]
        case "date":
            return [None if value is None else date.fromisoformat(value) for value in values]
        case "timestamp":
            return [None if value is None else datetime.fromisoformat(value) for value in values]
        case "integer":
            return [None if value is None else int(value) for value in values]
        case "number":
            return [None if value is None else float(value) for value in values]
    if not all(value is None or isinstance(value, _PLAIN[kind]) for value in values):
        raise TypeError(f"Column of type {kind} must hold nothing else.")
    return values


def _estimate(told: ColumnReply, confidence: float, intervals: Intervals) -> Estimate:
    came = _bounds(told)

    def interval(wanted: float, cells: int) -> Bounds:
        return came if (wanted, cells) == (confidence, 1) else intervals(told.name, wanted, cells > 1)

    values, limits = _floats(told.values, nan), None
    if told.missing is not None:  # any number of its interval stands for what was not sent: nobody reads it
        held = np.array([word == "uninformative" for word in told.missing] or [False])
        values = np.where(held, np.clip(0.0, *came), values)
    if told.possible is not None:
        lowest, highest = told.possible
        limits = -inf if lowest is None else _number(lowest), inf if highest is None else _number(highest)
    method, days = require(told.method), told.type == "date"
    found = Estimate(values, interval, method, told.type != "number", dates=days, limits=limits)
    return replace(found, about=told.about, shortened=told.shortened)


def _bounds(told: ColumnReply) -> Bounds:
    return _floats(require(told.lower), -inf), _floats(require(told.upper), inf)


def _check_lengths(told: AnswerReply) -> None:
    lists = [each for column in told.columns for each in (column.values, column.lower, column.upper, column.missing)]
    if {len(each) for each in lists if each is not None} != {told.rows}:
        raise ValueError("Answer must have columns of equal length.")


def _floats(values: Sequence[Any], unknown: float) -> Floats:
    """The numbers of a column; of one without rows, one that is not shown."""
    return np.array([unknown if value is None else _number(value) for value in values] or [0.0], dtype=np.float64)


def _number(value: str | float) -> float:
    return (date.fromisoformat(value) - date.min).days if isinstance(value, str) else value
