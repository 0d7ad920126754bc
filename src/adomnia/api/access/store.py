"""The interface of access control: managing users and what they sign in with, and identifying who sends a request."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from adomnia.api.access import credentials, login_attempts, passwords, tokens, users
from adomnia.api.access.credentials import CredentialKind
from adomnia.api.access.database import Clock, run_now
from adomnia.api.access.file_database import FileDatabase
from adomnia.api.access.model import Role, Share, Token, User, Visitor
from adomnia.api.access.shared_database import SharedDatabase
from adomnia.errors import AdomniaError, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from adomnia.api.access.credentials import Credential
    from adomnia.api.access.database import Database

ACCESS = "access.sqlite"


class Access:
    """Users, passwords, links, tokens, shares and browser sessions, shared by all processes that open the same tables.

    Nothing is cached outside the tables: what is revoked in one process is refused by all from then on. A process that
    forks opens it again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(
        cls,
        folder: Path,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        defer: Callable[[Callable[[], None]], object] = run_now,
    ) -> Self:
        """Open or create the file of users in a folder, or refuse.

        With a `defer` that runs work in another thread, identifying somebody never waits for a write.
        """
        return cls(FileDatabase(folder / ACCESS, Clock(clock, monotonic), defer))

    @classmethod
    def open_shared(
        cls,
        url: str,
        dataset: str,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        defer: Callable[[Callable[[], None]], object] = run_now,
    ) -> Self:
        """Open or create the users of a dataset in PostgreSQL, which all its hosts share, or refuse."""
        return cls(SharedDatabase(url, dataset, Clock(clock, monotonic), defer))

    def may_wait(self) -> bool:
        """Whether asking who somebody is may have to wait, and so may not keep an event loop."""
        return self._database.may_wait()

    def is_usable(self) -> bool:
        """Whether somebody could be identified now; else an error or False."""
        return self._database.rows("SELECT 1") == [(1,)]

    @property
    def shared(self) -> SharedDatabase | None:
        """What hosts share; None where users are in a file of this host."""
        return self._database if isinstance(self._database, SharedDatabase) else None

    def add_user(self, name: str, role: Role, password: str | None = None) -> None:
        """Add a user; without a password they need a link to choose one."""
        users.check_name(name)
        hashed = None if password is None else _hash_if_strong(name, password)
        with self._database.transaction() as transaction:
            users.add(transaction, name, role, hashed)

    def users(self) -> list[User]:
        """All users, by name."""
        return [users.from_row(row) for row in self._database.rows(f"{users.SELECT} ORDER BY name")]

    def user(self, name: str) -> User:
        """The user of that name, or a refusal."""
        row = self._database.one(users.SELECT_BY_NAME, name) if users.is_valid_name(name) else None
        if row is None:
            raise users.unknown_user_refusal(name)
        return users.from_row(row)

    def set_role(self, name: str, role: Role) -> None:
        """Change the role of a user, at once also for browser sessions and tokens that are in use."""
        with self._database.transaction() as transaction:
            users.set_role(transaction, name, role)

    def remove_user(self, name: str) -> None:
        """Remove a user and end their tokens, browser sessions and links, also for a later user of the same name."""
        with self._database.transaction() as transaction:
            users.remove(transaction, name)

    def set_password(self, name: str, new: str, *, keep: str | None = None) -> None:
        """Set a password and end the browser sessions of that user, but the one whose secret is `keep`."""
        self.user(name)
        hashed = _hash_if_strong(name, new)
        with self._database.transaction() as transaction:
            users.set_password(transaction, name, hashed, _session_id(keep))

    def change_password(self, name: str, old: str, new: str, address: str, *, keep: str | None = None) -> None:
        """Set a password if the old one is right; guesses are limited as for signing in."""
        passwords.check_strength(name, new)
        with self._count_attempt(name, address):
            before = self._verify_password(name, old)
            hashed = passwords.hash_password(new)
            with self._database.transaction() as transaction:
                users.check_password_unchanged(transaction, name, before)
                users.set_password(transaction, name, hashed, _session_id(keep))

    def create_link(self, name: str) -> str:
        """Create a code by which a user may choose a password, once, within a day; it replaces an older one."""
        with self._database.transaction() as transaction:
            return credentials.create_link(transaction, name)

    def redeem_link(self, code: str, password: str, address: str) -> tuple[str, Visitor]:
        """Choose a password by a link, and sign in; gives the secret for the cookie, and who it is."""
        with self._count_attempt(None, address):
            link, name = self._find_link(code)
            passwords.check_strength(name, password)
            hashed = passwords.hash_password(password)
            with self._database.transaction() as transaction:
                credentials.use_link(transaction, link)
                users.set_password(transaction, name, hashed, keep_session="")
                return credentials.start_session(transaction, name)

    def sign_in(self, name: str, password: str, address: str) -> tuple[str, Visitor]:
        """Start a browser session by a password; gives the secret for the cookie, and who it is."""
        with self._count_attempt(name, address):
            hashed = self._verify_password(name, password)
            with self._database.transaction() as transaction:
                users.check_password_unchanged(transaction, name, hashed)
                return credentials.start_session(transaction, name)

    def check_password(self, name: str, password: str, address: str) -> None:
        """Refuse a password that is not this user's; guesses are limited as for signing in."""
        with self._count_attempt(name, address):
            self._verify_password(name, password)

    def sign_out(self, secret: str) -> None:
        """End the browser session of this secret, if there is one."""
        credential = credentials.parse(CredentialKind.BROWSER_SESSION, secret)
        row = None if credential is None else self._database.one(credentials.SELECT_SESSION, credential.id)
        if credential is not None and row is not None and credential.matches(row[2]):
            with self._database.transaction() as transaction:
                credentials.end_session(transaction, credential.id)

    def create_token(self, name: str, label: str, days: int | None) -> tuple[str, Token]:
        """Create a token; gives its secret, which is shown this once. Without days it is valid until it is revoked."""
        tokens.check(label, days)
        with self._database.transaction() as transaction:
            return tokens.create(transaction, name, label, days)

    def tokens(self, name: str | None = None) -> list[Token]:
        """The tokens of a user, or all of them, oldest first."""
        everybody = name is None
        owner = "" if name is None else self.user(name).name
        ((latest,),) = self._database.rows("SELECT latest FROM clock")
        now = self._database.now(latest)
        return [tokens.from_row(row, now) for row in self._database.rows(tokens.SELECT, everybody, owner)]

    def revoke(self, token_id: str, name: str | None = None) -> None:
        """Revoke a token for good, at once in all processes; with a `name`, only if it is theirs."""
        with self._database.transaction() as transaction:
            tokens.revoke(transaction, token_id, name)

    def create_share(self, name: str, request_id: str) -> tuple[str, Share]:
        """Create a link to an answer of a user's own; gives its code, which is shown this once, and the share."""
        with self._database.transaction() as transaction:
            return credentials.create_share(transaction, name, request_id)

    def shares(self, name: str) -> list[Share]:
        """The links to answers that a user has made and not ended, newest first."""
        return [credentials.share_of(row) for row in self._database.rows(credentials.SELECT_SHARES, name)]

    def find_share(self, code: str) -> Share | None:
        """Find what a code stands for; None if it is unknown or was ended."""
        credential = credentials.parse(CredentialKind.SHARE, code)
        row = None if credential is None else self._database.one(credentials.SELECT_SHARE, credential.id)
        if credential is None or row is None or not credential.matches(row[-1]):
            return None
        return credentials.share_of(row[:-1])

    def end_share(self, share_id: str, name: str) -> None:
        """End a link to an answer, at once in all processes; a Refusal if it is not theirs."""
        with self._database.transaction() as transaction:
            credentials.end_share(transaction, share_id, name)

    def identify_token(self, bearer: str) -> Visitor | None:
        """Find the user of a token; None if it is unknown, revoked or expired."""
        credential = credentials.parse(CredentialKind.TOKEN, bearer)
        row = None if credential is None else self._database.one(tokens.SELECT_BY_ID, credential.id)
        if credential is None or row is None:
            return None
        name, role, digest, expires, latest = row
        if not credential.matches(digest):
            return None
        now = self._database.now(latest)
        if tokens.has_expired(expires, now):
            if latest < expires:
                self._database.record_time()  # from now on it is expired for every process, whatever its clock says
            return None
        return Visitor(name, Role(role), token_id=credential.id)

    def identify_browser(self, secret: str) -> Visitor | None:
        """Find the user of a browser session; None if it is unknown, has ended or was not used for too long."""
        credential = credentials.parse(CredentialKind.BROWSER_SESSION, secret)
        row = None if credential is None else self._database.one(credentials.SELECT_SESSION, credential.id)
        if credential is None or row is None:
            return None
        name, role, digest, expires, used, latest = row
        if not credential.matches(digest):
            return None
        session_id, now = credential.id, self._database.now(latest)
        if credentials.has_session_expired(now, expires, used):
            self._database.write_later(session_id, lambda transaction: credentials.end_session(transaction, session_id))
            return None
        if now - used >= credentials.USE_SECONDS:
            self._database.write_later(session_id, lambda transaction: credentials.record_use(transaction, session_id))
        return Visitor(name, Role(role), csrf=credentials.derive_csrf(secret))

    def close(self) -> None:
        """Let go of the tables."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _count_attempt(self, name: str | None, address: str) -> Iterator[None]:
        """Count a login as failed before it is tried, so that simultaneous guesses cannot all slip through."""
        with passwords.limit_hashing():
            with self._database.transaction() as transaction:
                attempt = login_attempts.count(transaction, name, address)
            try:
                yield
            except AdomniaError as error:
                if not isinstance(error, Refusal) or error.code != login_attempts.LOGIN_FAILED:
                    self._clear_attempt(attempt)
                raise
            self._clear_attempt(attempt)

    def _clear_attempt(self, attempt: int) -> None:
        with self._database.transaction() as transaction:
            login_attempts.clear(transaction, attempt)

    def _verify_password(self, name: str, password: str) -> str:
        """Verify a password; gives its stored hash. An unknown name takes as long and is refused alike."""
        row = self._database.one(users.SELECT_PASSWORD, name) if users.is_valid_name(name) else None
        stored: str | None = row[0] if row else None
        if not passwords.verify(password, stored) or stored is None:
            raise login_attempts.login_refusal()
        return stored

    def _find_link(self, code: str) -> tuple[Credential, str]:
        """Find a link and whose it is, or refuse; `use_link` decides whether it is in time."""
        credential = credentials.parse(CredentialKind.LINK, code)
        row = None if credential is None else self._database.one(credentials.SELECT_LINK, credential.id)
        if credential is None or row is None or not credential.matches(row[1]):
            raise login_attempts.login_refusal()
        return credential, row[0]


def _hash_if_strong(name: str, password: str) -> str:
    passwords.check_strength(name, password)
    with passwords.limit_hashing():
        return passwords.hash_password(password)


def _session_id(secret: str | None) -> str:
    credential = None if secret is None else credentials.parse(CredentialKind.BROWSER_SESSION, secret)
    return "" if credential is None else credential.id
