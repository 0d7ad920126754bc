"""A method is read by its signature: its rows, its arguments, and what is shown of its table."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.plans.views import TableColumn, TableCondition, TableOrder
from adomnia.privacy.keys import key_values
from adomnia.sql.lower import lower
from kit.curated import alice, bob, carol, catalog, curator
from kit.planted_method import BUILT, tally

__all__ = ["alice", "bob", "carol", "catalog", "curator", "tally"]

pytestmark = pytest.mark.usefixtures("tally")


def read(catalog, arguments, rows="people"):
    lower(f"SELECT * FROM tally({rows}, {arguments})", catalog)
    return BUILT[-1]


def refuse(catalog, text):
    with pytest.raises(Refusal) as refused:
        lower(text, catalog)
    return refused.value


@pytest.mark.parametrize(
    ("written", "name", "value"),
    [
        ("share => 0.25", "share", Fraction(1, 4)),
        ("share => 1e-3", "share", Fraction(1, 1000)),
        ("shares => (0.1, -3, .5)", "shares", (Fraction(1, 10), Fraction(-3), Fraction(1, 2))),
        ("shares => 7", "shares", (Fraction(7),)),
        ("places => 10", "places", 10),
        ("side => 'LEFT'", "side", "left"),
        ("text => 'it''s'", "text", "it's"),
        ("formula => 'y ~ x'", "formula", "y ~ x"),
        ("exact => TRUE", "exact", True),
        ("EXACT => false", "exact", False),
    ],
)
def test_constants_are_read_by_their_kind(catalog, written, name, value):
    assert read(catalog, f"column => salary, {written}")[1][name] == value


def test_what_is_not_given_has_its_default(catalog):
    arguments = read(catalog, "column => salary")[1]
    assert {name: arguments[name] for name in ("share", "places", "side", "exact", "text", "factor")} == {
        "share": Fraction(1, 2),
        "places": 3,
        "side": "both",
        "exact": False,
        "text": None,
        "factor": None,
    }
    assert arguments["columns"] == arguments["shares"] == arguments["by"] == ()


def test_columns_are_numbers_with_bounds_by_their_names_or_computed(catalog):
    arguments = read(catalog, "column => (Salary), columns => (age, salary / 1000, member)")[1]
    assert arguments["column"].name == "Salary"
    assert (arguments["column"].domain.lower, arguments["column"].domain.upper) == (0, 500_000)
    assert [each.name for each in arguments["columns"]] == ["age", "salary / 1000", "member"]
    assert arguments["columns"][1].domain.upper == 500


def test_factors_have_declared_values(catalog):
    arguments = read(catalog, "column => salary, factor => sex, by => (city, age >= 18)")[1]
    assert arguments["factor"].levels == ("F", "M", "X")
    assert [each.name for each in arguments["by"]] == ["city", "age >= 18"]
    assert key_values(arguments["by"][1].key) == (False, True)


def test_the_frame_knows_what_each_column_can_be(catalog):
    frame, _ = read(catalog, "column => salary")
    assert set(frame.numbers) == {"age", "salary", "member", "score"}
    assert set(frame.factors) == {"age", "sex", "city", "member"}
    assert "no declared bounds" in frame.unusable["weight"][0]
    assert "person_id" not in frame.names


@pytest.mark.parametrize(
    "rows",
    ["people", "PEOPLE", "(SELECT salary, age FROM people WHERE age >= 18)", "(SELECT * FROM people)"],
)
def test_rows_are_a_table_or_a_select_in_brackets(catalog, rows):
    assert read(catalog, "column => salary", rows)[1]["column"].name == "salary"


def test_rows_may_be_named_by_with(catalog):
    plan = lower(
        "WITH grown AS (SELECT * FROM people WHERE age > 17) SELECT * FROM tally(grown, column => age)", catalog
    )
    inside = lower("SELECT * FROM tally((SELECT * FROM people WHERE age > 17), column => age)", catalog)
    assert plan.statistics == inside.statistics


def test_a_method_is_the_one_output_of_its_plan(catalog):
    plan = lower("SELECT * FROM tally(people, column => salary) LIMIT 2 OFFSET 1", catalog)
    assert [output.name for output in plan.outputs] == ["tally"]
    assert (plan.limit, plan.offset, plan.keys) == (2, 1, ())
    assert [name for name, _ in plan.view.columns] == ["term", "place", "estimate", "p_value"]


def test_groups_come_first(catalog):
    plan = lower("SELECT * FROM tally(people, column => salary, by => city)", catalog)
    assert [name for name, _ in plan.view.columns][:2] == ["city", "term"]


def test_the_select_around_chooses_columns_rows_and_order(catalog):
    text = """SELECT t.estimate AS n, Term FROM tally(people, column => salary) AS t
    WHERE (p_value < 0.5 AND term IN ('plus', 'x'))
    OR NOT place BETWEEN 1 AND -2 OR p_value IS NOT NULL OR term LIKE 'p%'
    ORDER BY n DESC, place, 2"""
    view = lower(text, catalog).view
    assert view.columns == (("n", "estimate"), ("term", "term"))
    assert view.order == (TableOrder("estimate", True), TableOrder("place"), TableOrder("term"))
    assert TableCondition("<", (TableColumn("p_value"), Fraction(1, 2))) in walk(view.condition)
    assert TableCondition("like", (TableColumn("term"), "p%")) in walk(view.condition)


def walk(condition):
    yield condition
    for each in condition.operands:
        if isinstance(each, TableCondition):
            yield from walk(each)


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("SELECT * FROM tally()", "method_rows", 15),
        ("SELECT * FROM tally(column => salary)", "method_rows", 15),
        ("SELECT * FROM tally(3, column => salary)", "method_rows", 21),
        ("SELECT * FROM tally(cities, column => population)", "public_table", 15),
        ("SELECT * FROM tally(nowhere, column => salary)", "unknown_table", 21),
        ("SELECT * FROM tally(people)", "missing_argument", 15),
        ("SELECT * FROM tally(people, salary)", "bad_argument", 29),
        ("SELECT * FROM tally(people, colum => salary)", "unknown_argument", 38),
        ("SELECT * FROM tally(people, column => salary, column => age)", "bad_argument", 57),
        ("SELECT * FROM tally(people, column => salry)", "unknown_column", 39),
        ("SELECT * FROM tally(people, column => city)", "type_error", 39),
        ("SELECT * FROM tally(people, column => weight)", "unbounded_expression", 39),
        ("SELECT * FROM tally(people, column => person_id)", "identifier_column", 39),
        ("SELECT * FROM tally(people, column => salary, factor => name)", "identifier_column", 57),
        ("SELECT * FROM tally(people, column => salary, by => salary)", "needs_key_domain", 53),
        ("SELECT * FROM tally(people, column => salary, by => person_id)", "group_by_privacy_unit", 53),
        ("SELECT * FROM tally(people, column => salary, share => 2)", "bad_argument", 56),
        ("SELECT * FROM tally(people, column => salary, share => 'a')", "bad_argument", 56),
        ("SELECT * FROM tally(people, column => salary, share => 1e400)", "bad_argument", 56),
        ("SELECT * FROM tally(people, column => salary, share => age)", "bad_argument", 56),
        ("SELECT * FROM tally(people, column => salary, places => 2.5)", "bad_argument", 57),
        ("SELECT * FROM tally(people, column => salary, places => 11)", "bad_argument", 57),
        ("SELECT * FROM tally(people, column => salary, side => 'lef')", "bad_argument", 55),
        ("SELECT * FROM tally(people, column => salary, side => age)", "bad_argument", 55),
        ("SELECT * FROM tally(people, column => salary, exact => 1)", "bad_argument", 56),
        ("SELECT * FROM tally(people, column => salary, columns => (age, age))", "bad_argument", 59),
        ("SELECT * FROM tally(people, column => salary, text => 'wrong here')", "bad_argument", 62),
        ("SELECT * FROM tallly(people)", "function_not_allowed", 15),
        ("SELECT nothing FROM tally(people, column => salary)", "unknown_column", 8),
        ("SELECT estimate + 1 FROM tally(people, column => salary)", "around_method", 8),
        ("SELECT COUNT(*) FROM tally(people, column => salary)", "around_method", 8),
        ("SELECT term, term FROM tally(people, column => salary)", "duplicate_alias", 8),
        ("SELECT x.term FROM tally(people, column => salary) AS t", "unknown_table", 8),
        ("SELECT term FROM tally(people, column => salary) GROUP BY term", "around_method", 59),
        ("SELECT * FROM tally(people, column => salary), people", "around_method", 48),
        ("SELECT * FROM tally(people, column => salary) WHERE estimate > 1e400", "bad_literal", 64),
        ("SELECT * FROM tally(people, column => salary) WHERE estimate + 1 > 2", "around_method", 53),
        ("SELECT AVG(estimate) FROM (SELECT * FROM tally(people, column => salary)) AS t", "method_inside", 42),
        (
            "SELECT COUNT(*) FROM people WHERE age IN (SELECT estimate FROM tally(people, column => age))",
            "method_inside",
            64,
        ),
        ("SELECT * FROM tally(people, column => salary) TABLESAMPLE (10 ROWS)", "syntax_not_allowed", 15),
        ("SELECT * FROM tally(people, column => salary) PIVOT (SUM(n) FOR term IN ('a'))", "syntax_not_allowed", 15),
        ("SELECT * FROM tally(people, column => salary) UNPIVOT (a FOR b IN (n))", "syntax_not_allowed", 15),
        ("SELECT * FROM tally(people, column => salary) WITH ORDINALITY", "syntax_not_allowed", 15),
        ("SELECT * FROM tally(people, column => salary) AS t(x)", "syntax_not_allowed", 50),
        (
            "SELECT * FROM tally((SELECT sex AS term, age FROM people), column => age, by => term)",
            "duplicate_alias",
            15,
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(catalog, text, code, column):
    found = refuse(catalog, text)
    assert (found.code, found.position) == (code, (1, column))


def test_a_misspelt_name_is_guessed(catalog):
    assert "did you mean tally?" in refuse(catalog, "SELECT * FROM tallly(people)").fix
    assert "did you mean column?" in refuse(catalog, "SELECT * FROM tally(people, colum => age)").fix
    assert "did you mean left?" in refuse(catalog, "SELECT * FROM tally(people, column => age, side => 'lef')").fix


def test_a_method_is_priced_paid_shown_and_replayed_like_any_question(alice, curator):
    text = (
        "SELECT term, estimate AS n, p_value FROM tally(people, column => salary, by => sex) WHERE place < 3 ORDER BY n"
    )
    quote = alice.price(text, epsilon=1)
    assert [line.name for line in quote.outputs] == ["estimate"]
    assert len(curator.engine.ran) == 0
    answer = alice.sql(text, epsilon=1)
    assert answer["n"] == sorted(answer["n"])
    assert len(answer) == 6
    assert answer.figure == {"kind": "points", "x": "term", "y": "n", "labels": ["term"]}
    assert answer.notes[0] == "The interval is about the data."
    again = alice.sql(text.replace("ORDER BY n", "ORDER BY place"), epsilon=1)
    assert again.replayed
    assert sorted(again["n"]) == answer["n"]
    assert len(curator.engine.ran) == 1


def test_no_reply_is_null(alice):
    answer = alice.sql("SELECT * FROM tally(people, column => salary)", epsilon=1)
    assert answer["estimate"][2] is None
    assert answer.to_arrow()["p_value"].to_pylist() == [0.25, None, 0.5]
    assert "not estimable" in repr(answer)


def test_without_its_columns_there_is_no_figure(alice):
    assert alice.sql("SELECT term FROM tally(people, column => salary)", epsilon=1).figure == {"labels": ["term"]}


@pytest.mark.parametrize(
    ("payment", "code"), [({"error": 5}, "error_not_known"), ({"rho": 1, "effort": "high"}, "bad_effort")]
)
def test_what_is_about_one_number_is_refused(bob, payment, code):
    with pytest.raises(Refusal) as refused:
        bob.price("SELECT * FROM tally(people, column => salary)", **payment)
    assert refused.value.code == code


def test_in_a_batch_it_shares_the_price_with_others(alice):
    first, second = alice.batch(
        ["SELECT COUNT(*) FROM people", "SELECT * FROM tally(people, column => salary)"], epsilon=2
    )
    assert len(first) == 1
    assert len(second) == 3
    assert first.receipt == second.receipt
