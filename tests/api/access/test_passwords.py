"""Passwords are long, kept as argon2id, and a few at a time."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock

import pytest
from argon2 import PasswordHasher, Type, extract_parameters
from argon2.exceptions import HashingError, VerificationError

from adomnia.api.access import passwords
from adomnia.errors import Refusal
from api.access.trials import PASSWORD
from kit.waiting import HANG_SECONDS


@pytest.fixture
def real(real_hashes, monkeypatch):
    """The module without the quick hashes of other tests."""
    for name, value in real_hashes.items():
        monkeypatch.setattr(passwords, name, value)
    return passwords


def test_hashes_are_argon2id_with_64_mebibytes(real):
    kept = real.hash_password(PASSWORD)
    parameters = extract_parameters(kept)
    assert (parameters.type, parameters.memory_cost) == (Type.ID, 65_536)
    assert real.verify(PASSWORD, kept)
    assert not real.verify(f"{PASSWORD}!", kept)


def test_nobody_costs_what_somebody_costs(real):
    assert extract_parameters(real._UNMATCHED) == extract_parameters(real.hash_password(PASSWORD))
    assert not real.verify(PASSWORD, None)


def test_every_hash_has_a_salt_of_its_own():
    assert passwords.hash_password(PASSWORD) != passwords.hash_password(PASSWORD)


def test_even_what_nobody_is_compared_with_lets_nobody_in():
    assert not passwords.verify("of nobody", None)


def test_two_spellings_of_one_text_are_one_password():
    assert passwords.verify(
        "caf\u00e9 caf\u00e9 caf\u00e9", passwords.hash_password("cafe\u0301 cafe\u0301 cafe\u0301")
    )


@pytest.mark.parametrize("password", ["", "\ud800", "\0" * 20, "x" * 1001, "ﷺ" * 10**5])
def test_whatever_is_typed_is_wrong_and_no_error(password):
    assert not passwords.verify(password, passwords.hash_password(PASSWORD))


def test_half_a_character_may_be_part_of_a_password():
    assert passwords.verify("\ud800 and more words", passwords.hash_password("\ud800 and more words"))


def test_what_is_kept_and_no_hash_lets_nobody_in():
    assert not passwords.verify(PASSWORD, "damaged")


@pytest.mark.parametrize("password", ["", "x1" * 5 + "y", "xy" * 501, "Alice Liddell", " alice liddell ", "a" * 12])
def test_what_is_easy_to_guess_is_refused(password):
    with pytest.raises(Refusal) as refused:
        passwords.check_strength("alice liddell", password)
    assert refused.value.code == "weak_password"
    assert password == "" or password not in str(refused.value).replace("the user's name", "")


@pytest.mark.parametrize("password", ["xy" * 6, "xy" * 500, "alice liddell 1865"])
def test_long_enough_is_good_enough(password):
    passwords.check_strength("alice liddell", password)


def test_two_are_hashed_at_a_time():
    inside, most, counting, pair = 0, 0, Lock(), Barrier(2, timeout=HANG_SECONDS)

    def enter(_):
        nonlocal inside, most
        with passwords.limit_hashing():
            with counting:
                inside += 1
                most = max(most, inside)
            pair.wait()
            time.sleep(0.01)
            with counting:
                inside -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(enter, range(16)))
    assert most == 2


@pytest.mark.parametrize(
    ("method", "error", "ask"),
    [
        ("hash", HashingError, lambda: passwords.hash_password(PASSWORD)),
        ("verify", VerificationError, lambda: passwords.verify(PASSWORD, None)),
    ],
)
def test_a_lack_of_memory_is_no_wrong_password(monkeypatch, method, error, ask):
    class Full(PasswordHasher):
        pass

    def fail(*_, **__):
        raise error("canary")

    monkeypatch.setattr(Full, method, fail)
    monkeypatch.setattr(passwords, "_HASHER", Full())
    with pytest.raises(Refusal, match="lack of memory") as refused:
        ask()
    assert refused.value.code == "busy"
    assert "canary" not in str(refused.value)
