"""Who there is, and that an owner remains."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from adomnia.api.access import Role, User
from adomnia.errors import Refusal
from api.access.trials import HERE, PASSWORD, code_of

STRANGE = ["", "x" * 101, "two\nlines", "\ud800", "tab\t", "\x1b[31m"]


def test_users_are_listed_by_name(access, time):
    assert access.users() == [
        User("alice", Role.ANALYST, has_password=True, created=time.wall),
        User("olga", Role.OWNER, has_password=False, created=time.wall),
    ]
    assert access.user("alice") == access.users()[0]


@pytest.mark.parametrize("name", ["x", "x" * 100, "Åsa Öberg", "a/b", "..", "'; DROP TABLE users; --", "<b>", "名前"])
def test_a_name_may_hold_whatever_can_be_printed(access, name):
    access.add_user(name, Role.ANALYST, PASSWORD)
    assert access.user(name).name == name
    assert access.sign_in(name, PASSWORD, HERE)[1].name == name
    access.remove_user(name)
    assert code_of(access.user, name) == "unknown_user"


@pytest.mark.parametrize("name", STRANGE)
def test_a_name_that_cannot_be_shown_is_refused(access, name):
    assert code_of(access.add_user, name, Role.ANALYST) == "bad_name"
    assert len(access.users()) == 2


@pytest.mark.parametrize("name", [*STRANGE, "nobody", "ALICE", "alice "])
def test_a_name_that_nobody_has_is_refused_everywhere(access, name):
    asks = [
        (access.user, name),
        (access.set_role, name, Role.OWNER),
        (access.remove_user, name),
        (access.set_password, name, PASSWORD),
        (access.create_link, name),
        (access.create_token, name, "label", 1),
        (access.tokens, name),
    ]
    for ask, *arguments in asks:
        with pytest.raises(Refusal) as refused:
            ask(*arguments)
        assert refused.value.code == "unknown_user"
        str(refused.value).encode()
        assert str(refused.value).isprintable()


def test_a_name_is_given_once(access):
    assert code_of(access.add_user, "alice", Role.OWNER) == "user_exists"
    assert access.user("alice").role is Role.ANALYST


def test_somebody_with_a_weak_password_is_not_added(access):
    assert code_of(access.add_user, "bob", Role.ANALYST, "weak") == "weak_password"
    assert code_of(access.user, "bob") == "unknown_user"


def test_a_new_role_holds_at_once_for_sessions_and_tokens(access):
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    token, _ = access.create_token("alice", "", None)
    access.set_role("alice", Role.AUDITOR)
    assert access.identify_browser(secret).role is access.identify_token(token).role is Role.AUDITOR


def test_the_last_owner_stays(access):
    assert code_of(access.remove_user, "olga") == "last_owner"
    assert code_of(access.set_role, "olga", Role.ANALYST) == "last_owner"
    access.set_role("olga", Role.OWNER)
    access.set_role("alice", Role.OWNER)
    access.set_role("olga", Role.AUDITOR)
    assert code_of(access.remove_user, "alice") == "last_owner"
    access.set_role("olga", Role.OWNER)
    access.remove_user("alice")
    assert [user.name for user in access.users()] == ["olga"]


def test_two_owners_who_remove_each_other_do_not_both_go(access):
    for _ in range(10):
        access.add_user("omar", Role.OWNER)
        with ThreadPoolExecutor(2) as threads:
            ends = sorted(threads.map(lambda name: code_of(access.remove_user, name), ["olga", "omar"]))
        assert ends == ["", "last_owner"]
        if code_of(access.user, "olga"):
            access.add_user("olga", Role.OWNER)
            access.remove_user("omar")


def test_who_is_removed_is_out_and_a_namesake_gets_nothing_of_theirs(access):
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    token, made = access.create_token("alice", "laptop", None)
    link = access.create_link("alice")
    access.remove_user("alice")
    for _ in range(2):
        assert access.identify_browser(secret) is None
        assert access.identify_token(token) is None
        assert code_of(access.redeem_link, link, PASSWORD, HERE) == "sign_in"
        assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "sign_in"
        if not code_of(access.user, "alice"):
            break
        access.add_user("alice", Role.ANALYST)
    assert not access.user("alice").has_password
    assert [(each.id, each.revoked) for each in access.tokens("alice")] == [(made.id, True)]
