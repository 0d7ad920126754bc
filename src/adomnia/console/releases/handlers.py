"""The handlers of the pages of releases, and counts of them. All of it was paid for, and is free."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.actions.releases import SCHEMA, list_keys, list_own_notes, pack_archive
from adomnia.api.bodies import malformed_request
from adomnia.api.free_work import ask_free
from adomnia.api.replies import CachedReply, EncodedReply, PiecewiseResponse, ReplyKey, encode_within
from adomnia.api.requests import services_of
from adomnia.console.answers.drawing import STYLES, SVG, Chart, describe_chart, describe_drawable, draw, draw_drawable
from adomnia.console.answers.pages import figures_of
from adomnia.console.answers.view import build_answer_view
from adomnia.console.data.columns import ValueList, list_values
from adomnia.console.data.rows import show_table
from adomnia.console.frame import show
from adomnia.console.paying import address_of_question
from adomnia.console.releases.release_lines import EVERYBODY, address_of_release, list_lines, open_for
from adomnia.console.rendering import Page
from adomnia.errors import Refusal
from adomnia.explaining.sql_text import choose_alias, quote_identifier
from adomnia.methods.registry import METHODS
from adomnia.wire.releases import ZIP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adomnia.api.requests import Visit
    from adomnia.figures.columns import Drawable
    from adomnia.releases.quality_report import Quality
    from adomnia.session.answer import Answer
    from adomnia.session.askable import AskableRelease
    from adomnia.statistics.products import Attribute

_LONGEST = 1000  # characters of an address that a picture is known by
FIRST, SECOND = "by", "and"  # what the page calls the columns that it counts by


async def releases(request: Request) -> Response:
    """All releases that the visitor may read."""
    return await show(request, build_list_page)


async def release(name: str, request: Request) -> Response:
    """One release: its guarantee, its columns, its counts with their intervals."""
    asked = dict(request.query_params)
    return await show(request, lambda visit: build_release_page(visit, name, asked), None)


async def figure(name: str, request: Request) -> Response:
    """The picture of the counts of a release, for light or dark paper."""
    asked = dict(request.query_params)

    def paint(opened: AskableRelease, theme: str, size: str) -> bytes:
        counts = count_by(opened, read_keys(opened, asked))
        if counts.drawable is None:
            raise counts.problem or Refusal("The release", "has no counts", "choose other columns", code="malformed")
        return draw(counts.drawable, theme, size)

    return await _send_figure(name, request, paint)


async def quality(name: str, request: Request) -> Response:
    """The picture of all pairs of columns of a release: how far off each is."""

    def paint(opened: AskableRelease, theme: str, size: str) -> bytes:
        return draw_drawable(draw_pairs(assess(opened)), theme, size)

    return await _send_figure(name, request, paint)


async def _send_figure(name: str, request: Request, paint: Callable[[AskableRelease, str, str], bytes]) -> Response:
    """A picture in the look that the address names; those that were drawn before are kept."""
    asked = request.query_params
    look = asked.get("theme", "light"), asked.get("size", "wide")
    if look not in STYLES:
        raise malformed_request("The fields theme and size", "name no figure: they are light or dark, wide or narrow")
    kept = figures_of(request)

    def work(visit: Visit) -> bytes:
        opened = open_for(visit, name)
        key = ReplyKey(visit.visitor.name, opened.facts.receipt or "", str(request.url)[:_LONGEST])
        found = kept.get(key)
        if found is not None:
            return found.body[0]
        drawn = paint(opened, *look)
        kept.put(key, CachedReply(name, [drawn]))
        return drawn

    drawn = await ask_free(request, None, work, None)
    return drawn if isinstance(drawn, Response) else Response(drawn, media_type=SVG)


async def archive(name: str, request: Request) -> Response:
    """The files of a release as one: Parquet, CSV, release.json and README."""
    memory = services_of(request).answer_memory

    def work(visit: Visit) -> tuple[EncodedReply, str]:
        opened = open_for(visit, name)
        return encode_within(memory, lambda: [pack_archive(opened)], ZIP), opened.name

    found = await ask_free(request, None, work, None)
    if isinstance(found, Response):
        return found
    reply, called = found
    return PiecewiseResponse(reply, {"Content-Disposition": f'attachment; filename="{called}.zip"'})


_WORDS = {"text": "text", "boolean": "true or false", "integer": "whole number", "number": "number", "date": "day"}
_MISSING = "missing"


@dataclass(frozen=True)
class ColumnLine:
    """A column of the people that a release stands for; `ranges` is how many its values are put into, if they are."""

    name: str
    holds: str
    ranges: int
    values: ValueList


def build_list_page(visit: Visit) -> Page:
    """All releases that the visitor may read, and how one is made."""
    makers = [method for method in METHODS.values() if method.chapter == "releases"]
    analyst = visit.catalog.analyst(visit.visitor.name) if visit.is_analyst else None
    filling = {
        "lines": list_lines(visit),
        "methods": makers,
        "asks": visit.is_analyst,
        "publishes": analyst is not None and analyst.publish,
    }
    return Page("releases.html", filling)


def build_release_page(visit: Visit, name: str, asked: Mapping[str, str]) -> Page:
    """One release, with its counts by the columns that the address names."""
    release = open_for(visit, name)
    counts, quality = count_by(release, read_keys(release, asked)), assess(release)
    filling = {
        "release": release,
        "about": release.about,
        "readers": "you alone" if release.facts.private else EVERYBODY,
        "columns": tuple(map(_describe_column, release.product.attributes)),
        "keys": list_keys(release),
        "chosen": counts.keys,
        "fields": (FIRST, SECOND),
        "problem": counts.problem,
        "view": None if counts.answer is None else build_answer_view(counts.answer, counts.sql),
        "said": () if counts.answer is None else list_own_notes(release, counts.answer),
        "chart": _find_chart(release, counts),
        "quality": quality,
        "pairs": _find_pairs(release, quality),
        "is_rows": release.product.rows is not None,
        "rows": show_table(release.table),
        "ask": address_of_question(counts.sql) if visit.is_analyst else "",
        "asks": visit.is_analyst,
        "archive": address_of_release(release.name, "/archive"),
        "here": address_of_release(release.name),
        "known_method": release.facts.mechanism in METHODS,
    }
    return Page("release.html", filling)


def _describe_column(attribute: Attribute) -> ColumnLine:
    levels = tuple(_MISSING if level is None else _show_level(level) for level in attribute.levels)
    ranges = max(0, len(attribute.edges) - 1)
    return ColumnLine(attribute.name, _WORDS[attribute.sort], ranges, list_values(levels))


def _show_level(level: Any) -> str:  # noqa: ANN401 - any value that a column may have
    return str(level).lower() if isinstance(level, bool) else str(level)


@dataclass(frozen=True)
class ReleaseCount:
    """The answer to a question about a release; `problem` is why there is none."""

    keys: tuple[str, ...]
    sql: str
    answer: Answer | None = None
    problem: Refusal | None = None

    @property
    def drawable(self) -> Answer | None:
        """The answer as it is drawn: bars of one column, a grid of two."""
        if self.answer is None:
            return None
        counted = self.answer.columns[-1]
        if len(self.keys) == 1:
            return replace(self.answer, figure={"kind": "bars", "x": self.keys[0], "y": counted})
        return replace(self.answer, figure={"kind": "heat", "x": self.keys[1], "y": self.keys[0], "value": counted})


def read_keys(release: AskableRelease, asked: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that an address names, at most two; none where it names none of the release."""
    known = {name.lower(): name for name in list_keys(release)}
    named = (known.get(asked.get(field, "").lower()) for field in (FIRST, SECOND))
    return tuple(dict.fromkeys(name for name in named if name is not None))


