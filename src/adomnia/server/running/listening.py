"""The socket that all workers accept connections from, and the certificate that is shown on them."""

from __future__ import annotations

import errno
import socket
import ssl
from typing import TYPE_CHECKING

from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.server.settings import Settings

__all__ = ["bound", "check_certificate"]

_BACKLOG = 2048
_UNREAD_MILLISECONDS = 60_000
_REASONS = {
    errno.EADDRINUSE: ("is taken by another program", "stop that one, or give another --port"),
    errno.EACCES: ("may not be used by you", "give a --port of 1024 or more"),
    errno.EADDRNOTAVAIL: ("is no address of this machine", "give another --host"),
}


def bound(settings: Settings) -> socket.socket:
    """A socket that listens where the settings say; whoever comes early waits in its queue."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except OSError:
        raise Refusal(f"Host {settings.host}", "has no address", "give another --host") from None
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # A caller who does not read the reply keeps its memory only that long.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_MILLISECONDS)
    try:
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        why, fix = _REASONS.get(error.errno or 0, ("cannot be used", "give another --host or --port"))
        raise Refusal(f"Port {settings.port} of {settings.host}", why, fix, code="port") from None
    return made


def check_certificate(settings: Settings) -> None:
    """Refuse files that TLS could not be spoken with."""
    if settings.certificate is None or settings.key is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.certificate, settings.key, _no_password)
    except (OSError, ValueError):
        why = "are not a certificate and its key, or one of them cannot be read, or the key has a password"
        fix = "give PEM files that belong together, the key without a password"
        raise Refusal(f"Files {settings.certificate} and {settings.key}", why, fix, code="tls") from None


def _no_password() -> str:
    return ""
