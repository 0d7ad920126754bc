"""Every kind of SQLite file that we keep and several processes use, as its own program uses it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adomnia.api.access import ACCESS, Access, Role, file_database
from adomnia.api.access.file_database import ACCESS_FORMAT
from adomnia.errors import AdomniaError
from adomnia.ledger import schema
from adomnia.ledger.requests import StoredAnswer
from adomnia.ledger.schema import LEDGER_FORMAT
from adomnia.survey import store
from adomnia.survey.kary import KaryResponse
from adomnia.survey.store import STORE, ReportStore
from adomnia.survey.survey import Survey
from kit.children import Child
from kit.waiting import HANG_SECONDS
from ledger.references import COST, answered, opened, plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.ledger.sqlite import FileFormat

_SURVEY = Survey("ab" * 16, "Why?", ("yes", "no"), KaryResponse(2, Fraction(3)))


@dataclass(frozen=True)
class Kind:
    """One format as its own program uses it: how it opens a file, adds `rows` rows to a table, and finds them again."""

    file_format: FileFormat
    name: str
    open: Callable[..., Any]
    write: Callable[[Any, object], object]
    knows: Callable[[Any, object], bool]
    table: str
    rows: int
    where: tuple[Any, str]  # the name under which the maker of its tables finds the format
    beside: tuple[str, ...] = ()  # what SQLite keeps beside it while it is open

    def __str__(self) -> str:
        return self.name


LEDGER = Kind(
    LEDGER_FORMAT,
    name="ledger.db",
    open=opened,
    write=lambda ledger, name: answered(ledger, name=name),
    knows=lambda ledger, name: isinstance(ledger.reserve("alice", f"id of {name}", plan(name), COST), StoredAnswer),
    table="entries",
    rows=2,
    where=(schema, "LEDGER_FORMAT"),
    beside=("-shm", "-wal"),
)
USERS = Kind(
    ACCESS_FORMAT,
    name=ACCESS,
    open=lambda path: Access.open(path.parent),
    write=lambda access, name: access.add_user(f"{name}", Role.AUDITOR),
    knows=lambda access, name: f"{name}" in {user.name for user in access.users()},
    table="users",
    rows=1,
    where=(file_database, "ACCESS_FORMAT"),
)
REPORTS = Kind(
    store.FORMAT,
    name=STORE,
    open=lambda path: ReportStore.open(path.parent, _SURVEY),
    write=lambda reports, name: reports.add(f"{name}", (0,)),
    knows=lambda reports, name: not reports.add(f"{name}", (0,)),
    table="reports",
    rows=1,
    where=(store, "FORMAT"),
)
KINDS = (LEDGER, USERS, REPORTS)


def find_kind(path: Path) -> Kind:
    """The kind that has files of this name."""
    return next(kind for kind in KINDS if kind.name == path.name)


class Holder:
    """Another process that has a file open, as a server has; it finds and writes in it what it is told."""

    def __init__(self, path: Path) -> None:
        self._child = Child("kit.shared_files", "hold", str(path))
        assert self._child.stdout.readline() == "opened\n"

    def write(self, name: str) -> str:
        return self._tell("write", name)

    def knows(self, name: str) -> str:
        """Whether it finds what was written under this name: True, False, or why it cannot tell."""
        return self._tell("knows", name)

    def kill(self) -> None:
        self._child.kill()
        self._child.communicate(timeout=HANG_SECONDS)

    def _tell(self, *words: str) -> str:
        self._child.stdin.write(f"{' '.join(words)}\n")
        self._child.stdin.flush()
        return str(self._child.stdout.readline().strip())


@contextmanager
def held(path: Path) -> Iterator[Holder]:
    """Another process that has the file open for as long as the block runs."""
    holder = Holder(path)
    try:
        yield holder
    finally:
        holder.kill()


def hold(path: str) -> None:
    """What that process does."""
    kind = find_kind(Path(path))
    with kind.open(Path(path)) as file:
        sys.stdout.write("opened\n")
        sys.stdout.flush()
        for line in sys.stdin:
            verb, name = line.split()
            try:
                said: object = getattr(kind, verb)(file, name)
            except AdomniaError as error:
                said = error
            sys.stdout.write(f"{said}\n")
            sys.stdout.flush()


def write_on(path: str, name: str) -> None:
    """Write without end, and say what was reported as done."""
    kind = find_kind(Path(path))
    for number in count():
        try:
            with kind.open(Path(path)) as file:
                kind.write(file, f"{name}-{number}")
        except AdomniaError:
            continue
        sys.stdout.write(f"{name}-{number}\n")
        sys.stdout.flush()
