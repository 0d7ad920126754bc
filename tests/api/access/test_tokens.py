"""What programs sign in with."""

from __future__ import annotations

import pytest

from adomnia.api.access import Role, Token, TokenState, Visitor
from api.access.trials import code_of, watch_writes

DAY = 24 * 60 * 60


def test_a_token_says_whose_it_is(access, time):
    secret, made = access.create_token("alice", "laptop", 90)
    assert made == Token(made.id, "alice", "laptop", time.wall, time.wall + 90 * DAY, False, TokenState.VALID)
    assert secret.startswith(f"ao_{made.id}_")
    assert access.identify_token(secret) == Visitor("alice", Role.ANALYST, token_id=made.id)


def test_tokens_are_listed_without_secrets_oldest_first(access, time):
    made = []
    for user in ("alice", "olga", "alice"):
        made.append(access.create_token(user, "", None)[1])
        time.go_on(1)
    assert access.tokens() == made
    assert access.tokens("alice") == [made[0], made[2]]


@pytest.mark.parametrize("place", [0, 3, 20, 83])
def test_a_token_with_one_letter_changed_opens_nothing(access, place):
    secret, _ = access.create_token("alice", "", None)
    letter = "0" if secret[place] != "0" else "1"
    assert access.identify_token(secret[:place] + letter + secret[place + 1 :]) is None


@pytest.mark.parametrize("bearer", ["", "ao_", "\ud800", "ao_" + "0" * 16 + "_" + "0" * 64, "x" * 10**6, "Bearer ao_"])
def test_what_was_never_a_token_opens_nothing(access, bearer):
    assert access.identify_token(bearer) is None


def test_a_token_expires(access, time):
    secret, _ = access.create_token("alice", "", 1)
    time.go_on(DAY - 0.001)
    assert access.identify_token(secret)
    time.go_on(0.001)
    assert access.identify_token(secret) is None


def test_a_token_without_end_lasts(access, time):
    secret, made = access.create_token("alice", "", None)
    time.go_on(10_000 * DAY)
    assert made.expires is None
    assert access.identify_token(secret)


def test_an_expired_token_stays_so_when_the_clock_is_set_back(access, time, tmp_path):
    secret, _ = access.create_token("alice", "", 1)
    time.go_on(DAY - 30)
    assert access.identify_token(secret)  # the time is written down, and then not for a minute
    time.go_on(30)
    assert access.identify_token(secret) is None
    time.wall -= DAY
    assert access.identify_token(secret) is None
    with time.opened(tmp_path) as another_process:
        assert another_process.identify_token(secret) is None


def test_the_state_in_a_list_is_what_the_token_opens(access, time, tmp_path):
    expiring, _ = access.create_token("alice", "a", 1)
    revoked, made = access.create_token("alice", "b", None)
    endless, _ = access.create_token("alice", "c", None)
    access.revoke(made.id)
    assert {token.label: token.state for token in access.tokens()} == {"a": "valid", "b": "revoked", "c": "valid"}
    time.go_on(DAY)
    assert access.identify_token(expiring) is None  # from now on for everybody, whatever their clocks say
    time.wall -= 2 * DAY
    with time.opened(tmp_path) as another_process:
        opens = [another_process.identify_token(secret) is not None for secret in (expiring, revoked, endless)]
        states = {token.label: token.state for token in another_process.tokens("alice")}
    assert states == {"a": "expired", "b": "revoked", "c": "valid"}
    assert opens == [False, False, True]


def test_time_is_written_down_once_a_minute_whoever_enters(access, time, tmp_path):
    expiring, _ = access.create_token("alice", "", 1)
    endless, _ = access.create_token("olga", "", None)
    time.go_on(2 * DAY)
    assert access.identify_token(endless)
    time.wall -= 2 * DAY
    with time.opened(tmp_path) as another_process:
        assert another_process.identify_token(expiring) is None


def test_time_is_written_down_no_oftener(access, time):
    secret, _ = access.create_token("alice", "", 1)
    writes = watch_writes(access)
    for _ in range(59):
        time.go_on(1)
        access.identify_token(secret)
    assert writes == []
    time.go_on(1)
    access.identify_token(secret)
    assert len(writes) == 1


def test_an_expired_token_costs_one_note_and_no_more(access, time):
    secret, _ = access.create_token("alice", "", 1)
    time.go_on(DAY)
    access.identify_token(secret)
    writes = watch_writes(access)
    for _ in range(10):
        access.identify_token(secret)
    assert writes == []


def test_a_token_that_is_revoked_is_over(access):
    secret, made = access.create_token("alice", "", None)
    access.revoke(made.id)
    access.revoke(made.id)
    assert access.identify_token(secret) is None
    assert [token.revoked for token in access.tokens()] == [True]


def test_nobody_revokes_what_is_not_theirs(access):
    secret, made = access.create_token("alice", "", None)
    assert code_of(access.revoke, made.id, "olga") == "unknown_token"
    assert access.identify_token(secret)
    access.revoke(made.id, "alice")
    assert access.identify_token(secret) is None


@pytest.mark.parametrize("token_id", ["", "0" * 16, "\ud800", "x' OR 1"])
def test_a_token_that_is_not_there_is_refused(access, token_id):
    assert code_of(access.revoke, token_id) == "unknown_token"


@pytest.mark.parametrize(
    ("label", "days", "code"),
    [
        ("x" * 101, 1, "bad_label"),
        ("two\nlines", 1, "bad_label"),
        ("\ud800", 1, "bad_label"),
        ("", 0, "bad_days"),
        ("", -1, "bad_days"),
        ("", 3651, "bad_days"),
        ("", 10**400, "bad_days"),
        ("x" * 100, 3650, ""),
    ],
)
def test_a_strange_label_or_age_is_refused(access, label, days, code):
    assert code_of(access.create_token, "alice", label, days) == code
    assert len(access.tokens()) == (code == "")


def test_a_hundred_tokens_are_enough(access, time):
    made = [access.create_token("alice", "", 1 if number else 2)[1] for number in range(100)]
    assert code_of(access.create_token, "alice", "", None) == "too_many_tokens"
    access.create_token("olga", "", None)
    access.revoke(made[50].id)
    access.create_token("alice", "", 1)
    assert code_of(access.create_token, "alice", "", None) == "too_many_tokens"
    time.go_on(DAY)
    access.create_token("alice", "", None)


def test_the_oldest_dead_tokens_are_forgotten_and_no_live_one(access, time):
    live = access.create_token("alice", "live", None)[1]
    theirs = access.create_token("olga", "theirs", None)[1]
    access.revoke(theirs.id)
    for number in range(150):
        time.go_on(1)
        access.revoke(access.create_token("alice", str(number), None)[1].id)
    assert [token.label for token in access.tokens("alice")] == ["live", *map(str, range(51, 150))]
    assert not access.tokens("alice")[0].revoked
    assert access.tokens("alice")[0] == live
    assert [token.id for token in access.tokens("olga")] == [theirs.id]
