"""The same question asked privately and of a release: how far an analysis of the release is from one of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from adomnia.asking.asker import Asker
from adomnia.asking.inquiry import Inquiry, ask
from adomnia.errors import Refusal
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.pricing.bills import format_cost
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Day, Quantity, Text
from adomnia.releases.rows import ReleaseRows
from adomnia.releases.tables import AttributeTable
from adomnia.session.building import build_answers
from adomnia.session.declared import Declared
from adomnia.session.ledgers import MEMORY
from adomnia.session.own_tables import open_tables, refuse_in_python
from adomnia.session.progress import ProgressLine
from adomnia.session.protect import OWNER
from adomnia.sql.methods.call_texts import is_named, replace_name, replace_release, split_call
from adomnia.sql.reading.parse import parse
from adomnia.sql.reading.statements import SCHEMA
from adomnia.sql.values.scope import find_call
from adomnia.tables import TextTable, html_lines
from adomnia.work import limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from adomnia.asking.asker import Dataset
    from adomnia.pricing.questions import Payment
    from adomnia.session.answer import Answer
    from adomnia.session.askable import AskableRelease
    from adomnia.session.own_tables import OwnTables
    from adomnia.session.queries import Queries

_COST = NoteTemplate(
    "costs_compared", "The private answer cost {cost} now. The answer of the release {release} is free."
)
_HELD = NoteTemplate(
    "private_intervals",
    "A private interval holds the value of the data in {times:g} of 100 answers. A value of the release outside of it "
    "is off by more than the private noise.",
)
_THROUGH_ROWS = define_note(
    "asked_through_rows",
    "The release was asked through its rows, without noise worth mentioning; its own intervals mean nothing.",
)
_TABLE = "data"  # what `protect` calls one table
_BUDGET = 10**6
# Rows that are public already need no noise: the first of these at which some can be drawn.
_PRICES: tuple[dict[str, Any], ...] = ({"epsilon": 10_000}, {"epsilon": 100}, {"rho": 100})
_MEANING = ("effort", "interval", "inference", "parameters", "delta")  # of what is named beside a question
_PLAIN = {"expressions", "from_", "kind"}


@dataclass(frozen=True)
class ComparedValue:
    """A value of both answers: the private one with its interval, and that of the release, if it has one there."""

    row: str
    column: str
    private: Any
    lower: Any
    upper: Any
    release: Any

    @property
    def inside(self) -> bool | None:
        """Whether the release's value is in the private interval; None where one of them is missing."""
        if self.release is None or self.lower is None or self.upper is None:
            return None
        return bool(self.lower <= self.release <= self.upper)


