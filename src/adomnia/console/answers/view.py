"""An answer as its page shows it: built once from the session's answer, shown by `answer_view.html`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adomnia.console.answers.bill import Bill, ReceiptView, build_receipt, show_tree
from adomnia.console.answers.drawing import STYLES, Chart, describe_chart
from adomnia.console.answers.exports import FORMS
from adomnia.console.answers.notes import count_caveats, find_held, list_caveats
from adomnia.console.answers.reading import OFFERED, ROWS_A_PAGE, AnswerReading, hold_together
from adomnia.console.answers.table import build_table
from adomnia.console.prices import show_cost
from adomnia.pricing.notes import FROM_CATALOG
from adomnia.session.digits import show_sure
from adomnia.session.explanation import Explanation

if TYPE_CHECKING:
    from adomnia.console.answers.copying import Copies
    from adomnia.console.answers.notes import Caveat
    from adomnia.console.answers.table import AnswerTable
    from adomnia.session.answer import Answer

_NO_FIGURE = f"Figures are drawn for {', '.join(f'{100 * each:g}%' for each in OFFERED)} alone."
_MANY = 40  # groups from which on the table stands first


@dataclass(frozen=True)
class Tag:
    """How an answer came to be, in a word: its colour, icon and text."""

    kind: str
    icon: str
    text: str


@dataclass(frozen=True)
class AnswerLink:
    """A label and where it leads."""

    label: str
    address: str
    current: bool = False


@dataclass(frozen=True)
class PaidDetails:
    """What is known of an answer that was paid for beside the answer itself."""

    receipt: ReceiptView
    bill: Bill
    copies: Copies = ()
    questions: int = 1
    rows_address: str = ""


@dataclass(frozen=True)
class Intervals:
    """What the intervals of an answer hold, how surely, and the ways to others, which are free."""

    percent: str
    sure: str
    holds: str
    simultaneous: bool
    cells: int
    switch: str = ""
    others: tuple[AnswerLink, ...] = ()


@dataclass(frozen=True)
class AnswerView:
    """All that the page of an answer shows."""

    sql: str
    tag: Tag
    made_up: bool
    table: AnswerTable | None
    intervals: Intervals
    all_groups: bool
    things: tuple[Caveat, ...]
    things_title: str
    chart: Chart | None = None
    chart_first: bool = True
    bill: Bill | None = None
    receipt: ReceiptView | None = None
    check: str = ""
    checked: bool = False
    again: bool = False
    exports: tuple[AnswerLink, ...] = ()
    copies: Copies = ()
    pages: tuple[AnswerLink, ...] = ()
    places: tuple[AnswerLink, ...] = ()
    rows_address: str = ""
    free: bool = field(default=False)


def build_answer_view(
    answer: Answer,
    sql: str,
    *,
    made_up: bool = False,
    reading: AnswerReading = AnswerReading(),  # noqa: B008 - it is frozen
    paid: PaidDetails | None = None,
) -> AnswerView:
    """The view of an answer; what leads to files, figure and receipt is there if it was paid for."""
    shown = hold_together(answer) if reading.simultaneous else answer
    tree = answer.tree if isinstance(answer, Explanation) else None
    table = None if tree is not None else build_table(shown, reading.start)
    things = () if table is None else list_caveats(answer, table)
    view = AnswerView(
        sql=sql,
        tag=_choose_tag(answer, made_up, reading),
        made_up=made_up,
        table=table,
        intervals=_describe_intervals(answer, reading),
        all_groups=_returns_all_groups(answer),
        things=things,
        things_title=count_caveats(things),
        bill=None if tree is None else show_tree(tree),
        free=answer.receipt is None and not made_up and not answer.notes,
    )
    if made_up or answer.receipt is None or table is None:
        return view
    return _add_links(view, shown, answer.receipt.request_id, reading, paid or _describe_paid(answer))


def _describe_paid(answer: Answer) -> PaidDetails:
    assert answer.receipt is not None  # noqa: S101 - its caller looked
    return PaidDetails(build_receipt(answer.receipt), Bill(()))


def _add_links(
    view: AnswerView, answer: Answer, request_id: str, reading: AnswerReading, paid: PaidDetails
) -> AnswerView:
    table, intervals = view.table, view.intervals
    assert table is not None  # noqa: S101 - its caller looked
    sure = tuple(
        AnswerLink(f"{100 * each:g}%", reading.address(request_id, confidence=each), each == answer.confidence)
        for each in sorted({*OFFERED, answer.confidence})
    )
    return replace(
        view,
        intervals=replace(
            intervals, others=sure, switch=reading.address(request_id, simultaneous=not reading.simultaneous)
        ),
        chart=_find_chart(answer, request_id, reading),
        chart_first=table.whole <= _MANY,
        bill=paid.bill if paid.bill.sections else None,
        receipt=paid.receipt,
        check=f"{reading.address(request_id, checked=True)}#receipt",
        checked=reading.checked,
        again=reading.again,
        exports=tuple(
            AnswerLink(form.upper(), reading.file_address(request_id, "/export", form=form)) for form in FORMS
        ),
        copies=paid.copies,
        pages=_list_pages(table, request_id, reading),
        places=_list_places(request_id, reading, paid.questions),
        rows_address=paid.rows_address if table.whole > ROWS_A_PAGE else "",
    )


def _find_chart(answer: Answer, request_id: str, reading: AnswerReading) -> Chart:
    if not len(answer):
        return Chart()
    chart = describe_chart(answer) if reading.has_figure else Chart(problem=_NO_FIGURE)
    if chart.problem:
        return chart
    addresses = {
        (theme, size): reading.file_address(request_id, "/figure.svg", theme=theme, size=size) for theme, size in STYLES
    }
    return replace(chart, addresses=addresses, file=f"{addresses['light', 'wide']}&download=1")


def _choose_tag(answer: Answer, made_up: bool, reading: AnswerReading) -> Tag:
    if made_up:
        return Tag("made", "void", "made up")
    if answer.receipt is None:
        listed = any(note.code == FROM_CATALOG.code for note in answer.notes)
        about = "from the catalog" if listed else "from a release" if answer.notes else "exact"
        return Tag("good", "good", f"free, {about}")
    if reading.again:
        return Tag("data", "history", "seen again, free")
    cost = show_cost(answer.receipt.event)
    return Tag("good", "good", f"paid {cost.sign} {cost.amount}")


def _describe_intervals(answer: Answer, reading: AnswerReading) -> Intervals:
    sizes = (column.estimate.values.size for column in answer.typed_columns if hasattr(column, "estimate"))
    return Intervals(
        percent=f"{100 * answer.confidence:.6g}%",
        sure=show_sure(answer.confidence),
        holds=find_held(answer),
        simultaneous=reading.simultaneous,
        cells=max(sizes, default=0),
    )


def _returns_all_groups(answer: Answer) -> bool:
    """Whether every group came back that was declared: not where keys were found, rows chosen, or a method asked."""
    cells = {column.estimate.values.size for column in answer.typed_columns if hasattr(column, "estimate")}
    paid = answer.receipt is not None and not show_cost(answer.receipt.event).delta
    return paid and not answer.figure and len(answer) > 1 and cells == {len(answer)}


def _list_pages(table: AnswerTable, request_id: str, reading: AnswerReading) -> tuple[AnswerLink, ...]:
    """The rows before and after those that are shown."""
    pages = []
    if table.first > 1:
        before = max(1, table.first - ROWS_A_PAGE)
        pages.append(AnswerLink("Rows before", f"{reading.address(request_id, start=before)}#rows"))
    if table.last < table.whole:
        pages.append(AnswerLink("More rows", f"{reading.address(request_id, start=table.last + 1)}#rows"))
    return tuple(pages)


def _list_places(request_id: str, reading: AnswerReading, questions: int) -> tuple[AnswerLink, ...]:
    """The answers of a batch."""
    if questions == 1:
        return ()
    return tuple(
        AnswerLink(f"{place + 1}", reading.address(request_id, place=place, start=1), place == reading.place)
        for place in range(questions)
    )
