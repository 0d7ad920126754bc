"""The OpenAPI document of the server, one record for each path and for each schema."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adomnia import __version__
from kit import house

if TYPE_CHECKING:
    from collections.abc import Iterator


def describe_openapi() -> Iterator[tuple[str, str]]:
    with TemporaryDirectory() as folder, house.opened(Path(folder)) as opened:
        document = opened.ask("alice", "GET", f"{house.API}/openapi.json").json()
    document["info"]["version"] = document["info"]["version"].replace(__version__, "VERSION")
    for path, described in document.pop("paths").items():
        yield f"path {path}", _write(described)
    for kind, parts in document.pop("components").items():
        for name, described in parts.items():
            yield f"{kind} {name}", _write(described)
    yield "document", _write(document)


def _write(described: Any) -> str:
    return json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False)
