"""The files that pages refer to: styles, scripts, pictures. Their addresses change with their content."""

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from adomnia.errors import Refusal

_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
# An address with the version that it names never means another content.
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Asset:
    """A file, as it is and compressed. Nothing secret is in it, so that its compressed size tells nothing."""

    content: bytes
    compressed: bytes
    media_type: str
    version: str


async def asset(name: str, request: Request) -> Response:
    """One of the files."""
    found = _read_assets().get(name)
    if found is None:
        raise Refusal("The address", "names nothing here", "go back to the start page", code="unknown_route")
    headers = {"Vary": "Accept-Encoding", "ETag": f'"{found.version}"', "Cache-Control": "no-cache"}
    if request.query_params.get("v") == found.version:
        headers["Cache-Control"] = _FOR_EVER
    elif request.headers.get("if-none-match") == headers["ETag"]:  # scripts that scripts import
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(found.compressed, headers=headers, media_type=found.media_type)
    return Response(found.content, headers=headers, media_type=found.media_type)


def address_of_asset(name: str) -> str:
    """Where a page finds a file: its name, and the version of its content."""
    return f"/static/{name}?v={_read_assets()[name].version}"


@cache
def _read_assets() -> dict[str, Asset]:
    return {path.name: _read(path) for path in sorted(_FOLDER.iterdir()) if path.suffix in _TYPES}


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(content, gzip.compress(content, mtime=0), _TYPES[path.suffix], sha256(content).hexdigest()[:16])
