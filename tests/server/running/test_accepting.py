from __future__ import annotations

import asyncio
import socket
import ssl

import pytest

from adomnia.server.running import accepting
from adomnia.server.running.accepting import Acceptor, Shares

PATIENCE = 30.0


@pytest.fixture
def room(tmp_path):
    return tmp_path


def test_the_next_connection_is_for_whoever_has_fewest(room):
    shares = [Shares.open(room, 3, own) for own in range(3)]
    assert all(share.is_ours() for share in shares)
    shares[0].tell(2)
    shares[1].tell(1)
    assert [share.is_ours() for share in shares] == [False, False, True]
    shares[2].tell(1)
    assert [share.is_ours() for share in shares] == [False, True, True]


def test_a_worker_that_is_started_again_begins_with_none(room):
    first, second = (Shares.open(room, 2, own) for own in range(2))
    first.tell(9)
    second.tell(3)
    Shares.open(room, 2, 0)
    assert not second.is_ours()


def test_one_worker_alone_takes_everything(room):
    only = Shares.open(room, 1, 0)
    only.tell(10**6)
    assert only.is_ours()


class Kept(asyncio.Protocol):
    """A connection that stays."""

    def __init__(self, group):
        self._group = group

    def connection_made(self, transport):
        self._transport = transport
        self._group.append(transport)
        transport.write(b"hello")


async def taken(shares, callers, busy=()):
    """How many connections each of several workers has in the end; busy ones look at nothing."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    groups = [[] for _ in shares]
    acceptors = []
    for place, share in enumerate(shares):
        if place not in busy:
            group = groups[place]
            own = listener.dup()
            acceptors.append(
                Acceptor(own, share, lambda group=group: Kept(group), lambda group=group: len(group), None)
            )
    lines = [await asyncio.open_connection(*listener.getsockname()) for _ in range(callers)]
    for reader, _ in lines:
        assert await reader.readexactly(5) == b"hello"
    for acceptor in acceptors:
        acceptor.close()
        await acceptor.wait_closed()
        acceptor._listener.close()
    for _, writer in lines:
        writer.close()
    for transport in (transport for group in groups for transport in group):
        transport.close()
    listener.close()
    await asyncio.sleep(0)
    return [len(group) for group in groups]


def run(doing):
    return asyncio.run(asyncio.wait_for(doing, PATIENCE))


def test_workers_share_connections_evenly(room):
    assert run(taken([Shares.open(room, 2, own) for own in range(2)], 20)) == [10, 10]


def test_where_the_others_are_too_busy_nobody_waits_for_ever(room):
    assert run(taken([Shares.open(room, 2, own) for own in range(2)], 10, busy={1})) == [10, 0]


def test_an_acceptor_that_is_closed_while_it_waits_takes_nothing_more(room, monkeypatch):
    monkeypatch.setattr(accepting, "_WAIT_SECONDS", 0.05)

    async def close_early():
        first, _second = (Shares.open(room, 2, own) for own in range(2))
        group = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            acceptor = Acceptor(listener, first, lambda: Kept(group), lambda: 5, None)
            _, writer = await asyncio.open_connection(*listener.getsockname())
            await asyncio.sleep(0.01)
            acceptor.close()
            await asyncio.sleep(0.1)
            writer.close()
            await asyncio.sleep(0)
        return group

    assert run(close_early()) == []


def test_a_handshake_that_fails_costs_one_connection(room):
    async def speak_plainly():
        shares = Shares.open(room, 1, 0)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            acceptor = Acceptor(listener, shares, lambda: Kept([]), lambda: 0, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            said = await reader.read()
            acceptor.close()
            writer.close()
            await asyncio.sleep(0)
        return said

    assert b"hello" not in run(speak_plainly())


async def handshakes(room, callers):
    """How many of so many callers who say nothing are waited for."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        acceptor = Acceptor(listener, Shares.open(room, 1, 0), lambda: Kept([]), lambda: 0, tls)
        lines = [socket.create_connection(listener.getsockname()) for _ in range(callers)]
        await asyncio.sleep(0.3)
        waiting = tuple(acceptor._handshakes)
        acceptor.close()
        for line in lines:
            line.close()
        for task in waiting:
            task.cancel()
        await asyncio.sleep(0.05)
    return len(waiting)


@pytest.mark.parametrize("limit", ["CONNECTIONS", "OF_ONE_CALLER"])
def test_whoever_never_begins_a_handshake_is_counted(room, monkeypatch, limit):
    assert run(handshakes(room, 5)) == 5
    monkeypatch.setattr(accepting, limit, 3)
    assert run(handshakes(room, 5)) == 3


class Scarce:
    """A listening socket that for some time has no file for a connection."""

    def __init__(self, listener, failures):
        self._listener, self.failures, self.tries = listener, failures, 0

    def __getattr__(self, name):
        return getattr(self._listener, name)

    def accept(self):
        self.tries += 1
        if self.failures:
            raise self.failures.pop()
        return self._listener.accept()


def test_out_of_files_it_rests_and_goes_on(room, monkeypatch):
    monkeypatch.setattr(accepting, "_SCARCE_SECONDS", 0.2)

    async def call():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            scarce = Scarce(listener, [OSError(24, "Too many open files"), ConnectionAbortedError()])
            acceptor = Acceptor(scarce, Shares.open(room, 1, 0), lambda: Kept([]), lambda: 0, None)
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            await asyncio.sleep(0.1)
            while_it_rests = scarce.tries
            said = await reader.readexactly(5)
            acceptor.close()
            writer.close()
            await asyncio.sleep(0)
        return while_it_rests, said

    assert run(call()) == (2, b"hello")
