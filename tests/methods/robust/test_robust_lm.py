from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.methods.contract import BadArgument
from adomnia.methods.robust.robust_lm import choose_blocks
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.keys import MOST_BLOCKS, Blocks
from adomnia.privacy.losses import covers, loss
from adomnia.privacy.relations import OwnValue, PerBlock
from adomnia.privacy.scans import OwnExtreme
from kit.analyses import frame
from kit.bits import SeededBits
from kit.describing import build, covers_as_often, table_of
from kit.in_blocks import BlockArms, spend_in_blocks

FRAME = frame({"x": (0, 100), "y": (0, 200)})
X, Y = FRAME.numbers["x"], FRAME.numbers["y"]
DELTA = Fraction(1, 10**6)
LINE = 40, 0.8


def method(**arguments):
    return build("robust_lm", FRAME, response=Y, predictor=X, **arguments).with_delta(DELTA)


def people(seed, count, outliers=0.0):
    random = np.random.default_rng(seed)
    x = random.uniform(0, 100, count)
    y = LINE[0] + LINE[1] * x + random.normal(0, 8, count)
    wrong = random.random(count) < outliers
    return {"x": x, "y": np.clip(np.where(wrong, np.where(x > 50, 0, 200), y), 0, 200)}


def ask(price, data, seed=0, **arguments):
    return spend_in_blocks(method(**arguments), price, data, seed)[0]


@pytest.mark.parametrize("price", [Pure(20), Concentrated(100)], ids=["epsilon", "rho"])
@pytest.mark.parametrize("blocks", [None, 1500])
def test_many_people_at_a_high_price_give_the_line(price, blocks):
    table = ask(price, people(1, 20_000), blocks=blocks)
    assert table.labels["term"] == ("(Intercept)", "x")
    assert table.estimates["estimate"].values == pytest.approx(LINE, rel=0.03)
    assert table.facts["replied"]() == [True, True]
    assert not any("no reply" in note for note in table.notes)


def test_outliers_move_it_far_less_than_least_squares():
    """One row of twenty is at the wrong end of the bounds, which turns least squares far from the line."""
    data = people(2, 20_000, outliers=0.05)
    _, robust = ask(Pure(20), data).estimates["estimate"].values
    plain = build("lm", FRAME, formula="y ~ x")
    _, squares = table_of(plain, Pure(20), data).estimates["estimate"].values
    assert abs(robust - LINE[1]) < 0.06
    assert abs(squares - LINE[1]) > 0.15


def test_its_interval_is_about_the_median_over_blocks():
    """Of 50 coefficients, of which too few hits are seen at a false-alarm rate of 1e-6."""
    hits = narrow = replies = 0
    asked = method(blocks=1000)
    rows = asked.lines.rows(asked.relation, 1000)
    for seed in range(25):
        data = people(seed, 5000)
        estimate = ask(Pure(10), data, seed, blocks=1000).estimates["estimate"]
        held = BlockArms(data, SeededBits("truth"), seed).rows(rows)
        truth = [np.nanquantile(held[name], 0.5, method="inverted_cdf") for name in ("intercept", "slope")]
        known, (low, high) = ~np.isnan(estimate.values), estimate.interval(0.95, 1)
        hits += int((known & (low <= truth) & (truth <= high)).sum())
        narrow += int((known & (np.abs(estimate.values - truth) <= (high - low) / 20)).sum())
        replies += int(known.sum())
    assert replies >= 25
    assert covers_as_often(hits, replies, 0.95)
    assert not covers_as_often(narrow, replies, 0.95)  # a tenth of the width would be found out


@pytest.mark.parametrize("count", [0, 1, 5, 60])
@pytest.mark.parametrize("blocks", [None, 20])
def test_tiny_data_has_no_reply_and_is_told_why(count, blocks):
    table = ask(Pure(1), people(3, count), blocks=blocks)
    estimate = table.estimates["estimate"]
    assert np.isnan(estimate.values).all()
    assert [each.tolist() for each in estimate.interval(0.95, 1)] == [[-np.inf] * 2, [np.inf] * 2]
    assert table.facts["replied"]() == [False, False]
    (told,) = (note for note in table.notes if "There is no reply, and it was charged" in note)
    assert "the median of (Intercept) and of x" in told


