"""Synthetic rows answer any question that public tables can be asked; what was measured tells how far off they are."""

import numpy as np
import pyarrow as pa
import pytest

from adomnia.errors import Refusal
from kit.asked_releases import ATTRIBUTES, NoisyTable, ask, made_up_counts, make_release

COUNTS = made_up_counts(4)
ROWS = np.repeat(np.indices(COUNTS.shape).reshape(4, -1).T, COUNTS.astype(int).ravel(), axis=0)
MEASURED = NoisyTable(COUNTS + 0.25, 4.0, (frozenset({0, 1}), frozenset({2})))
RELEASE = make_release(MEASURED, rows=ROWS)


def test_counts_are_those_of_the_rows_and_intervals_those_of_the_measurements():
    answer = ask("SELECT sex, COUNT(*) AS n FROM releases.people WHERE age >= 20 GROUP BY sex", RELEASE)
    exact = [int(COUNTS[place, 2:6].sum()) for place in (0, 1)]
    assert answer["n"] == exact
    noisy = ask("SELECT sex, COUNT(*) AS n FROM releases.people WHERE age >= 20 GROUP BY sex", MEASURED)
    assert np.allclose(answer.interval("n"), noisy.interval("n"))


def test_an_interval_is_widened_to_hold_a_count_of_rows_that_lies_beyond_it():
    far = make_release(NoisyTable(COUNTS + 10, 0.01), rows=ROWS)
    (value,), ((lower, upper),) = (
        (found := ask("SELECT COUNT(*) AS n FROM releases.people", far))["n"],
        found.interval("n"),
    )
    assert lower == value == len(ROWS)
    assert upper > value + 9 * COUNTS.size


def test_means_and_shares_of_rows_have_intervals_too():
    text = "SELECT AVG(kids) AS mean, COUNTIF(kids > 0) / COUNT(*) AS share FROM releases.people"
    answer = ask(text, RELEASE)
    kids = ROWS[ROWS[:, 2] < 3, 2]
    assert answer["mean"] == [pytest.approx(kids.mean())]
    assert answer["share"] == [pytest.approx((kids > 0).sum() / len(ROWS))]
    for name in ("mean", "share"):
        ((lower, upper),) = answer.interval(name)
        assert lower < answer[name][0] < upper


def test_columns_that_were_not_measured_together_are_read_from_the_rows_without_an_interval():
    answer = ask("SELECT COUNT(*) AS n FROM releases.people WHERE sex = 'f' AND kids = 2", RELEASE)
    assert answer["n"] == [int(COUNTS[0, :, 2].sum())]
    assert any("No interval is known" in note and "not measured together" in note for note in answer.notes)
    with pytest.raises(TypeError):
        answer.interval("n")


def test_rows_can_be_read_as_any_public_table():
    answer = ask("SELECT sex, kids, COUNT(*) AS n, MAX(age) AS last FROM releases.people GROUP BY sex, kids", RELEASE)
    assert sum(answer["n"]) == len(ROWS)
    assert len(answer) == 12  # a missing value is a group of its own here
    rows = ask("SELECT sex, smokes FROM releases.people LIMIT 3", RELEASE)
    assert len(rows) == 3
    with pytest.raises(Refusal):
        ask("SELECT COUNT(*) FROM releases.people JOIN cities ON TRUE", RELEASE)


def test_numbers_of_bins_are_as_they_were_published():
    ages = [None if place == 6 else 10 * place + 7 for place in ROWS[:, 1].tolist()]
    table = pa.table({"age": pa.array(ages, pa.int64())})
    release = make_release(MEASURED, rows=ROWS, table=table)
    answer = ask("SELECT MIN(age) AS least, COUNT(*) AS n FROM releases.people WHERE age > 15", release)
    assert answer["least"] == [17]
    assert answer["n"] == [sum(age is not None and age > 15 for age in ages)]


def test_rows_without_measurements_are_read_as_they_are():
    release = make_release(None, ATTRIBUTES, rows=ROWS)
    assert ask("SELECT COUNT(*) AS n FROM releases.people", release)["n"] == [len(ROWS)]
    with pytest.raises(Refusal, match="no measurements"):
        ask("SELECT COUNT(*) AS n FROM releases.people", make_release(None))
