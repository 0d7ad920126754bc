"""The figure of an answer: drawn once for each kind of paper, one at a time, and kept for who looks again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.figures.files import INSTALL, can_render, render_svg
from adomnia.figures.spec import build_spec
from adomnia.figures.style import DARK, LIGHT
from adomnia.plans.columns import ValueColumn
from adomnia.session.plotting import as_drawable
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.figures.columns import Drawable
    from adomnia.session.answer import Answer

SVG = "image/svg+xml"
SIZES = {"wide": 720, "narrow": 230}  # of a desk and of a phone
STYLES = {
    (theme, size): replace(style, wide=SIZES[size])
    for theme, style in {"light": LIGHT, "dark": DARK}.items()
    for size in SIZES
}
KEPT_BYTES = 2**23  # of figures in a process
MOST_ROWS = 2_000  # of an answer that is drawn: more can neither be told apart, nor be drawn in no time
_STEPS_OF_A_FIGURE, _STEPS_OF_A_ROW = 6_000, 2  # measured: 50 ms, and 20 microseconds
_one_at_a_time = Lock()  # a figure takes a core for a while, and there are others who wait for theirs


@dataclass(frozen=True)
class Chart:
    """Where a figure is, and what it shows in words; or why there is none."""

    addresses: Mapping[tuple[str, str], str] = field(default_factory=dict)  # by theme and size
    file: str = ""
    says: str = ""
    problem: str = ""
    install: str = ""


_NOT_INSTALLED = Chart(problem="Figures need an extra, which is not installed on this server.", install=INSTALL)


def describe_chart(answer: Answer) -> Chart:
    """The sentence of a figure, or why there is none; nothing is drawn yet."""
    if not can_render():
        return _NOT_INSTALLED
    try:
        _check_rows(answer)
        title = build_spec(as_drawable(answer))["title"]
        measured = [answer.read(each) for each in answer.typed_columns if isinstance(each, ValueColumn)]
        if measured and all(each.uninformative.all() for each in measured):
            return Chart(problem="Every row is uninformative: there is nothing to draw.")
    except Refusal as refusal:
        return Chart(problem=f"{refusal.what} {refusal.why}; to see one, {refusal.fix}.")
    return _say_title(title)


def describe_drawable(drawable: Drawable) -> Chart:
    """The sentence of a figure that is of no answer, or why there is none."""
    return _say_title(build_spec(drawable)["title"]) if can_render() else _NOT_INSTALLED


def draw(answer: Answer, theme: str, size: str) -> bytes:
    """The figure as SVG."""
    _check_rows(answer)
    return draw_drawable(as_drawable(answer), theme, size)


def draw_drawable(drawable: Drawable, theme: str, size: str) -> bytes:
    """A figure that may be of no answer."""
    spend(_STEPS_OF_A_FIGURE)
    with _one_at_a_time:
        return render_svg(drawable, STYLES[theme, size]).encode()


def _say_title(title: Mapping[str, Any]) -> Chart:
    return Chart(says=" ".join([f"{title['text']}.", *title.get("subtitle", ())]))


def _check_rows(answer: Answer) -> None:
    spend(_STEPS_OF_A_ROW * min(len(answer), MOST_ROWS))
    if len(answer) > MOST_ROWS:
        why = f"has {len(answer):,} rows, too many for a figure"
        raise Refusal("The answer", why, "ask for fewer with ORDER BY and LIMIT", code="too_many_rows")
