"""Counts of places within places, from data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.contract import BadArgument
from adomnia.methods.releases.top_down import list_children, round_levels
from adomnia.methods.simulation import drive
from adomnia.methods.synthesis.geography import Geography
from adomnia.methods.synthesis.nested_release import NestedRelease
from adomnia.privacy.events import Concentrated, Pure
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.describing import build, covers_as_often, table_of

REGIONS, CITIES, SEXES = ("south", "west"), ("Oslo", "Hamar", "Bergen"), ("F", "M")
LEVELS = {"region": REGIONS, "city": CITIES, "sex": SEXES}
ROWS = frame({"age": (0, 99)}, LEVELS, whole=("age",))
NESTING = "south: Oslo, Hamar; west: Bergen"
PRICES = [Pure(1), Concentrated(Fraction(1, 2))]
EXACT = [Pure(10**5), Concentrated(10**9)]
GEOGRAPHIES = [
    Geography((3, 4)),
    Geography((2, 5), ((0, 0, 1, 1, 1),)),
    Geography((2, 3, 5), ((1, 0, 1), (0, 1, 1, 2, 2))),
    Geography((6,)),
]


def people(number, seed=0):
    random = np.random.default_rng(seed)
    city = random.choice(3, number, p=[0.7, 0.28, 0.02])
    return {
        "region": np.array(REGIONS, dtype=object)[(city == 2).astype(int)],
        "city": np.array(CITIES, dtype=object)[city],
        "sex": np.array(SEXES, dtype=object)[random.integers(0, 2, number)],
        "age": random.integers(0, 100, number).astype(float),
    }


def ask(rows=ROWS, **arguments):
    return build("top_down", rows, **({"levels": ("region", "city"), "columns": ("sex",)} | arguments))


def lines_of(table):
    """The counts by their labels."""
    labels = zip(*table.labels.values(), strict=True)
    return dict(
        zip(labels, zip(table.estimates["count"].values, table.facts["whole_count"](), strict=True), strict=True)
    )


@pytest.mark.parametrize("price", EXACT)
@pytest.mark.parametrize("nesting", [None, NESTING])
@pytest.mark.parametrize("number", [0, 1, 300])
def test_without_noise_all_counts_are_the_exact_ones(price, nesting, number):
    data = people(number)
    lines = lines_of(table_of(ask(nesting=nesting), price, data))
    for (region, city, sex), (count, whole) in lines.items():
        kept = np.ones(number, dtype=bool)
        for name, value in (("region", region), ("city", city), ("sex", sex)):
            kept &= True if value == "(all)" else data[name] == (None if value == "(missing)" else value)
        assert count == pytest.approx(kept.sum(), abs=0.05)
        assert whole == kept.sum()


def test_missing_places_lie_in_the_missing_one():
    data = people(4)
    data["city"][:] = [None, "Oslo", None, "Bergen"]
    lines = lines_of(table_of(ask(nesting=NESTING), EXACT[0], data))
    assert lines["(missing)", "(missing)", "(all)"][1] == 2
    assert lines["south", "(all)", "(all)"][1] == 1
    left_out = lines_of(table_of(ask(nesting=NESTING, missing="left_out"), EXACT[0], data))
    assert left_out["(all)", "(all)", "(all)"][1] == 2


def test_a_declared_nesting_is_believed_before_the_rows():
    data = people(5)
    data["city"][:], data["region"][:] = "Bergen", "south"
    lines = lines_of(table_of(ask(nesting=NESTING), EXACT[1], data))
    assert lines["west", "(all)", "(all)"][1] == 5
    assert lines["south", "(all)", "(all)"][1] == 0


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("nesting", [None, NESTING])
@pytest.mark.parametrize("total", [None, 40])
def test_whole_counts_add_up_and_tables_are_theirs(price, nesting, total):
    table = table_of(ask(nesting=nesting, total=total), price, people(40), 3)
    tables = table.product.tables
    finest = tables[0, 1, 2]
    assert (finest >= 0).all()
    assert tables[2,].tolist() == finest.sum(axis=(0, 1)).tolist()
    assert tables[0, 2].tolist() == finest.sum(axis=1).tolist()
    lines = lines_of(table)
    assert lines["(all)", "(all)", "(all)"][1] == finest.sum()
    assert lines["west", "Bergen", "F"][1] == finest[1, 2, 0]
    if total is not None:
        assert lines["(all)", "(all)", "(all)"] == (pytest.approx(total), total)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("arguments", [{"nesting": NESTING}, {"nesting": None}, {"columns": ("age",), "bins": 100}])
def test_intervals_hold_on_few_rows_and_are_not_too_wide(price, arguments):
    """Of each draw one line is taken. False alarms: one in a million."""
    data = people(12)
    asked = ask(**arguments).specialize_for(price)
    measures, random, hits, narrow = asked.planned_measures(price), np.random.default_rng(9), 0, 0
    exact = asked._table([_exact(each, data) for each in measures], whole=False).estimates["count"].values
    for draw in range(120):
        arms = Arms(data, SeededBits(draw))
        estimate = asked._table([arms.measure(each) for each in measures], whole=False).estimates["count"]
        line = random.integers(len(exact))
        lower, upper = estimate.interval(0.95, 1)
        hits += lower[line] <= exact[line] <= upper[line]
        half = (upper[line] - lower[line]) / 4
        narrow += abs(estimate.values[line] - exact[line]) <= half
    assert covers_as_often(hits, 120, 0.95)
    assert not covers_as_often(narrow, 120, 0.95)


def _exact(measure, data):
    from adomnia.statistics.contract import Measured

    return Measured(Arms(data, SeededBits(0)).exact(measure.query), measure.mechanism)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("nesting", [None, NESTING])
def test_one_person_moves_every_level_by_at_most_its_sensitivity(price, nesting):
    several = frame({"age": (0, 99)}, LEVELS, whole=("age",), rows_per_person=3)
    data, more = people(20), people(3, seed=7)
    more["city"][0] = None
    after = {name: np.concatenate([data[name], more[name]]) for name in data}
    for measure in ask(several, nesting=nesting, columns=("age",), bins=20).planned_measures(price):
        exact = [Arms(each, SeededBits(0)).exact(measure.query) for each in (data, after)]
        moved, sensitivity = exact[1] - exact[0], measure.query.sensitivity()
        assert 0 < np.abs(moved).sum() <= sensitivity.l1
        assert np.square(moved).sum() <= sensitivity.l2_squared
        assert np.abs(moved).max() <= sensitivity.linf


def test_parts_of_the_price_are_equal_or_as_asked():
    assert ask().parts == (Fraction(1, 3),) * 3
    assert ask(level_shares=(Fraction(1), Fraction(2), Fraction(5))).parts == tuple(
        map(Fraction, (1 / 8, 1 / 4, 5 / 8))
    )
    with pytest.raises(BadArgument, match="3 numbers above 0"):
        ask(level_shares=(Fraction(1),))


def test_a_public_total_needs_no_measurement_of_the_root():
    asked = ask(columns=(), total=100)
    assert asked.levels == range(1, 3)
    table = table_of(asked, PRICES[0], people(100))
    lower, upper = table.estimates["count"].interval(0.95, 1)
    assert lower[0] == upper[0] == pytest.approx(100)
    assert any("total" in note for note in table.notes)


def test_sums_of_places_are_measured_where_cells_are_many():
    wide = ask(columns=("age",), bins=100)
    assert len(wide.specialize_for(Concentrated(1)).shares[0][0].aggregate.blocks) == 2
    assert len(ask().specialize_for(Concentrated(1)).shares[0][0].aggregate.blocks) == 1


def test_the_error_to_expect_is_that_of_the_release():
    asked = ask(nesting=NESTING).specialize_for(PRICES[0])
    _, expected = drive(asked, PRICES[0], 1000)
    found = table_of(asked, PRICES[0], people(30))
    widths = [np.subtract(*each.estimates["count"].interval(0.95, 1)[::-1]) for each in (expected, found)]
    assert widths[0] == pytest.approx(widths[1])
    assert expected.labels == found.labels


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"columns": ("city",)}, "there already"),
        ({"levels": ("region", "region")}, "there already"),
        ({"levels": ("sex",) * 7, "columns": ()}, "are 7"),
        ({"levels": ("region", "city", "sex"), "columns": ("age",), "bins": 99, "nesting": "a"}, "levels"),
    ],
)
def test_what_makes_no_tree_is_refused(arguments, why):
    with pytest.raises(BadArgument, match=why):
        ask(**arguments)


def test_too_many_cells_are_refused():
    wide = frame({"a": (0, 999), "b": (0, 999)}, LEVELS, whole=("a", "b"))
    with pytest.raises(BadArgument, match="more than 100,000"):
        ask(wide, columns=("a", "b"), bins=500)


def test_a_tree_of_six_levels_is_not_refused():
    names = [f"level{place}" for place in range(6)]
    rows = frame({}, dict.fromkeys(names, ("a", "b")))
    assert len(build("top_down", rows, levels=tuple(names)).shares) == 7


def release_of(geography, values):
    levels = len(geography.sizes) + 1
    return NestedRelease(geography, (values.shape[1],), values, (1.0,) * levels, (1.0,) * levels)


@pytest.mark.parametrize("geography", GEOGRAPHIES)
@pytest.mark.parametrize("spread", [0.0, 0.3, 40.0, 1e6])
@pytest.mark.parametrize("total", [None, 0, 13])
def test_parts_add_up_to_what_they_are_parts_of_and_none_is_negative(geography, spread, total):
    values = np.random.default_rng(3).normal(spread / 2, spread, (geography.leaves, 3))
    counts = round_levels(release_of(geography, values), total)
    assert [len(each) for each in counts] == [geography.count_nodes(level) for level in range(len(counts))]
    for level, table in enumerate(counts):
        assert (table >= 0).all()
        for node in range(len(table)):
            below = np.unique(geography.nodes[-1][geography.nodes[level] == node])
            assert counts[-1][below].sum(axis=0).tolist() == table[node].tolist()
    assert counts[0].sum() == (max(0, round(values.sum())) if total is None else total)


def test_whole_counts_are_kept_as_they_are():
    geography = GEOGRAPHIES[1]
    values = np.arange(15.0).reshape(5, 3)
    assert round_levels(release_of(geography, values))[-1].tolist() == values.tolist()


def test_small_cells_are_pushed_up_where_most_are_empty():
    """As the notes say: zero is the least, and what is above it keeps what others were below it."""
    geography, random = Geography((1, 200), ((0,) * 200,)), np.random.default_rng(5)
    found = [round_levels(release_of(geography, random.normal(0, 3, (200, 1))), 40)[-1].sum() for _ in range(3)]
    assert found == [40, 40, 40]
    exact = np.zeros((200, 1))
    exact[0] = 1000.0
    lifted = [round_levels(release_of(geography, exact + random.normal(0, 3, (200, 1))))[-1] for _ in range(20)]
    assert np.mean([each[1:].sum() for each in lifted]) > 10
    assert np.mean([each[0, 0] for each in lifted]) < 997


def test_children_are_listed_under_what_they_lie_in():
    assert list_children(GEOGRAPHIES[2], 2).tolist() == [[1, -1], [0, 2]]
    assert list_children(GEOGRAPHIES[1], 2).tolist() == [[0, 1, -1], [2, 3, 4]]
