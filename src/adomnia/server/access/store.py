"""The face of access: who there is, what they enter with, and who a request comes from."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from adomnia.errors import Refusal
from adomnia.server.access import attempts, keys, passwords, tokens, users, visits
from adomnia.server.access.clock import Clock
from adomnia.server.access.database import Database, at_once
from adomnia.server.access.model import Role, Token, User, Visitor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["ACCESS", "Access"]

ACCESS = "access.sqlite"


class Access:
    """People, passwords, links, tokens and visits, shared by every thread and process that opens the same folder.

    Nothing is remembered outside the file: what is revoked in one process is refused by all from then on. A process
    that forks opens it again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(
        cls,
        folder: Path,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
        later: Callable[[Callable[[], None]], object] = at_once,
    ) -> Self:
        """Open or create the file of users in a folder, or refuse.

        With a `later` that puts work off, nobody who is identified waits for the file to be written.
        """
        return cls(Database(folder / ACCESS, Clock(clock, steady), later))

    def add_user(self, name: str, role: Role, password: str | None = None) -> None:
        """Somebody new; without a password they need a link to choose one."""
        users.check_name(name)
        kept = None if password is None else _checked(name, password)
        with self._database.change() as page:
            users.add(page, name, role, kept)

    def users(self) -> list[User]:
        """Everybody, by name."""
        return [users.made(row) for row in self._database.rows(f"{users.ALL} ORDER BY name")]

    def user(self, name: str) -> User:
        row = self._database.one(users.ONE, name) if users.is_name(name) else None
        if row is None:
            raise users.unknown(name)
        return users.made(row)

    def set_role(self, name: str, role: Role) -> None:
        """At once, also for visits and tokens that are in use."""
        with self._database.change() as page:
            users.set_role(page, name, role)

    def remove_user(self, name: str) -> None:
        """Ends their tokens, visits and links for good: somebody new of the same name gets none of them."""
        with self._database.change() as page:
            users.remove(page, name)

    def set_password(self, name: str, new: str, *, keep: str | None = None) -> None:
        """Ends the visits of that user; `keep` is the secret of one that goes on."""
        self.user(name)
        kept = _checked(name, new)
        with self._database.change() as page:
            users.keep_password(page, name, kept, _visit_id(keep))

    def change_password(self, name: str, old: str, new: str, address: str, *, keep: str | None = None) -> None:
        """The same for who knows the old one; guessing it is throttled like signing in."""
        passwords.check(name, new)
        with self._attempt(name, address):
            known = self._password_if_right(name, old)
            kept = passwords.hashed(new)
            with self._database.change() as page:
                users.check_password(page, name, known)
                users.keep_password(page, name, kept, _visit_id(keep))

    def create_link(self, name: str) -> str:
        """A code by which that user may choose a password, once, within a day; it replaces an older one."""
        with self._database.change() as page:
            return visits.invite(page, name)

    def redeem(self, code: str, password: str, address: str) -> tuple[str, Visitor]:
        """Choose a password by a link and begin a visit: the secret of its cookie, and who it is."""
        with self._attempt(None, address):
            link, name = self._link(code)
            passwords.check(name, password)
            kept = passwords.hashed(password)
            with self._database.change() as page:
                visits.use_up(page, link)
                users.keep_password(page, name, kept, visit="")
                return visits.begin(page, name)

    def sign_in(self, name: str, password: str, address: str) -> tuple[str, Visitor]:
        """Begin a visit by a password: the secret of its cookie, and who it is."""
        with self._attempt(name, address):
            known = self._password_if_right(name, password)
            with self._database.change() as page:
                users.check_password(page, name, known)
                return visits.begin(page, name)

    def end_visit(self, secret: str) -> None:
        """Sign out; a secret that opens nothing is no error."""
        key = keys.parse(keys.Kind.VISIT, secret)
        row = None if key is None else self._database.one(visits.IDENTIFIED, key.id)
        if key is not None and row is not None and key.opens(row[2]):
            with self._database.change() as page:
                visits.end(page, key.id)

    def create_token(self, name: str, label: str, days: int | None) -> tuple[str, Token]:
        """A fresh token and its secret, which is shown this once; None: it lasts until it is revoked."""
        tokens.check(label, days)
        with self._database.change() as page:
            return tokens.create(page, name, label, days)

    def tokens(self, name: str | None = None) -> list[Token]:
        """Those of a user, or all of them, oldest first."""
        everybody = name is None
        owner = "" if name is None else self.user(name).name
        sql = f"{tokens.ALL} WHERE ? OR user = ? ORDER BY created, id"
        return [tokens.made(row) for row in self._database.rows(sql, everybody, owner)]

    def revoke(self, token_id: str, name: str | None = None) -> None:
        """For good and at once, in all processes; `name`: only if it is theirs."""
        with self._database.change() as page:
            tokens.revoke(page, token_id, name)

    def identify_token(self, bearer: str) -> Visitor | None:
        """Whose program this is; None for what is unknown, revoked or expired."""
        key = keys.parse(keys.Kind.TOKEN, bearer)
        row = None if key is None else self._database.one(tokens.IDENTIFIED, key.id)
        if key is None or row is None:
            return None
        name, role, digest, expires, latest = row
        if not key.opens(digest):
            return None
        now = self._database.now(latest)
        if expires is not None and now >= expires:
            if latest < expires:
                self._database.keep_time()  # from now on it is over for every process, whatever its clock says
            return None
        return Visitor(name, Role(role), token_id=key.id)

    def identify_visit(self, secret: str) -> Visitor | None:
        """Whose browser this is; None for a visit that is unknown, over or was left alone for too long."""
        key = keys.parse(keys.Kind.VISIT, secret)
        row = None if key is None else self._database.one(visits.IDENTIFIED, key.id)
        if key is None or row is None:
            return None
        name, role, digest, expires, used, latest = row
        if not key.opens(digest):
            return None
        now = self._database.now(latest)
        if visits.is_over(now, expires, used):
            self._database.note(key.id, lambda page: visits.end(page, key.id))
            return None
        if now - used >= visits.TOUCH_SECONDS:
            self._database.note(key.id, lambda page: visits.touch(page, key.id))
        return Visitor(name, Role(role), csrf=keys.csrf_of(secret))

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _attempt(self, name: str | None, address: str) -> Iterator[None]:
        """Count what may be a guess before it is tried: guesses at the same moment cannot all slip through."""
        with passwords.one_of_few():
            with self._database.change() as page:
                attempt = attempts.begin(page, name, address)
            try:
                yield
            except Refusal as refusal:
                if refusal.code != attempts.WRONG:
                    self._forgive(attempt)
                raise
            self._forgive(attempt)

    def _forgive(self, attempt: int) -> None:
        with self._database.change() as page:
            attempts.forgive(page, attempt)

    def _password_if_right(self, name: str, password: str) -> str:
        """What is kept of it; a name that nobody has takes as long and is refused alike."""
        row = self._database.one(users.PASSWORD, name) if users.is_name(name) else None
        kept: str | None = row[0] if row else None
        if not passwords.is_right(password, kept) or kept is None:
            raise attempts.wrong()
        return kept

    def _link(self, code: str) -> tuple[keys.Key, str]:
        """Which link it is, and whose; `use_up` decides whether it is in time."""
        key = keys.parse(keys.Kind.LINK, code)
        row = None if key is None else self._database.one(visits.LINKED, key.id)
        if key is None or row is None or not key.opens(row[1]):
            raise attempts.wrong()
        return key, row[0]


def _checked(name: str, password: str) -> str:
    passwords.check(name, password)
    with passwords.one_of_few():
        return passwords.hashed(password)


def _visit_id(secret: str | None) -> str:
    key = None if secret is None else keys.parse(keys.Kind.VISIT, secret)
    return "" if key is None else key.id
