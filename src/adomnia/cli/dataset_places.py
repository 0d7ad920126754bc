"""Where a dataset is: a folder of this machine, or the address of a server, which is asked with a token."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import typer

from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.client.session import RemoteSession
    from adomnia.session.contract import Session

TOKEN = "ADOMNIA_TOKEN"  # noqa: S105 - the name of a variable
_LONGEST_TOKEN = 10_000
_NO_TOKEN = f"put it in the variable {TOKEN}, or its file behind --token-file"


@dataclass(frozen=True)
class Place:
    """What was typed to say where a dataset is, and who asks."""

    text: str
    analyst: str | None = None
    token_file: Path | None = None

    @property
    def is_address(self) -> bool:
        """Whether it is on a server."""
        return "://" in self.text

    @property
    def folder(self) -> Path:
        """The folder that it is."""
        if self.token_file is not None:
            raise Refusal("--token-file", f"is for servers, and {self.text} is a folder", "leave it out")
        return Path(self.text)


@contextmanager
def open_to_ask(place: Place, *, mock: bool = False) -> Iterator[Session]:
    """A session that asks and pays; `mock`: about made-up rows, which cost nothing."""
    from adomnia.cli import opening

    if place.is_address:
        with open_remote(place) as session:
            yield session.mock() if mock else session
        return
    with (opening.open_mock_folder if mock else opening.open_dataset)(place.folder) as curator:
        yield opening.open_session(curator, place.analyst)


@contextmanager
def open_to_quote(place: Place) -> Iterator[Session]:
    """A session that prices, explains and lists; no private file is opened."""
    from adomnia.cli import opening

    if place.is_address:
        with open_remote(place) as session:
            yield session
        return
    with opening.open_for_quotes(place.folder, place.analyst) as quoting:
        yield quoting


@contextmanager
def open_remote(place: Place) -> Iterator[RemoteSession]:
    """A session with a server, as whoever the token belongs to."""
    from adomnia.client.session import connect

    url, dataset = split_address(place.text)
    check_encryption(url)
    with connect(url, read_token(place.token_file), dataset) as session:
        if place.analyst not in {None, session.analyst}:
            why, fix = f"is not {session.analyst}, whose token this is", "leave it out, or take that analyst's token"
            raise Refusal(f"--analyst {place.analyst}", why, fix)
        yield session


def split_address(text: str) -> tuple[str, str | None]:
    """The server and the dataset: the last part of the path, if there is one and no slash after it.

    >>> split_address("https://stats.example.org/base/hospital")
    ('https://stats.example.org/base', 'hospital')
    >>> split_address("https://stats.example.org/base/")
    ('https://stats.example.org/base/', None)
    """
    scheme, _, rest = text.partition("://")
    server, _, dataset = rest.rpartition("/")
    return (f"{scheme}://{server}", unquote(dataset)) if server and dataset else (text, None)


def check_encryption(url: str) -> None:
    """Refuse an address that a client refuses, with what can be done about it from a command line."""
    from adomnia.client.connection import check_address

    try:
        check_address(url, insecure=False)
    except Refusal as refusal:
        if refusal.code != "insecure":
            raise
        fix = "use https://, or a tunnel to a port of this machine: http://127.0.0.1:PORT"
        raise Refusal(refusal.what, refusal.why, fix, code=refusal.code) from None


def read_token(file: Path | None) -> str:
    """The token, from a file or the environment; never from an argument, which other users could see."""
    if file is None:
        token = os.environ.get(TOKEN, "").strip()
        if not token:
            raise Refusal("The token", "is missing, and a server answers nobody without one", _NO_TOKEN)
        return token
    try:
        with file.open("rb") as opened:
            if stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & 0o077:
                typer.echo(f"Warning: others can read {file}, and ask as you. Run: chmod 600 {file}", err=True)
            token = opened.read(_LONGEST_TOKEN).decode("utf-8-sig", "replace").strip()
    except OSError as error:
        says = os.strerror(error.errno or 0).lower()
        raise Refusal(f"The token file {file}", f"cannot be read: {says}", "name a file that holds it") from None
    if not token:
        raise Refusal(f"The token file {file}", "is empty", "name a file that holds it")
    return token
