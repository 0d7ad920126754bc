"""What tests of access try with, where its tables are, and how a try ends."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field

from adomnia.api.access import Access
from adomnia.errors import Refusal

PASSWORD = "five words that I drew"
DATASET = "tried"
TABLES = ("users", "tokens", "visits", "links", "attempts", "shares", "rates")
HERE, THERE = "192.0.2.1", "198.51.100.2"


@dataclass(frozen=True)
class InFiles:
    """Users in a file of the folder."""

    def open(self, folder, **options) -> Access:
        return Access.open(folder, **options)

    def read_all(self, folder) -> bytes:
        """Everything that is stored."""
        return b"".join(file.read_bytes() for file in folder.iterdir())


@dataclass(frozen=True)
class InPostgres:
    """Users in a real PostgreSQL, whatever the folder: emptying tables is quicker than making them."""

    url: str
    keeper: Access

    def open(self, _folder, **options) -> Access:
        return Access.open_shared(self.url, DATASET, **options)

    def empty(self) -> None:
        with self.keeper._database.transaction() as transaction:
            for table in TABLES:
                transaction.run(f"DELETE FROM {table}")
            transaction.run("UPDATE clock SET latest = 0")

    def read_all(self, _folder) -> bytes:
        """Every value of every table, as it is stored or as text."""
        rows = [row for table in TABLES for row in self.keeper._database.rows(f"SELECT * FROM {table}")]
        values = [each for row in rows for each in row]
        return b"\n".join(each if isinstance(each, bytes) else str(each).encode() for each in values)


@dataclass
class Time:
    """The machine's clock, which may be set, and its monotonic one, which only goes on."""

    home: InFiles | InPostgres = field(default_factory=InFiles)
    wall: float = 1_000_000.0
    monotonic: float = 50.0

    def go_on(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds

    def opened(self, folder, **options) -> Access:
        return self.home.open(folder, clock=lambda: self.wall, monotonic=lambda: self.monotonic, **options)


def count_rows(access, table) -> int:
    ((number,),) = access._database.rows(f"SELECT COUNT(*) FROM {table}")
    return number


def watch_writes(access) -> list[str]:
    """A list that grows with every transaction from now on."""
    begun, transaction = [], access._database.transaction

    @contextmanager
    def counted():
        begun.append("write")
        with transaction() as opened:
            yield opened

    access._database.transaction = counted
    return begun


def code_of(ask, *arguments) -> str:
    """How a try ends: a refusal's code, or nothing."""
    try:
        ask(*arguments)
    except Refusal as refusal:
        return refusal.code
    return ""
