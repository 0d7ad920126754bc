"""Where a Spark Connect server is, and how it is told who asks: the token is never part of a catalog."""

import os
import re
from ipaddress import ip_address
from pathlib import Path

from adomnia.errors import Refusal

TOKEN, TOKEN_FILE = "ADOMNIA_SPARK_TOKEN", "ADOMNIA_SPARK_TOKEN_FILE"
_ADDRESS = re.compile(r"sc://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?/?")
_USUAL_PORT = 15002


def complete_address(url: str) -> str:
    """The address with what a connection needs: of another machine always TLS and a token."""
    found = _ADDRESS.fullmatch(url)
    if found is None:
        why = "is no address of a Spark Connect server; a token or a setting may not stand in it"
        raise Refusal("The url of [engine]", why, 'write "sc://host:15002"')
    host, port = found["host"], found["port"] or _USUAL_PORT
    if is_loopback(host):
        return f"sc://{host}:{port}"
    return f"sc://{host}:{port}/;use_ssl=true;token={_read_token(host)}"


def is_this_machine(url: str) -> bool:
    """Whether a server listens on this machine, and sees its files."""
    found = _ADDRESS.fullmatch(url)
    return found is not None and is_loopback(found["host"])


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, whatever a name server says."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _read_token(host: str) -> str:
    """The token from the environment, or from the file that it names."""
    token, file = os.environ.get(TOKEN, ""), os.environ.get(TOKEN_FILE)
    if file is not None:
        try:
            token = Path(file).read_text().strip()
        except (OSError, UnicodeError):
            fix = f"let {TOKEN_FILE} name a file that this process can read"
            raise Refusal("The token for Spark", "cannot be read from its file", fix) from None
    if not re.fullmatch(r"[!-:<-~]+", token):  # an address ends at a semicolon
        fix = f"set {TOKEN}, or {TOKEN_FILE} to the name of a file"
        raise Refusal(f"Spark on {host}", "is another machine, which takes a token, and there is none", fix)
    return token
