from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.contract import BadArgument
from adomnia.methods.parts.testing.moments import COMBINED
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Pure
from kit.analyses import frame
from kit.trials import (
    NO_NOISE,
    PRICES,
    answer,
    build,
    most_rejected,
    read_p_value,
    share_covered,
    share_rejected,
    share_rejected_naively,
)

ROWS = frame({"x": (0, 10), "y": (0, 10)}, {"g": ("A", "B"), "city": ("Oslo", "Bergen", "Voss")})
X, Y, G = ROWS.numbers["x"], ROWS.numbers["y"], ROWS.factors["g"]
ONE = build("t_test", ROWS, column=X, mu=Fraction(5))
TWO = build("t_test", ROWS, column=X, group=G)
TRIALS = 40
TOO_MANY = most_rejected(TRIALS)


def draw(random, rows=200, shift=0.0, kind="normal", share=0.5):
    group = np.where(random.random(rows) < share, "A", "B").astype(object)
    values = {
        "normal": lambda: random.normal(5, 1.5, rows),
        "rounded": lambda: np.rint(random.normal(5, 1.5, rows)),
        "lognormal": lambda: random.lognormal(0, 1, rows),
        "zeros": lambda: np.where(random.random(rows) < 0.9, 0.0, random.exponential(2, rows)),
        "unequal": lambda: 5 + np.where(group == "A", 2.0, 0.3) * random.standard_normal(rows),
        "constant": lambda: np.full(rows, 3.7),
    }[kind]()
    return {"x": np.clip(values + shift * (group == "A"), 0, 10), "y": random.uniform(0, 10, rows), "g": group}


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_without_noise_it_is_the_classical_test(alternative):
    """P-values of 9,999 draws, within 5 standard errors."""
    data = draw(np.random.default_rng(3), 300, 0.35)
    inside = [data["x"][data["g"] == each] for each in "AB"]
    found = [
        answer(build("t_test", ROWS, column=X, mu=Fraction(51, 10), alternative=alternative), NO_NOISE, data),
        answer(build("t_test", ROWS, column=X, other=Y, alternative=alternative), NO_NOISE, data),
        answer(build("t_test", ROWS, column=X, group=G, alternative=alternative), NO_NOISE, data),
        answer(build("t_test", ROWS, column=X, group=G, mu=Fraction(1, 5), alternative=alternative), NO_NOISE, data),
    ]
    expected = [
        stats.ttest_1samp(data["x"], 5.1, alternative=alternative),
        stats.ttest_rel(data["x"], data["y"], alternative=alternative),
        stats.ttest_ind(*inside, equal_var=False, alternative=alternative),
        stats.ttest_ind(inside[0] - 0.2, inside[1], equal_var=False, alternative=alternative),
    ]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.facts["statistic"]()[0] == pytest.approx(theirs.statistic, abs=0.05)
        slack = 5 * np.sqrt(theirs.pvalue * (1 - theirs.pvalue) / 9_999) + 0.03 * theirs.pvalue + 2e-4
        assert read_p_value(ours) == pytest.approx(theirs.pvalue, abs=slack)


def test_without_noise_its_intervals_are_the_classical_ones():
    data = draw(np.random.default_rng(3), 300, 0.35)
    inside = [data["x"][data["g"] == each] for each in "AB"]
    table = answer(TWO, NO_NOISE, data)
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    classical = stats.ttest_ind(*inside, equal_var=False).confidence_interval()
    assert (lower[0], upper[0]) == pytest.approx(tuple(classical), abs=0.02)
    for place, values in enumerate(inside, start=1):
        own = stats.ttest_1samp(values, 0).confidence_interval()
        assert (lower[place], upper[place]) == pytest.approx(tuple(own), abs=0.02)
    assert table.labels["term"] == ("A - B", "mean of A", "mean of B")
    assert table.facts["p_value"]()[1:] == (None, None)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("statistic", [ONE, TWO], ids=["one", "two"])
