"""The pages of the data: all tables, and one of them. Everybody who is signed in may read what is declared."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from math import ceil, log
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.actions.tables import list_sources, open_view
from adomnia.console.data.columns import describe_columns
from adomnia.console.data.diagram import draw_diagram
from adomnia.console.data.examples import examples_of, joined_examples, list_examples
from adomnia.console.data.joins import find_joins, offer_joins
from adomnia.console.data.links import list_links
from adomnia.console.data.protection import describe_protection, describe_row
from adomnia.console.data.rows import make_up_rows, preview_rows, read_public_rows
from adomnia.console.data.wording import count_rows
from adomnia.console.frame import show
from adomnia.console.paying import address_of_question
from adomnia.console.releases.release_lines import list_lines
from adomnia.console.rendering import Page
from adomnia.errors import Refusal
from adomnia.explaining.sql_text import quote_identifier
from adomnia.pricing.policies import sets_price
from adomnia.privacy.amounts import show_down, show_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from starlette.responses import Response

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Analyst, Catalog, Profile, Table, View
    from adomnia.console.data.examples import Example
    from adomnia.console.data.rows import ShownRows
    from adomnia.privacy.units import Unit

_AMOUNTS = tuple(Fraction(digit, 10**power) for power in range(1, 13) for digit in (5, 2, 1))
_LARGEST_AMOUNT, _PART = Fraction(1, 4), 10  # an example costs at most a tenth of what there was
_MOST_JOINS = 12
SEARCHED_FROM = 9  # tables and views: fewer are seen at a glance
_SHOWN = 8


@dataclass(frozen=True)
class QuestionLink:
    """A question to click: `address` is empty for those who do not ask."""

    title: str
    sql: str
    price: str
    address: str
    free: bool


async def data(request: Request, find: str = "") -> Response:
    """All tables and views, who is protected, and how tables meet."""
    return await show(request, lambda visit: _build_overview(visit, find[:200]))


async def data_table(table: str, request: Request) -> Response:
    """One table or view: its columns, what it may be joined with, and questions about it."""
    return await show(request, lambda visit: _build_table_page(visit, table))


def _build_overview(visit: Visit, find: str) -> Page:
    catalog, links = visit.catalog, list_links(visit.catalog)
    lines = list_tables(catalog)
    filling = {
        "protection": describe_protection(catalog),
        "diagram": draw_diagram(catalog, links),
        "lines": find_tables(lines, find) if find else lines,
        "tables": len(catalog.tables),
        "views": len(catalog.views),
        "searched": len(lines) >= SEARCHED_FROM,
        "find": find,
        "examples": _offer(visit, list_examples(catalog)),
        "asks": visit.is_analyst,
        "released": len(list_lines(visit)),
    }
    return Page("data.html", filling)


def _build_table_page(visit: Visit, name: str) -> Page:
    catalog = visit.catalog
    view = next((each for each in catalog.views if each.name.lower() == name.lower()), None)
    table = _find_table(catalog, name) if view is None else open_view(view, catalog)
    links = list_links(catalog)
    joins = list(find_joins(catalog, table, links)) if view is None else []
    joined = joined_examples(catalog, table, links) if view is None and not table.public else ()
    filling = {
        "table": table,
        "view": view,
        "sources": () if view is None else list_sources(view, catalog),
        "row": describe_row(table, catalog) if view is None else "",
        "moves": "" if table.public else describe_moves(table, catalog.unit),
        "columns": describe_columns(table),
        "profile": view_profile(table.profile),
        "joins": offer_joins(catalog, joins[:_MOST_JOINS]),
        "more_joins": max(0, len(joins) - _MOST_JOINS),
        "examples": _offer(visit, (*examples_of(table), *islice(joined, 3))),
        "rows": _show_rows(visit, table, view),
        "lines": list_tables(catalog),
        "searched": len(catalog.tables) + len(catalog.views) >= SEARCHED_FROM,
        "asks": visit.is_analyst,
        "amount": _suggest_amount(visit),
        "address": address_of_question,
        "count": f"SELECT COUNT(*) AS n\nFROM {quote_identifier(table.name)}",
    }
    return Page("data_table.html", filling)


def _find_table(catalog: Catalog, name: str) -> Table:
    found = next((table for table in catalog.tables if table.name.lower() == name.lower()), None)
    if found is None:
        why, fix = "is not in the catalog", "choose one of the list at /data"
        raise Refusal(f"Table {name[:100]}", why, fix, code="unknown_route")
    return found


def _show_rows(visit: Visit, table: Table, view: View | None) -> ShownRows | None:
    if table.public:
        return read_public_rows(visit, table)
    if view is not None:
        return None
    return preview_rows(visit.session, table) if visit.is_analyst else make_up_rows(table)


def _offer(visit: Visit, examples: Iterable[Example]) -> tuple[QuestionLink, ...]:
    """Examples as links, with a price that this analyst can well pay; for others, to read."""
    amount = _suggest_amount(visit)
    return tuple(_link(example, "" if example.free else amount, visit.is_analyst) for example in examples)


def _link(example: Example, price: str, asks: bool) -> QuestionLink:
    address = address_of_question(example.sql, price) if asks else ""
    return QuestionLink(example.title, example.sql, price, address, example.free)


def _suggest_amount(visit: Visit) -> str:
    analyst = visit.catalog.analyst(visit.visitor.name) if visit.is_analyst else None
    return "" if analyst is None else choose_amount(analyst)


def choose_amount(analyst: Analyst) -> str:
    """A round price of at most a tenth of the analyst's budget; none where the owner sets prices."""
    if sets_price(analyst.policy):
        return ""
    most = min(_LARGEST_AMOUNT, analyst.budget.epsilon / _PART, analyst.policy.ceiling or _LARGEST_AMOUNT)
    return show_down(next((amount for amount in _AMOUNTS if amount <= most), _AMOUNTS[-1]))


