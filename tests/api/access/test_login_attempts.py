"""Who guesses has to wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from adomnia.api.access import passwords
from adomnia.api.access.login_attempts import WINDOW_SECONDS
from adomnia.errors import Refusal
from api.access.trials import HERE, PASSWORD, THERE, code_of, count_rows
from kit.waiting import HANG_SECONDS


@pytest.mark.parametrize("name", ["alice", "nobody", "", "\ud800", "x" * 1000])
@pytest.mark.parametrize(("most", "addresses"), [(5, 1), (50, 20)])
def test_after_its_failures_a_name_waits_until_the_window_passes(access, time, name, most, addresses):
    ends = [code_of(access.sign_in, name, "wrong", f"10.0.0.{host % addresses}") for host in range(most + 2)]
    assert ends == ["sign_in"] * most + ["too_many_attempts"] * 2
    time.go_on(WINDOW_SECONDS - 1)
    assert code_of(access.sign_in, name, "wrong", "10.0.0.0") == "too_many_attempts"
    time.go_on(1)
    assert code_of(access.sign_in, name, "wrong", "10.0.0.0") == "sign_in"


def test_the_right_password_does_not_help_who_has_to_wait_and_is_not_even_looked_at(access, time, monkeypatch):
    for _ in range(5):
        code_of(access.sign_in, "alice", "wrong", HERE)
    with monkeypatch.context() as patched:
        patched.setattr(passwords, "verify", None)
        assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "too_many_attempts"
        assert code_of(access.change_password, "alice", PASSWORD, "another good one", HERE) == "too_many_attempts"
    time.go_on(WINDOW_SECONDS)
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == ""


def test_the_words_for_a_name_that_exists_and_for_one_that_does_not_are_the_same(access):
    said = []
    for name in ("alice", "nobody"):
        for _ in range(6):
            with pytest.raises(Refusal) as refused:
                access.sign_in(name, "wrong", f"of {name}")
            said.append(str(refused.value))
    assert said[:6] == said[6:]
    assert len(set(said)) == 2


def test_after_twenty_failures_an_address_waits_whatever_it_tries(access):
    ends = [code_of(access.sign_in, f"name {each}", "wrong", HERE) for each in range(10)]
    ends += [code_of(access.redeem_link, "wrong", PASSWORD, HERE) for _ in range(11)]
    assert ends == ["sign_in"] * 20 + ["too_many_attempts"]
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "too_many_attempts"
    assert code_of(access.redeem_link, access.create_link("alice"), PASSWORD, HERE) == "too_many_attempts"
    assert code_of(access.sign_in, "alice", PASSWORD, THERE) == ""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("unix socket", "unix socket", True),
        ("unix socket", "another", False),
    ],
)
def test_addresses_of_one_holder_count_together(access, one, other, same):
    for each in range(20):
        code_of(access.sign_in, f"name {each}", "wrong", one)
    assert (code_of(access.sign_in, "alice", PASSWORD, other) == "too_many_attempts") is same


def test_who_gets_in_is_not_counted(access):
    for _ in range(7):
        assert code_of(access.sign_in, "alice", PASSWORD, HERE) == ""
    assert count_rows(access, "attempts") == 0


def test_a_weak_password_is_no_guess(access):
    code = access.create_link("olga")
    assert [code_of(access.redeem_link, code, "weak", HERE) for _ in range(7)] == ["weak_password"] * 7
    assert [code_of(access.change_password, "alice", PASSWORD, "weak", HERE) for _ in range(7)] == ["weak_password"] * 7
    assert count_rows(access, "attempts") == 0
    assert code_of(access.redeem_link, code, PASSWORD, HERE) == ""


def test_guessing_the_old_password_is_guessing(access):
    ends = [code_of(access.change_password, "alice", "wrong", "another good one", HERE) for _ in range(6)]
    assert ends == ["sign_in"] * 5 + ["too_many_attempts"]
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "too_many_attempts"


def test_who_fails_under_the_name_of_another_keeps_only_themselves_out(access):
    ends = [code_of(access.sign_in, "alice", "wrong", HERE) for _ in range(30)]
    assert ends == ["sign_in"] * 5 + ["too_many_attempts"] * 25
    assert code_of(access.sign_in, "alice", PASSWORD, THERE) == ""


def test_guesses_at_an_old_password_do_not_count_against_a_new_one(access):
    for host in range(60):
        code_of(access.sign_in, "alice", "wrong", f"10.0.0.{host}")
    access.redeem_link(access.create_link("alice"), "another good one", HERE)
    assert code_of(access.sign_in, "alice", "another good one", HERE) == ""


def test_guesses_at_the_same_moment_do_not_slip_through(access):
    with ThreadPoolExecutor(16) as threads:
        tries = [threads.submit(code_of, access.sign_in, "alice", "wrong", HERE) for _ in range(40)]
        ends = [each.result(timeout=HANG_SECONDS) for each in tries]
    assert sorted(ends) == ["sign_in"] * 5 + ["too_many_attempts"] * 35


def test_what_is_over_is_forgotten(access, time):
    for each in range(15):
        code_of(access.sign_in, f"name {each}", "wrong", HERE)
    assert count_rows(access, "attempts") == 15
    time.go_on(WINDOW_SECONDS)
    code_of(access.sign_in, "alice", "wrong", HERE)
    assert count_rows(access, "attempts") == 1


def test_a_clock_that_is_set_back_does_not_make_anybody_wait_longer(access, time):
    for _ in range(5):
        code_of(access.sign_in, "alice", "wrong", HERE)
    time.wall -= 10_000_000
    time.go_on(WINDOW_SECONDS)
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == ""