def test_it_keeps_its_level(price, statistic):
    assert share_rejected(statistic, PRICES[price], draw, TRIALS, price) <= TOO_MANY


@pytest.mark.parametrize("kind", ["rounded", "lognormal", "zeros", "unequal", "constant"])
def test_it_keeps_its_level_on_data_that_is_not_nice_and_groups_of_10_to_1(kind):
    drawn = partial(draw, kind=kind, share=1 / 11)
    assert share_rejected(TWO, Pure(1), drawn, TRIALS, kind) <= TOO_MANY


NARROW = frame({"x": (0, 1000), "count": (0, 1000)}, {"g": ("A", "B")}, whole=("count",))


def draw_narrow(random, rows, name="x"):
    values = random.normal(500, 3, rows)
    return {name: np.rint(values) if name == "count" else values, "g": np.array(["A", "B"] * (rows // 2), dtype=object)}


@pytest.mark.parametrize(
    ("name", "epsilon", "rows", "asked"),
    [
        ("x", 10, 3000, {"mu": Fraction(500)}),
        ("count", 30, 600, {"mu": Fraction(500)}),
        ("x", 100, 300, {"mu": Fraction(500)}),
        ("x", 100, 300, {"group": NARROW.factors["g"]}),
    ],
)
def test_it_keeps_its_level_where_noise_hides_the_spread(name, epsilon, rows, asked):
    """Deviations of 0.3% of the bounds. A noisy variance below zero was taken for none: one mean had a size of 0.2."""
    statistic = build("t_test", NARROW, column=NARROW.numbers[name], **asked)
    drawn = partial(draw_narrow, rows=rows, name=name)
    assert share_rejected(statistic, Pure(epsilon), drawn, 400, f"narrow {name}") <= most_rejected(400)
    notes = answer(statistic, Pure(1), drawn(np.random.default_rng(1))).notes
    assert any("hides the spread" in note for note in notes)


def test_it_has_power_again_where_the_spread_is_seen():
    statistic = build("t_test", NARROW, column=NARROW.numbers["x"], mu=Fraction(4997, 10))
    drawn = partial(draw_narrow, rows=40_000)
    assert share_rejected(statistic, Pure(10), drawn, 20, "seen") >= 0.9
    notes = answer(statistic, Pure(10), drawn(np.random.default_rng(1))).notes
    assert not any("hides the spread" in note for note in notes)


@pytest.mark.parametrize("rows", [0, 1, 2, 20])
@pytest.mark.parametrize("price", PRICES)
def test_of_few_rows_it_says_little_and_nothing_wrong(rows, price):
    for statistic in (ONE, TWO):
        assert share_rejected(
            statistic, PRICES[price], partial(draw, rows=rows), 10, f"{rows} {price}"
        ) <= most_rejected(10)


def test_it_finds_what_is_there():
    drawn = partial(draw, rows=1000, shift=0.6)
    assert share_rejected(TWO, Pure(1), drawn, 40, "power") >= 0.9


def test_the_classical_test_on_noisy_sums_rejects_what_is_true():
    def welch(noisy):
        rows, total, squares = (noisy @ COMBINED / X.domain.width**2).T
        rows = np.maximum(rows, 2)
        means = total / rows
        error = np.maximum(squares - rows * means**2, 1e-9) / (rows - 1) / rows
        return 2 * stats.norm.sf(abs(means[0] - means[1]) / np.sqrt(error.sum()))

    assert share_rejected_naively(TWO, PRICES["rho of (1, 1e-6)"], draw, welch, TRIALS) > TOO_MANY


@pytest.mark.parametrize("price", PRICES)
def test_its_intervals_cover_the_population(price):
    """Of 95% intervals, too many miss once in a million times if 93% cover."""
    drawn = partial(draw, rows=600, shift=0.5)
    assert 1 - share_covered(TWO, PRICES[price], drawn, 0.5, TRIALS) <= most_rejected(TRIALS, 0.07)
    assert 1 - share_covered(ONE, PRICES[price], partial(draw, rows=600), 5.0, TRIALS) <= most_rejected(TRIALS, 0.07)


def test_groups_by_other_columns_are_tested_each_and_cost_no_more():
    random = np.random.default_rng(5)
    data = draw(random, 900) | {"city": random.choice(np.array(["Oslo", "Bergen", "Voss"], dtype=object), 900)}
    grouped = build("t_test", ROWS, column=X, group=G, by=(ROWS.factors["city"],))
    table = answer(grouped, Pure(1), data)
    assert table.labels["city"] == ("Oslo",) * 3 + ("Bergen",) * 3 + ("Voss",) * 3
    assert [each is None for each in table.facts["p_value"]()] == [False, True, True] * 3
    sizes = [
        each.query.sensitivity().l1 for statistic in (grouped, TWO) for each in statistic.planned_measures(Pure(1))
    ]
    assert sizes[0] == sizes[1]


MIXED = frame({"stars": (1, 5), "score": (0, 6), "years": (0, 120)}, whole=("stars", "years"))
STARS, SCORE = MIXED.numbers["stars"], MIXED.numbers["score"]
PAIRS = build("t_test", MIXED, column=STARS, other=SCORE)


def draw_mixed(random, rows=2000):
    """Ratings from 1 to 5, and numbers that are 0.05 to 0.45 above: no difference rounds to another one than 0."""
    stars = random.choice(5, rows, p=[0.1, 0.2, 0.3, 0.3, 0.1]) + 1.0
    return {"stars": stars, "score": stars + random.uniform(0.05, 0.45, rows)}


def test_pairs_of_a_whole_number_and_a_number_are_the_classical_test_without_noise():
    data = draw_mixed(np.random.default_rng(4))
    data["score"] = np.random.default_rng(5).permutation(data["score"])
    found = answer(PAIRS, NO_NOISE, data)
    known = stats.ttest_rel(data["stars"], data["score"])
    assert found.estimates["estimate"].values[0] == pytest.approx(np.mean(data["stars"] - data["score"]), abs=1e-3)
    assert found.facts["statistic"]()[0] == pytest.approx(known.statistic, rel=0.02)
    ends = np.ravel(found.estimates["estimate"].interval(0.95, 1))
    assert ends == pytest.approx(tuple(known.confidence_interval()), abs=0.005)


@pytest.mark.parametrize(("step", "covers"), [(SCORE.domain.step, True), (1, False)], ids=["finer", "coarser"])
def test_intervals_of_such_pairs_cover_and_those_of_whole_differences_do_not(step, covers):
    """Of 95% intervals, too many miss once in a million times if 93% cover; they are far narrower than the range."""
    asked = replace(PAIRS, column=replace(PAIRS.column, domain=Numbers(-5, 5, step)))
    assert (asked == PAIRS) is covers
    assert (1 - share_covered(asked, Pure(1), draw_mixed, -0.25, TRIALS) <= most_rejected(TRIALS, 0.07)) is covers
    lower, upper = answer(asked, Pure(1), draw_mixed(np.random.default_rng(1))).estimates["estimate"].interval(0.95, 1)
    assert upper[0] - lower[0] < 0.2


def test_differences_are_on_the_finer_grid_as_far_as_it_is_measured():
    assert PAIRS.column.domain.step == SCORE.domain.step
    assert build("t_test", MIXED, column=STARS, other=MIXED.numbers["years"]).column.domain == Numbers(-119, 5, 1)
    tiny = frame({"n": (0, 2**40), "x": (0, Fraction(1, 2**20))}, whole=("n",)).numbers
    mixed = build("t_test", MIXED, column=tiny["n"], other=tiny["x"]).column.domain
    assert mixed.step == 1  # of more than 2**30 of these there is no finer one


def test_what_cannot_be_is_refused():
    with pytest.raises(BadArgument, match="give one of them"):
        build("t_test", ROWS, column=X, other=Y, group=G)
    with pytest.raises(BadArgument, match="between 0 and 10"):
        build("t_test", ROWS, column=X, mu=Fraction(11))
