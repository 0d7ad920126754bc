"""An explanation says whose rows, what is measured, why so much noise, and what a price buys."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.explaining.explanations import error_in_words, explain, noise_in_words, sensitivity_in_words
from adomnia.pricing.bills import Expected
from adomnia.pricing.quotes import quote_plan
from adomnia.privacy.events import Concentrated, Pure
from adomnia.sql.lower import lower, plan_question
from adomnia.sql.reading.parse import parse
from adomnia.sql.reading.statements import is_explain, without_explain
from sql.hospital import HOSPITAL

GROUPED = "SELECT city, COUNT(*) AS n, AVG(age) AS mean FROM people WHERE active GROUP BY city HAVING SUM(salary) > 9"


def plan(text):
    return lower(text, HOSPITAL)


def flat(node, depth=0):
    return [f"{'  ' * depth}{node.text}", *(line for part in node.parts for line in flat(part, depth + 1))]


@pytest.mark.parametrize(
    "text", ["EXPLAIN SELECT 1", " explain\nSELECT 1", "-- why\nExplain SELECT 1", "/* EXPLAIN */ EXPLAIN(SELECT 1)"]
)
def test_explain_is_the_first_word(text):
    assert is_explain(text)
    bare = without_explain(text)
    assert not is_explain(bare)
    assert len(bare) == len(text)
    assert bare.index("SELECT") == text.index("SELECT")


@pytest.mark.parametrize(
    "text", ["SELECT 1", "EXPLAINED", "SELECT explain FROM t", "/* EXPLAIN SELECT 1", "", "'EXPLAIN'"]
)
def test_anything_else_is_no_explanation(text):
    assert not is_explain(text)
    assert without_explain(text) == text


def test_many_comments_are_skipped_quickly():
    assert not is_explain("/**/ -- \n" * 20_000)


def test_the_tree_of_a_question_with_a_price():
    asked = plan(GROUPED)
    lines = flat(explain(asked, quote_plan(asked, Pure(2))))
    assert lines[0] == "4 measurements, 3 outputs"
    for line in (
        "    where active: at most 1 row of a person, those of what it is made of",
        "      people: at most 1 row of a person, as declared",
        "    40 declared values of city",
        "      values from 0 to 120, in steps of 1",
        "      one person moves it by at most 60: a person has at most 1 row here, each of at most 60 steps",
        "      noise: Laplace, scale 120, in 40 groups",
        "      error: at most 6 in a group of any size, 0.6% of its value in 1,000 rows",
        "      interval: noisy count",
        "  price: epsilon 2 in all; errors are kept in each group 95% of the time",
    ):
        assert line in lines
    (mean,) = (line for line in lines if line.startswith("    mean = "))
    assert "AVG(age in 0..120 by 1) is 2 measurements: [" in mean
    assert "] sum of age - 60" in mean
    assert "] values of age" in mean
    assert any(line.startswith("    to choose or sort: SUM(salary") for line in lines)


def test_the_prices_of_the_measurements_are_told_line_by_line():
    asked = plan("SELECT COUNT(*) AS n, SUM(age) FROM people")
    lines = flat(explain(asked, quote_plan(asked, Concentrated(Fraction(1, 10)))))
    assert sum(line.strip().startswith("[") and line.endswith(": rho 0.05") for line in lines) == 2
    assert "    one, of all rows" in lines


def test_without_a_price_nothing_is_said_about_amounts():
    text = "\n".join(flat(explain(plan(GROUPED))))
    assert "price: none was named" in text
    for word in ("epsilon", "rho", "noise:", "error:"):
        assert word not in text
    assert "one person moves it by at most 60" in text


def test_public_tables_are_exact_and_free():
    tree = explain(plan_question(parse("SELECT zone FROM zones"), HOSPITAL))
    assert flat(tree) == ["Rows of public tables, exact and free", "  zones: public, about nobody"]


def test_errors_for_all_groups_at_once_are_told_so():
    asked = plan(GROUPED)
    assert "errors are kept in all groups at once" in str(explain(asked, quote_plan(asked, Pure(1), simultaneous=True)))


def test_noise_is_told_by_the_norm_it_is_measured_by():
    text = "SELECT hospital, COUNT(DISTINCT person_id) FROM visits GROUP BY hospital"
    (line,) = quote_plan(plan(text), Concentrated(0.5)).measurements
    assert (sensitivity_in_words(line), noise_in_words(line)) == ("2.23607", "Gaussian, deviation 2.23607")
    (line,) = quote_plan(plan(text), Pure(0.5)).measurements
    assert (sensitivity_in_words(line), noise_in_words(line)) == ("5", "Laplace, scale 10")


def test_an_error_has_three_digits():
    assert error_in_words(Expected("x", "", 12345.6)) == "at most 12,300"
    assert error_in_words(Expected("x", "", None)) == "unbounded"
