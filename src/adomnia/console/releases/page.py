"""What the pages of releases show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from adomnia.api.actions.releases import list_keys, list_own_notes
from adomnia.console.answers.drawing import STYLES, Chart, describe_chart, describe_drawable
from adomnia.console.answers.view import build_answer_view
from adomnia.console.data.columns import ValueList, list_values
from adomnia.console.data.rows import show_table
from adomnia.console.paying import address_of_question
from adomnia.console.releases.counts import FIRST, SECOND, count_by, read_keys
from adomnia.console.releases.pairs import assess, draw_pairs
from adomnia.console.releases.release_lines import EVERYBODY, address_of_release, list_lines, open_for
from adomnia.console.rendering import Page
from adomnia.methods.registry import METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.api.requests import Visit
    from adomnia.console.releases.counts import ReleaseCount
    from adomnia.releases.quality_report import Quality
    from adomnia.session.askable import AskableRelease
    from adomnia.statistics.products import Attribute

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
