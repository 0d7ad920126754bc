from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.contract import BadArgument
from adomnia.methods.describe.center_of_attention import find_box, list_boxes, widen_box
from adomnia.privacy.events import Pure
from adomnia.privacy.keys import Blocks
from adomnia.privacy.relations import OwnValue, PerBlock
from adomnia.privacy.scans import OwnExtreme
from adomnia.statistics.contract import Measured
from kit.analyses import frame
from kit.describing import EXACT, build, covers_as_often, table_of

PLAIN = frame({"x": (0, 100), "y": (-10, 10), "g": (0, 3)}, whole=("g",))
VECTORS = json.loads((Path(__file__).parents[2] / "fixtures" / "vectors.json").read_text())


def in_blocks(count):
    """Rows of so many blocks, each with three numbers."""
    outputs = tuple(OwnValue(name, OwnExtreme(each.value, greatest=True)) for name, each in PLAIN.numbers.items())
    return replace(PLAIN, relation=PerBlock(PLAIN.relation, Blocks(count), outputs))


def ask(data, price=EXACT, seed=0, blocks=None, **arguments):
    count = len(next(iter(data.values())))
    rows = in_blocks(blocks or count)
    columns = tuple(rows.numbers[name] for name in data)
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in data.items()}
    filled = {name: arrays.get(name, np.zeros(count)) for name in PLAIN.numbers}
    return table_of(build("center_of_attention", rows, columns=columns, **arguments), price, filled, seed)


def draw_cluster(seed, count, away=0.2):
    """Results that mostly lie about (30, 2), and some anywhere."""
    random = np.random.default_rng(seed)
    far = random.random(count) < away
    x = np.where(far, random.uniform(0, 100, count), random.normal(30, 1, count))
    return {"x": x, "y": np.where(far, random.uniform(-10, 10, count), random.normal(2, 0.2, count))}


def test_the_centre_is_where_most_blocks_lie_however_far_others_are():
    data = draw_cluster(1, 400, away=0.3)
    table = ask(data)
    x, y = table.estimates["estimate"].values
    assert (abs(x - 30) < 1, abs(y - 2) < 0.3) == (True, True)
    assert abs(data["x"].mean() - 30) > 3  # which an average of all would say
    assert table.facts["radius"]()[0] <= 100 * 4 / 16 / 2
    assert 0.6 < table.facts["share"]()[0] < 0.8


@pytest.mark.parametrize(("names", "bins"), [(["x"], 64), (["x", "y"], 16), (["x", "y", "g"], 8)])
def test_it_takes_up_to_three_columns(names, bins):
    data = {"x": np.full(300, 71.0), "y": np.full(300, -4.0), "g": np.full(300, 2.0)}
    table = ask({name: data[name] for name in names})
    assert table.labels["column"] == tuple(names)
    for name, value, radius in zip(names, table.estimates["estimate"].values, table.facts["radius"](), strict=True):
        assert value == pytest.approx(data[name][0], abs=0.02 * float(PLAIN.numbers[name].domain.upper))
        assert radius <= 100 / bins


@pytest.mark.parametrize(
    "data",
    [
        {"x": np.linspace(0, 100, 300), "y": np.linspace(-10, 10, 300)},
        {"x": np.full(300, np.nan), "y": np.full(300, 1.0)},
        {"x": [], "y": []},
        {"x": np.repeat([10.0, 90.0], 150), "y": np.repeat([-5.0, 5.0], 150)},
    ],
    ids=["spread", "missing", "empty", "two halves"],
)
def test_where_no_small_box_holds_enough_it_says_so(data):
    table = ask(data, blocks=300)
    assert np.isnan(table.estimates["estimate"].values).all()
    assert table.facts["radius"]() == [None, None]
    assert any("no centre" in note for note in table.notes)
    low, high = table.estimates["estimate"].interval(0.95, 1)
    assert np.isinf(low).all()
    assert np.isinf(high).all()


def test_blocks_without_rows_are_not_in_the_box():
    data = {"x": np.full(150, 30.0), "y": np.full(150, 2.0)}
    assert not np.isnan(ask(data, blocks=200).estimates["estimate"].values).any()
    assert np.isnan(ask(data, blocks=300).estimates["estimate"].values).all()


