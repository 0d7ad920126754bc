"""The certificate of a server and its key, which are read again when their files change: new ones need no restart."""

from __future__ import annotations

import ssl
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from adomnia.api.running.logs import Logs
    from adomnia.api.settings import Settings

CHECK_SECONDS = 60.0
_WHY = "The new certificate and its key cannot be used, or do not belong together. The ones from before stay in use."


class Certificate:
    """The context of TLS for new connections. Connections that are open keep the one that they began with."""

    def __init__(self, certificate: Path, key: Path, logs: Logs | None, clock: Callable[[], float] = monotonic) -> None:
        self._files, self._logs, self._clock = (certificate, key), logs, clock
        self._seen, self._checked = self._identify(), clock()
        self.context = load_certificate(certificate, key)

    def check_each_minute(self) -> None:
        """Look at the files, unless they were looked at within the last minute."""
        if self._clock() - self._checked >= CHECK_SECONDS:
            self.check()

    def check(self) -> None:
        """Look at the files, and use them from now on if they changed; those that cannot be used are told of once."""
        self._checked, found = self._clock(), self._identify()
        if found == self._seen:
            return
        self._seen = found  # taken before the files are read: if they change meanwhile, the next look sees it
        try:
            self.context = load_certificate(*self._files)
        except (OSError, ValueError) as fault:
            self._log("error", why=_WHY, fault=type(fault).__name__)
        else:
            self._log("info", why="A new certificate is in use.")

    def use_newest(
        self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: ssl.SSLContext
    ) -> None:
        """Give a new connection the newest context; to be set as `sni_callback` where only the first can be passed."""
        connection.context = self.context

    def _log(self, level: str, **fields: str) -> None:
        if self._logs is not None:
            self._logs.write(level, event="certificate", **fields)

    def _identify(self) -> list[tuple[int, int, int] | None]:
        """What changes with a file: its number, its size and when it was written; None for one that is not there."""
        return [_identify(file) for file in self._files]


def open_certificate(settings: Settings, logs: Logs | None = None) -> Certificate | None:
    """The certificate of the settings, if they have one; only with a log is anything told of new ones."""
    if settings.certificate is None or settings.key is None:
        return None
    return Certificate(settings.certificate, settings.key, logs)


def load_certificate(certificate: Path, key: Path) -> ssl.SSLContext:
    """A context of TLS for servers; an OSError or a ValueError if the files are no certificate and its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key, _no_password)
    return context


def _identify(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _no_password() -> str:
    return ""
