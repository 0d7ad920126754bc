"""Drafting a catalog, and looking at what was spent."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction

import pytest

from adomnia.cli.opening import open_accounts
from adomnia.privacy.events import Pure
from adomnia.session.curator import LEDGER, STATE, open_ledger, read_catalog
from kit.filled_postgres import filled
from ledger.references import entries

METADATA = """
"":
  clinic:
    people:
      max_ids: 1
      person_id: {type: int, private_id: true}
      age: {type: int, lower: 0, upper: 120}
"""
REASON = ("--reason", "second year")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "people.csv").write_text("person_id,age\n17,4242\n")
    return tmp_path


def test_a_draft_is_written_from_headers_and_shows_no_row(files, typed):
    code, printed, complained = typed("init", files, files / "people.csv")
    text = (files / "catalog.toml").read_text()
    assert (code, complained) == (0, "")
    assert f"adomnia check {files}" in printed
    assert tomllib.loads(text)["tables"]["people"]["source"] == "people.csv"
    assert [*tomllib.loads(text)["tables"]["people"]["columns"]] == ["person_id", "age"]
    assert "4242" not in text


def test_parquet_files_bring_their_types(hospital, typed, tmp_path):
    code, *_ = typed("init", tmp_path / "new", hospital / "people.parquet", hospital / "cities.csv")
    tables = tomllib.loads((tmp_path / "new" / "catalog.toml").read_text())["tables"]
    assert code == 0
    assert tables["people"]["source"] == "../hospital/people.parquet"
    assert tables["people"]["columns"]["salary"] == {"type": "number"}
    assert tables["cities"]["columns"]["population"] == {"type": "text"}


def test_a_draft_is_refused_by_check_with_all_that_is_missing(files, typed):
    typed("init", files, files / "people.csv")
    code, printed, complained = typed("check", files)
    assert (code, printed) == (2, "")
    told = complained.splitlines()
    assert [words in line for words, line in zip(("no unit", "no epsilon", "no epsilon"), told, strict=False)] == [
        True
    ] * 3
    assert told[-1] == "3 problems."


def test_smartnoise_metadata_is_carried_over(tmp_path, typed):
    (tmp_path / "metadata.yaml").write_text(METADATA)
    code, *_ = typed("init", tmp_path / "clinic", "--from-smartnoise", tmp_path / "metadata.yaml")
    catalog = tomllib.loads((tmp_path / "clinic" / "catalog.toml").read_text())
    assert code == 0
    assert catalog["dataset"]["unit"] == "people.person_id"
    assert catalog["tables"]["people"]["columns"]["age"] == {"type": "integer", "lower": 0, "upper": 120}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "needs either files"),
        (["people.csv", "--from-smartnoise", "metadata.yaml"], "needs either files"),
        (["missing.csv"], "is not a file that can be read"),
        (["people.csv", "other/people.csv"], "two files of one name"),
        (["people.txt"], "or to .csv: delimiters other than commas are found"),
        (["--from-smartnoise", "missing.yaml"], "cannot be read"),
    ],
)
def test_a_draft_of_nothing_readable_is_refused_and_writes_nothing(arguments, words, files, typed, monkeypatch):
    monkeypatch.chdir(files)
    (files / "other").mkdir()
    (files / "people.txt").write_text("person_id\n")
    (files / "other" / "people.csv").write_text("person_id\n")
    code, printed, complained = typed("init", "study", *arguments)
    assert (code, printed) == (2, "")
    assert words in complained
    assert not (files / "study").exists()


def test_a_file_in_the_place_of_the_folder_is_refused_with_what_to_write(files, typed):
    code, _, complained = typed("init", files / "people.csv")
    assert code == 2
    assert f"adomnia init study {files / 'people.csv'}" in complained


def test_a_catalog_is_never_overwritten(files, typed):
    (files / "catalog.toml").write_text("# mine\n")
    code, _, complained = typed("init", files, files / "people.csv")
    assert code == 2
    assert "is there already" in complained
    assert (files / "catalog.toml").read_text() == "# mine\n"


def test_budgets_are_whole_before_anybody_asked_and_nothing_is_written(hospital, typed):
    code, printed, complained = typed("budget", hospital)
    assert (code, complained) == (0, "")
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert "alice epsilon 2 epsilon 0 of 2 epsilon 2 0" in lines
    assert not list((hospital / ".adomnia").glob("ledger*"))


def test_budgets_say_who_spent_what(hospital, typed):
    typed("sql", hospital, "SELECT COUNT(*) FROM people", "--epsilon", "0.5")
    typed("sql", hospital, "SELECT COUNT(*) FROM visits", "--rho", "0.01", "--analyst", "bob")
    alice, bob, simultaneous = json.loads(typed("budget", hospital, "--format", "json")[1])
    assert (alice["analyst"], bob["analyst"], simultaneous["analyst"]) == ("alice", "bob", None)
    assert (alice["answers"], bob["answers"], simultaneous["answers"]) == (1, 1, 2)
    assert alice["spent"]["epsilon"] == "1/2"
    assert Fraction(alice["left"]["epsilon"]) == Fraction(3, 2)
    assert (bob["spent"]["epsilon"], bob["spent"]["rho"]) == (None, "1/100")
    assert Fraction(simultaneous["spent"]["rho"]) == Fraction(1, 100) + Fraction(1, 8)
    page = typed("budget", hospital)[1]
    assert "rho 0.01" in page
    assert "rho 0.135" in page


@pytest.mark.parametrize("command", ["check", "budget"])
def test_a_folder_without_a_catalog_is_refused(command, tmp_path, typed):
    code, printed, complained = typed(command, tmp_path)
    assert (code, printed) == (2, "")
    assert "adomnia init" in complained


def test_a_database_is_drafted_and_checked(tmp_path, typed):
    with filled("CREATE TABLE people (person_id int, age int)", "CREATE TABLE other (x int)") as url:
        code, printed, complained = typed("init", tmp_path / "study", url, "--table", "people")
        assert (code, complained) == (0, "")
        catalog = tmp_path / "study" / "catalog.toml"
        assert list(tomllib.loads(catalog.read_text())["tables"]) == ["people"]
        text = catalog.read_text().replace("# unit", "unit").replace("# epsilon = 1.0", "epsilon = 1.0")
        text = text.replace("# rows_per_person = ?", "rows_per_person = 1") + '\n[engine]\nname = "duckdb"\n'
        catalog.write_text(text)
        code, printed, complained = typed("check", tmp_path / "study")
        assert (code, complained) == (0, "")
        assert "There is none of version 1 yet" in " ".join(printed.split())
        assert typed("check", tmp_path / "study", "--data")[0] == 0


def test_tables_are_chosen_of_databases_only(files, typed):
    code, _, complained = typed("init", files, files / "people.csv", "--table", "people")
    assert code == 2
    assert "--table is for databases of PostgreSQL" in complained


@pytest.fixture
def asked(hospital):
    """A folder in which alice has spent a quarter of what she has."""
    with open_ledger(read_catalog(hospital), hospital / STATE / LEDGER) as ledger:
        ledger.reserve("alice", "first", b"a plan", Pure(0.5)).commit(b"an answer")
    return hospital


def stored(folder):
    return [json.loads(body) for body in entries(folder / ".adomnia" / "ledger.sqlite")]


def test_a_top_up_holds_for_good_and_keeps_its_reason(asked, typed):
    code, printed, complained = typed("ledger", "top-up", asked, "--analyst", "alice", "--epsilon", "0.5", *REASON)
    assert (code, complained) == (0, "")
    assert (
        " ".join(printed.split())
        == "alice may spend epsilon 2.5 in all from now on. Spent: epsilon 0.5 of 2.5. Left: epsilon 2."
    )
    written = stored(asked)[-1]
    assert (written["kind"], written["account"], written["epsilon"]) == ("top-up", "analyst:alice", "1/2")
    assert written["reason"] == "second year"
    alice = json.loads(typed("budget", asked, "--format", "json")[1])[0]
    assert (alice["analyst"], alice["budget"]["epsilon"], alice["left"]["epsilon"]) == ("alice", "5/2", "2")
    assert typed("ledger", "verify", asked)[0] == 0


def test_the_dataset_has_a_budget_of_its_own(asked, typed):
    with open_accounts(asked) as (_, ledger):
        before = {name: ledger.account(name).budget for name in (None, "alice")}
    more = ("--epsilon", "2", "--delta", "1e-7")
    printed = typed("ledger", "top-up", asked, "--dataset", *more, *REASON, "--format", "json")[1]
    told = json.loads(printed)
    with open_accounts(asked) as (_, ledger):
        after = {name: ledger.account(name).budget for name in (None, "alice")}
    assert told["analyst"] is None
    assert told["budget"]["epsilon"] == str(after[None].epsilon) == str(before[None].epsilon + 2)
    assert after[None].delta > before[None].delta
    assert after["alice"] == before["alice"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", "1"), "is for one account"),
        (("--analyst", "alice", "--dataset", "--epsilon", "1"), "is for one account"),
        (("--analyst", "nobody", "--epsilon", "1"), "Analyst nobody is not in the catalog"),
        (("--analyst", "alice"), "not both 0"),
        (("--analyst", "alice", "--epsilon", "-1"), "must be >= 0"),
        (("--analyst", "alice", "--epsilon", "nan"), "must be a finite number"),
        (("--analyst", "alice", "--epsilon", "much"), "is not a number"),
        (("--analyst", "alice", "--delta", "2"), "is none"),
    ],
)
def test_what_is_no_top_up_is_refused_and_written_nowhere(asked, typed, options, words):
    before = stored(asked)
    code, printed, complained = typed("ledger", "top-up", asked, *options, *REASON)
    assert (code, printed) == (2, "")
    assert words in complained
    assert "Fix: " in complained
    assert stored(asked) == before


@pytest.mark.parametrize("reason", ["", "a\nb", "x" * 1001])
def test_a_reason_is_a_line(asked, typed, reason):
    code, _, complained = typed("ledger", "top-up", asked, "--dataset", "--epsilon", "1", "--reason", reason)
    assert code == 2
    assert "1 to 1,000 printable characters" in complained


def test_where_nobody_has_asked_nothing_is_added(hospital, typed):
    code, printed, complained = typed("ledger", "top-up", hospital, "--dataset", "--epsilon", "1", *REASON)
    assert (code, printed) == (2, "")
    assert "has no ledger" in complained
