from fractions import Fraction

import numpy as np
import pytest

import adomnia
from adomnia.methods.contract import BadArgument
from adomnia.methods.robust.smooth_quantile import NO_ERROR, NO_INTERVAL
from adomnia.privacy.events import Approximate, Composed, Concentrated, Pure
from kit.analyses import frame
from kit.describing import DISTRIBUTIONS, build, table_of

FRAME = frame({"x": (0, 100), "k": (0, 50)}, {"city": ("A", "B")}, whole=("k",))
COLUMN, WHOLE = FRAME.numbers["x"], FRAME.numbers["k"]
VALUES = DISTRIBUTIONS["lognormal"](np.random.default_rng(1), 20_000)
DELTA = Fraction(1, 10**6)


def value_of(asked, price, data, seed=0):
    (value,) = table_of(asked, price, data, seed).facts["value"]()
    return value


def smooth(noise="cauchy", column=COLUMN, **arguments):
    asked = build("smooth_quantile", FRAME, column=column, noise=noise, **arguments)
    return asked.with_delta(DELTA) if asked.needs_delta else asked


@pytest.mark.parametrize("noise", ["cauchy", "student", "laplace"])
def test_where_values_lie_close_it_is_the_quantile(noise):
    for prob in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        found = value_of(smooth(noise, prob=prob), Pure(5), {"x": VALUES})
        assert found == pytest.approx(np.quantile(VALUES, float(prob)), rel=0.02)


def test_of_whole_numbers_with_ties_it_is_the_very_one():
    counts = np.random.default_rng(2).poisson(20, 20_000).astype(float)
    found = {value_of(smooth(column=WHOLE), Pure(Fraction(1, 5)), {"k": counts}, seed) for seed in range(20)}
    assert found == {int(np.median(counts))}
    assert all(type(each) is int for each in found)


def test_missing_values_do_not_count():
    gaps = np.concatenate([VALUES, np.full(50_000, np.nan)])
    assert value_of(smooth(), Pure(5), {"x": gaps}) == pytest.approx(np.median(VALUES), rel=0.02)


def test_groups_have_their_own_at_no_further_price():
    city = np.array(["A", "B"] * 10_000, dtype=object)
    data = {"x": np.where(city == "A", VALUES / 2, VALUES), "city": city}
    asked = smooth(by=(FRAME.factors["city"],))
    table = table_of(asked, Pure(5), data)
    first, second = table.facts["value"]()
    assert first == pytest.approx(second / 2, rel=0.1)
    assert table.labels == {"city": ("A", "B"), "prob": (0.5, 0.5)}
    assert asked.event(Pure(5)) == Composed([Pure(5)])


@pytest.mark.parametrize("data", [np.zeros(0), np.array([np.nan] * 3), np.array([-5.0]), np.full(9, 1e9)], ids=str)
def test_any_data_gives_a_value_within_the_bounds(data):
    for noise in ("cauchy", "student", "laplace"):
        assert 0 <= value_of(smooth(noise), Pure(1), {"x": data}) <= 100


def test_it_says_why_there_is_no_interval():
    table = table_of(smooth(), Pure(1), {"x": VALUES})
    assert not table.estimates
    assert NO_INTERVAL in table.notes
    assert "quantiles" in NO_INTERVAL


def test_laplace_noise_takes_a_delta_and_the_others_none():
    assert smooth("laplace").event(Pure(1)) == Composed([Approximate(1, DELTA)])
    assert smooth("laplace").event(Concentrated(1)) == Composed([Concentrated(1, DELTA)])
    assert not smooth("student").needs_delta
    with pytest.raises(TypeError, match="must be named"):
        build("smooth_quantile", FRAME, column=COLUMN, noise="laplace").planned_measures(Pure(1))


def test_a_share_of_too_many_digits_is_refused():
    with pytest.raises(BadArgument, match="prob"):
        smooth(prob=Fraction(1, 3))


def test_a_question_tells_no_error_before_and_no_scale_after():
    rows = {"person": list(range(500)), "x": [float(k % 90) for k in range(500)]}
    with adomnia.protect(rows, unit="person", rows_per_person=1, bounds={"x": (0, 100)}, epsilon=10, delta=1e-6) as own:
        text = "SELECT * FROM smooth_quantile(data, column => x, noise => 'laplace')"
        with pytest.raises(adomnia.Refusal, match="none was named"):
            own.price(text, epsilon=1)
        quote = own.price(text, epsilon=1, delta=1e-9)
        assert NO_ERROR in quote.notes
        assert not quote.outputs
        assert "Laplace noise, of a scale that follows from the data and is not told" in repr(quote)
        answer = own.sql(text, epsilon=1, delta=1e-9)
        assert 0 <= answer["value"][0] <= 100
        assert answer.cost == Composed([Approximate(1, Fraction(1, 10**9))])
