"""A report of quality says what follows from the numbers of a release, and nothing that does not."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

from adomnia.figures.spec import build_spec
from adomnia.releases.quality import count_published
from adomnia.statistics.products import Attribute
from kit.asked_releases import NoisyTable, make_release

A, B, C = Attribute("a", ("x", "y")), Attribute("b", ("u", "v", None)), Attribute("c", ("0 to 4", "5 to 9"), "integer")
BINNED = Attribute("age", ("0 to 4", "5 to 9"), "integer", (-0.5, 4.5, 9.5))
COUNTS = np.array([[[30, 20], [40, 10], [0, 0]], [[50, 30], [10, 9], [1, 0]]], dtype=float)  # 200 rows
TOGETHER = (frozenset({0, 1}), frozenset({2}))


def rows_of(counts):
    return np.repeat(np.argwhere(counts >= 0), counts.astype(int).ravel(), axis=0)


def assess(counts=COUNTS, rows=None, variance=4.0, attributes=(A, B, C), **fields):
    estimates = NoisyTable(counts, variance, TOGETHER)
    return make_release(estimates, attributes, rows=rows, **fields).quality()


def table(quality, *columns):
    return next(each for each in quality.tables if each.columns == columns)


def test_rows_that_are_as_measured_are_off_by_the_noise_alone():
    quality = assess(rows=rows_of(COUNTS))
    assert [each.distance for each in quality.tables if each.measured] == [0, 0, 0, 0]
    # Each of 6 cells of a x b is a sum of 2 noises of variance 4.
    assert table(quality, "a", "b").noise == pytest.approx(6 * sqrt(8) * sqrt(2 / pi) / (2 * 200))
    assert quality.rows == pytest.approx(200)


def test_laplace_noise_has_a_smaller_mean_error():
    gaussian, laplace = (table(assess(tails=tails), "a").noise for tails in ("gaussian", "laplace"))
    assert laplace / gaussian == pytest.approx(sqrt(1 / 2) / sqrt(2 / pi))


def test_rows_elsewhere_are_as_far_off_as_they_are_and_their_number_does_not_matter():
    moved = COUNTS.copy()
    moved[0, 0, 0] -= 20
    moved[1, 0, 0] += 20
    quality = assess(rows=np.tile(rows_of(moved), (3, 1)))
    assert table(quality, "a").distance == pytest.approx(0.1)
    assert table(quality, "b").distance == pytest.approx(0)


def test_whole_tables_are_compared_where_there_are_no_rows():
    tables = {(0,): np.array([110, 90]), (1,): COUNTS.sum(axis=(0, 2)).astype(int)}
    quality = assess(tables=tables)
    assert table(quality, "a").distance == pytest.approx(0.05)
    assert table(quality, "b").distance == pytest.approx(0)
    assert table(quality, "c").distance is None


def test_columns_that_were_not_measured_together_are_named_as_guesses_where_there_are_rows():
    with_rows, without = assess(rows=rows_of(COUNTS)), assess()
    assert [each.columns for each in with_rows.tables if not each.measured] == [("a", "c"), ("b", "c")]
    (says,) = [each for each in with_rows.limits if "a guess of the model" in each]
    assert says.endswith("a x c, b x c.")
    assert any("is not published: a x c, b x c" in each for each in without.limits)
    assert any("Three and more columns" in each for each in without.limits)


def test_rare_values_are_those_whose_error_is_above_half_their_count():
    # b is missing in 1 row; its noise has the deviation 4, so that its mean error is 3.2.
    quality = assess(rows=rows_of(COUNTS))
    assert any(each == "Rare values: b missing." for each in quality.limits)
    assert table(quality, "b").rough == 1
    assert not any("Rare values" in each for each in assess(1000 * COUNTS + 10**5).limits)


def test_bins_and_rows_that_noise_does_not_explain_are_said():
    far = rows_of(np.flip(COUNTS, axis=0))
    limits = assess(1e4 * COUNTS, rows=far, attributes=(A, B, BINNED)).limits
    assert any("a value of age lies" in each for each in limits)
    assert any(each.startswith("Tables that are further") and "a x b (" in each for each in limits)
    assert not any("bins" in each for each in assess().limits)


def test_a_release_without_measurements_has_no_numbers_and_says_so():
    quality = make_release(None, (A, B, C), rows=rows_of(COUNTS)).quality()
    assert quality.rows is None
    assert not any(each.measured or each.noise or each.distance for each in quality.tables)


@pytest.mark.parametrize("total", [0.0, -50.0])
def test_nothing_is_divided_by_a_total_that_noise_made_nothing_of(total):
    quality = assess(COUNTS * 0 + total / COUNTS.size, rows=rows_of(COUNTS))
    assert table(quality, "a").distance is None
    assert "rows of data" in repr(quality)


def test_counts_of_rows_are_those_of_their_cells():
    product = make_release(None, (A, B, C), rows=rows_of(COUNTS)).product
    np.testing.assert_array_equal(count_published(product, (1, 2)), COUNTS.sum(axis=0))
    assert count_published(make_release(None, (A, B, C)).product, (0,)) is None


def test_a_report_prints_as_text_as_html_and_as_records():
    quality = assess(rows=rows_of(COUNTS))
    assert "a x b" in repr(quality) and "Not good for\n- Small counts" in repr(quality)  # noqa: PT018 - one text
    assert "<td" in quality._repr_html_()
    assert quality.to_pandas()["measured"].tolist() == [True, True, True, True, False, False]


def test_the_picture_has_a_cell_for_each_pair_and_no_number_where_nothing_was_measured():
    spec = build_spec(assess(rows=rows_of(COUNTS)).as_drawable())
    values = {(each["axis"], each["across"]): each["v0"] for each in spec["data"]["values"]}
    assert len(values) == 9
    assert values["a", "b"] == values["b", "a"] > values["a", "a"]
    assert values["a", "c"] is None
