"""Opens the listening socket that all workers share, and names the signals that end a server."""

from __future__ import annotations

import errno
import signal
import socket
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.serving.certificates import load_certificate

if TYPE_CHECKING:
    from adomnia.api.settings import Settings

_BACKLOG = 2048
_UNREAD_MILLISECONDS = 60_000
_REASONS = {
    errno.EADDRINUSE: ("is taken by another program", "stop that one, or give another --port"),
    errno.EACCES: ("may not be used by you", "give a --port of 1024 or more"),
    errno.EADDRNOTAVAIL: ("is no address of this machine", "give another --host"),
}


def open_listener(settings: Settings) -> socket.socket:
    """Open a socket that listens where the settings say; connections wait in its queue until workers are ready."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind, protocol)
    except OSError:
        raise Refusal(f"Host {settings.host}", "has no address", "give another --host") from None
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # A reply that its caller does not read is dropped after that time.
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_MILLISECONDS)
    try:
        opened.bind(address)
        opened.listen(_BACKLOG)
    except OSError as error:
        opened.close()
        why, fix = _REASONS.get(error.errno or 0, ("cannot be used", "give another --host or --port"))
        raise Refusal(f"Port {settings.port} of {settings.host}", why, fix, code="port") from None
    return opened


def check_certificate(settings: Settings) -> None:
    """Refuse a certificate and key that do not work for TLS."""
    if settings.certificate is None or settings.key is None:
        return
    try:
        load_certificate(settings.certificate, settings.key)
    except (OSError, ValueError):
        why = "are not a certificate and its key, or one of them cannot be read, or the key has a password"
        fix = "give PEM files that belong together, the key without a password"
        raise Refusal(f"Files {settings.certificate} and {settings.key}", why, fix, code="tls") from None


def list_ending_signals() -> list[signal.Signals]:
    """SIGTERM, and SIGINT unless it is ignored already: so a script starts what its own Ctrl-C must not end."""
    heard = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    return [signal.SIGTERM, *([signal.SIGINT] if heard else [])]
