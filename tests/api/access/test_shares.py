"""Links to answers: found by their code alone, ended for good, and gone with their user."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from adomnia.api.access import ACCESS, Access, Role, Share
from api.access.trials import PASSWORD, code_of


def test_a_share_is_found_by_its_code_until_it_is_ended(access, time):
    code, share = access.create_share("alice", "monday-1")
    assert share == access.find_share(code) == Share(share.id, "alice", "monday-1", time.wall)
    assert access.shares("alice") == [share]
    assert access.shares("olga") == []
    access.end_share(share.id, "alice")
    assert access.find_share(code) is None
    assert access.shares("alice") == []


def test_the_code_is_not_stored(access, home, tmp_path):
    code, _ = access.create_share("alice", "monday-1")
    secret = code.rpartition("_")[2].encode()
    assert len(secret) == 64
    assert secret not in home.read_all(tmp_path)


@pytest.mark.parametrize("code", ["", "share_", "\ud800", "share_" + "0" * 16 + "_" + "0" * 64])
def test_an_unknown_code_finds_nothing(access, code):
    assert access.find_share(code) is None


def test_a_code_with_one_letter_changed_or_of_another_kind_finds_nothing(access):
    code, _ = access.create_share("alice", "monday-1")
    assert access.find_share(code[:-1] + ("0" if code[-1] != "0" else "1")) is None
    assert access.find_share(code.replace("share_", "link_")) is None
    assert access.find_share(access.create_link("olga")) is None


def test_nobody_ends_anothers_link(access):
    code, share = access.create_share("alice", "monday-1")
    assert code_of(access.end_share, share.id, "olga") == "unknown_link"
    assert code_of(access.end_share, "\ud800", "alice") == "unknown_link"
    assert access.find_share(code) == share


def test_links_are_limited_in_number(access):
    for number in range(100):
        access.create_share("alice", str(number))
    assert code_of(access.create_share, "alice", "one more") == "too_many_links"
    access.end_share(access.shares("alice")[0].id, "alice")
    assert code_of(access.create_share, "alice", "one more") == ""


def test_links_end_with_their_user(access):
    code, _ = access.create_share("alice", "monday-1")
    access.remove_user("alice")
    access.add_user("alice", Role.ANALYST, PASSWORD)
    assert access.find_share(code) is None


def test_files_of_before_get_the_table(tmp_path):
    with Access.open(tmp_path) as access:
        access.add_user("alice", Role.ANALYST)
    with closing(sqlite3.connect(tmp_path / ACCESS, isolation_level=None)) as connection:
        for statement in ("DROP TABLE shares", "DROP TABLE marks", "PRAGMA user_version = 1"):
            connection.execute(statement)
    (tmp_path / f"{ACCESS}.anchor").unlink()
    with Access.open(tmp_path) as access:
        code, share = access.create_share("alice", "monday-1")
        assert access.find_share(code) == share
        assert [user.name for user in access.users()] == ["alice"]
