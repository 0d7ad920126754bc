"""Routes of the catalog's text: what is on disk, what another text would do, and saving it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response  # noqa: TC002 - likewise

from adomnia.api.catalog_edits.previews import preview_text, read_older_text, read_served_text, save_text
from adomnia.api.free_work import reply_free
from adomnia.api.models import CatalogText, SavedCatalogText  # noqa: TC001 - FastAPI reads the annotations
from adomnia.api.replies import Pieces, encode_json, json_response
from adomnia.wire.catalog_texts import CatalogPreviewReply, CatalogTextReply, OlderTextReply

if TYPE_CHECKING:
    from adomnia.api.requests import Visit


async def text(dataset: str, request: Request) -> Response:
    """The catalog's text on disk, whether it is served, and the texts that it replaced."""

    def ask(visit: Visit) -> Pieces:
        return [encode_json(CatalogTextReply.record(read_served_text(visit)))]

    return await reply_free(request, dataset, ask)


async def older_text(dataset: str, older: str, request: Request) -> Response:
    """A text that was replaced, by its name among them."""

    def ask(visit: Visit) -> Pieces:
        return [encode_json(OlderTextReply.record({"name": older, "text": read_older_text(visit, older)}))]

    return await reply_free(request, dataset, ask)


async def check(dataset: str, asked: CatalogText, request: Request) -> Response:
    """What is wrong with a text, or what follows from it; nothing is saved and no private row is read."""

    def ask(visit: Visit) -> Pieces:
        return [encode_json(CatalogPreviewReply.record(preview_text(visit, asked.text)))]

    return await reply_free(request, dataset, ask)


async def save(dataset: str, asked: SavedCatalogText, request: Request) -> Response:
    """Save a text with which nothing is wrong, if the one on disk is still that which it began from."""
    identity = await save_text(request, dataset, lambda: asked.text, asked.identity, asked.password)
    return json_response({"identity": identity})
