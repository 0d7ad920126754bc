"""Routes of the catalog's text: what is on disk, what another text would do, and saving it."""

from __future__ import annotations

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.catalog_edits.previews import preview_text, read_served_text
from adomnia.api.catalog_edits.saving import save_text
from adomnia.api.encoding import json_response
from adomnia.api.free_work import ask_free
from adomnia.api.models import CatalogPreviewReply, CatalogText, CatalogTextReply, SavedCatalogText


async def text(dataset: str, request: Request) -> Response:
    """The catalog's text on disk, whether it is served, and the texts that it replaced."""
    found = await ask_free(request, dataset, lambda visit: CatalogTextReply.record(read_served_text(visit)))
    return found if isinstance(found, Response) else json_response(found)


async def check(dataset: str, asked: CatalogText, request: Request) -> Response:
    """What is wrong with a text, or what follows from it; nothing is saved and no private row is read."""
    found = await ask_free(request, dataset, lambda visit: CatalogPreviewReply.record(preview_text(visit, asked.text)))
    return found if isinstance(found, Response) else json_response(found)


async def save(dataset: str, asked: SavedCatalogText, request: Request) -> Response:
    """Save a text with which nothing is wrong, if the one on disk is still that which it began from."""
    identity = await save_text(request, dataset, lambda: asked.text, asked.identity, asked.password)
    return json_response({"identity": identity})