@pytest.mark.parametrize(
    "data",
    [
        {"x": np.full(4000, 50.0), "y": np.arange(4000.0) % 200},  # no block has a line
        {"x": np.arange(4000.0) % 100, "y": np.full(4000, 70.0)},  # all have the same
        {"x": np.arange(4000.0) % 2, "y": np.arange(4000.0) % 2 * 10},
        {"x": np.full(4000, np.nan), "y": np.full(4000, np.nan)},
        {"x": np.arange(4000.0) % 100, "y": np.random.default_rng(4).standard_cauchy(4000) * 1e6},
    ],
)
def test_it_says_something_within_its_bounds_of_any_data(data):
    estimate = ask(Pure(8), data).estimates["estimate"]
    low, high = estimate.interval(0.95, 1)
    for value, least, most, bound in zip(estimate.values, low, high, (1800, 16), strict=True):
        assert np.isnan(value) or -bound <= least <= value <= most <= bound


@pytest.mark.parametrize("price", [Pure(Fraction(7, 3)), Concentrated(Fraction(2, 7))], ids=["epsilon", "rho"])
@pytest.mark.parametrize("blocks", [None, 3000])
def test_price_and_delta_add_up_exactly_and_are_never_exceeded(price, blocks):
    asked = method(blocks=blocks)
    for seed, count in enumerate((0, 9000, 40_000)):
        _, events = spend_in_blocks(asked, price, people(seed, count), seed)  # it compares them after every round
        assert covers(asked.event(price), Composed(events))
    rehearsed = asked.rehearse(price)
    assert len(rehearsed) == 5  # a number, two scales and two medians
    spent = loss(Composed(each.mechanism.event(each.query.sensitivity()) for each in rehearsed))
    paid = loss(asked.event(price))
    assert spent.delta == paid.delta == DELTA
    assert (spent.epsilon == paid.epsilon) if isinstance(price, Pure) else (spent.rho == paid.rho)


def test_a_person_changes_two_rows_of_blocks_whatever_their_own_rows():
    for rows in (1, 7):
        given = frame({"x": (0, 100), "y": (0, 200)}, rows_per_person=rows)
        asked = build("robust_lm", given, response=Y, predictor=X).with_delta(DELTA)
        first, *others = asked.rehearse(Pure(1))
        assert first.query.sensitivity().l1 == 1
        assert [each.mechanism.rows for each in others] == [2] * 4


@pytest.mark.parametrize(("counted", "blocks"), [(1.0, 10), (4000.0, 1000), (1e9, MOST_BLOCKS)])
def test_the_number_of_blocks_follows_from_that_of_people(counted, blocks):
    assert choose_blocks(counted) == blocks


def test_slopes_beyond_their_bounds_are_clamped():
    table = ask(Pure(20), people(1, 20_000), slope_bounds=(Fraction(0), Fraction(1, 2)))
    low, high = table.estimates["estimate"].interval(0.95, 1)
    assert np.isnan(table.estimates["estimate"].values[1]) or (low[1] >= 0 and high[1] <= 0.5)


@pytest.mark.parametrize("bounds", [(1,), (2, 1), (1, 1), (1, 2, 3), (-(10**200), 1), (1, 1 + Fraction(1, 2**60))])
def test_bounds_that_are_none_are_refused(bounds):
    with pytest.raises(BadArgument, match="slope_bounds"):
        method(slope_bounds=tuple(map(Fraction, bounds)))


@pytest.mark.parametrize("name", ["response", "predictor"])
@pytest.mark.parametrize("bounds", [(3, 3), (10**20, 10**20 + 5), (-(10**20) - 5, -(10**20))])
def test_a_column_whose_bounds_leave_no_room_is_refused(name, bounds):
    still = frame({"z": bounds}, whole=("z",)).numbers["z"]
    with pytest.raises(BadArgument, match=name):
        build("robust_lm", FRAME, **({"response": Y, "predictor": X} | {name: still}))


def test_rows_that_are_of_blocks_already_are_refused():
    outputs = tuple(OwnValue(each.name, OwnExtreme(each.value, greatest=True)) for each in (X, Y))
    blocks = replace(FRAME, relation=PerBlock(FRAME.relation, Blocks(30), outputs))
    with pytest.raises(Refusal, match="of blocks already"):
        build("robust_lm", blocks, response=Y, predictor=X)
