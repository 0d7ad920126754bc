"""A proxy before PostgreSQL that loses connections at a chosen moment, as networks do."""

from __future__ import annotations

import selectors
import socket
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from threading import Event, Thread


class Proxy:
    """Passes everything on until it is told to cut: `lose_request` drops what the client sends next, `lose_reply` lets
    it through, waits for the server's reply and drops that. Afterwards it passes everything on again."""

    def __init__(self, server):
        self.folder = Path(mkdtemp(prefix="adomnia-proxy-"))
        self._target = str(server.folder / ".s.PGSQL.5432")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / ".s.PGSQL.5432"))
        self._listener.listen()
        self._cut = ""
        self.refuses = False
        self.done = Event()
        Thread(target=self._accept, daemon=True).start()

    def url(self):
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def cut(self, how):
        self.done.clear()
        self._cut = how

    def close(self):
        self._listener.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.refuses:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client, server):
        with client, server, selectors.DefaultSelector() as ready, suppress(OSError):
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in ready.select():
                    if not self._step(key.fileobj, key.data, client):
                        return

    def _step(self, source, target, client):
        data = source.recv(65536)
        if source is client and self._cut == "lose_request":
            return self._end()
        if source is not client and self._cut == "lose_reply":
            return self._end()
        target.sendall(data)
        return bool(data)

    def _end(self):
        self._cut = ""
        self.done.set()
        return False
