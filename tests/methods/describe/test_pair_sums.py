import numpy as np
import pytest

from adomnia.methods.describe.pair_sums import CORRELATION, COVARIANCE, PairSums, pair_vector
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.describing import EPSILON, EXACT, RHO, covers_as_often

FRAME = frame({"x": (0, 100), "y": (-20, 20)})
PAIR = FRAME.numbers["x"], FRAME.numbers["y"]


def sums(data, price, degree, seed=0, population=True):
    query = Query(FRAME.relation, (), pair_vector(*PAIR, degree))
    measured = Arms(data, SeededBits(str(seed))).measure(Measure(query, price))
    return PairSums(*PAIR, degree, measured, population)


def draw(random, size, law="normal"):
    x, noise = random.normal(size=(2, size))
    y = 0.6 * x + 0.8 * noise
    if law == "clusters":
        side = np.where(random.random(size) < 0.6, -1, 1)
        return {"x": np.clip(50 + 25 * side + 4 * x, 0, 100), "y": np.clip(6 * side + 3 * y, -20, 20)}
    return {"x": np.clip(45 + 15 * x, 0, 100), "y": np.clip(5 * y, -20, 20)}


def test_with_little_noise_they_are_numpys():
    data = draw(np.random.default_rng(1), 20_000)
    found = sums(data, EXACT, COVARIANCE).covariance().values[0]
    assert found == pytest.approx(np.cov(data["x"], data["y"])[0, 1], rel=5e-3)
    found = sums(data, EXACT, CORRELATION).correlation().values[0]
    assert found == pytest.approx(np.corrcoef(data["x"], data["y"])[0, 1], abs=5e-3)


@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("law", ["normal", "clusters"])
def test_intervals_hold_for_the_population(law, price):
    draws, size, random = 40, 2000, np.random.default_rng(2)
    truth = draw(np.random.default_rng(0), 10**6, law)
    exact = np.cov(truth["x"], truth["y"])[0, 1], np.corrcoef(truth["x"], truth["y"])[0, 1]
    hits, blind, widths = np.zeros(2), 0, []
    for seed in range(draws):
        data = draw(random, size, law)
        found = sums(data, price, COVARIANCE, seed).covariance(), sums(data, price, CORRELATION, seed).correlation()
        ends = [np.ravel(each.interval(0.95, 1)) for each in found]
        hits += [low <= value <= high for (low, high), value in zip(ends, exact, strict=True)]
        widths.append(ends[1][1] - ends[1][0])
        centre = np.arctanh(np.clip(found[1].values[0], -0.999, 0.999))
        low, high = np.tanh(centre - 1.96 / size**0.5), np.tanh(centre + 1.96 / size**0.5)
        blind += low <= exact[1] <= high
    assert all(covers_as_often(each, draws, 0.94) for each in hits)
    assert np.median(widths) < (0.2 if price == EPSILON else 0.8)
    if law == "normal":  # Fisher's interval knows nothing of the noise
        assert not covers_as_often(blind, draws, 0.94)


@pytest.mark.parametrize("x", [np.zeros(0), np.full(2, 50.0), np.full(3000, 50.0)], ids=["none", "two", "constant"])
def test_a_correlation_that_is_lost_in_noise_may_be_anything(x):
    for seed in range(3):
        found = sums({"x": x, "y": np.zeros(len(x))}, EPSILON, CORRELATION, seed).correlation()
        (low,), (high,) = found.interval(0.95, 1)
        assert -1 <= low <= found.values[0] <= high <= 1
        assert high - low > 1
