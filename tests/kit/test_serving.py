"""The callers themselves, against a server that answers what the test says."""

from __future__ import annotations

import asyncio

from kit.serving import CUT, Callers, calling, free_port, is_answering, request


def answering(wait=lambda: asyncio.sleep(0), status=b"200 OK", cut=False):
    """A way to handle connections: every request gets the same reply, or none."""

    async def handle(reader, writer):
        try:
            while line := await reader.readuntil(b"\r\n\r\n"):
                length = int(line.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
                body = await reader.readexactly(length)
                await wait()
                if cut:
                    return
                head = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
                writer.write(head[:20])
                await writer.drain()
                writer.write(head[20:] + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    return handle


async def replies(handle, send):
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    callers = Callers(server.sockets[0].getsockname()[1])
    try:
        return await send(callers)
    finally:
        await callers.close()
        server.close()
        await asyncio.sleep(0.01)


ASKED = [request("/x", "token", {"number": number}, analyst=str(number % 3)) for number in range(30)]


def test_replies_belong_to_their_requests():
    found = asyncio.run(replies(answering(), lambda callers: callers.press(ASKED, 4)))
    assert [reply.content for reply in found] == [{"number": number} for number in range(30)]
    assert {reply.status for reply in found} == {200}


def test_arrivals_do_not_wait_for_replies_and_are_timed_from_when_they_were_due():
    most, under_way = 0, 0

    async def wait_together():
        nonlocal most, under_way
        under_way += 1
        most = max(most, under_way)
        while most < len(ASKED):  # which would never be if one waited for another
            await asyncio.sleep(0.001)
        under_way -= 1

    found = asyncio.run(replies(answering(wait_together), lambda callers: callers.arrive(ASKED, rate=1000, seed=1)))
    assert most == len(ASKED)
    assert all(reply.seconds > 0 for reply in found)


def test_a_connection_that_ends_is_told_and_the_next_request_gets_another():
    found = asyncio.run(replies(answering(cut=True), lambda callers: callers.press(ASKED[:6], 1)))
    assert [reply.status for reply in found] == [CUT] * 6


def test_nobody_listens_on_a_free_port():
    port = free_port()
    assert not is_answering(port)
    (reply,) = calling(port, lambda callers: callers.press(ASKED[:1], 1))
    assert reply.status == CUT
