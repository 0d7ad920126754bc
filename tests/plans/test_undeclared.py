"""Keys whose values nobody declared: what is asked before they are known, and what once they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.mechanisms.threshold import Threshold
from adomnia.plans.formulas import Keyed, walk
from adomnia.plans.undeclared import MOST_NAMED, limit_open_keys, resolve_open_keys, tag_open_keys
from adomnia.pricing.findings import explain_need, price_finding, total_price
from adomnia.pricing.parts import cost
from adomnia.pricing.payment import price_batch, price_question
from adomnia.pricing.questions import Question, list_findings
from adomnia.pricing.quotes import quote_questions
from adomnia.privacy.events import Approximate, Composed, Concentrated, Pure
from adomnia.privacy.filters import Budget
from adomnia.privacy.keys import Names, is_open, key_cells, key_values
from adomnia.privacy.losses import loss
from adomnia.privacy.scans import People
from adomnia.sql.lower import plan_question
from adomnia.sql.reading.parse import parse
from sql.hospital import HOSPITAL

NAMES = "SELECT name, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY name"
PAIRS = "SELECT diagnosis, sex, eye_color, COUNT(*) AS n FROM people p JOIN visits v USING (person_id) GROUP BY ALL"


def plan_of(text, catalog=HOSPITAL):
    return plan_question(parse(text), catalog, finds=True)


def asked(text, catalog=HOSPITAL, **payment):
    return price_question(Question(text, **payment), plan_of(text, catalog), catalog, 0.95)


def refused(text, catalog=HOSPITAL, **payment):
    with pytest.raises(Refusal) as caught:
        asked(text, catalog, **payment)
    return caught.value


# ------------------------------------------------------------------------------------------------ what may be found


@pytest.mark.parametrize(
    ("key", "made_up"),
    [
        ("name", ""),
        ("LOWER(name)", ""),
        ("SUBSTRING(name, 1, 1)", ""),
        ("FLOOR(weight)", 0),
        ("CAST(FLOOR(salary * 1000) AS INTEGER)", 0),
    ],
)
def test_texts_and_whole_numbers_may_be_found(key, made_up):
    (found,) = plan_of(f"SELECT COUNT(*) FROM people GROUP BY {key}").keys
    assert found.among == Names((made_up,), MOST_NAMED)


def test_days_without_bounds_may_be_found():
    (found,) = plan_of("SELECT day, COUNT(*) FROM events GROUP BY day").keys
    assert found.among == Names((date.min,), MOST_NAMED)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT COUNT(*) FROM people GROUP BY person_id", "group_by_privacy_unit"),
        ("SELECT COUNT(*) FROM visits GROUP BY visit_id", "identifier_column"),
        ("SELECT COUNT(*) FROM people GROUP BY weight", "needs_key_domain"),
        ("SELECT COUNT(*) FROM people GROUP BY salary", "needs_key_domain"),
        ("SELECT COUNT(*) FROM people GROUP BY UPPER('a')", "needs_key_domain"),
    ],
)
def test_ids_people_and_fractions_are_not_found_for_any_delta(text, code):
    assert refused(text, epsilon=1, delta=1e-9).code == code


@pytest.mark.parametrize("text", ["SELECT name, COUNT(*) FROM people GROUP BY name", PAIRS.replace("ALL", "1, 2, 3")])
def test_without_delta_the_refusal_says_what_to_add(text):
    with pytest.raises(Refusal) as caught:
        plan_question(parse(text), HOSPITAL)
    assert caught.value.code == "identifier_column"
    assert "add delta=1e-9" in caught.value.fix


def test_where_the_budget_is_pure_the_refusal_names_what_the_owner_can_do():
    assert "approximate = true in [budget]" in explain_need(replace(HOSPITAL, budget=Budget(1)))
    assert "approximate" not in explain_need(replace(HOSPITAL, budget=Budget(1, 1e-6, approximate=True)))


def test_declared_keys_stay_as_they_are():
    found = plan_of("SELECT sex, COUNT(*) FROM people GROUP BY sex").keys
    assert not any(map(is_open, found))
    assert limit_open_keys(found) == found


def test_several_open_keys_share_the_groups_that_one_may_make():
    one, two = plan_of(NAMES).keys, plan_of("SELECT COUNT(*) FROM people GROUP BY name, eye_color").keys
    assert [len(key_cells(key)) for key in one] == [10_000]
    assert [len(key_cells(key)) for key in two] == [100, 100]


# ------------------------------------------------------------------------------------------------ the price


def test_finding_is_paid_like_one_more_measurement_and_takes_all_of_delta():
    priced = asked(NAMES, epsilon=1, delta=1e-9)
    assert priced.finding.price == Approximate(Fraction(1, 2), 1e-9)
    assert priced.price == Pure(Fraction(1, 2))
    assert total_price(priced) == Pure(1)
    assert loss(cost([priced])).rho == 2 * Fraction(1, 8)
    assert loss(cost([priced])).delta == Fraction(1, 10**9)


@pytest.mark.parametrize("payment", [{"weights": {"n": 3}}, {}, {"effort": "high"}], ids=str)
def test_all_parts_add_up_to_the_price_however_it_is_split(payment):
    text = "SELECT eye_color, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM people GROUP BY eye_color"
    priced = asked(text, rho=1, delta=1e-9, **payment)
    assert loss(cost([priced])) == loss(Concentrated(1, 1e-9))
    assert total_price(priced) == Concentrated(1)


def test_in_rho_too():
    priced = asked(NAMES, rho=1, delta=1e-9)
    assert priced.finding.price == Concentrated(Fraction(1, 4), 1e-9)
    assert loss(cost([priced])) == loss(Concentrated(1, 1e-9))


def test_an_error_is_bought_for_the_measurements_and_the_finding_comes_on_top():
    text = "SELECT name, COUNT(*) FROM people GROUP BY name"
    priced = asked(text, error=50, delta=1e-9)
    assert priced.finding.price.epsilon == priced.price.epsilon
    assert total_price(priced).epsilon == 2 * priced.price.epsilon


def test_laplace_thresholds_see_one_row_of_a_person_and_gaussian_ones_all_that_count():
    text = "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis"
    laplace, gaussian = asked(text, epsilon=1, delta=1e-9).finding, asked(text, rho=1, delta=1e-9).finding
    assert laplace.query.relation.rows_per_person == 1
    assert gaussian.query.relation.rows_per_person == plan_of(text).relation.rows_per_person > 1
    assert {type(each.query.aggregate) for each in (laplace, gaussian)} == {People}


def test_a_person_may_be_in_as_many_open_groups_as_they_have_rows():
    """However few were found: what is measured must not depend on it, nor may it be taken for a bound on finding."""
    found = asked("SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis", rho=1, delta=1e-9).finding
    rows = found.query.relation.rows_per_person
    one = replace(found.query, keys=tuple(replace(key, among=Names(("flu",))) for key in found.query.keys))
    for query in (found.query, one):
        assert query.sensitivity().l1 == query.sensitivity().l2_squared == rows
        assert query.sensitivity().linf == 1


def test_the_threshold_is_that_of_its_price_and_the_owners_minimum():
    strict = replace(HOSPITAL, minimum_frequency=20)
    usual, careful = (asked(NAMES, catalog, epsilon=1, delta=1e-9).finding for catalog in (HOSPITAL, strict))
    assert usual.threshold == Threshold.calibrated(usual.query.sensitivity(), usual.price)
    assert careful.threshold.people == usual.threshold.people + 19
    assert "none that fewer than 20 have" in str(careful)
    assert "fewer" not in str(usual)


def test_the_quote_says_how_many_people_a_value_needs_and_what_that_costs():
    quote = quote_questions([asked(NAMES, epsilon=1, delta=1e-9)], 0.95, False, None)
    (found,) = quote.findings
    assert f"about {found.people} people" in str(found)
    assert "epsilon 0.5 and delta 1e-9" in str(found)
    assert quote.price == Pure(1)
    assert "rho 0.25" in str(asked(NAMES, rho=1, delta=1e-9).finding)


def test_delta_is_refused_where_nothing_is_to_be_found():
    assert refused("SELECT sex, COUNT(*) FROM people GROUP BY sex", epsilon=1, delta=1e-9).code == "bad_price"


@pytest.mark.parametrize("delta", [0, 1, -1e-9, float("nan"), "1e-9", 1e-31, 1e-60])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 1}], ids=str)
def test_a_delta_that_buys_no_threshold_is_refused(delta, price):
    refusal = refused(NAMES, **price, delta=delta)
    assert (refusal.code, refusal.fix) == ("bad_price", "write delta=1e-9")


def test_a_price_that_buys_no_threshold_is_refused():
    assert refused(NAMES, rho=1e-12, delta=1e-9).code == "bad_price"


def test_a_batch_with_one_price_takes_no_delta():
    with pytest.raises(Refusal, match="one price"):
        price_batch([Question(NAMES)], [plan_of(NAMES)], {"epsilon": 1, "delta": 1e-9}, HOSPITAL, 0.95)


def test_equal_findings_of_a_batch_are_paid_once_and_others_apart():
    same = [asked(NAMES, epsilon=1, delta=1e-9), asked(NAMES, epsilon=1, delta=1e-9)]
    other = [asked(NAMES, epsilon=1, delta=1e-9), asked(NAMES, epsilon=1, delta=1e-10)]
    assert len(list_findings(same)) == 1
    assert cost(same) == cost(same[:1])
    assert len(list_findings(other)) == 2
    # What is measured is the same, but over values that may differ.
    assert loss(cost(other)).rho == 2 * loss(cost(same)).rho
    assert isinstance(cost(same), Composed)


# ------------------------------------------------------------------------------------------------ what was found


def test_values_that_fit_are_all_chosen_in_an_order_of_their_own():
    found = price_finding(plan_of("SELECT COUNT(*) FROM people GROUP BY name, eye_color"), Pure(1), 1e-9, HOSPITAL)
    named = [(f"n{k:03}", f"e{k % 7}") for k in range(300)]
    assert found.choose(named[::-1], np.arange(300)) == tuple(named)


def test_more_values_than_fit_are_those_of_the_most_people():
    """It is the combinations of all values that are bounded: each is measured."""
    found = price_finding(plan_of("SELECT COUNT(*) FROM people GROUP BY name, eye_color"), Pure(1), 1e-9, HOSPITAL)
    diagonal = [(f"n{k:03}", f"e{k:03}") for k in range(300)]
    people = np.arange(300) * 7 % 300 + 20
    chosen = found.choose(diagonal, people)
    assert len(chosen) == 100
    assert chosen == tuple(sorted(diagonal[place] for place in np.argsort(-people)[:100]))


def test_equal_numbers_of_people_are_told_apart_by_the_values_never_by_where_they_lay():
    found = price_finding(plan_of("SELECT COUNT(*) FROM people GROUP BY name, eye_color"), Pure(1), 1e-9, HOSPITAL)
    diagonal = [(f"n{k:03}", f"e{k:03}") for k in range(300)]
    people = np.full(300, 7)
    assert found.choose(diagonal, people) == found.choose(diagonal[::-1], people) == tuple(diagonal[:100])


def test_found_values_are_keys_like_any_others_wherever_they_stand():
    text = (
        "SELECT name, COUNT(*) AS n FROM people GROUP BY name HAVING name <> 'bo' AND COUNT(*) > 3 ORDER BY name DESC"
    )
    plan = tag_open_keys(plan_of(text), asked(text, epsilon=1, delta=1e-9).finding)
    known = resolve_open_keys(plan, [("ann",), ("bo",)])
    (key,) = known.keys
    assert key.among == Names(("ann", "bo"))
    assert known.outputs[0].source == known.order[0].by == key
    assert {statistic.query.keys for statistic in known.statistics} == {(key,)}
    assert key in (part.key for part in _keyed(known.having))
    assert known.named == (0, 1)


def _keyed(condition):
    """The comparisons of keys."""
    return [part for part in walk(condition) if isinstance(part, Keyed)]


def test_only_values_that_were_named_together_are_shown():
    plan = plan_of("SELECT name, sex, eye_color, COUNT(*) FROM people GROUP BY name, sex, eye_color")
    known = resolve_open_keys(plan, [("ann", "blue"), ("bo", "green")])
    shape = [len(key_cells(key)) for key in known.keys]
    assert sorted(shape) == [2, 2, 3]
    shown = list(zip(*np.unravel_index(known.named, shape), strict=True))
    labels = [key_values(key) for key in known.keys]
    found = {frozenset(values[place] for values, place in zip(labels, cell, strict=True)) for cell in shown}
    pairs = [("ann", "blue"), ("bo", "green")]
    assert found == {frozenset({*pair, sex}) for pair in pairs for sex in "FMX"}


def test_where_nothing_is_found_something_is_measured_and_nothing_shown():
    known = resolve_open_keys(plan_of(NAMES), [])
    assert [key.labels for key in known.keys] == [("",)]
    assert known.named == ()


def test_plans_say_how_their_values_are_found_so_that_answers_are_not_mixed_up():
    plans = [
        asked(NAMES, catalog, epsilon=1, delta=delta).plan
        for catalog, delta in ((HOSPITAL, 1e-9), (HOSPITAL, 1e-10), (replace(HOSPITAL, minimum_frequency=2), 1e-9))
    ]
    assert len({plan.identity(Pure(1), 1) for plan in plans}) == 3
