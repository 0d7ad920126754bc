"""The commands about ledgers, of datasets whose ledger is in PostgreSQL."""

from __future__ import annotations

import json
import re
import shutil
from uuid import uuid4

import pytest

from adomnia.session.curator import open_folder
from adomnia.session.ledgers import locate_ledger
from kit.postgres import durable_server

PRICE = ("--epsilon", "0.25")
COUNT = "SELECT COUNT(*) AS people FROM people"


@pytest.fixture
def mark():
    return uuid4().hex


def share(folder, mark, name, lifetime=""):
    """Have a folder keep its ledger in PostgreSQL."""
    text = (folder / "catalog.toml").read_text()
    kept = (
        f'lifetime = "town {mark}"\n[lifetime]\nepsilon = 3.0\ndelta = 1e-6\napproximate = true\n' if lifetime else ""
    )
    ledger = f'[ledger]\nurl = "{durable_server().url()}"\nschema = "{name}_{mark}"\n{kept}\n'
    (folder / "catalog.toml").write_text(f"{ledger}{text}")
    return folder


@pytest.fixture
def town(hospital, mark):
    return share(hospital, mark, "hospital", lifetime="yes")


def test_questions_are_paid_from_the_database_and_every_command_reads_it(town, typed, tmp_path):
    assert typed("budget", town)[0] == 0
    assert "has no ledger" in typed("ledger", "verify", town)[2]
    assert typed("sql", town, COUNT, *PRICE)[0] == 0
    assert not (town / ".adomnia" / "ledger.sqlite").exists()
    assert typed("ledger", "verify", town)[1].startswith("The ledger is sound: 3 entries")
    assert typed("ledger", "verify", town, "--lifetime")[1].startswith("The ledger is sound: 3 entries")
    head = typed("ledger", "head", town)[1].strip()
    assert typed("ledger", "verify", town, "--head", head)[0] == 0
    lines = typed("ledger", "export", town)[1].splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["open", "reserve", "commit"]
    assert typed("ledger", "top-up", town, "--dataset", "--epsilon", "1", "--reason", "more")[0] == 0
    topped = typed("ledger", "top-up", town, "--lifetime", "--epsilon", "1", "--reason", "more")[1]
    assert topped.startswith("All datasets")
    copy = tmp_path / "copy.sqlite"
    assert typed("ledger", "backup", town, copy)[1].startswith(f"The copy {copy} is sound: 4 entries")
    code, printed, _ = typed("ledger", "restore", town, copy, "--spent", "dataset=0")
    assert (code, printed.startswith("The ledger is restored: 5 entries")) == (0, True)
    saved = tmp_path / "lifetime.sqlite"
    assert typed("ledger", "backup", town, saved, "--lifetime")[0] == 0
    assert typed("ledger", "restore", town, saved, "--lifetime", "--spent", "dataset=0")[0] == 0
    assert typed("budget", town)[0] == 0


def test_the_budget_says_what_a_person_in_several_datasets_may_lose(town, typed, tmp_path, mark):
    assert typed("sql", town, COUNT, *PRICE)[0] == 0
    other = tmp_path / "other"
    shutil.copytree(town, other, ignore=shutil.ignore_patterns(".adomnia"))
    text = (other / "catalog.toml").read_text().replace(f"hospital_{mark}", f"other_{mark}")
    (other / "catalog.toml").write_text(text.replace('name = "hospital"', 'name = "other"'))
    assert "ledger join" in typed("sql", other, COUNT, *PRICE)[2]
    joined = typed("ledger", "join", other)[1]
    assert "has no ledger of this dataset yet. The first question creates it." in joined
    assert "0000" not in joined
    assert "The lifetime account that it shares with other datasets was verified and joined too." in joined
    assert typed("sql", other, COUNT, *PRICE)[0] == 0
    *_, shared = json.loads(typed("budget", other, "--format", "json")[1])
    assert [account["dataset"] for account in shared["accounts"]] == [
        f"hospital in hospital_{mark}",
        f"other in other_{mark}",
        None,
    ]
    assert [account["spent"]["epsilon"] for account in shared["accounts"]] == ["1/4", "1/4", "1/2"]
    assert [loss["theorem"].split()[0] for loss in shared["person"]] == ["basic", "advanced", "optimal"]
    assert shared["at_most"] == {"epsilon": "3", "delta": "0.000001"}
    printed = typed("budget", other)[1]
    assert f"town {mark}: these datasets share one account" in printed
    assert re.search(r"at most, by the shared account +3 +0.000001", printed)
    assert "without it: basic" in printed


