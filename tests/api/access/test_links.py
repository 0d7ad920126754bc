"""One-time links, by which a user chooses a password."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from adomnia.api.access import Role, Visitor
from adomnia.api.access.credentials import derive_csrf
from api.access.trials import HERE, PASSWORD, code_of
from kit.waiting import HANG_SECONDS

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
