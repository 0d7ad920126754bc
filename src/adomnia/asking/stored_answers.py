"""Answers as they were given, as plain data in the record of their measurements.

Newer code is held to them: what it computes from the same measurements is shown only where it is the same, bit for bit.
Otherwise the stored answer is shown as it was given, and says which version of the program gave it.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast
from zlib import compress, decompress

import numpy as np

from adomnia.errors import Refusal
from adomnia.messages.references import Option
from adomnia.messages.texts import Message, Note, note_of, note_record, write
from adomnia.plans.columns import Cap, DraftAnswer, KeyColumn, LeftOut, ValueColumn
from adomnia.plans.formulas import WindowFunction, walk
from adomnia.plans.plan import DistinctRows, canonical
from adomnia.privacy.keys import Key
from adomnia.statistics.contract import Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.plans.columns import Cell
    from adomnia.plans.formulas import Term
    from adomnia.plans.plan import Plan
    from adomnia.statistics.contract import Bounds

_KEPT = 256  # plans whose form is remembered
_DIGITS = 32  # of a hash
_QUICK = 1  # of the levels of compression
_ANEW = write("pass {replay=False}, which is paid for anew")


@dataclass(frozen=True)
class AnswerForm:
    """What decides how an answer looks, beside the numbers that were measured.

    `terms` are hashes of what each column shows: another spelling of a question has some of the same columns. None is
    what follows from the catalog alone. `layout` is the hash of all columns, and of which rows are shown in what order.
    """

    layout: str
    terms: tuple[str | None, ...]


@lru_cache(maxsize=_KEPT)
def describe_form(plan: Plan) -> AnswerForm:
    """The form of the answer to a plan, which is its own from question to replay."""
    end = (plan.limit, plan.offset)
    if plan.view is not None:
        terms = tuple(_hash(plan.view.identify_column(column)) for _, column in plan.view.columns)
        told = (plan.view.columns, plan.view.condition, plan.view.order, *end, *plan.view.changes)
        return AnswerForm(_hash(told), terms)
    sources = tuple(output.source for output in plan.outputs)
    layout = _hash((sources, plan.order, plan.having, plan.inner, plan.sets, *end))
    return AnswerForm(layout, tuple(None if isinstance(each, Key) else _hash_term(each, plan) for each in sources))


def _hash_term(term: Term, plan: Plan) -> str:
    """The hash of a column of numbers: some of them are of the rows that other parts of the question leave."""
    of_rows = any(isinstance(part, WindowFunction) for part in walk(term)) or any(
        isinstance(one, DistinctRows) for one in plan.inner
    )
    return _hash((term, plan.keys, plan.sets, plan.choices if of_rows else ()))


def _hash(value: object) -> str:
    return _print(canonical(value))


@dataclass(frozen=True)
class Prints:
    """Hashes of the numbers of an answer at one confidence: of each column by its term, and of the rows it shows."""

    confidence: float
    columns: Mapping[str, str]
    rows: str

    @classmethod
    def of(cls, draft: DraftAnswer, form: AnswerForm, confidence: float) -> Prints:
        """The hashes of an answer, whose intervals are computed for this."""
        named = zip(form.terms, draft.columns, strict=True)
        columns = {term: _print(_encode(column, confidence)) for term, column in named if term is not None}
        return cls(confidence, columns, _print(_encode_rows(draft)))


@dataclass(frozen=True)
class StoredResult:
    """What was answered, as it is kept: its hashes, and what it showed; None where that was too large to be kept."""

    layout: str
    prints: Prints
    shown: Mapping[str, Any] | None

    @classmethod
    def of(cls, draft: DraftAnswer, form: AnswerForm, most: int) -> StoredResult:
        """An answer to be kept, what it shows in no more than so many bytes."""
        columns, prints = [], {}
        for column, term in zip(draft.columns, form.terms, strict=True):  # one at a time: they may be large
            content = _encode(column, draft.confidence)
            columns.append({**_describe_column(column), "packed": _pack(content)})
            if term is not None:
                prints[term] = _print(content)
        rows = _encode_rows(draft)
        shown = _write_draft(draft, columns, rows)
        told = Prints(draft.confidence, prints, _print(rows))
        return cls(form.layout, told, shown if _weigh(shown) <= most else None)

    def to_record(self) -> dict[str, Any]:
        """As plain data."""
        prints = self.prints
        told = {"confidence": prints.confidence, "columns": prints.columns, "rows": prints.rows}
        return {"layout": self.layout, "prints": told, "shown": self.shown}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> StoredResult:
        """From what `to_record` wrote."""
        return cls(record["layout"], Prints(**record["prints"]), record["shown"])

    def agrees(self, draft: DraftAnswer, form: AnswerForm) -> bool:
        """Whether an answer from the same measurements, perhaps to another spelling, has the same numbers as this."""
        found = Prints.of(draft, form, self.prints.confidence)
        known = self.prints.columns
        same = all(known[term] == each for term, each in found.columns.items() if term in known)
        return same and (form.layout != self.layout or found.rows == self.prints.rows)

    def show(self, plan: Plan | None, version: str) -> DraftAnswer:
        """The answer as it was given, under the names that the plan of today has; of no plan, under its own.

        A Refusal if it was the answer to another spelling, or too large to be kept.
        """
        made = f"was answered by version {version}, and this installation computes other numbers from its measurements"
        if self.shown is None:
            why = f"{made}; the answer was too large to be kept"
            raise Refusal("This question", why, _ANEW, code="other_version")
        draft = _read_draft(self.shown, self.prints.confidence)
        if plan is None:
            return draft
        if self.layout != describe_form(plan).layout:
            why = f"{made}; what is kept has other columns or other rows"
            raise Refusal("This question", why, "ask it as it was asked then, or " + _ANEW, code="other_version")
        names = [column.name for column in (draft.columns if plan.view is not None else plan.outputs)]
        columns = tuple(replace(column, name=name) for column, name in zip(draft.columns, names, strict=True))
        return replace(draft, columns=columns)


def mark(draft: DraftAnswer, why: Note) -> DraftAnswer:
    """The answer with a note before all others that says why it is shown as it was given."""
    return replace(draft, notes=(why, *draft.notes))


def refuse_level(confidence: float) -> Refusal:
    """The refusal of intervals that were not kept: this version would compute other ones."""
    why = f"is shown as it was given by an earlier version, with intervals at the confidence level {confidence:g} alone"
    fix = Message("read it at ", Option("confidence", f"{confidence:g}"), ", or ", _ANEW)
    return Refusal("This answer", why, fix, code="other_version")


def _encode(column: KeyColumn | ValueColumn, confidence: float) -> bytes:
    """The numbers of a column as bytes: values, lower and upper ends; of one without intervals, its values as text."""
    if isinstance(column, KeyColumn):
        return json.dumps(list(map(_write_cell, column.values)), default=_write_number).encode()
    values = column.estimate.values
    numbers = np.empty((3, *values.shape), dtype="<f8")
    for place, part in enumerate((values, *column.estimate.interval(confidence, 1))):
        numbers[place] = part
    numbers[np.isnan(numbers)] = np.nan  # of all the bits that are no number, the same
    return numbers.tobytes()


def _print(content: bytes) -> str:
    return sha256(content).hexdigest()[:_DIGITS]


def _encode_rows(draft: DraftAnswer) -> bytes:
    return draft.rows.astype("<i8").tobytes()


def _write_draft(draft: DraftAnswer, columns: list[dict[str, Any]], rows: bytes) -> dict[str, Any]:
    return {
        "columns": columns,
        "rows": _pack(rows),
        "caps": [_write_cap(cap) for cap in draft.caps],
        "notes": list(map(note_record, draft.notes)),
        "figure": _write_mapping(draft.figure),
        "model": _write_mapping(draft.model),
    }


def _write_mapping(told: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data, whatever numbers it was written with."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(told), default=_write_number)) if told else {}
    return plain


def _write_number(number: np.generic | np.ndarray[Any, Any]) -> Any:  # noqa: ANN401 - what JSON can hold
    return number.tolist()


def _weigh(shown: Mapping[str, Any]) -> int:
    """About how long it is as JSON, without writing what is long of it."""
    columns, rows, *others = shown.values()
    names = [{**column, "packed": ""} for column in columns]
    return sum(len(column["packed"]) for column in columns) + len(rows) + len(json.dumps((names, others)))


def _read_draft(shown: Mapping[str, Any], confidence: float) -> DraftAnswer:
    columns = tuple(_read_column(column, confidence) for column in shown["columns"])
    rows = np.frombuffer(_unpack(shown["rows"]), dtype="<i8").astype(np.intp)
    caps = tuple(_read_cap(**cap) for cap in shown["caps"])
    notes = tuple(map(note_of, shown["notes"]))
    return DraftAnswer(columns, rows, confidence, caps, notes, shown["figure"], shown["model"])


def _describe_column(column: KeyColumn | ValueColumn) -> dict[str, Any]:
    """What is told of a column beside its numbers."""
    if isinstance(column, KeyColumn):
        floor = {} if column.floor is None else {"floor": column.floor}
        return {"name": column.name, "fact": column.fact, **floor}
    estimate = column.estimate
    said = {"method": estimate.method, "whole": estimate.whole, "dates": estimate.dates, "limits": estimate.possible}
    return {"name": column.name, **said, "about": estimate.about, "shortened": estimate.shortened}


def _read_column(told: Mapping[str, Any], confidence: float) -> KeyColumn | ValueColumn:
    content = _unpack(told["packed"])
    if "fact" in told:
        labels = map(_read_cell, json.loads(content))
        return KeyColumn(told["name"], tuple(labels), fact=told["fact"], floor=told.get("floor"))
    values, *ends = np.frombuffer(content, dtype="<f8").astype(np.float64).reshape(3, -1)

    def interval(wanted: float, cells: int) -> Bounds:
        if (wanted, cells) != (confidence, 1):
            raise refuse_level(confidence)
        lower, upper = ends
        return lower, upper

    limits = None if told["limits"] is None else tuple(told["limits"])
    said = {each: told[each] for each in ("about", "shortened") if each in told}  # which version 0.1.0 did not keep
    estimate = Estimate(values, interval, told["method"], told["whole"], told["dates"], limits=limits, **said)
    return ValueColumn(told["name"], estimate)


def _write_cap(cap: Cap) -> dict[str, Any]:
    leaves_out = None if cap.leaves_out is None else asdict(cap.leaves_out)
    return {"table": cap.table, "rows": cap.rows, "shortened": cap.shortened, "leaves_out": leaves_out}


def _read_cap(leaves_out: dict[str, Any] | None, **cap: Any) -> Cap:  # noqa: ANN401 - its fields
    return Cap(**cap, leaves_out=None if leaves_out is None else LeftOut(**leaves_out))


def _pack(content: bytes) -> str:
    return b64encode(compress(content, _QUICK)).decode()


def _unpack(text: str) -> bytes:
    return decompress(b64decode(text, validate=True))


def _write_cell(cell: Cell | None) -> Any:  # noqa: ANN401 - what JSON can hold
    match cell:
        case datetime():
            return {"moment": cell.isoformat()}
        case date():
            return {"day": cell.isoformat()}
    return cell


def _read_cell(written: Any) -> Cell | None:  # noqa: ANN401 - what JSON can hold
    match written:
        case {"moment": moment}:
            return datetime.fromisoformat(moment)
        case {"day": day}:
            return date.fromisoformat(day)
    return cast("Cell | None", written)
