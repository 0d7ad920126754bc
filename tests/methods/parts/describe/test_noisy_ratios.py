import json
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

import adomnia
from adomnia.methods.parts.describe.noisy_ratios import NoisyCounts, NoisyRatio, describe_inference, read_inference
from kit.analyses import frame
from kit.describing import covers_as_often

FIELLER = json.loads(Path("tests/fixtures/vectors2.json").read_text(encoding="utf-8"))["fieller_vector"]
ZERO = np.zeros(1)
NONE = (1e-12, 0.0)


def ratio(top, bottom, variances, limits=(-np.inf, np.inf)):
    square = (np.array([variances[0]]), ZERO, np.array([variances[1]]))
    return NoisyRatio(np.array([top]), np.array([bottom]), square, ZERO, limits)


def test_the_interval_is_fiellers():
    found = ratio(FIELLER["S"], FIELLER["N"], (FIELLER["sdS"] ** 2, FIELLER["sdN"] ** 2)).bounds(0.95, 1)
    assert np.concatenate(found) == pytest.approx(FIELLER["fieller"], abs=2e-4)
    assert np.concatenate(found) != pytest.approx(FIELLER["delta"], abs=0.05)


@pytest.mark.parametrize("bottom", [-40.0, 0.0, 15.0])
def test_where_the_divisor_may_be_zero_the_limits_are_the_interval(bottom):
    found = ratio(7.0, bottom, (900.0, 100.0), (0.0, 10.0))
    assert np.concatenate(found.bounds(0.95, 1)).tolist() == [0.0, 10.0]
    assert 0 <= found.values[0] <= 10


def test_more_cells_at_once_are_wider_and_units_change_all_ends():
    found = ratio(50.0, 100.0, (25.0, 4.0), (0.0, 1.0)).estimate("x", scale=10.0, offset=5.0, rounding=0.25)
    assert found.values[0] == pytest.approx(10.0)
    (one,), (other,) = found.interval(0.95, 1)
    (first,), (last,) = found.interval(0.95, 100)
    assert first < one < 10 < other < last
    assert one == pytest.approx(5 + 10 * ratio(50.0, 100.0, (25.0, 4.0)).bounds(0.95, 1)[0][0] - 0.25)


def test_population_is_refused_where_a_person_has_several_rows_and_the_data_is_not():
    several = frame({"x": (0, 1)}, rows_per_person=3)
    with pytest.raises(adomnia.Refusal) as refused:
        read_inference(several, {"inference": "population"}, "summary")
    assert refused.value.code == "rows_per_person"
    assert "inference => 'data'" in refused.value.fix
    assert read_inference(several, {"inference": "data"}, "summary") is False
    assert read_inference(frame({"x": (0, 1)}), {"inference": "population"}, "summary") is True


def test_each_is_said_in_words():
    assert "sample" in describe_inference(population=True)
    assert "data" in describe_inference(population=False)


def test_without_noise_the_interval_of_a_share_is_wilsons():
    part, whole = NoisyCounts(np.array([37.0]), np.ones(1), NONE), NoisyCounts(np.array([120.0]), np.array([3.0]), NONE)
    found = part.share_of(whole, population=True).bounds(0.95, 1)
    assert np.concatenate(found) == pytest.approx(proportion_confint(37, 120, method="wilson"), abs=1e-6)
    found = part.share_of(whole, population=False).bounds(0.95, 1)
    assert np.concatenate(found) == pytest.approx([37 / 120] * 2, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5])
def test_shares_of_noisy_counts_hold_for_the_population(share):
    random, draws, rows, cells, scale = np.random.default_rng(1), 4000, 400, 5, 6.0
    distribution = (2 * scale**2, 12 * scale**4)
    counts = random.multinomial(rows, [share, *[(1 - share) / 4] * 4], draws) + random.laplace(0, scale, (draws, cells))
    part = NoisyCounts(counts[:, 0], np.ones(draws), distribution)
    whole = NoisyCounts(counts.sum(axis=1), np.full(draws, float(cells)), distribution)
    lower, upper = part.share_of(whole, population=True).bounds(0.95, 1)
    assert covers_as_often(int(((lower <= share) & (share <= upper)).sum()), draws, 0.945)
    assert np.mean(upper - lower) < 0.16
    blind = NoisyCounts(counts[:, 0], np.ones(draws), NONE).share_of(
        NoisyCounts(counts.sum(axis=1), np.full(draws, float(cells)), NONE), population=True
    )
    lower, upper = blind.bounds(0.95, 1)
    assert not covers_as_often(int(((lower <= share) & (share <= upper)).sum()), draws, 0.945)


def test_counts_are_whole_and_never_below_zero():
    found = NoisyCounts(np.array([-7.3, 4.6]), np.array([1.0, 2.0]), (8.0, 192.0)).estimate()
    lower, upper = found.interval(0.95, 1)
    assert found.values.tolist() == [0, 5]
    assert lower.tolist()[0] == 0
    assert all(float(each).is_integer() for each in (*lower, *upper))
    assert (lower <= found.values).all()
    assert (found.values <= upper).all()
