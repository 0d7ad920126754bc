"""Pictures in notebooks and in files. Both need the extra `plot`; nothing is ever loaded from a network."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal, install_extra
from adomnia.figures.spec import build_spec, label_svg, write_page
from adomnia.figures.style import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from adomnia.figures.columns import Drawable
    from adomnia.figures.style import Style

_SCALE = 2  # pixels of a PNG for each of the picture
INSTALL = install_extra("plot")


def build_chart(drawable: Drawable) -> alt.TopLevelMixin:
    """The picture as a chart of Altair, which notebooks show."""
    spec = build_spec(drawable)
    try:
        import altair as alt
    except ImportError:
        raise _missing("altair") from None
    kinds: dict[str, Any] = {"vconcat": alt.VConcatChart, "facet": alt.FacetChart, "layer": alt.LayerChart}
    kind = next(kind for part, kind in kinds.items() if part in spec)
    # Without its rows: Altair would look at each of them for seconds.
    chart: alt.TopLevelMixin = kind.from_dict({**spec, "data": {"values": []}}, validate=False)
    chart.data = alt.InlineData(values=spec["data"]["values"])
    return chart


def check_file(path: str | Path) -> Path:
    """Whether a picture can be written there: what is wrong is said before anything is paid."""
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        fix = f"name a file that ends in {', '.join(list(_WRITERS)[:-1])} or {list(_WRITERS)[-1]}"
        raise Refusal(f"File {path.name}", "is of no kind that a picture can have", fix, code="bad_file")
    if path.is_dir():
        raise _unwritable(path, "is a folder")
    if not path.parent.is_dir():
        raise _unwritable(path, "is in a folder that is not there")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise _unwritable(path, "is in a folder that may not be written to")
    if path.suffix.lower() != ".json":
        _load_converter()
    return path


def write_file(drawable: Drawable, path: str | Path) -> Path:
    """Write the picture in the format that the name ends in: all of it, or nothing."""
    path = check_file(path)
    content = _WRITERS[path.suffix.lower()](drawable, build_spec(drawable))
    try:
        _replace(path, content)
    except OSError as error:
        raise _unwritable(path, f"cannot be written ({os.strerror(error.errno or 0)})") from None
    return path


def render_svg(drawable: Drawable, style: Style = LIGHT) -> str:
    """The picture as SVG, for one kind of paper."""
    return _svg(build_spec(drawable, style))


def can_render() -> bool:
    """Whether what makes files of pictures is installed."""
    return find_spec("vl_convert") is not None


def _replace(path: Path, content: bytes) -> None:
    with TemporaryDirectory(dir=path.parent, prefix=".") as folder:
        draft = Path(folder, path.name)
        draft.write_bytes(content)
        draft.replace(path)


def _write_svg(_drawable: Drawable, spec: dict[str, Any]) -> bytes:
    return _svg(spec).encode()


def _write_png(_drawable: Drawable, spec: dict[str, Any]) -> bytes:
    # Without the extra, check_file refused.
    png: bytes = _load_converter().vegalite_to_png(spec, scale=_SCALE, allowed_base_urls=[])
    return png


def _write_json(_drawable: Drawable, spec: dict[str, Any]) -> bytes:
    return (json.dumps(spec, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def _write_html(drawable: Drawable, spec: dict[str, Any]) -> bytes:
    return write_page(_svg(spec), spec["title"]["text"], drawable.table).encode()


def _svg(spec: dict[str, Any]) -> str:
    """The picture as SVG, labelled as a whole instead of mark by mark."""
    quiet = {**spec, "config": {**spec["config"], "aria": False}}
    svg: str = _load_converter().vegalite_to_svg(quiet, allowed_base_urls=[])
    return label_svg(svg, spec["title"]["text"], spec["description"])


def _load_converter() -> Any:  # noqa: ANN401 - a module
    try:
        import vl_convert
    except ImportError:
        raise _missing("vl-convert-python") from None
    return vl_convert


def _unwritable(path: Path, why: str) -> Refusal:
    return Refusal(f"File {path.name}", why, "name a file in a folder that you may write to", code="bad_file")


def _missing(package: str) -> Refusal:
    return Refusal("A picture", f"needs {package}, which is not installed", INSTALL, code="missing_extra")


_WRITERS: dict[str, Callable[[Drawable, dict[str, Any]], bytes]] = {
    ".svg": _write_svg,
    ".png": _write_png,
    ".json": _write_json,
    ".html": _write_html,
}
