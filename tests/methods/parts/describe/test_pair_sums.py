import numpy as np
import pytest

from adomnia.methods.contract import BadArgument
from adomnia.methods.parts.describe.pair_sums import CORRELATION, COVARIANCE, PairSums, pair_vector
from adomnia.privacy.events import Pure
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.describing import EPSILON, EXACT, RHO, build, covers_as_often, table_of

FRAME = frame({"x": (0, 100), "y": (-20, 20)})
PAIR = FRAME.numbers["x"], FRAME.numbers["y"]


def sums(data, price, degree, seed=0, population=True):
    query = Query(FRAME.relation, (), pair_vector(*PAIR, degree))
    measured = Arms(data, SeededBits(str(seed))).measure(Measure(query, price))
    return PairSums(*PAIR, degree, measured, population)


def draw(random, size, distribution="normal"):
    x, noise = random.normal(size=(2, size))
    y = 0.6 * x + 0.8 * noise
    if distribution == "clusters":
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
@pytest.mark.parametrize("distribution", ["normal", "clusters"])
def test_intervals_hold_for_the_population(distribution, price):
    draws, size, random = 40, 2000, np.random.default_rng(2)
    truth = draw(np.random.default_rng(0), 10**6, distribution)
    exact = np.cov(truth["x"], truth["y"])[0, 1], np.corrcoef(truth["x"], truth["y"])[0, 1]
    hits, blind, widths = np.zeros(2), 0, []
    for seed in range(draws):
        data = draw(random, size, distribution)
        found = sums(data, price, COVARIANCE, seed).covariance(), sums(data, price, CORRELATION, seed).correlation()
        ends = [np.ravel(each.interval(0.95, 1)) for each in found]
        hits += [low <= value <= high for (low, high), value in zip(ends, exact, strict=True)]
        widths.append(ends[1][1] - ends[1][0])
        centre = np.arctanh(np.clip(found[1].values[0], -0.999, 0.999))
        low, high = np.tanh(centre - 1.96 / size**0.5), np.tanh(centre + 1.96 / size**0.5)
        blind += low <= exact[1] <= high
    assert all(covers_as_often(each, draws, 0.94) for each in hits)
    assert np.median(widths) < (0.2 if price == EPSILON else 0.8)
    if distribution == "normal":  # Fisher's interval knows nothing of the noise
        assert not covers_as_often(blind, draws, 0.94)


def test_sampling_of_a_correlation_is_allowed_for_where_noise_hides_fourth_moments():
    """Of 200 people noise left less than nothing of it in one answer of ten, and 4 intervals of 5 held."""
    random, ends = np.random.default_rng(8), []
    for seed in range(300):
        found = sums(draw(random, 200), Pure(6), CORRELATION, seed).correlation()
        ends.append(np.ravel(found.interval(0.95, 1)))
    assert covers_as_often(sum(low <= 0.6 <= high for low, high in ends), 300, 0.94)
    widths = np.diff(ends).ravel()
    sampled = 2 * 1.96 * (1 - 0.6**2) / np.sqrt(200)
    assert widths.min() > sampled
    assert np.median(widths) < 1.8 * sampled


MONEY = frame({"x": (0, 10**6), "y": (0, 10**6)})


def earn(random, size):
    """Skewed numbers far below their bounds."""
    x, one, two = random.normal(size=(3, size))
    return {"x": np.exp(9 + 0.5 * x + 0.3 * one), "y": np.exp(9 + 0.5 * x + 0.4 * two)}


