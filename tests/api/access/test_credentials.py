"""Secrets are drawn, shown once, and recognised by their digest."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256

import pytest

from adomnia.api.access import ACCESS, Access, Role, Share, Visitor
from adomnia.api.access.credentials import CredentialKind, derive_csrf, draw, parse
from api.access.trials import HERE, PASSWORD, code_of, count_rows, watch_writes
from kit.waiting import HANG_SECONDS


@pytest.mark.parametrize("kind", CredentialKind)
def test_a_secret_matches_what_was_stored_of_it(kind):
    text, credential = draw(kind)
    assert text.startswith(f"{kind}_")
    assert parse(kind, text) == credential
    assert parse(kind, text).matches(credential.digest)
    assert credential.digest == sha256(text.split("_")[2].encode()).digest()


def test_no_two_secrets_are_alike():
    drawn = [draw(CredentialKind.TOKEN) for _ in range(100)]
    assert len({text for text, _ in drawn}) == len({credential.id for _, credential in drawn}) == 100


def test_another_secret_under_the_same_id_matches_nothing():
    text, credential = draw(CredentialKind.TOKEN)
    other = text[:-1] + ("0" if text[-1] != "0" else "1")
    assert parse(CredentialKind.TOKEN, other).id == credential.id
    assert not parse(CredentialKind.TOKEN, other).matches(credential.digest)


@pytest.mark.parametrize("other", [CredentialKind.BROWSER_SESSION, CredentialKind.LINK])
def test_a_secret_of_one_kind_is_not_one_of_another(other):
    assert parse(other, draw(CredentialKind.TOKEN)[0]) is None


@pytest.mark.parametrize(
    "text", ["", "ao", "ao__", "ao_0_1", "é" * 84, "\ud800", "ao_" + "0" * 16 + "_" + "0" * 64 + "\n", "x" * 10**6]
)
def test_what_no_draw_can_have_made_is_no_credential(text):
    assert parse(CredentialKind.TOKEN, text) is None


def test_a_credential_does_not_show_its_digest():
    text, credential = draw(CredentialKind.BROWSER_SESSION)
    assert repr(credential) == f"Credential(id='{credential.id}')"
    assert derive_csrf(text) == derive_csrf(text) != derive_csrf(draw(CredentialKind.BROWSER_SESSION)[0])
    assert derive_csrf(text) not in {text, credential.digest.hex(), text.split("_")[2]}


HOUR = 60 * 60


def test_a_link_lets_its_holder_choose_the_password_once(access):
    code = access.create_link("olga")
    secret, visitor = access.redeem_link(code, PASSWORD, HERE)
    assert visitor == access.identify_browser(secret) == Visitor("olga", Role.OWNER, csrf=derive_csrf(secret))
    assert access.user("olga").has_password
    assert code_of(access.sign_in, "olga", PASSWORD, HERE) == ""
    assert code_of(access.redeem_link, code, "another good one", HERE) == "sign_in"
    assert code_of(access.sign_in, "olga", PASSWORD, HERE) == ""


def test_a_newer_link_replaces_the_older(access):
    old, new = access.create_link("olga"), access.create_link("olga")
    assert code_of(access.redeem_link, old, PASSWORD, HERE) == "sign_in"
    assert code_of(access.redeem_link, new, PASSWORD, HERE) == ""


def test_a_link_lives_a_day(access, time):
    late, in_time = access.create_link("olga"), access.create_link("alice")
    time.go_on(24 * HOUR - 1)
    assert code_of(access.redeem_link, in_time, PASSWORD, HERE) == ""
    time.go_on(1)
    assert code_of(access.redeem_link, late, PASSWORD, HERE) == "sign_in"
    time.wall -= HOUR
    assert code_of(access.redeem_link, late, PASSWORD, HERE) == "sign_in"


@pytest.mark.parametrize("code", ["", "link_", "\ud800", "link_" + "0" * 16 + "_" + "0" * 64])
def test_a_wrong_link_is_refused_like_a_wrong_password(access, code):
    assert code_of(access.redeem_link, code, PASSWORD, HERE) == "sign_in"


def test_a_link_with_one_letter_changed_is_refused_and_not_used_up(access):
    code = access.create_link("olga")
    other = code[:-1] + ("0" if code[-1] != "0" else "1")
    assert code_of(access.redeem_link, other, PASSWORD, HERE) == "sign_in"
    assert code_of(access.redeem_link, code, PASSWORD, HERE) == ""


def test_a_link_that_is_used_twice_at_once_is_granted_once(access):
    for _ in range(5):
        code = access.create_link("olga")
        with ThreadPoolExecutor(8) as threads:
            tries = [
                threads.submit(code_of, access.redeem_link, code, f"{PASSWORD} {place}", f"10.0.0.{place}")
                for place in range(8)
            ]
            ends = [each.result(timeout=HANG_SECONDS) for each in tries]
        assert sorted(ends) == [""] + ["sign_in"] * 7
        assert code_of(access.sign_in, "olga", f"{PASSWORD} {ends.index('')}", "here") == ""


def test_a_link_for_a_forgotten_password_ends_older_sessions(access):
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    access.redeem_link(access.create_link("alice"), "another good one", HERE)
    assert access.identify_browser(secret) is None
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "sign_in"


@pytest.fixture
def secret(access):
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    return secret


def test_a_session_says_whose_it_is_and_what_its_page_has_to_send(access):
    secret, visitor = access.sign_in("alice", PASSWORD, HERE)
    assert visitor == Visitor("alice", Role.ANALYST, csrf=derive_csrf(secret)) == access.identify_browser(secret)


def test_every_session_has_a_secret_of_its_own(access, secret):
    assert access.sign_in("alice", PASSWORD, HERE)[0] != secret
    assert access.identify_browser(secret)


@pytest.mark.parametrize("place", [0, 8, 30, -1])
def test_a_secret_with_one_letter_changed_opens_and_ends_nothing(access, secret, place):
    letters = list(secret)
    letters[place] = "0" if letters[place] != "0" else "1"
    access.sign_out("".join(letters))
    assert access.identify_browser("".join(letters)) is None
    assert access.identify_browser(secret)


@pytest.mark.parametrize("secret", ["", "visit_", "\ud800", "visit_" + "0" * 16 + "_" + "0" * 64])
def test_what_was_never_a_session_opens_and_ends_nothing(access, secret):
    access.sign_out(secret)
    assert access.identify_browser(secret) is None


def test_a_token_is_no_session_and_a_session_no_token(access, secret):
    token, _ = access.create_token("alice", "", None)
    assert access.identify_browser(token) is None
    assert access.identify_token(secret) is None


def test_who_signs_out_is_out(access, secret):
    access.sign_out(secret)
    access.sign_out(secret)
    assert access.identify_browser(secret) is None


def test_an_hour_without_use_ends_a_session(access, secret, time):
    time.go_on(HOUR - 1)
    assert access.identify_browser(secret)
    time.go_on(HOUR - 1)
    assert access.identify_browser(secret)
    time.go_on(HOUR)
    assert access.identify_browser(secret) is None


def test_twelve_hours_end_a_session_that_is_in_use(access, secret, time):
    for _ in range(23):
        time.go_on(HOUR / 2)
        assert access.identify_browser(secret)
    time.go_on(HOUR / 2)
    assert access.identify_browser(secret) is None


def test_use_is_written_down_once_a_minute(access, secret, time):
    writes = watch_writes(access)
    for _ in range(59):
        time.go_on(1)
        assert access.identify_browser(secret)
    assert writes == []


def test_a_session_that_is_over_stays_so_when_the_clock_is_set_back(access, secret, time, tmp_path):
    time.go_on(HOUR)
    assert access.identify_browser(secret) is None
    time.wall -= HOUR
    with time.opened(tmp_path) as another_process:
        assert another_process.identify_browser(secret) is None


def test_sessions_end_also_after_the_clock_was_moved_ahead_and_back(access, time):
    time.wall += 10**9
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    time.wall -= 10**9
    time.go_on(HOUR - 1)
    assert access.identify_browser(secret)
    time.go_on(HOUR)
    assert access.identify_browser(secret) is None


def test_sessions_that_are_over_are_forgotten(access, secret, time):
    time.go_on(HOUR)
    access.sign_in("alice", PASSWORD, HERE)
    assert count_rows(access, "visits") == 1


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
