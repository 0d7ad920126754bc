"""The net mechanism: scores and distribution by their definition, and rows of the database that was chosen."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, exp

import numpy as np
import pytest

from adomnia.mechanisms import Exponential
from adomnia.methods.contract import BadArgument
from adomnia.methods.releases.small_database import METHOD, count_databases, list_databases
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers
from kit.placed_rows import PlacedRows, build, draw_people, find_distance, release

SIZES = (2, 3)
ROWS = draw_people(400, SIZES, 5)
PRICES = [Pure(Fraction(1, 2)), Concentrated(Fraction(1, 20))]
both_prices = pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])


def score(analysis, rows, total):
    """The exact scores of all databases, and the query that they are of."""
    databases = list_databases(int(np.prod(analysis.tables.sizes)), analysis.small)
    asked = analysis._ask_choice(Pure(1), databases, total)
    return PlacedRows(analysis, rows, None).exact(asked.query), asked


def test_all_databases_are_listed_once():
    for cells, rows in ((3, 2), (6, 4), (1, 5), (4, 1)):
        found = list_databases(cells, rows)
        assert len(found) == count_databases(cells, rows) == comb(cells + rows - 1, rows)
        assert set(map(tuple, found.tolist())) == set(combinations_with_replacement(range(cells), rows))


@pytest.mark.parametrize(("sizes", "ways", "small"), [((2, 3), 2, 3), ((2, 3), 1, 4), ((2, 2, 2), 2, 3)])
def test_scores_are_those_of_their_definition(sizes, ways, small):
    """-max |m c - N y| over all cells of all tables, where y are the counts of the small database."""
    rows = draw_people(60, sizes, 2)
    analysis = build(METHOD, sizes, ways=ways, small=small)
    found, _ = score(analysis, rows, 57)
    held = np.zeros(sizes, dtype=np.int64)
    np.add.at(held, tuple(rows.T), 1)
    for each, cells in zip(found.tolist(), list_databases(held.size, small), strict=True):
        own = np.bincount(cells, minlength=held.size).reshape(sizes)
        apart = [
            np.abs(small * held.sum(axis=others) - 57 * own.sum(axis=others)).max()
            for table in analysis.tables.asked
            for others in [tuple(axis for axis in range(len(sizes)) if axis not in table)]
        ]
        assert each == -max(apart)


def test_the_known_answer_holds_after_it_is_put_into_integers(vectors):
    """That of Dwork & Roth replaces rows: scores are shares, and move by 1 / n. Times m n they are ours, moving by m.

    Its second question is about two values at once, so counts of a column are compared with all but the last of them
    added up: the column is the running sum.
    """
    known = vectors["blr_smalldb"]
    total, small = sum(known["x"]), known["m"]
    asked = np.cumsum(known["x"])[:2]
    scores = [-int(np.abs(small * asked - total * np.cumsum(each["y"])[:2]).max()) for each in known["table"]]
    assert scores == [round(small * total * each["u"]) for each in known["table"]]
    rate = Fraction(known["eps"]) / (2 * small)  # 2 * Linf with Linf = m, as `Exponential.calibrated` has it
    probabilities = Exponential(rate).probabilities(np.array(scores))
    assert probabilities == pytest.approx([each["p"] for each in known["table"]], rel=1e-9)


def test_one_row_moves_scores_by_the_small_number_of_rows_and_no_further():
    analysis = build(METHOD, SIZES, small=3)
    before, asked = score(analysis, ROWS, 390)
    assert asked.query.sensitivity().linf == 3
    furthest = 0
    for row in ([0, 0], [1, 2], [0, 1]):
        after, _ = score(analysis, np.vstack([ROWS, [row]]), 390)
        furthest = max(furthest, int(np.abs(after - before).max()))
    assert furthest == 3
    distribution = asked.mechanism
    one, other = distribution.probabilities(before), distribution.probabilities(after)
    assert max((one / other).max(), (other / one).max()) <= exp(0.9) * (1 + 1e-9)


@both_prices
@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[:0]], ids=len)
def test_both_of_its_measures_stay_within_its_event(price, rows):
    analysis = build(METHOD, SIZES, small=3)
    result, events = release(analysis, price, rows)
    assert len(events) == 2
    assert covers(analysis.event(price), Composed(events))
    shown = [each.mechanism.event(each.query.sensitivity()) for each in analysis.planned_measures(price)]
    assert shown == events
    assert result.rows == len(result.product.rows) >= 1


def test_its_rows_are_those_of_the_small_database_repeated():
    analysis = build(METHOD, SIZES, small=5, size=1000)
    rows = release(analysis, Pure(10), ROWS)[0].product.rows
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    assert (counts % 200 == 0).all()
    # No database of 5 rows is nearer than 1/10 in a cell; the one that was chosen is near, and uniform rows are not.
    assert find_distance(ROWS, rows, SIZES, 2) < 0.25


@both_prices
def test_the_same_measurements_give_the_same_rows(price):
    analysis = build(METHOD, SIZES, small=2)
    first, again = (release(analysis, price, ROWS, 7)[0].product.rows for _ in range(2))
    assert np.array_equal(first, again)


def test_the_usual_number_of_rows_leaves_few_enough_to_choose_from():
    for sizes in ((2,), (2, 3), (2, 2, 3), (10, 20)):
        analysis = build(METHOD, sizes)
        assert analysis.candidates <= 20_000 or analysis.small == 1
    assert build(METHOD, (2, 2, 3)).small == 6


@pytest.mark.parametrize(
    ("sizes", "options", "reason"),
    [((3, 67), {}, "201 combinations of values"), ((2, 3), {"small": 40}, "1,221,759 databases")],
)
def test_domains_that_are_no_toys_are_refused(sizes, options, reason):
    with pytest.raises(BadArgument, match=reason):
        build(METHOD, sizes, **options)


def test_one_column_of_one_value_is_no_trouble():
    result, _ = release(build(METHOD, (1,), size=3), Pure(1), np.zeros((4, 1), dtype=np.int64))
    assert result.labels["c0"] == ("v0",) * 3
