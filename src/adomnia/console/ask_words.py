"""The words that a question may be made of: tables, columns, functions and methods, for completion in the editor."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.actions.releases import SCHEMA, list_columns, list_releases
from adomnia.api.free_work import ask_free
from adomnia.api.replies import encode_json
from adomnia.explaining.sql_text import list_functions
from adomnia.methods.registry import METHODS
from adomnia.methods.signatures import describe_kind
from adomnia.wire.catalogs import CatalogReply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.catalog.model import Catalog
    from adomnia.methods.contract import Method
    from adomnia.releases.store import ReleaseEntry

_JSON = "application/json"
_MOST_VALUES = 6  # of a category, in a note beside a word


async def ask_words(request: Request, dataset: str | None = None) -> Response:
    """The words of the dataset: all of them are public, but for the names of releases that one keeps for oneself."""
    found = await ask_free(request, dataset, lambda visit: encode_json(list_words(visit.catalog, list_releases(visit))))
    if isinstance(found, Response):
        return found
    # Nothing in it is secret from who asks, and nothing of the request is in it: its compressed size tells nothing.
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Response(gzip.compress(found, mtime=0), headers=headers, media_type=_JSON)
    return Response(found, headers={"Vary": "Accept-Encoding"}, media_type=_JSON)


def list_words(catalog: Catalog, releases: Iterable[ReleaseEntry] = ()) -> dict[str, Any]:
    """Tables and releases with their columns, functions, and methods with their arguments."""
    told = CatalogReply.record(catalog)
    return {
        "dataset": catalog.name,
        "tables": [*map(_table, told["tables"]), *map(_view, told["views"]), *map(_release, releases)],
        "functions": [{"name": name, "kind": kind} for name, kind in list_functions()],
        "methods": [_method(method) for method in METHODS.values()],
    }


def _table(table: dict[str, Any]) -> dict[str, Any]:
    columns = [{"name": each["name"], "type": each["type"], "note": _note(each)} for each in table["columns"]]
    return {"name": table["name"], "note": "public table" if table["public"] else "table", "columns": columns}


def _release(entry: ReleaseEntry) -> dict[str, Any]:
    columns = [{"name": name, "type": sort, "note": ""} for name, sort in list_columns(entry).items()]
    return {"name": f"{SCHEMA}.{entry.name}", "note": "release, free", "columns": columns}


def _view(view: dict[str, Any]) -> dict[str, Any]:
    """Its columns are what its SELECT makes; they are not worth lowering it."""
    return {"name": view["name"], "note": "view", "columns": []}


def _note(column: dict[str, Any]) -> str:
    """What is declared of a column's values."""
    values = column.get("values")
    if values:
        shown = ", ".join(values[:_MOST_VALUES])
        return shown if len(values) <= _MOST_VALUES else f"{shown} and {len(values) - _MOST_VALUES} more"
    if column.get("person"):
        return "the person"
    lower, upper = column.get("lower"), column.get("upper")
    return "" if lower is None or upper is None else f"{lower} to {upper}"


def _method(method: Method) -> dict[str, Any]:
    arguments = [
        {
            "name": each.name,
            "kind": each.kind,
            "takes": describe_kind(each),
            "required": each.required,
            "meaning": each.meaning,
            "choices": list(each.choices),
        }
        for each in method.parameters
    ]
    return {"name": method.name, "summary": method.summary, "arguments": arguments}
