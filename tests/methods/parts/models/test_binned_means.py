"""Means of bins: what is measured adds up to one in every row, and smoothed means know all their noise."""

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.methods.column_bins import split_finely
from adomnia.methods.parts.models.binned_means import (
    BinnedMeans,
    ask_means,
    check_columns,
    choose_points,
    describe_about,
    response_vector,
)
from adomnia.privacy.events import Pure
from adomnia.statistics.contract import Measure, Measured
from kit.analyses import frame

FRAME = frame({"x": (0, 10), "y": (0, 4)}, whole=("y",))
Y = FRAME.numbers["y"]
WHOLE = 4**2


def made_up(counts, means, squares=None, population=True):
    """Bins of such numbers of rows with such means, without noise; their responses are all 0 or 4."""
    counts, means = np.asarray(counts, dtype=float), np.asarray(means, dtype=float) / 4
    sums = np.stack([counts * (1 - means), 0 * counts, counts * means], axis=-1) * WHOLE
    mechanism = Measure(ask_means(FRAME.relation, (), Y), Pure(1)).mechanism
    return BinnedMeans(Y, Measured(np.rint(sums).astype(np.int64), mechanism), population)


def test_one_person_moves_all_sums_together_by_one():
    assert response_vector(Y).row.l1 == WHOLE


def test_smoothed_means_are_weighted_by_rows():
    found = made_up([100, 300], [1, 3]).smooth(np.array([[1.0, 1.0], [1.0, 0.0]])).estimate()
    assert found.values == pytest.approx([2.5, 1.0])


def test_their_intervals_hold_noise_and_sampling():
    weights = np.eye(1)
    (about_people, about_data) = (
        made_up([400], [2], population=each).smooth(weights).bounds(0.95, 1) for each in (True, False)
    )
    plain = 1.96 * 0.5 / np.sqrt(400)
    noise = 1.96 * np.sqrt(2 * 0.5) / 400  # of sum - share * count at a half: two entries of variance 2, a quarter each
    assert (about_people[1] - about_people[0])[0] / 2 == pytest.approx(np.hypot(plain, noise), rel=0.03)
    assert (about_data[1] - about_data[0])[0] / 2 == pytest.approx(noise, rel=0.1)


def test_bins_without_rows_have_no_reply():
    smoothed = made_up([1000, 0, -2], [2, 0, 0]).smooth(np.eye(3))
    found = smoothed.estimate()
    assert np.isnan(found.values).tolist() == [False, True, True]
    assert np.isinf(found.interval(0.95, 1)[1]).tolist() == [False, True, True]
    assert "gap in x" in smoothed.notes("x")[0]


FRAME_OF_CURVE_POINTS = frame({"x": (-2, 8), "age": (0, 5)}, whole=("age",))


def test_points_go_from_bound_to_bound():
    assert list(map(float, choose_points(split_finely(FRAME_OF_CURVE_POINTS.numbers["x"], 128), 5))) == [
        -2,
        0.5,
        3,
        5.5,
        8,
    ]


def test_few_whole_numbers_are_points_themselves():
    assert choose_points(split_finely(FRAME_OF_CURVE_POINTS.numbers["age"], 128), 25) == tuple(range(6))


def test_a_column_is_not_explained_by_itself():
    with pytest.raises(Refusal, match="by itself"):
        check_columns({"y": FRAME_OF_CURVE_POINTS.numbers["x"], "x": FRAME_OF_CURVE_POINTS.numbers["x"]})


def test_what_intervals_are_about_is_said():
    assert "population" in describe_about("curves", population=True)
    assert "in the data" in describe_about("curves", population=False)
