"""Reads the forms of pages: a bounded number of fields, sent by a page of this server to somebody who is signed in."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from adomnia.api.authorization import check_csrf
from adomnia.api.bodies import check_media_type, malformed_request
from adomnia.api.requests import visitor_of
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from starlette.requests import Request

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 200
_LONGEST_NAME = 100  # characters that a message repeats


async def read_form(request: Request) -> dict[str, str]:
    """The fields that a visitor sent; refuse a form that another site may have sent in their name."""
    form, visitor = await read_fields(request), visitor_of(request)
    if visitor.csrf is None:
        raise Refusal("A token", "is not for the pages", "use the routes under /api/v1", code="visit_needed")
    check_csrf(request, visitor, form.pop("csrf", None))
    return form


async def read_fields(request: Request) -> dict[str, str]:
    """The fields of a form; refuse one with a field twice, of which a reader would have to choose."""
    check_media_type(request, _FORM)
    try:
        sent = parse_qsl((await request.body()).decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise malformed_request("The form", "cannot be read") from None
    fields: dict[str, str] = {}
    for name, value in sent:
        if name in fields:
            raise malformed_request("The form", f"has the field {name[:_LONGEST_NAME]!r} twice")
        fields[name] = value
    return fields
