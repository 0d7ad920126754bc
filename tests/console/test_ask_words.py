"""The words that the editor completes."""

from __future__ import annotations

from adomnia.methods.registry import METHODS
from adomnia.sql.values.functions import NAMES
from kit.publishing import published


def test_the_words_are_tables_columns_functions_and_methods(shared_house):
    told = shared_house.ask("alice", "GET", "/ask/words?dataset=hospital")
    words = told.json()
    assert (told.status_code, told.headers["content-type"]) == (200, "application/json")
    assert words["dataset"] == "hospital"
    columns = {table["name"]: {each["name"]: each for each in table["columns"]} for table in words["tables"]}
    assert columns["people"]["age"] == {"name": "age", "type": "integer", "note": "0 to 120"}
    assert columns["people"]["sex"]["note"] == "F, M, X"
    assert columns["people"]["person_id"]["note"] == "the person"
    functions = {each["name"]: each["kind"] for each in words["functions"]}
    assert functions.keys() >= NAMES
    assert (functions["COUNT"], functions["FLOOR"]) == ("aggregate", "function")
    assert [each["name"] for each in words["methods"]] == list(METHODS)
    (formula,) = (
        each
        for method in words["methods"]
        if method["name"] == "lm"
        for each in method["arguments"]
        if each["required"]
    )
    assert (formula["name"], formula["kind"]) == ("formula", "formula")


def test_the_words_are_those_of_the_dataset_that_is_served(shared_house):
    assert shared_house.ask("alice", "GET", "/ask/words").status_code == 200
    assert shared_house.ask("alice", "GET", "/ask/words?dataset=other").status_code == 404


def test_the_words_are_compressed_for_those_who_can_read_that(shared_house):
    sizes = [
        int(shared_house.ask("alice", "GET", "/ask/words", headers={"Accept-Encoding": how}).headers["content-length"])
        for how in ("identity", "gzip")
    ]
    assert sizes[0] > 3 * sizes[1]


def test_only_analysts_have_words(shared_house):
    assert shared_house.ask("olga", "GET", "/ask/words").status_code == 403
    assert shared_house.ask(None, "GET", "/ask/words").headers["location"] == "/sign-in"


def test_releases_are_among_the_tables_of_those_who_may_read_them(tmp_path):
    with published(tmp_path) as opened:
        told = {
            name: {table["name"]: table for table in opened.ask(name, "GET", "/ask/words").json()["tables"]}
            for name in ("alice", "bob")
        }
    years = told["alice"]["releases.years"]
    assert [each["name"] for each in years["columns"]] == ["age", "age_bin"]
    assert years["note"] == "release, free"
    assert "releases.mine" in told["bob"]
    assert "releases.mine" not in told["alice"]