_MISSED = 20  # 19 times in 20 the exact number is within the margin


@dataclass(frozen=True)
class ProfileBar:
    """About so many people have so many rows."""

    rows: str
    people: int
    share: float  # of the longest bar


@dataclass(frozen=True)
class ProfileView:
    """A profile: its bars, how far each may be off, and what it cost."""

    bars: tuple[ProfileBar, ...]
    margin: int
    epsilon: str


def describe_moves(table: Table, unit: Unit) -> str:
    """How often one person counts, or one row where each is hidden by itself, in words."""
    if not unit.table:
        return "One row counts once: it moves COUNT(*) by at most 1."
    times = "once" if table.rows_per_person == 1 else f"{table.rows_per_person:,} times"
    says = f"One person counts at most {times}: they move COUNT(*) by at most {table.rows_per_person:,}."
    return says if table.profile_epsilon is None else f"{says} Each question takes the number that suits its price."


def view_profile(profile: Profile | None) -> ProfileView | None:
    """The profile as bars. Noise may make a number negative, shown as 0; empty bins at the end are left out."""
    if profile is None:
        return None
    # The noise is Laplace of scale 1 / epsilon: beyond log(20) times that it is once in twenty.
    margin = ceil(log(_MISSED) / profile.epsilon)
    people = [max(0, number) for number in profile.people]
    last = max((place for place, number in enumerate(people) if number > margin), default=0)
    largest = max(people[: last + 1]) or 1
    bars = (
        ProfileBar(_range(above, most), number, number / largest)
        for (above, most), number in zip(pairwise(profile.edges), people[: last + 1], strict=False)
    )
    return ProfileView(tuple(bars), margin, show_up(profile.epsilon))


def _range(above: int, most: int) -> str:
    return f"{most:,}" if most == above + 1 else f"{above + 1:,} to {most:,}"


@dataclass(frozen=True)
class TableLine:
    """A table or view in a few words."""

    name: str
    kind: str  # private, public or view
    row: str
    cap: str
    columns: tuple[str, ...]
    found: tuple[str, ...] = ()  # columns that a search is about

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that are named: those that were looked for, or else the first."""
        return (self.found or self.columns)[:_SHOWN]

    @property
    def hidden(self) -> int:
        """How many are not."""
        return len(self.columns) - len(self.shown)


def list_tables(catalog: Catalog) -> tuple[TableLine, ...]:
    """All of them: tables about people, views, public tables."""
    private = [_describe(table, catalog) for table in catalog.tables if not table.public]
    public = [_describe(table, catalog) for table in catalog.tables if table.public]
    return (*private, *_describe_views(catalog), *public)


def find_tables(lines: tuple[TableLine, ...], text: str) -> tuple[TableLine, ...]:
    """Those whose name has a text in it, or that have such columns; capitals or not."""
    wanted = text.strip().lower()
    found = ((line, tuple(name for name in line.columns if wanted in name.lower())) for line in lines)
    return tuple(
        TableLine(line.name, line.kind, line.row, line.cap, line.columns, columns)
        for line, columns in found
        if columns or wanted in line.name.lower()
    )


def _describe(table: Table, catalog: Catalog) -> TableLine:
    cap = "" if table.public else count_rows(table.rows_per_person)
    columns = tuple(column.name for column in table.columns)
    return TableLine(table.name, "public" if table.public else "private", describe_row(table, catalog), cap, columns)


def _describe_views(catalog: Catalog) -> Iterator[TableLine]:
    for view in catalog.views:
        table = open_view(view, catalog)
        cap = "" if table.public else count_rows(table.rows_per_person)
        row = f"made of {', '.join(list_sources(view, catalog))}"
        yield TableLine(view.name, "view", row, cap, tuple(column.name for column in table.columns))