def test_the_price_says_that_the_shared_account_would_refuse(town, typed):
    text = (town / "catalog.toml").read_text()
    (town / "catalog.toml").write_text(text.replace("[lifetime]\nepsilon = 3.0", "[lifetime]\nepsilon = 0.3"))
    assert "would be refused" not in typed("price", town, COUNT, *PRICE)[1]
    assert typed("sql", town, COUNT, *PRICE)[0] == 0
    bill = " ".join(typed("price", town, COUNT, "--epsilon", "0.1")[1].split())
    assert "would be refused: for the lifetime budget shared with other datasets it is more than is left" in bill


def test_another_lifetime_budget_than_the_others_is_refused(town, typed):
    assert typed("sql", town, COUNT, *PRICE)[0] == 0
    text = (town / "catalog.toml").read_text()
    (town / "catalog.toml").write_text(text.replace("[lifetime]\nepsilon = 3.0", "[lifetime]\nepsilon = 4.0"))
    complained = typed("sql", town, COUNT, *PRICE)[2]
    assert "is epsilon 3 and delta 1e-06 in the ledger, and epsilon 4 and delta 1e-06 in this catalog" in complained
    (town / "catalog.toml").write_text(text)  # what was refused has replaced nothing
    assert typed("sql", town, COUNT, *PRICE)[0] == 0


def test_a_machine_joins_what_others_use(hospital, typed, tmp_path, mark):
    share(hospital, mark, "hospital")
    assert "is in a file" not in typed("ledger", "join", hospital)[2]
    assert typed("sql", hospital, COUNT, *PRICE)[0] == 0
    there = tmp_path / "there"
    shutil.copytree(hospital, there, ignore=shutil.ignore_patterns(".adomnia"))
    assert "copy index.key from one of them" in typed("sql", there, COUNT, *PRICE)[2]
    shutil.copy(hospital / ".adomnia" / "index.key", there / ".adomnia" / "index.key")
    assert "ledger join" in typed("sql", there, COUNT, *PRICE)[2]
    joined = r"This machine {} \(PostgreSQL at .*\): 3 entries, the last with the hash [0-9a-f]{{64}}\.\n"
    assert re.fullmatch(joined.format("has joined the ledger"), typed("ledger", "join", there)[1])
    again = typed("ledger", "join", there)[1]
    assert re.fullmatch(joined.format("had joined the ledger before, and it is intact"), again)
    assert json.loads(typed("ledger", "join", there, "--format", "json")[1])["entries"] == 3
    with open_folder(there) as curator:
        assert curator.ledger.count_answers("alice") == 1


def test_a_ledger_in_a_file_has_nothing_to_join_or_to_share(hospital, typed):
    refused = typed("ledger", "join", hospital)[2]
    assert "is a file on this machine, and only a ledger in PostgreSQL can be joined. Fix: to keep it in" in refused
    assert "nothing/catalog.toml cannot be read" in typed("ledger", "join", hospital / "nothing")[2]
    assert typed("sql", hospital, COUNT, *PRICE)[0] == 0
    assert "shares no account with others" in typed("ledger", "head", hospital, "--lifetime")[2]


def test_a_ledger_is_not_left_behind_unnoticed(hospital, typed, mark):
    assert typed("sql", hospital, COUNT, *PRICE)[0] == 0
    before = (hospital / "catalog.toml").read_text()
    share(hospital, mark, "hospital")
    assert "has a ledger in ledger.sqlite already, and the catalog has [ledger]" in typed("budget", hospital)[2]
    (hospital / ".adomnia" / "ledger.sqlite.anchor").rename(hospital / "aside")
    assert typed("sql", hospital, COUNT, *PRICE)[0] == 0
    (hospital / "catalog.toml").write_text(before)
    assert "has a ledger in PostgreSQL already, and the catalog has no [ledger]" in typed("budget", hospital)[2]


def test_a_folder_without_a_catalog_may_have_a_ledger(tmp_path):
    assert locate_ledger(tmp_path).path == (tmp_path / ".adomnia" / "ledger.sqlite").resolve()
    (tmp_path / "catalog.toml").write_text("dataset = 3")
    assert locate_ledger(tmp_path).path.name == "ledger.sqlite"