def test_its_interval_holds_as_often_as_it_says():
    """Of 120 samples; too few hits are seen at a false-alarm rate of 1e-6."""
    hits = 0
    for seed in range(120):
        data = draw_cluster(seed, 500, away=0.1)
        table = ask(data, Pure(2), seed)
        (x, y), radii = table.estimates["estimate"].values, table.facts["radius"]()
        (low, _), (high, _) = table.estimates["estimate"].interval(0.95, 1)
        # Which box was taken is known but for its place: that of the grid about the centre that was found.
        side, inside = 2 * radii[0], []
        for start in np.arange(0, 100 - side + 1e-9, 6.25):
            for other in np.arange(-10, 10 - 2 * radii[1] + 1e-9, 1.25):
                if start <= x <= start + side and other <= y <= other + 2 * radii[1]:
                    kept = (start <= data["x"]) & (data["x"] < start + side)
                    kept &= (other <= data["y"]) & (data["y"] < other + 2 * radii[1])
                    inside.append(data["x"][kept].mean() if kept.sum() > 250 else np.inf)
        hits += any(low <= each <= high for each in inside)
    assert covers_as_often(hits, 120, 0.94)
    assert not covers_as_often(hits - 40, 120, 0.94)  # such a test could fail


def test_neither_side_of_a_cluster_is_cut_off():
    random = np.random.default_rng(12)
    for middle in (41.0, 43.75, 46.0, 50.0):  # wherever the edges of the grid are
        values = random.normal(middle, 7, 2000)
        (found, _) = ask({"x": values, "y": np.zeros(2000)}).estimates["estimate"].values
        assert abs(found - values.mean()) < 1.4  # without widening, 2.1 at the first


def test_a_box_that_holds_nearly_all_stays_as_it_is():
    counts = np.zeros((16, 16), dtype=np.int64)
    counts[0:2, 7:9] = 25
    measured = Measured(counts, DiscreteLaplace(1))
    assert widen_box(((0, 1), (7, 8)), measured, 100) == ((0, 1), (7, 8))
    assert widen_box(((0, 1), (7, 8)), measured, 120) == ((0, 2), (6, 9))
    assert widen_box(((0, 0), (15, 15)), measured, 100) == ((0, 1), (14, 15))


def noisy_grid(random, rows, scale, shape=(16, 16)):
    places = random.integers(0, shape[0], (rows, 2))
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, tuple(places.T), 1)
    return counts + np.rint(random.laplace(0, scale, shape)).astype(np.int64)


@pytest.mark.parametrize("margin", [True, False], ids=["with its margin", "without"])
def test_noise_seldom_makes_a_box_up(margin):
    """200 grids of 100 even rows, of which no box holds the 40 that are wanted: 5% at most, without a margin most."""
    random, made_up = np.random.default_rng(5), 0
    for _ in range(200):
        measured = Measured(noisy_grid(random, 100, 4.0), DiscreteLaplace(4 if margin else 0.05))
        made_up += find_box(measured, 40.0) is not None
    # Binomial of 200 at 5%: above 30 with probability below 1e-6.
    assert (made_up <= 30) == margin


def test_boxes_grow_up_to_half_of_a_column():
    assert list_boxes((16, 16)) == [(1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (8, 8)]
    assert list_boxes((8, 4, 8)) == [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4)]
    assert list_boxes((1,)) == [(1,)]


def test_other_rows_and_too_many_columns_are_refused():
    columns = tuple(PLAIN.numbers.values())
    with pytest.raises(Refusal, match="one row of each block"):
        build("center_of_attention", PLAIN, columns=columns)
    for wrong in ((), (*columns, columns[0]), (columns[0], columns[0])):
        with pytest.raises(BadArgument, match="up to 3"):
            build("center_of_attention", in_blocks(10), columns=wrong)


def find_center(points, candidates, t):
    """The candidate whose t-th nearest point is nearest, and how far that is."""
    reach = np.sort(np.linalg.norm(points[None] - candidates[:, None], axis=2), axis=1)
    return candidates[reach[:, t - 1].argmin()], reach


def test_the_centre_of_the_paper_moves_by_at_most_twice_the_radius_of_one_block_more():
    """Nissim, Raskhodnikova & Smith 2007: what smooth sensitivity would be of; candidates must be public."""
    vector, random, violations, beaten = VECTORS["center_of_attention"], np.random.default_rng(9), 0, 0
    candidates = np.stack(np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 9)), axis=-1).reshape(-1, 2)
    for _ in range(vector["tests"]):
        blocks = int(random.integers(5, 14))
        points = np.clip(random.normal(0.5, random.choice([0.02, 0.1, 0.4]), (blocks, 2)), 0, 1)
        other = points.copy()
        other[0] = random.random(2)
        t = (blocks + 1) // 2 + 1
        center, reach = find_center(points, candidates, t)
        moved = np.linalg.norm(center - find_center(other, candidates, t)[0])
        radius = np.sqrt(2) if t + 1 > blocks else reach[:, t].min()
        violations += moved > 2 * radius + 1e-12
        beaten += moved > 0.2 * radius
    assert violations == vector["violations"]
    assert beaten > 0  # a bound ten times as small would not hold