def count_by(release: AskableRelease, keys: Sequence[str]) -> ReleaseCount:
    """Counts by these columns; by none: by the first two if they were measured together, else by the first."""
    if keys:
        return _count(release, tuple(keys))
    first = list_keys(release)[:2]
    both = _count(release, first)
    return _count(release, first[:1]) if both.problem is not None and len(first) > 1 else both


def write_count(release: AskableRelease, keys: Sequence[str]) -> str:
    """The question how many rows there are by these columns."""
    names = ", ".join(map(quote_identifier, keys))
    alias = choose_alias("n", {key.lower() for key in keys})
    table = f"{SCHEMA}.{quote_identifier(release.name)}"
    return f"SELECT {names}, COUNT(*) AS {alias}\nFROM {table}\nGROUP BY {names}"


def _count(release: AskableRelease, keys: tuple[str, ...]) -> ReleaseCount:
    sql = write_count(release, keys)
    try:
        return ReleaseCount(keys, sql, release.sql(sql))
    except Refusal as problem:
        return ReleaseCount(keys, sql, problem=problem)


def _find_chart(release: AskableRelease, counts: ReleaseCount) -> Chart:
    drawable = counts.drawable
    if drawable is None or not len(drawable):
        return Chart()
    named = dict(zip((FIRST, SECOND), counts.keys, strict=False))
    return _add_addresses(describe_chart(drawable), release, "/figure.svg", named)


def _find_pairs(release: AskableRelease, quality: Quality) -> Chart:
    """The picture of all pairs of columns, where there are pairs."""
    if len(quality.columns) == 1:
        return Chart()
    return _add_addresses(describe_drawable(draw_pairs(quality)), release, "/quality.svg", {})


def _add_addresses(chart: Chart, release: AskableRelease, file: str, named: Mapping[str, str]) -> Chart:
    if chart.problem:
        return chart
    addresses = {
        (theme, size): address_of_release(release.name, f"{file}?{urlencode({**named, 'theme': theme, 'size': size})}")
        for theme, size in STYLES
    }
    return replace(chart, addresses=addresses)


_KEPT = 8  # releases: to look at all pairs of a large one takes a while
_TITLE = "Of 100 rows, in another cell"  # short: the picture of few columns is narrow


def assess(release: AskableRelease) -> Quality:
    """How good a release is; computed once, because it never changes."""
    return _assess(_Assessed(str(release.facts.receipt), release))


@dataclass(frozen=True)
class _Assessed:
    """A release, which is known by its receipt."""

    receipt: str
    release: AskableRelease = field(compare=False)


@lru_cache(maxsize=_KEPT)
def _assess(known: _Assessed) -> Quality:
    return known.release.quality()


def draw_pairs(quality: Quality) -> Drawable:
    """What is drawn, under a title that has room above it."""
    drawable = quality.as_drawable()
    return replace(drawable, figure={**drawable.figure, "title": _TITLE})