@dataclass(frozen=True)
class Comparison:
    """A question answered twice. `private` and `released` are the whole answers."""

    release: str
    values: tuple[ComparedValue, ...]
    private: Answer
    released: Answer
    notes: tuple[Note, ...]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each value."""
        names = ("row", "column", "private", "lower", "upper", "release", "inside")
        return [{name: getattr(value, name) for name in names} for value in self.values]

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.records())

    def __repr__(self) -> str:
        return "\n".join([str(self._list_values()), "", *self.notes])

    def _repr_html_(self) -> str:
        return self._list_values().html() + html_lines(self.notes)

    def _list_values(self) -> TextTable:
        words = {True: "yes", False: "no", None: ""}
        rows = tuple(
            (
                each.row,
                each.column,
                *map(_show, (each.private, each.lower, each.upper, each.release)),
                words[each.inside],
            )
            for each in self.values
        )
        headings = ("row", "column", "private", "lower", "upper", self.release, "inside")
        return TextTable(headings, rows, frozenset(range(2, 6)))


def compare_answers(
    session: Queries, text: str, release: AskableRelease, confidence: float, payment: Mapping[str, Any]
) -> Comparison:
    """Ask the release, then privately: what the release cannot answer is refused before anything is paid."""
    asked, told = _write_questions(text, release)
    said = {name: value for name, value in payment.items() if name in _MEANING}
    released = _ask_release(told, release, confidence, said)
    # Afresh, whatever the session says: a release that is compared with itself is always right.
    private = session.sql(asked, confidence=confidence, **{**payment, "from_release": False})
    return Comparison(
        release.name, tuple(_align(private, released)), private, released, tuple(_list_notes(private, release))
    )


def _write_questions(text: str, release: AskableRelease) -> tuple[str, str]:
    """The question about the private rows, and that about the release."""
    here = _TABLE if release.product.rows is not None else f"{SCHEMA}.{release.name}"
    call = split_call(release.question, str(release.facts.mechanism))
    rows = None if call is None or call.before.strip().upper().startswith("WITH") else call.rows
    if replace_release(text, release.name, "") != text:
        if rows is None:
            why, fix = "is made of rows that a question cannot name", "name the private table in its place"
            raise Refusal(f"Release {release.name}", why, fix, code="release_rows")
        return replace_release(text, release.name, rows), replace_release(text, release.name, here)
    table = _find_table(rows)
    if table is None or not is_named(text, table):
        why = f"is not about the very rows of release {release.name}"
        fix = f"write {SCHEMA}.{release.name} in place of its table: it stands for the rows that the release is made of"
        raise Refusal("The question", why, fix, code="release_rows")
    return text, replace_name(text, table, here)


def _find_table(rows: str | None) -> str | None:
    """The table all of whose rows these are, if they are all of one."""
    if rows is None or not rows.startswith("("):
        return rows
    select = parse(rows[1:-1])
    plain = {name for name, value in select.args.items() if value} <= _PLAIN
    tables = list(select.find_all(type(select.args["from_"].this))) if plain and find_call(select) is None else []
    return str(tables[0].name) if len(tables) == 1 and tables[0].name else None


def _ask_release(text: str, release: AskableRelease, confidence: float, said: Mapping[str, Any]) -> Answer:
    if release.product.rows is None:
        return release.sql(text, confidence=confidence, parameters=said.get("parameters"))
    own = _protect_rows(release)
    with own.opened:
        for price in _PRICES[:-1]:
            try:
                return _ask_rows(own.dataset, text, confidence, {**price, **said})
            except Refusal as refused:
                if refused.code != "bad_price":
                    raise
        return _ask_rows(own.dataset, text, confidence, {**_PRICES[-1], **said})


def _ask_rows(dataset: Dataset, text: str, confidence: float, payment: Mapping[str, Any]) -> Answer:
    inquiry = Inquiry(
        Asker(dataset, OWNER),
        text,
        confidence,
        cast("Payment", payment),
        request_id=None,
        replay=True,
        allow_uninformative=True,
        from_release=False,
        watch=ProgressLine,
    )
    with refuse_in_python(), limit():
        return build_answers(ask(inquiry))[0]


def _protect_rows(release: AskableRelease) -> OwnTables:
    """The rows of a release as a private table, with a budget that makes noise nothing: any question can be asked."""
    table = AttributeTable(release.name, release.product.attributes)
    frame = ReleaseRows(table, release.table, release.product.rows).frame.select(list(release.columns))
    kinds = {column.name: column.kind for column in table.columns if column.name in release.columns}
    bounds: dict[str, Any] = {}
    categories: dict[str, Any] = {}
    for name, kind in kinds.items():
        if isinstance(kind, Text) and kind.values:
            categories[name] = list(kind.values)
        elif isinstance(kind, Quantity | Day) and kind.lower is not None and kind.upper is not None:
            bounds[name] = (kind.lower, kind.upper)
    budget = Budget(_BUDGET, 0.5, approximate=True)
    declared = Declared("row", budget, bounds=bounds, categories=categories)
    return open_tables(frame, {}, declared, MEMORY, None)


def _align(private: Answer, released: Answer) -> Iterator[ComparedValue]:
    """Values of the same row and column, by the labels of rows."""
    keys = [column.name for column in private.typed_columns if isinstance(column, KeyColumn) and not column.fact]
    keys = [name for name in keys if any(column.name == name for column in released.typed_columns)]
    places = {row: place for place, row in enumerate(_list_rows(released, keys))}
    known = {column.name: released[column.name] for column in released.typed_columns}
    for column in private.typed_columns:
        if not isinstance(column, ValueColumn) or column.name not in known:
            continue
        ends = private.interval(column.name)
        for row, value, (lower, upper) in zip(_list_rows(private, keys), private[column.name], ends, strict=True):
            place = places.get(row)
            other = None if place is None else known[column.name][place]
            yield ComparedValue(", ".join(map(str, row)), column.name, value, lower, upper, other)


def _list_rows(answer: Answer, keys: list[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(answer[name] for name in keys), strict=True)) if keys else [()] * len(answer)


def _list_notes(private: Answer, release: AskableRelease) -> Iterator[Note]:
    cost = "nothing" if private.cost is None or private.replayed else format_cost(private.cost)
    yield _COST(cost=cost, release=release.name)
    yield _HELD(times=100 * private.confidence)
    if release.product.rows is not None:
        yield _THROUGH_ROWS
    yield from private.notes


def _show(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
