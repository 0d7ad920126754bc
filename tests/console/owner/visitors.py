"""What the tests of the owner's pages share: somebody at a page, what they send, and what they read."""

from __future__ import annotations

from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

from kit.house import PASSWORD

if TYPE_CHECKING:
    from httpx import Response

    from kit.house import House

EVIL = "<script>alert(1)</script>"


@dataclass(frozen=True)
class Visitor:
    """Somebody who has signed in by a browser."""

    house: House
    cookie: dict[str, str]
    csrf: str

    @classmethod
    def of(cls, house: House, name: str = "olga") -> Visitor:
        house.services.access.set_password(name, PASSWORD)
        return cls(house, *house.visit(name))

    def see(self, path: str, **headers: str) -> Response:
        return self.house.client.request("GET", path, headers={**self.cookie, **headers})

    def read(self, path: str) -> str:
        """The text of a page, as it is after entities are resolved."""
        return unescape(self.see(path).text)

    def send(self, path: str, **fields: str) -> Response:
        sent = {"csrf": self.csrf, **fields}
        return self.house.client.request("POST", path, data=sent, headers=self.cookie)
