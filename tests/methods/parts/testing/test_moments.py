from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.parts.testing.moments import GroupMoments, Scale, SimulatedPeople, moment_query, read_moments
from adomnia.privacy.events import Concentrated, Pure
from adomnia.statistics.contract import Measure
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.trials import NO_NOISE

ROWS = frame({"x": (-5, 15)}, {"g": ("A", "B")})
X = ROWS.numbers["x"]
RANDOM = np.random.default_rng(2)


def measure(price, values):
    query = moment_query(ROWS.relation, (ROWS.factors["g"].key,), X)
    groups = np.array(["A", "B"] * (len(values) // 2), dtype=object)
    return query, Arms({"x": values, "g": groups}, SeededBits("moments")).measure(Measure(query, price))


def test_rows_means_and_variances_follow_from_the_three_sums():
    values = np.clip(RANDOM.normal(4, 3, 400), -5, 15)
    query, measured = measure(NO_NOISE, values)
    found, scale = read_moments(query, measured), Scale.of(X)
    assert found.rows == pytest.approx([200, 200], abs=0.5)
    assert scale.to_values(found.means) == pytest.approx([values[::2].mean(), values[1::2].mean()], abs=0.01)
    exact = [values[::2].var(ddof=1), values[1::2].var(ddof=1)]
    assert found.variances * scale.half**2 == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(("price", "l1"), [(Pure(1), True), (Concentrated(Fraction(1, 2)), False)])
def test_a_row_moves_all_sums_by_as_much_as_one_count(price, l1):
    query, _ = measure(price, np.zeros(2))
    whole = X.domain.width**2
    sensitivity = query.sensitivity()
    assert (sensitivity.l1 if l1 else sensitivity.l2_squared) == (whole if l1 else whole**2)


@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 40))])
def test_simulated_people_are_measured_as_real_ones(price):
    """Means and deviations of 300 draws of both, within 5 standard errors: a false alarm in 1e-5 of 12 numbers."""
    scale, draws = Scale.of(X), 300
    real = []
    for _ in range(draws):
        query, measured = measure_fresh(price)
        real.append(read_moments(query, measured).sums)
    people = SimulatedPeople(np.array([50.0, 50.0]), np.full(2, scale.to_z(4.0)), np.full(2, (2.0 / scale.half) ** 2))
    drawn = people.measure(query, measured, np.random.default_rng(5), draws).sums
    exact = np.array(real)
    error = np.sqrt((exact.var(axis=0) + drawn.var(axis=0)) / draws)
    assert (np.abs(exact.mean(axis=0) - drawn.mean(axis=0)) <= 5 * error).all()
    kurtosis = 6  # at most, of Laplace noise
    assert exact.std(axis=0) / drawn.std(axis=0) == pytest.approx(1, abs=5 * np.sqrt(kurtosis / draws / 2))


BITS = SeededBits("fresh")


def measure_fresh(price):
    query = moment_query(ROWS.relation, (ROWS.factors["g"].key,), X)
    groups = np.array(["A", "B"] * 50, dtype=object)
    data = {"x": RANDOM.normal(4, 2, 100), "g": groups}
    return query, Arms(data, BITS).measure(Measure(query, price))


@pytest.mark.parametrize(
    "sums", [(0.0, 0.0, 0.0), (-40.0, 12.0, -3.0), (0.2, 30.0, 1.0), (1.0, 1.0, 1.0), (2.0, 0.0, 90.0)]
)
def test_whatever_the_sums_everything_is_finite(sums):
    found = GroupMoments(np.array(sums), 20.0)
    lower, upper = found.mean_intervals(2.0)
    numbers = [found.rows, found.means, found.variances, found.errors, found.studentize(0.3), lower, upper]
    assert np.isfinite(numbers).all()
    assert found.rows >= 1
    assert found.variances >= 0
    assert -1 <= lower <= upper <= 1


def test_where_the_number_of_rows_is_lost_in_noise_any_mean_is_possible():
    assert GroupMoments(np.array([3.0, 1.0, 2.0]), 20.0).mean_intervals(2.0) == (-1, 1)
