from __future__ import annotations

import asyncio
import socket
import ssl

import pytest

from adomnia.serving import acceptor as module
from adomnia.serving.acceptor import Acceptor, ConnectionCounts
from kit.waiting import HANG_SECONDS


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def test_the_next_connection_is_for_whoever_has_fewest(folder):
    counts = [ConnectionCounts.open(folder, 3, own) for own in range(3)]
    assert all(each.has_fewest() for each in counts)
    counts[0].publish(2)
    counts[1].publish(1)
    assert [each.has_fewest() for each in counts] == [False, False, True]
    counts[2].publish(1)
    assert [each.has_fewest() for each in counts] == [False, True, True]


def test_a_worker_that_is_started_again_begins_with_none(folder):
    first, second = (ConnectionCounts.open(folder, 2, own) for own in range(2))
    first.publish(9)
    second.publish(3)
    ConnectionCounts.open(folder, 2, 0)
    assert not second.has_fewest()


def test_one_worker_alone_takes_everything(folder):
    only = ConnectionCounts.open(folder, 1, 0)
    only.publish(10**6)
    assert only.has_fewest()


class Kept(asyncio.Protocol):
    """A connection that stays."""

    def __init__(self, group):
        self._group = group

    def connection_made(self, transport):
        self._transport = transport
        self._group.append(transport)
        transport.write(b"hello")


async def taken(counts, callers, busy=()):
    """How many connections each of several workers has in the end; busy ones look at nothing."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    groups = [[] for _ in counts]
    acceptors = []
    for place, each in enumerate(counts):
        if place not in busy:
            group = groups[place]
            own = listener.dup()
            acceptors.append(Acceptor(own, each, lambda group=group: Kept(group), lambda group=group: len(group), None))
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
    return asyncio.run(asyncio.wait_for(doing, HANG_SECONDS))


def test_workers_share_connections_evenly(folder, monkeypatch):
    """As long as nobody takes what is another's turn: how long they wait for each other is for the test below."""
    monkeypatch.setattr(Acceptor, "_pause_for", lambda *_: None)
    assert run(taken([ConnectionCounts.open(folder, 2, own) for own in range(2)], 20)) == [10, 10]


def test_where_the_others_are_too_busy_nobody_waits_for_ever(folder):
    assert run(taken([ConnectionCounts.open(folder, 2, own) for own in range(2)], 10, busy={1})) == [10, 0]


def test_an_acceptor_that_is_closed_while_it_waits_takes_nothing_more(folder, monkeypatch):
    monkeypatch.setattr(module, "_WAIT_SECONDS", HANG_SECONDS)

    async def close_early():
        first, _second = (ConnectionCounts.open(folder, 2, own) for own in range(2))
        group = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            acceptor = Acceptor(listener, first, lambda: Kept(group), lambda: 5, None)
            _, writer = await asyncio.open_connection(*listener.getsockname())
            while acceptor._pause is None:
                await asyncio.sleep(0)
            acceptor.close()
            writer.close()
            await asyncio.sleep(0)
            listens = asyncio.get_running_loop().remove_reader(listener)
        return group, acceptor._pause.cancelled(), listens

    assert run(close_early()) == ([], True, False)


def test_a_handshake_that_fails_costs_one_connection(folder):
    async def speak_plainly():
        counts = ConnectionCounts.open(folder, 1, 0)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            acceptor = Acceptor(listener, counts, lambda: Kept([]), lambda: 0, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            said = await reader.read()
            acceptor.close()
            writer.close()
            await asyncio.sleep(0)
        return said

    assert b"hello" not in run(speak_plainly())


class Scarce:
    """A listening socket that counts, and for some time has no file for a connection."""

    def __init__(self, listener, failures=()):
        self._listener, self.failures, self.tries = listener, failures, 0

    def __getattr__(self, name):
        return getattr(self._listener, name)

    def accept(self):
        self.tries += 1
        if self.failures:
            raise self.failures.pop()
        return self._listener.accept()


async def handshakes(folder, callers):
    """How many of so many callers who say nothing are waited for."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        counted = Scarce(listener)
        acceptor = Acceptor(counted, ConnectionCounts.open(folder, 1, 0), lambda: Kept([]), lambda: 0, tls)
        lines = [socket.create_connection(listener.getsockname()) for _ in range(callers)]
        while counted.tries < callers:
            await asyncio.sleep(0.001)
        waiting = tuple(acceptor._handshakes)
        acceptor.close()
        for line in lines:
            line.close()
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return len(waiting)


@pytest.mark.parametrize("limit", ["MOST_CONNECTIONS", "MOST_OF_ONE_CALLER"])
def test_whoever_never_begins_a_handshake_is_counted(folder, monkeypatch, limit):
    assert run(handshakes(folder, 5)) == 5
    monkeypatch.setattr(module, limit, 3)
    assert run(handshakes(folder, 5)) == 3


def test_out_of_files_it_rests_and_goes_on(folder, monkeypatch):
    monkeypatch.setattr(module, "_OUT_OF_FILES_SECONDS", HANG_SECONDS)

    async def call():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            scarce = Scarce(listener, [OSError(24, "Too many open files"), ConnectionAbortedError()])
            acceptor = Acceptor(scarce, ConnectionCounts.open(folder, 1, 0), lambda: Kept([]), lambda: 0, None)
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            while acceptor._pause is None:
                await asyncio.sleep(0)
            while_it_rests = scarce.tries
            acceptor._pause.cancel()
            acceptor._resume()
            said = await reader.readexactly(5)
            acceptor.close()
            writer.close()
            await asyncio.sleep(0)
        return while_it_rests, said

    assert run(call()) == (2, b"hello")