@pytest.mark.parametrize("epsilon", [100, 10_000])
@pytest.mark.parametrize("rows", ["even", "money", "whole"])
def test_intervals_about_the_data_hold_where_there_is_hardly_any_noise(rows, epsilon):
    """The numbers of NumPy and R, to within rounding: with that of a grid of 256 places, the first two never held."""
    random, asked = np.random.default_rng(3), {"even": FRAME, "money": MONEY, "whole": None}[rows]
    data = earn(random, 20_000) if rows == "money" else draw(random, 20_000)
    if asked is None:
        asked, data = frame({"x": (0, 100), "y": (-20, 20)}, whole=("x", "y")), {k: np.round(data[k]) for k in data}
    exact = {"correlations": np.corrcoef(data["x"], data["y"]).round(14), "covariances": np.cov(data["x"], data["y"])}
    for name, truth in exact.items():
        statistic, hits, widths = build(name, asked, inference="data"), np.zeros((2, 2)), []
        for seed in range(20):
            lower, upper = table_of(statistic, Pure(epsilon), data, seed).estimates["estimate"].interval(0.95, 1)
            hits += ((lower <= truth.ravel()) & (truth.ravel() <= upper)).reshape(2, 2)
            widths.append(((upper - lower) / np.abs(truth.ravel())).max())
        assert hits.min() >= 20 - 9  # of 20 that hold with probability 0.94, 10 fail in 7 of 10**8 runs (binomial)
        assert np.median(widths) < (0.6 if rows == "money" else 0.002)


def test_what_rounding_adds_to_the_variances_is_taken_off_a_correlation():
    """Of a grid of 256 places a deviation is less than two: without that the correlation is 3% too low."""
    truth = np.exp(0.25) - 1, np.exp(0.34) - 1, np.exp(0.41) - 1
    correlation = truth[0] / np.sqrt(truth[1] * truth[2])
    found = table_of(build("correlations", MONEY), Pure(10_000), earn(np.random.default_rng(4), 100_000))
    lower, upper = found.estimates["estimate"].interval(0.95, 1)
    assert found.estimates["estimate"].values[1] == pytest.approx(correlation, abs=0.008)
    assert lower[1] <= correlation <= upper[1]
    assert upper[1] - lower[1] < 0.08


@pytest.mark.parametrize("x", [np.zeros(0), np.full(2, 50.0), np.full(3000, 50.0)], ids=["none", "two", "constant"])
def test_a_correlation_that_is_lost_in_noise_may_be_anything(x):
    for seed in range(3):
        found = sums({"x": x, "y": np.zeros(len(x))}, EPSILON, CORRELATION, seed).correlation()
        (low,), (high,) = found.interval(0.95, 1)
        assert -1 <= low <= found.values[0] <= high <= 1
        assert high - low > 1


FRAME_OF_MATRICES = frame({"x": (0, 10), "y": (0, 10), "z": (-5, 5)})
RANDOM = np.random.default_rng(1)
BASE = RANDOM.normal(size=(3, 8000))
DATA = {
    "x": np.clip(5 + 1.5 * BASE[0], 0, 10),
    "y": np.clip(5 + BASE[0] - BASE[1], 0, 10),
    "z": np.append(np.clip(BASE[2], -5, 5)[:-50], [np.nan] * 50),
}
COMPLETE = np.array([DATA[name][:-50] for name in "xyz"])


@pytest.mark.parametrize(("name", "plain"), [("covariances", np.cov), ("correlations", np.corrcoef)])
def test_the_matrix_is_whole_symmetric_and_that_of_complete_rows(name, plain):
    table = table_of(build(name, FRAME_OF_MATRICES), EXACT, DATA)
    assert table.labels["column"] == ("x",) * 3 + ("y",) * 3 + ("z",) * 3
    assert table.labels["other"] == ("x", "y", "z") * 3
    found = table.estimates["estimate"].values.reshape(3, 3)
    assert found == pytest.approx(found.T)
    assert found == pytest.approx(plain(COMPLETE), abs=0.05)
    if name == "correlations":
        assert np.diag(found).tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", ["covariances", "correlations"])
def test_parts_of_the_price_add_up_to_it(name):
    assert sum(part for _, part in build(name, FRAME_OF_MATRICES).shares) == 1
    assert sum(each.price.epsilon for each in build(name, FRAME_OF_MATRICES).planned_measures(EPSILON)) == 1


def test_one_column_makes_no_matrix():
    with pytest.raises(BadArgument, match="columns"):
        build("correlations", FRAME_OF_MATRICES, columns=(FRAME_OF_MATRICES.numbers["x"],))
