"""An analyst at the page of a question, without a browser."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from adomnia.api.access import Role, Visitor
from adomnia.api.requests import Visit
from kit import house

if TYPE_CHECKING:
    from collections.abc import Iterator

    from httpx import Response

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Origin": house.ADDRESS}


@dataclass(frozen=True)
class Asker:
    """Somebody who is signed in, and what they send."""

    house: house.House
    name: str
    cookie: dict[str, str]
    csrf: str

    def get(self, path: str, part: str | None = None) -> Response:
        return self.house.ask(None, "GET", path, headers=self._headers(part))

    def post(self, path: str, part: str | None = None, csrf: str | None = None, **fields: str) -> Response:
        sent = urlencode({"csrf": self.csrf if csrf is None else csrf, **fields})
        return self.house.ask(None, "POST", path, content=sent, headers=FORM | self._headers(part))

    def spent(self) -> tuple[object, object]:
        """What was spent of their budget and of the dataset's."""
        with self.house.services.dataset.curator() as curator:
            return curator.ledger.account(self.name).spent, curator.ledger.account().spent

    def _headers(self, part: str | None) -> dict[str, str]:
        return self.cookie | ({} if part is None else {"X-Part": part})


def sign_in(opened: house.House, name: str = "alice") -> Asker:
    opened.services.access.set_password(name, house.PASSWORD)
    return Asker(opened, name, *opened.visit(name))


@contextmanager
def visiting(opened: house.House, name: str = "alice") -> Iterator[Visit]:
    """What a handler sees of a visitor."""
    with opened.services.dataset.lease() as edition:
        yield Visit(opened.services, Visitor(name, Role.ANALYST), edition)


def read_text(response: Response) -> str:
    """What somebody reads of a page."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", response.text)))
