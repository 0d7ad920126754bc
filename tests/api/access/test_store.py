"""Access as a whole: passwords that change, processes that share it, and no secret anywhere."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adomnia.api.access import Role, passwords
from adomnia.errors import Refusal
from api.access.trials import HERE, PASSWORD, code_of, count_rows
from kit.waiting import HANG_SECONDS

CHILDREN = Path(__file__).with_name("children.py")
NEW = "another good one"


def test_a_new_password_ends_all_sessions_but_the_one_that_is_kept(access):
    kept, other = (access.sign_in("alice", PASSWORD, HERE)[0] for _ in range(2))
    token, _ = access.create_token("alice", "", None)
    access.change_password("alice", PASSWORD, NEW, HERE, keep=kept)
    assert access.identify_browser(kept)
    assert access.identify_browser(other) is None
    assert access.identify_token(token)
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "sign_in"
    assert code_of(access.sign_in, "alice", NEW, HERE) == ""


@pytest.mark.parametrize("knows_the_old_one", [True, False])
def test_a_new_password_ends_the_link_that_was_open(access, knows_the_old_one):
    code, of_another = access.create_link("alice"), access.create_link("olga")
    if knows_the_old_one:
        access.change_password("alice", PASSWORD, NEW, HERE)
    else:
        access.set_password("alice", NEW)
    assert code_of(access.redeem_link, code, "the password of a thief", HERE) == "sign_in"
    assert code_of(access.redeem_link, of_another, NEW, HERE) == ""


def test_a_password_that_is_set_ends_all_sessions_of_that_user_alone(access):
    access.set_password("olga", PASSWORD)
    (hers, _), (his, _) = access.sign_in("alice", PASSWORD, HERE), access.sign_in("olga", PASSWORD, HERE)
    access.set_password("alice", NEW)
    assert access.identify_browser(hers) is None
    assert access.identify_browser(his)
    assert code_of(access.sign_in, "alice", NEW, HERE) == ""


@pytest.mark.parametrize("keep", [None, "", "visit_wrong"])
def test_what_is_no_visit_keeps_none(access, keep):
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    access.set_password("alice", NEW, keep=keep)
    assert access.identify_browser(secret) is None


def test_a_weak_password_changes_nothing(access):
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    assert code_of(access.set_password, "alice", "weak") == "weak_password"
    assert code_of(access.change_password, "alice", PASSWORD, "weak", HERE) == "weak_password"
    assert access.identify_browser(secret)
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == ""


def test_a_password_is_checked_again_within_the_limits_of_signing_in(access):
    assert code_of(access.check_password, "alice", PASSWORD, HERE) == ""
    for _ in range(5):
        assert code_of(access.check_password, "alice", NEW, HERE) == "sign_in"
    assert code_of(access.check_password, "alice", PASSWORD, HERE) == "too_many_attempts"
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "too_many_attempts"


def test_who_has_no_password_cannot_sign_in_or_change_it(access):
    assert code_of(access.sign_in, "olga", "", HERE) == "sign_in"
    assert code_of(access.change_password, "olga", "", NEW, HERE) == "sign_in"


@pytest.mark.parametrize("name", ["olga", "nobody", "", "\ud800"])
def test_who_has_no_password_is_compared_all_the_same(access, monkeypatch, name):
    compared = []
    monkeypatch.setattr(passwords, "verify", lambda password, kept: compared.append(kept))
    assert code_of(access.sign_in, name, PASSWORD, HERE) == "sign_in"
    assert compared == [None]


def test_a_password_that_changes_while_it_is_compared_lets_nobody_in(access, monkeypatch):
    monkeypatch.setattr(passwords, "verify", lambda *_: access.set_password("alice", NEW) or True)
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "sign_in"
    assert count_rows(access, "visits") == 0


def test_who_is_removed_while_their_password_is_compared_does_not_get_in(access, monkeypatch):
    monkeypatch.setattr(passwords, "verify", lambda *_: access.remove_user("alice") or True)
    assert code_of(access.sign_in, "alice", PASSWORD, HERE) == "sign_in"


def test_who_is_removed_while_their_new_password_is_hashed_gets_none(access, monkeypatch):
    monkeypatch.setattr(passwords, "hash_password", lambda _: access.remove_user("alice") or "hash")
    assert code_of(access.set_password, "alice", NEW) == "unknown_user"


def test_everything_is_there_after_it_was_closed(tmp_path, time):
    with time.opened(tmp_path) as access:
        access.add_user("olga", Role.OWNER, PASSWORD)
        secret, visitor = access.sign_in("olga", PASSWORD, HERE)
        token, _ = access.create_token("olga", "", None)
    with time.opened(tmp_path) as access:
        assert access.identify_browser(secret) == visitor
        assert access.identify_token(token).name == "olga"


def test_what_one_process_revokes_another_refuses(home, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-W", "error", str(CHILDREN), str(tmp_path), getattr(home, "url", "")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with home.open(tmp_path) as access, subprocess.Popen(command, env=environment, **pipes) as child:

        def seen_there(secret):
            child.stdin.write(f"{secret}\n")
            child.stdin.flush()
            return child.stdout.readline().strip()

        assert child.stdout.readline() == "opened\n"
        access.add_user("alice", Role.ANALYST, PASSWORD)
        token, made = access.create_token("alice", "", None)
        visit, _ = access.sign_in("alice", PASSWORD, HERE)
        assert [seen_there(token), seen_there(visit)] == ["alice", "alice"]
        access.revoke(made.id)
        access.sign_out(visit)
        assert [seen_there(token), seen_there(visit)] == ["None", "None"]
        child.stdin.close()
        assert child.wait(timeout=HANG_SECONDS) == 0


def test_no_secret_is_in_the_files_or_logs_or_in_what_is_shown(access, home, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    planted = [f"canary {number} of passwords" for number in range(3)]
    code, shown = access.create_link("olga"), []
    visit, visitor = access.redeem_link(code, planted[0], HERE)
    token, made = access.create_token("olga", "laptop", 1)
    access.change_password("olga", planted[0], planted[1], HERE, keep=visit)
    for arguments in (("olga", planted[2], HERE), (planted[2], planted[1], HERE)):
        with pytest.raises(Refusal) as refused:
            access.sign_in(*arguments)
        shown.append(str(refused.value))
    shown += [repr(each) for each in (visitor, made, access.users(), access.tokens(), access, access._database)]
    csrf = access.identify_browser(visit).csrf
    files = home.read_all(tmp_path)
    assert b"olga" in files
    for secret in [code, visit, token, csrf, *planted]:
        for part in {secret, secret.split("_")[-1]}:
            assert part.encode() not in files
            assert part not in " ".join(shown)
            assert part not in caplog.text
    for secret in (code, visit, token, csrf):
        assert bytes.fromhex(secret.split("_")[-1]) not in files


@pytest.mark.parametrize("home", ["file"], indirect=True)
def test_a_lookup_is_one_question_to_the_file(access):
    token, _ = access.create_token("alice", "", 1)
    visit, _ = access.sign_in("alice", PASSWORD, HERE)
    asked = []
    access._database._reader._connection.set_trace_callback(asked.append)
    access._database._writer._connection.set_trace_callback(asked.append)
    for identify, secret in ((access.identify_token, token), (access.identify_browser, visit)):
        assert identify(secret).name == "alice"
    asked = [question for question in asked if "marks" not in question and "SELECT" in question]
    assert len(asked) == 2
    plans = [access._database.rows(f"EXPLAIN QUERY PLAN {question}") for question in list(asked)]
    assert not [step[3] for plan in plans for step in plan if step[3].startswith("SCAN") and "clock" not in step[3]]
