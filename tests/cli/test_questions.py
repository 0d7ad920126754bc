"""Asking, from the command line: answers in three forms, replays, made-up rows, refusals."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from io import StringIO

import pytest

BY_SEX = "SELECT sex, COUNT(*), AVG(age) AS age FROM people GROUP BY sex"
EVERYBODY = "SELECT COUNT(*) FROM people"
COUNT = "SELECT COUNT(*) AS n FROM people"


def test_a_question_is_answered_with_its_interval_price_and_what_is_left(hospital, typed):
    code, printed, complained = typed("sql", hospital, BY_SEX, "--epsilon", "0.5")
    heading, _, *rows = printed.splitlines()
    assert heading.split() == ["sex", "count", "95%", "interval", "age", "95%", "interval"]
    assert [row.split()[0] for row in rows[:3]] == ["F", "M", "X"]
    assert all(row.split()[3] == row.split()[7] == "to" for row in rows[:3])
    assert "Paid: epsilon 0.5. Left: epsilon 1.5." in printed
    assert (code, complained) == (0, "")


def test_a_question_about_the_population_says_so_in_its_answer_and_its_price(hospital, typed):
    text = "SELECT AVG(age) AS age FROM people"
    code, printed, _ = typed("sql", hospital, text, "--epsilon", "0.5", "--population", "--allow-uninformative")
    assert (code, "The interval holds the population's value" in printed) == (0, True)
    _, priced, _ = typed("price", hospital, text, "--epsilon", "0.5", "--population")
    assert "Intervals are about the population" in priced
    code, _, complained = typed("sql", hospital, EVERYBODY, "--epsilon", "0.5", "--population")
    assert (code != 0, "leave --population out" in complained) == (True, True)


def test_json_has_rows_cost_and_receipt(hospital, typed):
    code, printed, complained = typed("sql", hospital, BY_SEX, "--epsilon", "0.5", "--format", "json")
    record = json.loads(printed)
    assert (code, complained) == (0, "")
    assert [row["sex"] for row in record["rows"]] == ["F", "M", "X"]
    assert all(row["count_lower"] <= row["count"] <= row["count_upper"] for row in record["rows"])
    assert Fraction(record["left"]["epsilon"]) == Fraction(3, 2)
    assert (record["analyst"], record["replayed"], record["mock"]) == ("alice", False, False)
    assert len(record["receipt"]) == 64


def test_csv_has_rows_alone_and_the_cost_goes_to_standard_error(hospital, typed):
    code, printed, complained = typed("sql", hospital, BY_SEX, "--epsilon", "0.5", "--format", "csv")
    rows = list(csv.DictReader(StringIO(printed)))
    assert [*rows[0]] == ["sex", "count", "count_lower", "count_upper", "age", "age_lower", "age_upper"]
    assert len(rows) == 3
    assert complained.startswith("Paid: epsilon 0.5.")
    assert code == 0


def test_the_same_question_is_answered_again_free_and_a_fresh_one_is_paid(hospital, typed):
    ask = ("sql", hospital, EVERYBODY, "--epsilon", "0.01", "--allow-uninformative", "--format", "json")
    first, again, fresh = (json.loads(typed(*ask, *more)[1]) for more in ([], [], ["--fresh"]))
    assert again["rows"] == first["rows"]
    assert (first["replayed"], again["replayed"], fresh["replayed"]) == (False, True, False)
    assert again["left"] == first["left"]
    assert Fraction(first["left"]["epsilon"]) - Fraction(fresh["left"]["epsilon"]) == Fraction(1, 100)


def test_a_request_id_gives_its_answer_again(hospital, typed):
    ask = ("sql", hospital, EVERYBODY, "--epsilon", "0.1", "--fresh", "--request-id", "mine", "--format", "json")
    first, again = (json.loads(typed(*ask)[1]) for _ in range(2))
    assert first["request_id"] == again["request_id"] == "mine"
    assert (first["rows"], again["replayed"]) == (again["rows"], True)


def test_the_analyst_who_is_named_pays_and_may_pay_in_rho(hospital, typed):
    code, printed, _ = typed("sql", hospital, EVERYBODY, "--rho", "0.01", "--analyst", "bob", "--format", "json")
    assert code == 0
    assert json.loads(printed)["analyst"] == "bob"
    assert Fraction(json.loads(printed)["left"]["epsilon"]) == 0


def test_an_error_names_the_cheapest_price(hospital, typed):
    ask = ("sql", hospital, EVERYBODY, "--error", "100", "--confidence", "0.99", "--format", "json")
    row = json.loads(typed(*ask)[1])["rows"][0]
    assert row["count_upper"] - row["count_lower"] == 200


def test_a_high_confidence_is_not_called_certainty(hospital, typed):
    printed = typed("sql", hospital, EVERYBODY, "--epsilon", "0.1", "--confidence", "0.999")[1]
    assert printed.splitlines()[0].split() == ["count", "99.9%", "interval"]


def test_made_up_rows_need_no_data_and_spend_nothing(hospital, typed):
    for private in hospital.glob("*.parquet"):
        private.unlink()
    code, printed, complained = typed("sql", hospital, BY_SEX, "--epsilon", "0.5", "--mock")
    assert (code, complained) == (0, "")
    assert "Made-up rows: nothing was read and nothing was spent. The real answer would cost epsilon 0.5." in printed
    assert not list((hospital / ".adomnia").glob("ledger*"))


def test_the_bill_says_every_measurement_and_the_error_to_expect(hospital, typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, printed, complained = typed("price", hospital, BY_SEX, "--epsilon", "0.6")
    assert (code, complained) == (0, "")
    for words in (
        "2 sums of age, and the rows without it",
        "a person has at most 1 row here, each of at most 120 in all 3 sums together",
        "Laplace, scale 200",
        "epsilon 0.6",
        "AVG(age in 0..120 by 1)",
        "1,000 rows",
        "In all: epsilon 0.6. No private data was read, and nothing was spent.",
    ):
        assert words in printed


def test_the_bill_says_what_the_question_ends(hospital, typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    ask = ("price", hospital, EVERYBODY, "--rho", "0.01", "--analyst", "bob")
    warnings = json.loads(typed(*ask, "--format", "json")[1])["warnings"]
    assert [warning.split(":")[0] for warning in warnings] == [
        "After this question your budget adds up rho and no longer epsilon",
        "After this question the dataset's budget adds up rho and no longer epsilon",
    ]
    assert [" ".join(line.split()) for line in typed(*ask)[1].splitlines()][-2:] == warnings
    assert json.loads(typed(*ask[:3], "--epsilon", "0.1", "--format", "json")[1])["warnings"] == []


def test_the_bill_needs_no_private_data(hospital, typed):
    for private in hospital.glob("*.parquet"):
        private.unlink()
    code, printed, _ = typed("price", hospital, "SELECT COUNT(*) FROM visits", "--error", "50", "--format", "json")
    record = json.loads(printed)
    assert code == 0
    assert [output["error"] for output in record["outputs"]] == [50.0]
    assert [line["sensitivity"]["l1"] for line in record["measurements"]] == ["10"]


def test_weights_give_an_output_more_of_the_price(hospital, typed):
    options = ("--epsilon", "0.4", "--weight", "age=3", "--format", "json")
    record = json.loads(typed("price", hospital, BY_SEX, *options)[1])
    paid = {line["what"]: Fraction(line["price"]["epsilon"]) for line in record["measurements"]}
    assert paid == {
        "rows": Fraction(1, 10),
        "2 sums of age": Fraction(3, 10),
    }
    asked = json.loads(typed("sql", hospital, BY_SEX, *options)[1])
    assert Fraction(asked["left"]["epsilon"]) == Fraction(16, 10)


def test_errors_for_all_groups_at_once_and_for_other_sizes(hospital, typed):
    ask = ("price", hospital, BY_SEX, "--epsilon", "0.4", "--format", "json")
    each, simultaneous, few = (json.loads(typed(*ask, *more)[1]) for more in ([], ["--simultaneous"], ["--rows", "50"]))
    assert [output["rows"] for output in few["outputs"]] == [None, 50]
    assert each["outputs"][0]["error"] < simultaneous["outputs"][0]["error"]
    assert each["outputs"][1]["error"] < few["outputs"][1]["error"]


def test_an_error_of_a_mean_is_bought_for_a_number_of_rows(hospital, typed):
    ask = ("price", hospital, "SELECT AVG(age) FROM people", "--error", "2", "--format", "json")
    code, _, complained = typed(*ask)
    assert code == 2
    assert "ask SELECT COUNT(*) FROM people first" in complained
    (output,) = json.loads(typed(*ask, "--rows", "500")[1])["outputs"]
    assert 1.9 < output["error"] <= 2


@pytest.mark.parametrize("command", [["explain"], ["sql"]])
def test_a_question_is_explained_without_private_data_and_for_nothing(command, hospital, typed):
    for private in hospital.glob("*.parquet"):
        private.unlink()
    text = BY_SEX if command == ["explain"] else f"EXPLAIN {BY_SEX}"
    code, printed, complained = typed(*command, hospital, text, "--epsilon", "0.6")
    assert (code, complained) == (0, "")
    assert printed.splitlines()[:4] == [
        "1 measurement, 3 outputs",
        "├─ rows",
        "│  ├─ people: at most 1 row of a person, as declared",
        "│  └─ people: at most 1 row of a person counts; how many rows that leaves out is not known",
    ]
    assert "price: epsilon 0.6 in all" in printed
    assert max(map(len, printed.splitlines())) <= 100
    record = json.loads(typed(*command, hospital, text, "--format", "json")[1])
    assert (record["text"], record["parts"][0]["text"]) == ("1 measurement, 3 outputs", "rows")
    assert not list((hospital / ".adomnia").glob("ledger*"))


REFUSED = {
    "--weight 'age'": [BY_SEX, "--epsilon", "1", "--weight", "age"],
    "--weight 'x' is not a number": [BY_SEX, "--epsilon", "1", "--weight", "age=x"],
    "weight of nobody": [BY_SEX, "--epsilon", "1", "--weight", "nobody=1"],
    "--rows '0'": [BY_SEX, "--epsilon", "1", "--rows", "0"],
    "MODE": ["SELECT MODE(age) FROM people", "--epsilon", "1"],
    "salary": ["SELECT SUM(salery) FROM people", "--epsilon", "1"],
    "price": [EVERYBODY],
    "one of --epsilon, --rho or --error": [EVERYBODY, "--epsilon", "1", "--rho", "1"],
    "is not a number": [EVERYBODY, "--epsilon", "lots"],
    "finite": [EVERYBODY, "--epsilon", "nan"],
    "> 0": [EVERYBODY, "--epsilon=-1"],
    "--error nan": [EVERYBODY, "--error", "nan"],
    "between 0 and 1": [EVERYBODY, "--epsilon", "1", "--confidence", "95"],
}


@pytest.mark.parametrize("command", ["sql", "price"])
@pytest.mark.parametrize("words", REFUSED)
def test_a_refusal_is_one_line_on_standard_error_and_exit_code_two(command, words, hospital, typed):
    code, printed, complained = typed(command, hospital, *REFUSED[words])
    assert (code, printed) == (2, "")
    assert complained.startswith("Refusal: ")
    assert words in complained
    assert complained.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--epsilon", "3"], "spend at most epsilon 2"),
        (["--epsilon", "0.1", "--analyst", "eve"], "names alice, bob"),
        (["--rho", "0.01"], "budget of alice"),
    ],
)
def test_what_the_budget_does_not_allow_is_refused(arguments, words, hospital, typed):
    code, printed, complained = typed("sql", hospital, EVERYBODY, *arguments)
    assert (code, printed) == (2, "")
    assert words in complained


def test_a_failure_says_nothing_and_has_exit_code_one(hospital, typed, monkeypatch):
    monkeypatch.setattr("adomnia.engines.duckdb.DuckDB.run", lambda *_: 1 / 0)
    code, printed, complained = typed("sql", hospital, EVERYBODY, "--epsilon", "0.1", "--request-id", "mine")
    assert (code, printed, complained) == (1, "", "Failure: The request failed. Request id: mine.\n")


@pytest.mark.parametrize("ending", ["svg", "png", "html", "json"])
def test_an_answer_is_drawn_beside_being_printed(hospital, typed, tmp_path, ending):
    picture = tmp_path / f"answer.{ending}"
    ask = ("sql", hospital, BY_SEX, "--epsilon", "0.5", "--format", "json", "--plot", picture)
    code, printed, complained = typed(*ask)
    assert (code, complained) == (0, f"Wrote {picture}.\n")
    assert len(json.loads(printed)["rows"]) == 3
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("text", "picture", "why"),
    [
        (BY_SEX, "answer.pdf", "is of no kind that a picture can have"),
        (BY_SEX, "nowhere/answer.svg", "is in a folder that is not there"),
        ("SHOW TABLES", "answer.svg", "this text asks for none"),
        (f"EXPLAIN {BY_SEX}", "answer.svg", "this text asks for none"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_it_is_paid(hospital, typed, text, picture, why):
    code, printed, complained = typed("sql", hospital, text, "--epsilon", "0.5", "--plot", hospital / picture)
    assert (code, printed) == (2, "")
    assert why in complained
    assert json.loads(typed("budget", hospital, "--format", "json")[1])[0]["left"]["epsilon"] == "2"


def test_a_picture_says_notes_in_the_words_of_the_command_line(hospital, typed, tmp_path):
    asked = ("sql", hospital, BY_SEX, "--epsilon", "0.0001", "--allow-uninformative", "--plot", tmp_path / "a.json")
    assert typed(*asked)[0] == 0
    caption = " ".join(json.loads((tmp_path / "a.json").read_text())["title"]["subtitle"])
    assert "says almost nothing" in caption
    assert "--rows" in caption or "--epsilon" in caption


@pytest.fixture(scope="module")
def asked(example, tmp_path_factory):
    """A folder in which alice asked three times, and bob once for values that nobody declared."""
    import shutil

    from adomnia.session.curator import open_folder

    folder = shutil.copytree(example, tmp_path_factory.mktemp("asked") / "hospital")
    with open_folder(folder) as curator:
        alice, bob = curator.session("alice"), curator.session("bob")
        for name, epsilon in (("one", 0.1), ("two", 0.2)):
            alice.sql(COUNT, epsilon=epsilon, request_id=name)
        alice.batch([COUNT, "SELECT AVG(age) AS a FROM people"], epsilon=0.1, request_id="three")
        bob.sql("SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY 1", rho=0.02, delta=1e-9, request_id="found")
    return folder


def test_a_table_says_what_was_asked_and_what_it_cost(asked, typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, printed, complained = typed("answers", asked)
    assert (code, complained) == (0, "")
    lines = [line.split() for line in printed.splitlines()]
    assert ["one", "1", "epsilon", "0.1", *COUNT.split()] in lines
    assert [*["SELECT", "AVG(age)", "AS", "a", "FROM", "people"]] in lines
    assert printed.rstrip().endswith("--after three")
    assert "rho 0.02, delta 1e-9" in typed("answers", asked, "--analyst", "bob")[1]


def test_pages_follow_each_other(asked, typed):
    def page(*options):
        return json.loads(typed("answers", asked, "--format", "json", *options)[1])

    first, second = page("--limit", "2"), page("--limit", "2", "--after", "two")
    assert [past["request_id"] for past in first + second] == ["one", "two", "three"]
    assert first + second == page()
    assert page("--after", "three") == []
    assert set(first[0]) == {"request_id", "questions", "version", "cost", "receipt"}
    assert "--after" not in typed("answers", asked, "--after", "three")[1]


def test_a_page_begins_after_an_answer_of_the_same_analyst(asked, typed):
    code, printed, complained = typed("answers", asked, "--after", "found")
    assert (code, printed) == (2, "")
    assert "Request 'found' has no answer of yours" in complained


def test_where_nobody_has_asked_there_is_none(hospital, typed):
    assert typed("answers", hospital, "--format", "json")[1] == "[]\n"
