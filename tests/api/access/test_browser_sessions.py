"""Browsers that are signed in: until when, and whose they are."""

from __future__ import annotations

import pytest

from adomnia.api.access import Role, Visitor
from adomnia.api.access.credentials import derive_csrf
from api.access.trials import HERE, PASSWORD, count_rows, watch_writes

HOUR = 60 * 60


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
