"""Browsers that are signed in, and the way in for who has no password yet."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from adomnia.server.access import Role, Visitor
from adomnia.server.access.keys import csrf_of
from server.access.trials import HERE, PASSWORD, code_of

HOUR = 60 * 60


@pytest.fixture
def visit(access):
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    return secret


def test_a_visit_says_whose_it_is_and_what_its_page_has_to_send(access):
    secret, visitor = access.sign_in("alice", PASSWORD, HERE)
    assert visitor == Visitor("alice", Role.ANALYST, csrf=csrf_of(secret)) == access.identify_visit(secret)


def test_every_visit_has_a_secret_of_its_own(access, visit):
    assert access.sign_in("alice", PASSWORD, HERE)[0] != visit
    assert access.identify_visit(visit)


@pytest.mark.parametrize("place", [0, 8, 30, -1])
def test_a_secret_with_one_letter_changed_opens_and_ends_nothing(access, visit, place):
    letters = list(visit)
    letters[place] = "0" if letters[place] != "0" else "1"
    access.end_visit("".join(letters))
    assert access.identify_visit("".join(letters)) is None
    assert access.identify_visit(visit)


@pytest.mark.parametrize("secret", ["", "visit_", "\ud800", "visit_" + "0" * 16 + "_" + "0" * 64])
def test_what_was_never_a_visit_opens_and_ends_nothing(access, secret):
    access.end_visit(secret)
    assert access.identify_visit(secret) is None


def test_a_token_is_no_visit_and_a_visit_no_token(access, visit):
    token, _ = access.create_token("alice", "", None)
    assert access.identify_visit(token) is None
    assert access.identify_token(visit) is None


def test_who_signs_out_is_out(access, visit):
    access.end_visit(visit)
    access.end_visit(visit)
    assert access.identify_visit(visit) is None


def test_an_hour_without_use_ends_a_visit(access, visit, time):
    time.go_on(HOUR - 1)
    assert access.identify_visit(visit)
    time.go_on(HOUR - 1)
    assert access.identify_visit(visit)
    time.go_on(HOUR)
    assert access.identify_visit(visit) is None


def test_twelve_hours_end_a_visit_that_is_in_use(access, visit, time):
    for _ in range(23):
        time.go_on(HOUR / 2)
        assert access.identify_visit(visit)
    time.go_on(HOUR / 2)
    assert access.identify_visit(visit) is None


def test_use_is_written_down_once_a_minute(access, visit, time):
    changes = access._database._writer.total_changes
    for _ in range(59):
        time.go_on(1)
        assert access.identify_visit(visit)
    assert access._database._writer.total_changes == changes


def test_a_visit_that_is_over_stays_so_when_the_clock_is_set_back(access, visit, time, tmp_path):
    time.go_on(HOUR)
    assert access.identify_visit(visit) is None
    time.wall -= HOUR
    with time.opened(tmp_path) as another_process:
        assert another_process.identify_visit(visit) is None


def test_visits_end_also_after_the_clock_was_moved_ahead_and_back(access, time):
    time.wall += 10**9
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    time.wall -= 10**9
    time.go_on(HOUR - 1)
    assert access.identify_visit(secret)
    time.go_on(HOUR)
    assert access.identify_visit(secret) is None


def test_visits_that_are_over_are_forgotten(access, visit, time):
    time.go_on(HOUR)
    access.sign_in("alice", PASSWORD, HERE)
    assert access._database.one("SELECT COUNT(*) FROM visits") == (1,)


def test_a_link_lets_its_holder_choose_the_password_once(access):
    code = access.create_link("olga")
    secret, visitor = access.redeem(code, PASSWORD, HERE)
    assert visitor == access.identify_visit(secret) == Visitor("olga", Role.OWNER, csrf=csrf_of(secret))
    assert access.user("olga").has_password
    assert code_of(access.sign_in, "olga", PASSWORD, HERE) == ""
    assert code_of(access.redeem, code, "another good one", HERE) == "sign_in"
    assert code_of(access.sign_in, "olga", PASSWORD, HERE) == ""


def test_a_newer_link_replaces_the_older(access):
    old, new = access.create_link("olga"), access.create_link("olga")
    assert code_of(access.redeem, old, PASSWORD, HERE) == "sign_in"
    assert code_of(access.redeem, new, PASSWORD, HERE) == ""


def test_a_link_lives_a_day(access, time):
    late, in_time = access.create_link("olga"), access.create_link("alice")
    time.go_on(24 * HOUR - 1)
    assert code_of(access.redeem, in_time, PASSWORD, HERE) == ""
    time.go_on(1)
    assert code_of(access.redeem, late, PASSWORD, HERE) == "sign_in"
    time.wall -= HOUR
    assert code_of(access.redeem, late, PASSWORD, HERE) == "sign_in"


@pytest.mark.parametrize("code", ["", "link_", "\ud800", "link_" + "0" * 16 + "_" + "0" * 64])
def test_a_wrong_link_is_refused_like_a_wrong_password(access, code):
    assert code_of(access.redeem, code, PASSWORD, HERE) == "sign_in"


def test_a_link_with_one_letter_changed_is_refused_and_not_used_up(access):
    code = access.create_link("olga")
    other = code[:-1] + ("0" if code[-1] != "0" else "1")
    assert code_of(access.redeem, other, PASSWORD, HERE) == "sign_in"
    assert code_of(access.redeem, code, PASSWORD, HERE) == ""


def test_a_link_that_is_used_twice_at_once_is_granted_once(access):
    for _ in range(5):
        code = access.create_link("olga")
        with ThreadPoolExecutor(8) as threads:
            tries = [
                threads.submit(code_of, access.redeem, code, f"{PASSWORD} {place}", f"10.0.0.{place}")
                for place in range(8)
            ]
            ends = [each.result(timeout=60) for each in tries]
        assert sorted(ends) == [""] + ["sign_in"] * 7
        assert code_of(access.sign_in, "olga", f"{PASSWORD} {ends.index('')}", "here") == ""


def test_a_link_for_a_forgotten_password_ends_older_visits(access, visit):
    access.redeem(access.create_link("alice"), "another good one", HERE)
    assert access.identify_visit(visit) is None
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "sign_in"
