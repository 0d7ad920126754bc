"""AIM on data as people have it: within its price whatever happens, near to the data, and the same again."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.methods.releases.aim import METHOD, divide_amount
from adomnia.methods.synthesis.noisy_tables import NoisyTables, Remainder
from adomnia.methods.synthesis.residuals import NoisyMarginal
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers
from adomnia.privacy.transforms.distances import Distances
from adomnia.statistics.contract import Measure, Measured
from kit.placed_rows import build, draw_people, find_distance, release
from kit.searches import examples

SIZES = (4, 3, 5, 2)
ROWS = draw_people(3000, SIZES, 1)
PRICES = [Pure(Fraction(1, 2)), Concentrated(Fraction(1, 20))]
both_prices = pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])
FIXTURES = Path(__file__).parents[2] / "fixtures"


def is_covered(analysis, price, events):
    return covers(analysis.event(price), Composed(events))


@both_prices
@pytest.mark.parametrize("rows", [ROWS, ROWS[:5], ROWS[:1], ROWS[:0]], ids=len)
def test_its_rounds_stay_within_its_event(price, rows):
    analysis = build(METHOD, SIZES, size=40)
    result, events = release(analysis, price, rows)
    assert is_covered(analysis, price, events)
    rehearsed = [each.mechanism.event(each.query.sensitivity()) for each in analysis.planned_measures(price)]
    assert is_covered(analysis, price, rehearsed)
    assert result.product.rows.shape == (40, 4)


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    price=st.builds(
        lambda kind, amount: kind(amount),
        st.sampled_from([Pure, Concentrated]),
        st.fractions(Fraction(1, 1000), 20, max_denominator=10**6),
    ),
    number=st.integers(0, 60),
    rows_per_person=st.integers(1, 3),
    ways=st.integers(1, 4),
)
@settings(max_examples=examples(12))
def test_no_price_and_no_domain_makes_it_spend_more(sizes, price, number, rows_per_person, ways):
    analysis = build(METHOD, sizes, rows_per_person, ways=ways, size=3)
    result, events = release(analysis, price, draw_people(number, sizes, 2), number)
    assert is_covered(analysis, price, events)
    assert Remainder(price, tuple(events)).share_spent > 0.999  # and nothing is lost
    assert result.rows == 3


def test_a_variant_that_forgets_its_first_round_is_found_out(monkeypatch):
    """Charging by a formula of the rounds forgets what is measured before them."""
    exact = Remainder.spent.fget
    forgetful = property(lambda self: exact(self) - exact(Remainder(self.price, self.events[: len(SIZES)])))
    monkeypatch.setattr(Remainder, "spent", forgetful)
    analysis = build(METHOD, SIZES, size=40)
    _, events = release(analysis, PRICES[1], ROWS)
    assert not is_covered(analysis, PRICES[1], events)


@pytest.mark.parametrize(
    ("price", "near"), [(Concentrated(Fraction(1, 2)), 0.02), (Pure(4), 0.03)], ids=["rho", "epsilon"]
)
def test_at_a_high_price_its_rows_are_near_to_the_data_and_independent_columns_are_not(price, near):
    """Far below what noise could do by chance: the mean over all tables is about half of the bound."""
    rows = release(build(METHOD, SIZES, size=30_000), price, ROWS)[0].product.rows
    assert find_distance(ROWS, rows, SIZES, 2) < near
    apart = release(build(METHOD, SIZES, ways=1, size=30_000), price, ROWS)[0].product.rows
    assert find_distance(ROWS, apart, SIZES, 1) < near
    assert find_distance(ROWS, apart, SIZES, 2) > 0.1


@both_prices
def test_the_same_measurements_give_the_same_rows(price):
    first, again = (release(build(METHOD, SIZES, size=200), price, ROWS, 5)[0] for _ in range(2))
    assert first.labels == again.labels
    other = release(build(METHOD, SIZES, size=200), price, ROWS, 6)[0]
    assert other.labels != first.labels


@both_prices
def test_counts_inside_measured_tables_have_errors_that_hold(price):
    """Standardised errors of 60 counts: their mean square is 1, and nearer to it than these bounds but for 1e-6."""
    analysis = build(METHOD, (3, 2), size=1)
    squares = []
    for seed in range(30):
        product = release(analysis, price, ROWS[:, [1, 3]], seed)[0].product
        counts, variances = product.estimates.count((1,), np.arange(2), 2)
        squares += list((counts - np.bincount(ROWS[:, 3], minlength=2)) ** 2 / variances)
    bounds = (0.3, 2.6) if isinstance(price, Pure) else (0.3, 2.0)
    assert bounds[0] < np.mean(squares) < bounds[1]
    assert np.mean(squares) * 4 > bounds[1], "noise of twice the deviation is found out"
    assert product.tails == ("laplace" if isinstance(price, Pure) else "gaussian")


def test_about_as_many_rows_are_drawn_as_there_are():
    result, _ = release(build(METHOD, SIZES), Concentrated(1), ROWS)
    assert abs(result.rows - 3000) < 30
    assert result.product.about["total"] == pytest.approx(3000, abs=30)
    assert release(build(METHOD, SIZES), PRICES[0], ROWS[:0])[0].rows >= 1


def test_constant_columns_and_those_of_one_value_are_no_trouble():
    rows = np.zeros((500, 3), dtype=np.int64)
    result, events = release(build(METHOD, (1, 3, 2)), Concentrated(1), rows)
    analysis = build(METHOD, (1, 3, 2))
    assert is_covered(analysis, Concentrated(1), events)
    assert np.mean(result.product.rows == 0) > 0.95


def test_one_column_is_measured_at_the_whole_price():
    (only,) = build(METHOD, (3,)).planned_measures(PRICES[0])
    assert only.price == PRICES[0]
    _, events = release(build(METHOD, (3,)), PRICES[0], ROWS[:, 1:2])
    assert len(events) == 1


def test_people_with_several_rows_are_hidden_by_as_much_more_noise():
    one, several = (build(METHOD, SIZES, each) for each in (1, 3))
    for few, many in zip(one.planned_measures(PRICES[1]), several.planned_measures(PRICES[1]), strict=True):
        assert many.query.sensitivity().linf == 3 * few.query.sensitivity().linf


def test_a_choice_is_by_weight_times_what_the_distance_has_beyond_noise():
    analysis = build(METHOD, SIZES)
    flow = analysis.steps(PRICES[1])
    first = next(flow)
    exact = [np.bincount(ROWS[:, place], minlength=size) for place, size in enumerate(SIZES)]
    (choice,) = flow.send(
        tuple(Measured(counts, measure.mechanism) for measure, counts in zip(first, exact, strict=True))
    )
    distances = choice.query.aggregate
    assert isinstance(distances, Distances)
    believed = {len(each.guesses[0].counts): each for each in distances.candidates}
    pair = believed[20]  # of columns 0 and 2, as if they were independent
    expected = np.outer(exact[0], exact[2]).ravel() / 3000
    assert pair.guesses[0].counts / distances.scale == pytest.approx(expected, rel=0.1, abs=3)
    assert pair.offset < 0
    assert {each.weight for each in distances.candidates} == {1, 2, 3}


def test_parts_of_a_price_buy_the_noise_that_the_papers_state():
    known = json.loads((FIXTURES / "vectors2.json").read_text())["aim_constants"]
    older = json.loads((FIXTURES / "vectors.json").read_text())["mst_aim"]
    tables = build(METHOD, (2, 2)).tables
    price = Concentrated(older["rho_eps1_delta1e9"])
    measure = Measure(tables.query((0,)), price * Fraction(9, 10) / known["T"])
    assert float(measure.mechanism.variance) ** 0.5 == pytest.approx(known["sigma0"], rel=1e-4)
    choice = tables.simulate_choice({(0,): 1, (1,): 1}, price / 10 / known["T"])
    assert float(choice.mechanism.event(choice.query.sensitivity()).epsilon) == pytest.approx(known["eps0"], rel=1e-4)
    assert float(Measure(tables.query((0,)), price / 3).mechanism.variance) ** 0.5 == pytest.approx(
        older["mst_sigma"], rel=1e-6
    )


@pytest.mark.parametrize(
    "price", [Pure(Fraction(1, 10**16)), Concentrated(Fraction(1, 10**32))], ids=["epsilon", "rho"]
)
def test_a_price_of_almost_nothing_makes_noise_beyond_all_counts_and_no_mistake(price):
    result, events = release(build(METHOD, SIZES, size=3), price, ROWS)
    assert covers(price, Composed(events))
    assert result.product.rows.shape == (3, 4)


SIZES_OF_POLISHING = (2, 3, 4)


def measured(variances):
    marginals = [
        NoisyMarginal(table, np.zeros([SIZES_OF_POLISHING[place] for place in table]), variance)
        for table, variance in variances.items()
    ]
    return NoisyTables(SIZES_OF_POLISHING, tuple(variances), tuple(marginals))


@pytest.mark.parametrize("amount", [Fraction(1, 10**6), Fraction(1, 100), Fraction(50)])
def test_parts_add_up_to_the_amount_and_never_to_more(amount):
    parts = divide_amount(measured({(0,): 9.0, (1,): 9.0, (2,): 9.0, (0, 1): 30.0}), amount)
    assert 0.999 * amount < sum(parts.values()) <= amount


def test_what_is_known_badly_gets_more_and_what_is_known_well_nothing():
    parts = divide_amount(measured({(0,): 1e-6, (1, 2): 1e4, (0, 1): 1e2}), Fraction(1, 1000))
    assert (0,) not in parts
    assert parts[1, 2] > parts.get((0, 1), 0)


def test_the_last_part_of_an_amount_helps_all_tables_equally():
    """At the least sum of errors, n s**3 / c is the same for all tables that are measured again."""
    noisy = measured({(0,): 1e9, (1,): 1e9, (2,): 1e9})
    parts = divide_amount(noisy, Fraction(1))
    deviations = {place: (2 * float(parts[(place,)])) ** -0.5 for place in range(3)}
    levels = [SIZES_OF_POLISHING[place] * deviation**3 for place, deviation in deviations.items()]
    assert levels == pytest.approx([levels[0]] * 3, rel=1e-3)
