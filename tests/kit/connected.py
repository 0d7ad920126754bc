"""The client of a server that is no process: what it asks goes to the app at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from adomnia.client.connection import Connection, check_address
from adomnia.client.session import RemoteSession
from kit.house import ADDRESS

if TYPE_CHECKING:
    from kit.house import Client, House

_TIMEOUT_SECONDS = 60.0


class _InProcess(httpx.BaseTransport):
    """The client's requests, handed to the app without a socket."""

    def __init__(self, app: Client) -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        sent = self._app.request(
            request.method, request.url.raw_path.decode(), headers=request.headers, content=request.read()
        )
        return httpx.Response(sent.status_code, headers=sent.headers, content=sent.content)


def connect_at_once(house: House, name: str) -> RemoteSession:
    """A session of somebody at the house."""
    way = _InProcess(house.client)
    connection = Connection(check_address(ADDRESS, insecure=False), house.tokens[name], _TIMEOUT_SECONDS, way)
    return RemoteSession(connection, "hospital", name)
