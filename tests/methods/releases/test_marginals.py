"""Tables that are asked for: exact where there is no noise, intervals that hold, refusals that say why."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import adomnia
from adomnia.methods.contract import BadArgument
from adomnia.methods.synthesis.cubes import ALL
from adomnia.privacy.events import Concentrated, Pure
from adomnia.statistics.contract import Measured
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.describing import build, covers_as_often, table_of

LEVELS = {"city": ("A", "B", "C"), "sex": ("F", "M"), "job": ("x", "y", "z", "w")}
FRAME = frame(levels=LEVELS)
PRICES = [Pure(Fraction(1, 2)), Concentrated(Fraction(1, 10))]
HOWS = ["auto", "residual", "plain"]


def draw(people, seed=0, odds=(0.7, 0.25, 0.05)):
    random = np.random.default_rng(seed)
    return {
        "city": random.choice(np.array(LEVELS["city"], dtype=object), people, p=odds),
        "sex": random.choice(np.array(LEVELS["sex"], dtype=object), people),
        "job": random.choice(np.array(LEVELS["job"], dtype=object), people, p=[0.9, 0.1, 0, 0]),
    }


DATA = {"many": draw(3000), "few": draw(5), "nobody": draw(0), "constant": draw(400, odds=(0, 1, 0))}


def ask(price, **arguments):
    return build("marginals", FRAME, **{"missing": "left_out"} | arguments).specialize_for(price)


def answer_exactly(asked, price, data):
    """The table where the noise is 0 by chance."""
    flow, arms = asked.steps(price), Arms(data, SeededBits(0))
    exact = tuple(Measured(arms.exact(each.query), each.mechanism) for each in next(flow))
    with pytest.raises(StopIteration) as end:
        flow.send(exact)
    return end.value.value


def exact_counts(table, data):
    """Counted one by one."""
    names = list(LEVELS)
    lines = zip(*(table.labels[name] for name in names), strict=True)
    return [
        sum(
            all(wanted in (ALL, held) for wanted, held in zip(line, person, strict=True))
            for person in zip(*(data[name] for name in names), strict=True)
        )
        for line in lines
    ]


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("ways", [1, 2, 3])
def test_without_noise_all_counts_are_exact(price, how, ways):
    data = draw(60)
    table = answer_exactly(ask(price, ways=ways, how=how), price, data)
    exact = exact_counts(table, data)
    assert table.estimates["count"].values == pytest.approx(exact, abs=1e-9)
    assert list(table.facts["whole_count"]()) == exact
    assert table.rows == sum(
        int(np.prod([len(LEVELS[name]) for name in names]))
        for k in range(ways + 1)
        for names in combinations(LEVELS, k)
    )


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("how", HOWS)
def test_whole_tables_agree_whatever_the_data(price, data, how):
    product = table_of(ask(price, how=how), price, DATA[data]).product
    assert len(product.tables) == 1 + 3 + 3
    for columns, table in product.tables.items():
        assert table.min() >= 0
        for axis in range(len(columns)):
            assert np.array_equal(table.sum(axis=axis), product.tables[columns[:axis] + columns[axis + 1 :]])


@pytest.mark.parametrize(
    ("how", "price", "data"),
    [
        ("auto", PRICES[0], "many"),
        ("auto", PRICES[1], "constant"),
        ("plain", PRICES[1], "few"),
        ("residual", PRICES[0], "few"),
        ("auto", Pure(8), "few"),
        ("plain", Concentrated(8), "many"),
    ],
    ids=str,
)
def test_intervals_hold_as_often_as_they_say(how, price, data):
    """Of some cells in 120 draws each; a false alarm is one in a million. Half as wide they would be found out."""
    asked = ask(price, how=how)
    exact = np.array(exact_counts(asked.expected_result(price, 1), DATA[data]))
    hits, halves, draws = 0, 0, 120
    for seed in range(draws):
        table = table_of(asked, price, DATA[data], seed)
        lower, upper = table.estimates["count"].interval(0.9, 1)
        middle = (lower + upper) / 2
        hits += (lower <= exact) & (exact <= upper)
        halves += np.abs(exact - middle) <= (upper - lower) / 4
    assert all(covers_as_often(each, draws, 0.9) for each in hits)
    if price in PRICES:  # where noise is far above one row, they say no more than they have to
        assert not any(covers_as_often(each, draws, 0.9) for each in halves)
        assert np.mean(hits) / draws < 0.96


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_all_intervals_hold_at_once_as_often_as_they_say(price):
    asked, draws = ask(price), 60
    exact, hits = np.array(exact_counts(asked.expected_result(price, 1), DATA["many"])), 0
    for seed in range(draws):
        table = table_of(asked, price, DATA["many"], seed)
        lower, upper = table.estimates["count"].interval(0.8, table.rows)
        hits += bool(((lower <= exact) & (exact <= upper)).all())
    assert covers_as_often(hits, draws, 0.8)


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_what_is_foreseen_has_the_errors_that_come(price):
    asked = ask(price)
    foreseen, found = asked.expected_result(price, 1000), table_of(asked, price, DATA["many"])
    assert foreseen.labels == found.labels
    widths = [np.subtract(*table.estimates["count"].interval(0.95, 3)) for table in (foreseen, found)]
    assert widths[0] == pytest.approx(widths[1])
    assert foreseen.estimates["count"].values.reshape(-1)[0] == pytest.approx(1000)


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_several_rows_of_a_person_are_hidden_by_as_much_more_noise(price):
    once = ask(price).expected_result(price, 100)
    wider = frame(levels=LEVELS, rows_per_person=3)
    thrice = build("marginals", wider, missing="left_out").specialize_for(price).expected_result(price, 100)
    widths = [np.subtract(*table.estimates["count"].interval(0.95, 1)) for table in (once, thrice)]
    assert widths[1] == pytest.approx(3 * widths[0], rel=0.05)


def test_the_product_counts_as_the_table_does():
    table = table_of(ask(PRICES[1]), PRICES[1], DATA["many"])
    product = table.product
    estimates = product.estimates
    assert [each.name for each in product.attributes] == list(LEVELS)
    assert product.tails == "gaussian"
    values, variances = estimates.count((0, 1), np.zeros((3, 2), dtype=int), 1)
    lower, upper = table.estimates["count"].interval(0.95, 1)
    assert values[0] == pytest.approx(table.estimates["count"].values[0])
    assert (upper[0] - lower[0]) / 2 == pytest.approx(1.959964 * variances[0] ** 0.5)
    assert not estimates.covers((0, 1, 2))
    parts = [Fraction(each["part"]) for each in product.about["measurements"]]
    assert sum(parts) == 1


def test_tables_of_three_columns_that_overlap_are_those_of_drawn_rows():
    four = frame(levels=LEVELS | {"club": ("in", "out")})
    data = DATA["many"] | {"club": np.array(["in", "out"] * 1500, dtype=object)}
    asked = build("marginals", four, ways=3, missing="left_out").specialize_for(PRICES[1])
    product = table_of(asked, PRICES[1], data).product
    assert product.rows is None  # estimates answer questions: drawn rows are a little off
    assert len(product.tables) == 1 + 4 + 6 + 4
    again = table_of(asked, PRICES[1], data).product.tables
    assert all(np.array_equal(table, again[columns]) for columns, table in product.tables.items())


def test_epsilon_buys_what_has_the_least_noise_and_says_so():
    asked = ask(PRICES[0])
    assert asked.plan.name == "counts of all columns together"
    assert len(asked.shares) == 1
    assert "counts of the largest tables 1." in asked.comparison
    assert ask(PRICES[1]).comparison is None


def test_fourier_coefficients_are_of_columns_with_a_power_of_two_of_values():
    two = frame(levels={"sex": ("F", "M"), "job": LEVELS["job"]})
    asked = build("marginals", two, how="fourier", missing="left_out").specialize_for(PRICES[0])
    table = answer_exactly(asked, PRICES[0], {name: DATA["few"][name] for name in ("sex", "job")})
    assert [each.aggregate.results for each in asked.queries[1:]] == [1, 3, 3]
    assert table.facts["whole_count"]()[0] == 5
    with pytest.raises(BadArgument, match=r"2, 4, 8.*city has 3"):
        ask(PRICES[0], how="fourier")


def test_tables_that_are_too_large_are_refused_with_their_sizes():
    wide = frame(bounds=dict.fromkeys("abcd", (0, 999)), whole=tuple("abcd"))
    with pytest.raises(BadArgument, match=r"6,000,000 cells.*a 1000, b 1000") as refused:
        build("marginals", wide, bins=1000, missing="left_out")
    assert refused.value.argument == "ways"
    many = frame(levels={f"c{place}": ("a", "b") for place in range(60)})
    with pytest.raises(BadArgument, match="34,220 tables of 60 columns"):
        build("marginals", many, ways=3)


@pytest.fixture
def own():
    people = pd.DataFrame(
        {
            "person": [*range(40), 0, 0],
            "sex": ["F", "M", None, "F"] * 10 + ["M", "M"],
            "age": pd.array([20, 31, None, 99] * 10 + [50, 60], dtype="Int64"),
            "pay": [1.5, None, 20.0, 7.0] * 10 + [3.0, float("nan")],
        }
    )
    declared = {"bounds": {"age": (0, 99), "pay": (0, 20)}, "categories": {"sex": ["F", "M"]}}
    with adomnia.protect(people, unit="person", rows_per_person=3, epsilon=10**6, delta=1e-6, **declared) as opened:
        yield opened


def test_missing_values_are_a_value_or_left_out(own):
    price = {"epsilon": 250}  # so much that noise is 0: the one table that is measured has it once in 1e30 times
    kept = own.sql("SELECT * FROM marginals(data, ways => 2, bins => 4)", **price).to_pandas()
    one = kept[(kept.age == ALL) & (kept.pay == ALL)].set_index("sex").whole_count
    assert one.to_dict() == {ALL: 42, "F": 20, "M": 12, "(missing)": 10}
    pair = kept[kept.age == ALL].set_index(["sex", "pay"]).whole_count
    assert pair["M", "(missing)"] == 11
    left = own.sql("SELECT * FROM marginals(data, ways => 2, bins => 4, missing => 'left_out')", **price).to_pandas()
    assert left.whole_count[0] == 21
    assert "(missing)" not in set(left.sex)


def test_it_is_answered_and_replayed(own):
    text = "SELECT sex, count, whole_count FROM marginals(data, columns => sex, ways => 1) ORDER BY sex"
    answer = own.sql(text, rho=1)
    assert [line["sex"] for line in answer.to_pandas().to_dict("records")] == ["(all)", "(missing)", "F", "M"]
    again = own.sql(text, rho=1)
    assert again.replayed
    assert again.to_pandas().equals(answer.to_pandas())
    assert any("whole_count" in note for note in answer.notes)
