from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.curator.executor import Statements
from adomnia.errors import Refusal
from adomnia.methods.contract import BadArgument
from adomnia.methods.robust.robust_lm import BlockLines, choose_blocks
from adomnia.pricing.payment import with_delta
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.keys import MOST_BLOCKS, Blocks
from adomnia.privacy.losses import covers, loss
from adomnia.privacy.relations import OwnValue, PerBlock
from adomnia.privacy.scans import OwnExtreme
from adomnia.sql.lower import lower
from kit.analyses import frame
from kit.bits import SeededBits
from kit.describing import build, covers_as_often, table_of
from kit.hospital import declare, load, person
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
    rehearsed = asked.planned_measures(price)
    assert len(rehearsed) == 5  # a number, two scales and two medians
    spent = loss(Composed(each.mechanism.event(each.query.sensitivity()) for each in rehearsed))
    paid = loss(asked.event(price))
    assert spent.delta == paid.delta == DELTA
    assert (spent.epsilon == paid.epsilon) if isinstance(price, Pure) else (spent.rho == paid.rho)


def test_a_person_changes_two_rows_of_blocks_whatever_their_own_rows():
    for rows in (1, 7):
        given = frame({"x": (0, 100), "y": (0, 200)}, rows_per_person=rows)
        asked = build("robust_lm", given, response=Y, predictor=X).with_delta(DELTA)
        first, *others = asked.planned_measures(Pure(1))
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


FRAME_OF_BLOCK_LINES = frame({"x": (10, 60), "y": (-100, 300)})
LINES = BlockLines(FRAME_OF_BLOCK_LINES.numbers["y"], FRAME_OF_BLOCK_LINES.numbers["x"], Numbers.bounded(-64, 64))


def lines_of(x, y, blocks, seed=0):
    """The slopes and intercepts of all blocks, and who is in which."""
    relation = LINES.rows(FRAME_OF_BLOCK_LINES.relation, blocks)
    rows = BlockArms({"x": x, "y": y}, SeededBits("lines"), seed).rows(relation)
    return rows["slope"], rows["intercept"], np.random.default_rng(seed).integers(0, blocks, len(x))


def test_each_block_has_its_own_line_of_least_squares_within_the_bounds():
    random = np.random.default_rng(1)
    x = random.normal(35, 20, 600)  # some are beyond the bounds
    y = 20 + 3 * x + random.normal(0, 60, 600)
    slopes, intercepts, place = lines_of(x, y, 40)
    x, y = np.clip(x, 10, 60), np.clip(y, -100, 300)
    for block, (slope, intercept) in enumerate(zip(slopes, intercepts, strict=True)):
        own = place == block
        assert (slope, intercept) == pytest.approx(np.polyfit(x[own], y[own], 1))


def test_no_line_that_meets_the_bounds_is_clamped():
    domain = LINES.intercepts
    for slope in (-64, 0, 64):
        for x in (10, 60):
            for y in (-100, 300):
                assert domain.lower <= y - slope * x <= domain.upper
    assert (domain.lower, domain.upper) == (-100 - 64 * 60, 300 + 64 * 60)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("lines") / "hospital")


def read(catalog, people, blocks):
    """How many blocks have which intercept, and which slope, as the engine finds them."""
    text = "SELECT * FROM robust_lm(people, response => salary, predictor => age"
    (asked,) = with_delta(lower(f"{text}, blocks => {blocks})", catalog), Fraction(1, 10**6)).statistics
    engine, found = load(catalog, people, []), []
    statements, measures = Statements(engine, catalog), asked.planned_measures(Pure(1))
    assert statements.of([measures[0].query])  # the number of blocks is proved too
    for measure in measures[1:3]:
        held: dict[float, int] = {}
        query = measure.query
        ((_, statement),) = statements.of([query])
        _, buckets, _ = engine.run(statement, (query,))[0]
        fine = replace(query, aggregate=replace(query.aggregate, buckets=tuple(dict.fromkeys(buckets.tolist()))))
        ((_, statement),) = statements.of([fine])
        domain = query.aggregate.domain
        _, values, counts = engine.run(statement, (fine,))[0]
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            held[float((value + domain.grid_lower) * domain.step)] = count
        found.append(held)
    return found


def test_an_engine_finds_the_line_that_all_rows_are_on_in_every_block(catalog):
    people = [person(k, age=20.0 + k % 50, salary=1000 + 500 * (20.0 + k % 50)) for k in range(300)]
    people += [person(1000 + k, age=30.0, salary=None) for k in range(50)]
    people += [person(2000 + k, age=None, salary=9000.0) for k in range(50)]
    intercepts, slopes = read(catalog, people, 20)
    assert sum(intercepts.values()) == sum(slopes.values()) == 20
    assert max(abs(each - 1000) for each in intercepts) <= 8
    assert max(abs(each - 500) for each in slopes) <= 0.1


@pytest.mark.parametrize("age", [73.0, 112.0])
def test_a_block_whose_predictor_is_the_same_in_all_rows_has_no_line(catalog, age):
    """Of most numbers of such equal values, doubles find a variance above zero."""
    people = [person(k, age=age, salary=1000.0 * (k % 97)) for k in range(200)]
    assert read(catalog, people, 10) == [{}, {}]
    assert read(catalog, [], 5) == [{}, {}]
