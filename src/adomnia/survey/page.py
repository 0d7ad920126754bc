"""The page on which a survey is answered, and the files that it loads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from adomnia.accounting.meaning import odds_factor, posterior
from adomnia.errors import Refusal
from adomnia.explaining.promises import format_factor
from adomnia.privacy.amounts import show_up

if TYPE_CHECKING:
    from adomnia.survey.survey import Survey

__all__ = ["_SurveyAsset", "find_asset", "render_page"]

_HERE = Path(__file__).parent
_CONSOLE = _HERE.parent / "console" / "static"
_ASSETS = {
    "console.css": (_CONSOLE, "text/css; charset=utf-8"),
    "mark.svg": (_CONSOLE, "image/svg+xml"),
    "randomize.js": (_HERE / "static", "text/javascript; charset=utf-8"),
    "survey.css": (_HERE / "static", "text/css; charset=utf-8"),
    "survey.js": (_HERE / "static", "text/javascript; charset=utf-8"),
}


@dataclass(frozen=True)
class _SurveyAsset:
    """A file that the page loads."""

    content: bytes
    media_type: str


@cache
def find_asset(name: str) -> _SurveyAsset:
    """One of the files; they are the same for every survey."""
    if name not in _ASSETS:
        raise Refusal("The address", "names nothing here", "go back to the survey", code="unknown_route")
    folder, media_type = _ASSETS[name]
    return _SurveyAsset((folder / name).read_bytes(), media_type)


def render_page(survey: Survey) -> bytes:
    """The page: whatever its owner wrote is escaped."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    epsilon = survey.design.epsilon
    return (
        environment.get_template("survey.html")
        .render(
            survey=survey,
            how=survey.design.explain(survey.answers),
            epsilon=show_up(epsilon),
            factor=format_factor(odds_factor(epsilon)),
            sure=f"{100 * posterior(0.5, epsilon):.3g}%",
        )
        .encode()
    )
