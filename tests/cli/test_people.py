"""`adomnia user` and `adomnia token`."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from adomnia.api.access import Access, Role

PASSWORD = "five words that I drew"


@pytest.fixture
def dataset(hospital, typed):
    """The hospital with an owner."""
    assert typed("user", "add", hospital, "olga", "--role", "owner")[0] == 0
    return hospital


def access_to(folder) -> Access:
    return Access.open(folder / ".adomnia")


def test_a_new_user_gets_a_link_that_opens(dataset, typed):
    code, printed, complained = typed("user", "add", dataset, "alice", "--role", "analyst")
    assert (code, complained) == (0, "")
    assert "alice may sign in as analyst" in printed
    assert "once, within 24 hours" in printed
    (path,) = [word for word in printed.split() if word.startswith("/sign-in?code=")]
    with access_to(dataset) as access:
        assert access.redeem_link(path.partition("=")[2], PASSWORD, "here")[1].name == "alice"


def test_a_new_user_is_an_object_for_programs(dataset, typed):
    made = json.loads(typed("user", "add", dataset, "carol", "--role", "auditor", "--format", "json")[1])
    assert made == {"name": "carol", "role": "auditor", "path": f"/sign-in?code={made['code']}", "code": made["code"]}
    with access_to(dataset) as access:
        assert access.redeem_link(made["code"], PASSWORD, "here")[1].role is Role.AUDITOR


@pytest.mark.parametrize(
    ("name", "section"),
    [("mallory", "[analysts.mallory]"), ("Åsa Ö", '[analysts."Åsa Ö"]'), ('a"b', '[analysts."a\\"b"]')],
)
@pytest.mark.parametrize("command", ["add", "role"])
def test_an_analyst_whom_the_catalog_does_not_name_is_refused(dataset, typed, command, name, section):
    as_role = ["--role", "analyst"] if command == "add" else ["analyst"]
    code, printed, complained = typed("user", command, dataset, name, *as_role)
    assert (code, printed) == (2, "")
    assert f"is not in the catalog. Fix: add {section} with a budget to catalog.toml" in complained
    with access_to(dataset) as access:
        assert [user.name for user in access.users()] == ["olga"]


def test_an_owner_need_not_be_in_the_catalog(dataset, typed):
    assert typed("user", "role", dataset, "olga", "owner")[:2] == (0, "olga is owner from now on.\n")


@pytest.mark.parametrize("arguments", [["add", "DIR", "bob", "--role", "king"], ["role", "DIR", "olga", "king"]])
def test_a_role_that_does_not_exist_is_refused_with_those_that_do(dataset, typed, arguments):
    code, printed, complained = typed("user", *(dataset if word == "DIR" else word for word in arguments))
    assert (code, printed) == (2, "")
    assert "Role 'king' does not exist. Fix: name one of owner, analyst, auditor." in complained


def test_users_are_listed(dataset, typed):
    typed("user", "add", dataset, "[red]bob", "--role", "auditor")
    with access_to(dataset) as access:
        access.set_password("olga", PASSWORD)
    lines = [line.split() for line in typed("user", "list", dataset)[1].splitlines()]
    assert lines[0] == ["Name", "Role", "Password", "Since", "(UTC)"]
    assert lines[2][:4] == ["[red]bob", "auditor", "not", "yet"]
    assert lines[3][:3] == ["olga", "owner", "chosen"]


def test_users_are_an_array_for_programs(dataset, typed):
    (olga,) = json.loads(typed("user", "list", dataset, "--format", "json")[1])
    assert olga.pop("created").endswith("+00:00")
    assert olga == {"name": "olga", "role": "owner", "has_password": False}


def test_a_role_can_be_changed(dataset, typed):
    typed("user", "add", dataset, "alice", "--role", "analyst")
    typed("user", "role", dataset, "alice", "owner")
    assert typed("user", "role", dataset, "olga", "auditor")[0] == 0
    code, _, complained = typed("user", "remove", dataset, "alice")
    assert code == 2
    assert "is the last owner" in complained


def test_who_is_removed_is_gone(dataset, typed):
    typed("user", "add", dataset, "alice", "--role", "analyst")
    token = typed("token", "create", dataset, "alice", "--label", "laptop")[1].strip()
    code, printed, _ = typed("user", "remove", dataset, "alice")
    assert (code, printed) == (0, "alice was removed, and their tokens, visits and links have ended.\n")
    with access_to(dataset) as access:
        assert access.identify_token(token) is None
        assert [user.name for user in access.users()] == ["olga"]


def test_a_fresh_link_replaces_the_older(dataset, typed):
    first, second = (json.loads(typed("user", "link", dataset, "olga", "--format", "json")[1]) for _ in range(2))
    assert first["code"] != second["code"]
    assert second["role"] == "owner"
    with access_to(dataset) as access:
        assert access.redeem_link(second["code"], PASSWORD, "here")[1].name == "olga"


def test_the_secret_of_a_token_stands_alone_on_standard_output(dataset, typed):
    code, printed, complained = typed("token", "create", dataset, "olga", "--label", "laptop", "--days", "90")
    secret = printed.removesuffix("\n")
    assert code == 0
    with access_to(dataset) as access:
        visitor = access.identify_token(secret)
    assert visitor.name == "olga"
    assert f"Token {visitor.token_id} of olga, valid until 2" in complained
    assert secret.split("_")[2] not in complained
    assert "valid until it is revoked" in typed("token", "create", dataset, "olga", "--label", "cron")[2]


def test_tokens_are_listed_with_their_state_and_no_secret(dataset, typed, monkeypatch):
    typed("user", "add", dataset, "alice", "--role", "analyst")
    with monkeypatch.context() as patched:
        patched.setenv("COLUMNS", "200")
        secrets = [
            typed("token", "create", dataset, name, "--label", label, *days)[1].strip()
            for name, label, days in (("olga", "old", ()), ("olga", "new", ()), ("alice", "brief", ("--days", "1")))
        ]
        assert typed("token", "revoke", dataset, secrets[0].split("_")[1])[0] == 0
        printed = typed("token", "list", dataset)[1]
    rows = {line.split()[2]: line.split() for line in printed.splitlines()[2:]}
    assert [rows[label][-1] for label in ("old", "new", "brief")] == ["revoked", "valid", "valid"]
    assert rows["new"][5:7] == ["no", "end"]
    assert not [secret for secret in secrets if secret.split("_")[2] in printed]
    (brief,) = json.loads(typed("token", "list", dataset, "alice", "--format", "json")[1])
    assert (brief["user"], brief["label"], brief["state"], brief["revoked"]) == ("alice", "brief", "valid", False)
    assert brief["expires"] > brief["created"]
    assert [
        token["expires"] for token in json.loads(typed("token", "list", dataset, "olga", "--format", "json")[1])
    ] == [
        None,
        None,
    ]


def test_a_token_that_has_expired_is_shown_so(dataset, typed):
    with Access.open(dataset / ".adomnia") as access:
        access.create_token("olga", "long ago", 1)
        with access._database.transaction() as transaction:
            transaction.run("UPDATE tokens SET expires = 1000")
    (token,) = json.loads(typed("token", "list", dataset, "--format", "json")[1])
    assert (token["state"], token["expires"]) == ("expired", "1970-01-01T00:16:40+00:00")


def test_the_list_goes_by_the_clock_that_decides_who_may_sign_in(dataset, typed):
    """That clock is never behind the latest time on record, and the machine's may be."""
    with Access.open(dataset / ".adomnia") as access:
        secret, made = access.create_token("olga", "brief", 1)
        with access._database.transaction() as transaction:
            transaction.run("UPDATE clock SET latest = ?", made.expires)
        assert access.identify_token(secret) is None
    (token,) = json.loads(typed("token", "list", dataset, "--format", "json")[1])
    assert token["state"] == "expired"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["token", "create", "DIR", "nobody", "--label", "x"], "User nobody does not exist"),
        (["token", "create", "DIR", "olga", "--label", "x", "--days", "0"], "cannot expire after 0 days"),
        (["token", "list", "DIR", "nobody"], "User nobody does not exist"),
        (["token", "revoke", "DIR", "nothing"], "A token of that id does not exist"),
        (["user", "link", "DIR", "nobody"], "User nobody does not exist"),
        (["user", "remove", "DIR", "nobody"], "User nobody does not exist"),
        (["user", "add", "DIR", "olga", "--role", "owner"], "User olga exists already"),
        (["user", "add", "DIR", "", "--role", "owner"], "is not 1 to 100 printable characters"),
    ],
)
def test_what_cannot_be_done_is_refused(dataset, typed, arguments, words):
    code, printed, complained = typed(*(dataset if word == "DIR" else word for word in arguments))
    assert (code, printed) == (2, "")
    assert words in complained


@pytest.mark.parametrize("arguments", [["user", "list"], ["token", "list"]])
def test_a_folder_without_a_catalog_is_refused_and_nothing_is_written(tmp_path, typed, arguments):
    code, printed, complained = typed(*arguments, tmp_path)
    assert (code, printed) == (2, "")
    assert "adomnia init" in complained
    assert list(tmp_path.iterdir()) == []


def test_other_commands_do_not_wait_for_what_hashes_passwords():
    looked = "import sys; import adomnia.cli.app; print({'argon2', 'sqlite3', 'numpy'} & set(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run([sys.executable, "-c", looked], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"
