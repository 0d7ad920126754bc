"""A real server under which the files of its users go away: what was revoked is refused by every worker, for good."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from adomnia.api.access import ACCESS, Role, open_access
from adomnia.api.running.readiness import USERS
from adomnia.cli import app as command_line
from adomnia.session.curator import STATE
from kit.example import write_example
from kit.serving import API, HOST, served
from kit.waiting import HANG_SECONDS, wait_until

WORKERS, LINES = 2, 6  # connections at once: they are shared out, so that every worker has some
ALLOWED, REFUSED, TROUBLE = 200, 401, 503


class Site:
    """A served dataset, its users, and commands as its owner types them."""

    def __init__(self, folder, monkeypatch, capsys) -> None:
        self.folder, self._monkeypatch, self._capsys = folder, monkeypatch, capsys
        self.users = folder / STATE / ACCESS
        self.port = 0
        self.ended: list[str] = []

    def add(self, name: str) -> str:
        """A new auditor; gives the secret of a token."""
        with open_access(self.folder) as access:
            access.add_user(name, Role.AUDITOR)
            return access.create_token(name, "test", 1)[0]

    def typed(self, *words: object) -> bool:
        """Type a command; whether it said that all is well. Otherwise it says what to do."""
        self._monkeypatch.setattr(sys, "argv", ["adomnia", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        assert ended.value.code in {0, None} or "Fix: " in self._capsys.readouterr().err
        return ended.value.code in {0, None}

    def revoke(self, secret: str) -> bool:
        done = self.typed("token", "revoke", self.folder, secret.split("_")[1])
        self.ended += [secret] * done
        return done

    def remove(self, name: str, secret: str) -> bool:
        done = self.typed("user", "remove", self.folder, name)
        self.ended += [secret] * done
        return done

    def ask(self, secret: str) -> set[int]:
        """How all workers reply to a token. All are asked before the first replies: idle connections are closed."""
        with ExitStack() as opened:
            lines = [
                opened.enter_context(closing(HTTPConnection(HOST, self.port, timeout=HANG_SECONDS)))
                for _ in range(LINES)
            ]
            for line in lines:
                line.connect()
            for line in lines:
                line.request("GET", f"{API}/me", headers={"Authorization": f"Bearer {secret}"})
            return {line.getresponse().status for line in lines}

    def check_ended(self) -> None:
        """No worker lets in whom a command has ended."""
        for secret in self.ended:
            assert ALLOWED not in self.ask(secret)

    def wait_until(self, is_ready: bool) -> None:
        """Wait until readiness says that users can be looked up, or that they cannot."""
        wait_until(lambda: self._is_ready() == is_ready)

    def _is_ready(self) -> bool | None:
        """None while something else is wrong, or nobody replies."""
        with suppress(OSError), closing(HTTPConnection(HOST, self.port, timeout=HANG_SECONDS)) as line:
            line.request("GET", f"{API}/ready")
            reply = line.getresponse()
            body = reply.read()
            return True if reply.status == ALLOWED else False if USERS in json.dumps(json.loads(body)) else None
        return None

    @contextmanager
    def removed(self, *suffixes):
        for suffix in suffixes:
            Path(f"{self.users}{suffix}").unlink(missing_ok=True)
        yield

    @contextmanager
    def moved_away(self):
        away = self.users.rename(self.users.with_name("away"))
        yield
        away.rename(self.users)

    @contextmanager
    def set_back(self, older):
        """An older copy has its name for a while."""
        with self.moved_away():
            shutil.copy(older, self.users)
            yield

    @contextmanager
    def overwritten(self, older):
        """The same file has the bytes of an older copy for a while."""
        newest = self.users.read_bytes()
        self.users.write_bytes(older.read_bytes())
        yield
        self.users.write_bytes(newest)

    @contextmanager
    def copied(self):
        """A copy of itself has its name from now on."""
        shutil.copy(self.users, self.users.with_name("copy"))
        self.users.with_name("copy").replace(self.users)
        yield


@pytest.fixture
def site(tmp_path, monkeypatch, capsys):
    return Site(write_example(tmp_path / "hospital", people=300, indexed=True), monkeypatch, capsys)


def test_what_was_revoked_stays_revoked_whatever_becomes_of_the_files(site, tmp_path):
    remaining, older = site.add("audrey"), tmp_path / "older"
    harmless = [*(site.removed(end) for end in ("-shm", "-wal", "-journal", ".anchor")), site.copied()]
    harmful = [site.moved_away(), site.set_back(older), site.overwritten(older)]
    with served(site.folder, "--workers", WORKERS, "--bucket", 0, "--rate", 10_000) as server:
        server.all_workers(WORKERS)
        site.port = server.port
        for number, fault in enumerate([*harmless, *harmful]):
            names = [f"token {number}", f"user {number}"]
            one, other = map(site.add, names)
            assert site.ask(one) == site.ask(other) == {ALLOWED}
            if number == 0:
                shutil.copy(site.users, older)
            with fault:
                assert site.revoke(one) == site.remove(names[1], other) == (number < len(harmless))
                assert number >= len(harmless) or ALLOWED not in site.ask(one) | site.ask(other)
                if number >= len(harmless):
                    assert site.ask(remaining) == site.ask(one) == {TROUBLE}
                    site.wait_until(is_ready=False)
            site.wait_until(is_ready=True)
            if number >= len(harmless):
                assert site.revoke(one)
                assert site.remove(names[1], other)
            assert site.ask(one) == site.ask(other) == {REFUSED}
            assert site.ask(remaining) == {ALLOWED}
        site.check_ended()
        assert '"fault":"ESTALE"' in server.log.read_text().replace(" ", "")
    with served(site.folder, "--workers", WORKERS) as server:
        server.all_workers(WORKERS)
        site.port = server.port
        assert len(site.ended) == 2 * len([*harmless, *harmful])
        site.check_ended()
        assert site.ask(remaining) == {ALLOWED}
