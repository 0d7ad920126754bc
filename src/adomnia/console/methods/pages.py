"""The handlers of the pages of methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.actions.method_calls import list_tables, read_frame
from adomnia.api.problems import status_of
from adomnia.api.requests import run_in_pool
from adomnia.console.answers.view import build_answer_view
from adomnia.console.ask.form import AskForm
from adomnia.console.ask.pricing import build_price, defer_price
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.methods.fields import BadField, FieldChoice, FormField, list_fields, list_terms
from adomnia.console.methods.keeping import (
    KEEP,
    NAME,
    check_keeping,
    locate_keeping,
    may_publish,
    price_keeping,
    read_keeping,
)
from adomnia.console.methods.prefilling import prefill, refit
from adomnia.console.methods.writing import write_question, write_rows
from adomnia.console.paying import pay, pay_release
from adomnia.console.rendering import Page
from adomnia.errors import Refusal
from adomnia.explaining.methods import CHAPTERS, list_methods
from adomnia.messages.fixes import ADD_DELTA
from adomnia.methods.registry import METHODS, find_method
from adomnia.work import Work, limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from starlette.responses import Response

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Catalog
    from adomnia.console.answers.view import AnswerView
    from adomnia.console.ask.pricing import PriceView
    from adomnia.console.methods.fields import Fields
    from adomnia.console.methods.writing import Written
    from adomnia.methods.contract import Frame, Method
    from adomnia.session.answer import Answer

_USE = "use"  # sent where other rows are chosen, and the columns are to be theirs
_ABOVE = ""  # the field of what is wrong with none in particular
_ROWS = ("table", "where", "select")
_SAID_BY_METHODS = frozenset({"inference"})  # options that arguments of methods stand for


async def methods(request: Request) -> Response:
    """All methods, or those that were searched for."""
    query = request.query_params.get("q", "")
    return await show(request, lambda _: build_list_page(query))


async def method_form(name: str, request: Request) -> Response:
    """The form of a method: as the address says, else with an example in it. What it costs, a second request tells."""
    sent = dict(request.query_params)

    def read(visit: Visit) -> Page:
        method, catalog = require_method(name), visit.catalog
        fields = refit(method, sent, catalog) if sent else prefill(method, catalog)
        return build_method_page(visit, method, fields, price_form=defer_price)

    return await show(request, read)


async def price_method(name: str, request: Request) -> Response:
    """The form with the price of what it means; nothing is read or spent. What is asked next has a name of its own."""
    sent = await _read_fields(request)
    sent.pop("request_id", None)

    def read(visit: Visit) -> Page:
        method = require_method(name)
        fields = refit(method, sent, visit.catalog) if _USE in sent else sent
        return build_method_page(visit, method, fields)

    return await show(request, read)


async def ask_method(name: str, request: Request) -> Response:
    """Pay for what a form means and lead to the answer, or show the form again with what is wrong."""
    fields, method = await _read_fields(request), require_method(name)
    keeping = read_keeping(method, fields)
    try:
        written = await run_in_pool(request, lambda: _write(method, fields))
        form = pay_for(written, fields)

        def show_free(visit: Visit, answer: Answer) -> Page:
            return build_method_page(visit, method, fields, build_answer_view(answer, form.sql))

        if keeping is not None and keeping.how:
            return await pay_release(request, form.release(keeping.name, private=keeping.is_private), form.seen)
        return await pay(request, form.asked(), show_free, form.seen)
    except Refusal as refusal:
        why = locate_keeping(refusal) if keeping is not None and keeping.how else refusal
    fields.pop("request_id", None)  # nothing was paid under it, or something else
    return await show(request, lambda visit: build_method_page(visit, method, fields, why))


def _write(method: Method, fields: Fields) -> Written:
    with limit(Work()):
        return write_question(method, fields)


async def _read_fields(request: Request) -> dict[str, str]:
    """What was sent; browsers end lines with two characters."""
    return {name: value.replace("\r\n", "\n") for name, value in (await read_form(request)).items()}


@dataclass(frozen=True)
class RowsView:
    """Where the rows come from: a table or view with a condition, or a SELECT."""

    source: str
    tables: tuple[FieldChoice, ...]
    where: str
    select: str


def build_list_page(query: str) -> Page:
    """All methods by their chapters, or those that were searched for."""
    return Page("methods.html", {"query": query, "chapters": list_chapters(query), "of": _count(list_chapters())})


def build_method_page(
    visit: Visit,
    method: Method,
    fields: Fields,
    outcome: Refusal | AnswerView | None = None,
    price_form: Callable[[Visit, AskForm], PriceView] | None = None,
) -> Page:
    """The form of a method with what was typed in it; `outcome` is why it was not asked, or a free answer."""
    catalog = visit.catalog
    refusal, view = (outcome, None) if isinstance(outcome, Refusal) else (None, outcome)
    written, problem = _write_page(method, fields)
    price = (price_form or _price)(visit, pay_for(written, fields))
    problem = problem or _locate(written, refusal) or _locate(written, _find_refusal(price))
    keeping = read_keeping(method, fields)
    if keeping is not None and keeping.how:
        unnamed = check_keeping(visit, keeping)
        problem = problem or unnamed
        kept = price_keeping(visit, price, pay_for(written, fields), keeping)
        price = replace(kept, is_unready=unnamed is not None)
    frame = _find_frame(method, fields, catalog)
    arguments = list_fields(method.parameters, fields, frame)
    filling = {
        "method": method,
        "chapters": list_chapters(),
        "picture": describe_picture(method.returns),
        "rows": _view_rows(fields, catalog),
        "fields": [each for each in arguments if _is_first(each, problem)],
        "others": [each for each in arguments if not _is_first(each, problem)],
        "terms": list_terms(frame),
        "sql": "" if written is None else written.text,
        "edit": "" if written is None else f"/ask?{urlencode({'sql': written.text})}",
        "price": replace(_without_other_texts(price), without=_SAID_BY_METHODS),
        "price_at": f"/methods/{method.name}/price",
        "told_below": True,  # at the field that it is about
        "slots": [_ABOVE, *_ROWS, *(field.id for field in arguments), *(() if keeping is None else (KEEP, NAME))],
        "keeping": keeping,
        "may_publish": keeping is not None and may_publish(visit),
        "problems": {} if problem is None else {_field_of(problem): problem},
        "refused": refusal,
        "view": view,
    }
    return Page("method_form.html", filling, 200 if refusal is None else status_of(refusal))


def pay_for(written: Written | None, fields: Fields) -> AskForm:
    """The question that a form means, with what is named beside it; whom intervals are about, the text says."""
    form = AskForm.from_fields(fields).changed({"inference": ""})
    return replace(form, sql="" if written is None else written.text)


def _price(visit: Visit, asked: AskForm) -> PriceView:
    """The price of what a form means; where its method needs a delta, and a usual one can be paid, with that beside."""
    price = build_price(visit, asked)
    if price.refusal is None or price.refusal.fix.action != ADD_DELTA:
        return price
    offered = [fix for fix in price.refusal.fixes if not fix.off]
    return build_price(visit, asked.changed(dict(parse_qsl(offered[0].change)))) if offered else price


def _write_page(method: Method, fields: Fields) -> tuple[Written | None, Refusal | None]:
    try:
        return write_question(method, fields), None
    except Refusal as cause:
        return None, cause


def _find_refusal(price: PriceView) -> Refusal | None:
    """Why a text has no price."""
    told = price.refusal
    if told is None:
        return None
    place = None if told.place is None else (told.place.line, told.place.column)
    return Refusal(told.what, told.why, told.fix, place, code=told.code)


def _without_other_texts(price: PriceView) -> PriceView:
    """The price without ways out that write another text: here the fields do."""
    if price.refusal is None:
        return price
    kept = tuple(fix for fix in price.refusal.fixes if "sql" not in dict(parse_qsl(fix.change)))
    return replace(price, refusal=replace(price.refusal, fixes=kept))


def _locate(written: Written | None, refusal: Refusal | None) -> Refusal | None:
    return refusal if written is None or refusal is None else written.locate(refusal)


def _field_of(problem: Refusal) -> str:
    return problem.field if isinstance(problem, BadField) else _ABOVE


def _find_frame(method: Method, fields: Fields, catalog: Catalog) -> Frame | None:
    """The columns of the rows; those of the table alone where its condition cannot be read."""
    for typed in (fields, {**fields, "where": ""}):
        try:
            return read_frame(method, write_rows(typed).text, catalog)
        except Refusal:
            continue
    return None


def _view_rows(fields: Fields, catalog: Catalog) -> RowsView:
    chosen = fields.get("table", "").lower()
    tables = tuple(FieldChoice(name, name, chosen=name.lower() == chosen) for name in list_tables(catalog))
    source = "select" if fields.get("source") == "select" else "table"
    return RowsView(source, tables, fields.get("where", ""), fields.get("select", ""))


def _is_first(field: FormField, problem: Refusal | None) -> bool:
    """Whether a field is seen at once: it must be filled, or is, or something is wrong with it."""
    return field.required or field.is_given or (problem is not None and _field_of(problem) == field.id)


def _count(chapters: tuple[Any, ...]) -> int:
    return sum(len(chapter.methods) for chapter in chapters)


# The first whose columns a table has: the columns, the kind of picture that methods name, and what one sees.
PICTURES: tuple[tuple[frozenset[str], str, str], ...] = (
    (frozenset({"x_from", "x_to", "count"}), "bars", "a bar for each bin, with its interval"),
    (frozenset({"x_from", "x_to"}), "line", "a curve within a band that holds it"),
    (frozenset({"value", "count"}), "bars", "a bar for each value, with its interval"),
    (frozenset({"column", "other"}), "heat", "a grid of all pairs, darker where the value is larger"),
    (frozenset({"row", "column"}), "heat", "a grid of all pairs, darker where there are more rows"),
    (frozenset({"x", "mean"}), "line", "a curve within a band that holds it"),
    (frozenset({"x", "estimate"}), "steps", "a curve that rises in steps, within its band"),
    (frozenset({"time", "survival"}), "steps", "a curve that falls in steps, within its band"),
    (frozenset({"group", "observed"}), "points", "a point for each group, with its interval"),
    (frozenset({"term", "estimate"}), "points", "a point for each term, with its interval"),
    (frozenset({"estimate"}), "points", "a point for each estimate, with its interval"),
    (frozenset({"mean"}), "points", "a point for each mean, with its interval"),
)


def describe_picture(returns: Mapping[str, str]) -> str:
    """What is drawn of a table with these columns; empty where nothing can be said before."""
    return next((says for columns, _, says in PICTURES if columns <= returns.keys()), "")


@dataclass(frozen=True)
class MethodView:
    """A method in the list; `words` are what it is found by, in lower case."""

    name: str
    summary: str
    known_as: tuple[tuple[str, str], ...]
    words: str


@dataclass(frozen=True)
class ChapterView:
    """A chapter, with those of its methods that were searched for."""

    title: str
    methods: tuple[MethodView, ...]


def list_chapters(query: str = "") -> tuple[ChapterView, ...]:
    """All methods that have every word of the query, by their chapters."""
    return tuple(_list_found(query.lower().split()))


def require_method(name: str) -> Method:
    """The method of that name; a Refusal where there is none."""
    method = find_method(name)
    if method is not None:
        return method
    try:
        return METHODS[list_methods().page(name).name]
    except Refusal as cause:
        raise Refusal(cause.what, cause.why, cause.fix, code="unknown_route") from None


def _list_found(words: list[str]) -> Iterator[ChapterView]:
    for chapter, title in CHAPTERS.items():
        views = (_view(method) for method in METHODS.values() if method.chapter == chapter)
        found = tuple(view for view in views if all(word in view.words for word in words))
        if found:
            yield ChapterView(title, found)


def _view(method: Method) -> MethodView:
    known_as = tuple(method.known_as.items())
    said = (method.name, method.name.replace("_", " "), CHAPTERS[method.chapter], method.summary)
    words = " ".join((*said, *(f"{program} {name}" for program, name in known_as)))
    return MethodView(method.name, method.summary, known_as, words.lower())
