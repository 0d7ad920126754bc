"""The handlers of the pages of releases. All of it was paid for, and is free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.actions.releases import pack_archive
from adomnia.api.bodies import malformed_request
from adomnia.api.free_work import ask_free
from adomnia.api.replies import EncodedReply, PiecewiseResponse, encode_within
from adomnia.api.reply_cache import CachedReply, ReplyKey
from adomnia.api.requests import services_of
from adomnia.console.answers.drawing import STYLES, SVG, draw, draw_drawable
from adomnia.console.answers.pages import figures_of
from adomnia.console.frame import show
from adomnia.console.releases.counts import count_by, read_keys
from adomnia.console.releases.page import build_list_page, build_release_page
from adomnia.console.releases.pairs import assess, draw_pairs
from adomnia.console.releases.release_lines import open_for
from adomnia.errors import Refusal
from adomnia.wire.releases import ZIP

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.api.requests import Visit
    from adomnia.session.askable import AskableRelease


_LONGEST = 1000  # characters of an address that a picture is known by


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
