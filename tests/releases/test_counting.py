"""Questions about a release are answered by adding up what was measured, and by nothing else."""

from __future__ import annotations

from itertools import product as combine
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binom

from adomnia.errors import Refusal
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.releases.counting import ReleaseCounts
from adomnia.releases.tables import build_catalog
from adomnia.sql.lower import plan_question
from adomnia.sql.reading.released import parse_released
from adomnia.statistics.products import Attribute, Product
from kit.asked_releases import ATTRIBUTES, NoisyTable, WeighedTable, ask, made_up_counts, make_release, rows_of, tell

if TYPE_CHECKING:
    from collections.abc import Callable

COUNTS = made_up_counts(3)
PEOPLE = rows_of(COUNTS)


def exact(condition: Callable[..., object], weight: Callable[..., float] = lambda **_: 1.0) -> float:
    """The sum over all rows for which a condition is true."""
    return sum(weight(**row) * many for row, many in PEOPLE if condition(**row))


@pytest.mark.parametrize(
    ("where", "condition"),
    [
        ("sex = 'f'", lambda sex, **_: sex == "f"),
        ("sex <> 'f'", lambda sex, **_: sex not in ("f", None)),
        ("sex IS NULL", lambda sex, **_: sex is None),
        ("NOT (sex = 'f' AND smokes)", lambda sex, smokes, **_: sex == "m" or smokes is False),
        ("kids BETWEEN 1 AND 2 OR smokes IS NULL", lambda kids, smokes, **_: kids in (1, 2) or smokes is None),
        ("age >= 20 AND age < 40", lambda age, **_: age is not None and 20 <= age < 40),
        ("age BETWEEN 10 AND 29", lambda age, **_: age is not None and 10 <= age < 30),
        ("FLOOR(age / 20) = 1", lambda age, **_: age is not None and 20 <= age < 40),
        ("age > 59", lambda **_: False),
        ("kids + 1 > 2 AND sex IN ('m', 'f')", lambda kids, sex, **_: sex is not None and (kids or 0) > 1),
        ("COALESCE(kids, 9) = 9", lambda kids, **_: kids is None),
        ("(kids > 1) = smokes", lambda kids, smokes, **_: None not in (kids, smokes) and (kids > 1) == smokes),
        ("UPPER(sex) || 'x' LIKE 'F%'", lambda sex, **_: sex == "f"),
        ("TRUE", lambda **_: True),
        ("1 = 2", lambda **_: False),
    ],
)
def test_a_condition_counts_the_rows_for_which_it_is_true(where, condition):
    answer = ask(f"SELECT COUNT(*) AS n FROM releases.people WHERE {where}", NoisyTable(COUNTS, 1.0))
    assert answer["n"] == [pytest.approx(exact(condition))]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("COUNT(kids)", exact(lambda kids, **_: kids is not None)),
        ("COUNT(age)", exact(lambda age, **_: age is not None)),
        ("COUNT(*) FILTER (WHERE smokes)", exact(lambda smokes, **_: smokes is True)),
        ("COUNTIF(kids > 1)", exact(lambda kids, **_: (kids or 0) > 1)),
        ("SUM(CASE WHEN kids > 1 THEN 1 ELSE 0 END)", exact(lambda kids, **_: (kids or 0) > 1)),
        ("SUM(kids)", exact(lambda kids, **_: kids is not None, lambda kids, **_: kids)),
        (
            "SUM(CASE WHEN age >= 30 THEN kids END)",
            exact(lambda age, **_: (age or 0) >= 30, lambda kids, **_: kids or 0),
        ),
        ("COUNT(*) - COUNT(sex)", exact(lambda sex, **_: sex is None)),
        ("2 * COUNT(*) + 1", 2 * COUNTS.sum() + 1),
    ],
)
@pytest.mark.parametrize("sort", [NoisyTable, WeighedTable])
def test_counts_and_sums_are_those_of_all_rows_added_up(output, expected, sort):
    answer = ask(f"SELECT {output} AS n FROM releases.people", sort(COUNTS, 1.0))
    assert answer["n"] == [pytest.approx(expected)]


def test_every_group_has_the_sum_of_its_cells_and_a_row_if_it_is_empty():
    text = "SELECT sex, FLOOR(age / 20) AS part, smokes, COUNT(*) AS n FROM releases.people GROUP BY 1, 2, 3"
    answer = ask(text, NoisyTable(COUNTS, 1.0))
    cells = list(combine(("f", "m"), (0, 1, 2), (False, True)))
    assert sorted(zip(answer["sex"], answer["part"], answer["smokes"], strict=True)) == sorted(cells)
    found = dict(zip(zip(answer["sex"], answer["part"], answer["smokes"], strict=True), answer["n"], strict=True))
    for own_sex, part, own_smokes in cells:
        wanted = exact(lambda sex, age, smokes, **_: (sex, smokes) == (own_sex, own_smokes) and in_part(age, part))  # noqa: B023
        assert found[own_sex, part, own_smokes] == pytest.approx(wanted)


def in_part(age: int | None, part: int) -> bool:
    return age is not None and 20 * part <= age < 20 * part + 20


def test_groups_add_up_to_the_total_and_so_do_rollups():
    release = Residuals.from_measured(COUNTS.shape, [NoisyMarginal((0, 1, 2, 3), COUNTS, 2.0)])
    total = ask("SELECT COUNT(*) AS n FROM releases.people WHERE sex IS NOT NULL", release)["n"][0]
    rolled = ask("SELECT sex, COUNT(*) AS n FROM releases.people GROUP BY ROLLUP (sex)", release)
    assert dict(zip(rolled["sex"], rolled["n"], strict=True))[None] == pytest.approx(total, abs=1e-9)
    assert sum(rolled["n"][:-1]) == pytest.approx(total, abs=1e-9)
    # A total of three groups has the noise of all of them, and not that of one.
    widths = [upper - lower for lower, upper in rolled.interval("n")]
    assert widths[-1] > 1.2 * widths[0]


def test_having_order_and_limit_look_at_the_noisy_counts():
    noisy = COUNTS.copy()
    noisy[0] = -1.0
    text = "SELECT sex, COUNT(*) AS n FROM releases.people GROUP BY sex HAVING COUNT(*) > 0 ORDER BY n DESC LIMIT 1"
    assert ask(text, NoisyTable(noisy, 1.0))["sex"] == ["m"]
    assert len(ask(text.replace("> 0", "> 1e9"), NoisyTable(noisy, 1.0))) == 0


def test_a_mean_is_the_sum_by_the_number_of_values():
    answer = ask("SELECT sex, AVG(kids) AS mean FROM releases.people GROUP BY sex", WeighedTable(COUNTS, 1e-6))
    for own, mean in zip(answer["sex"], answer["mean"], strict=True):
        summed = exact(lambda sex, kids, **_: sex == own and kids is not None, lambda kids, **_: kids)  # noqa: B023
        assert mean == pytest.approx(summed / exact(lambda sex, kids, **_: sex == own and kids is not None))  # noqa: B023


def test_the_interval_of_a_share_knows_that_its_rows_are_part_of_the_whole():
    text = "SELECT COUNT(*) FILTER (WHERE sex = 'f') / COUNT(*) AS share FROM releases.people"
    release = NoisyTable(COUNTS, 9.0)
    ((lower, upper),) = ask(text, release).interval("share")
    part, whole = COUNTS[0].sum(), COUNTS.sum()
    errors = 9.0 * np.array([COUNTS[0].size, COUNTS.size])
    share = part / whole
    variance = errors[0] - 2 * share * errors[0] + share**2 * errors[1]  # cov(part, whole) = var(part)
    assert (upper - lower) / 2 == pytest.approx(1.96 * np.sqrt(variance) / whole, rel=0.02)


def test_a_release_that_only_counts_has_intervals_of_sums_that_are_wide_enough():
    text = "SELECT SUM(kids) AS n, AVG(kids) AS mean FROM releases.people"
    wide, exactly = (ask(text, sort(COUNTS, 4.0)) for sort in (NoisyTable, WeighedTable))
    for name in ("n", "mean"):
        assert wide[name] == pytest.approx(exactly[name])
        ((low, high),), ((lower, upper),) = wide.interval(name), exactly.interval(name)
        assert low <= lower <= upper <= high


def test_a_share_of_a_total_of_the_answer_has_the_error_of_that_total():
    text = "SELECT sex, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM releases.people GROUP BY sex"
    answer = ask(text, NoisyTable(COUNTS, 4.0))
    assert sum(answer["share"]) == pytest.approx(1.0)
    assert all(upper - lower < 0.2 for lower, upper in answer.interval("share"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SELECT COUNT(*) FROM releases.people WHERE age >= 25", "bins of age"),
        ("SELECT COUNT(*) FROM releases.people WHERE age = 20", "bins of age"),
        ("SELECT COUNT(*) FROM releases.people WHERE age % 2 = 0", "bins of age"),
        ("SELECT COUNT(*) FROM releases.people WHERE age > kids", "bins of age"),
        ("SELECT age, COUNT(*) FROM releases.people GROUP BY age", "age_bin"),
        ("SELECT FLOOR(age / 15), COUNT(*) FROM releases.people GROUP BY 1", "0, 10, 20, 30, 40, 50"),
        ("SELECT AVG(age) FROM releases.people", "synthetic rows"),
        ("SELECT SUM(age * kids) FROM releases.people", "synthetic rows"),
        ("SELECT MEDIAN(kids) FROM releases.people", "does not follow"),
        ("SELECT STDDEV(kids) FROM releases.people", "does not follow"),
        ("SELECT MAX(kids) FROM releases.people", "does not follow"),
        ("SELECT COUNT(DISTINCT sex) FROM releases.people", "does not follow"),
        ("SELECT CORR(kids, CASE WHEN smokes THEN 1 ELSE 0 END) FROM releases.people", "does not follow"),
    ],
)
def test_what_counts_do_not_tell_is_refused_with_what_can_be_asked(text, says):
    with pytest.raises(Refusal, match=says) as refused:
        ask(text, NoisyTable(COUNTS, 1.0))
    assert refused.value.fix


def test_columns_that_were_not_measured_together_are_refused_with_a_pair_that_was():
    release = NoisyTable(COUNTS, 1.0, (frozenset({0, 1}), frozenset({1, 2})))
    assert len(ask("SELECT sex, COUNT(*) FROM releases.people WHERE age < 30 GROUP BY sex", release)) == 2
    with pytest.raises(Refusal, match=r"sex, age, kids were not measured together.*age and sex"):
        ask("SELECT sex, COUNT(*) FROM releases.people WHERE age < 30 AND kids > 1 GROUP BY sex", release)


def test_a_quotient_of_what_was_measured_apart_still_has_an_honest_interval():
    release = NoisyTable(COUNTS, 1.0, (frozenset({0}), frozenset({2})))
    text = "SELECT COUNT(*) FILTER (WHERE sex = 'f') / COUNTIF(kids > 1) AS r FROM releases.people"
    ((lower, upper),) = ask(text, release).interval("r")
    (value,) = ask(text, release)["r"]
    assert lower < value < upper


def test_bins_are_named_by_a_column_beside_them_and_the_edges_of_bins_do_not_cut_them():
    release = NoisyTable(COUNTS, 1.0)
    bins = ask("SELECT age_bin, COUNT(*) AS n FROM releases.people GROUP BY age_bin", release)
    assert bins["age_bin"] == [f"{start} to {start + 9}" for start in range(0, 60, 10)]
    numbers = ask("SELECT FLOOR(age / 10) AS tens, COUNT(*) AS n FROM releases.people GROUP BY 1", release)
    assert numbers["n"] == bins["n"]


def test_dates_and_numbers_in_bins_are_cut_where_bins_begin_and_nowhere_else():
    start = 735_963  # the first of 2016, counted from the first of the calendar
    attributes = (
        Attribute("day", ("a", "b", None), "date", (start - 0.5, start + 30.5, start + 59.5)),
        Attribute("score", ("low", "high"), "number", (0.0, 0.3, 1.0)),
    )
    release = NoisyTable(np.array([[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]]), 1.0)
    assert tell("SELECT COUNT(*) AS n FROM releases.people WHERE day < DATE '2016-02-01'", attributes, release) == [3]
    assert tell("SELECT COUNT(*) AS n FROM releases.people WHERE day IS NULL", attributes, release) == [48]
    assert tell("SELECT COUNT(*) AS n FROM releases.people WHERE score >= 0.3", attributes, release) == [42]
    assert tell("SELECT COUNT(*) AS n FROM releases.people WHERE score <= 1", attributes, release) == [63]
    months = "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM releases.people GROUP BY 1"
    assert tell(months, attributes, release) == [3, 12]
    assert tell("SELECT MONTH(day), COUNT(*) AS n FROM releases.people GROUP BY 1", attributes, release)[:3] == [
        3,
        12,
        0,
    ]
    for cut in ("day < DATE '2016-01-20'", "score > 0.3", "score = 0.5", "score < 0.29", "DAY(day) = 1"):
        with pytest.raises(Refusal, match="would cut bins"):
            tell(f"SELECT COUNT(*) AS n FROM releases.people WHERE {cut}", attributes, release)


def test_columns_may_be_called_like_keywords_and_hold_any_text():
    attributes = (
        Attribute("select", ("'; DROP TABLE t0; --", 'a"b', None)),
        Attribute("place", (False, True), "boolean"),
    )
    release = NoisyTable(np.array([[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]]), 1.0)
    text = """SELECT "select", COUNT(*) AS n FROM releases.people WHERE NOT place GROUP BY "select" """
    assert tell(text, attributes, release) == [1, 4]
    text = """SELECT COUNT(*) AS n FROM releases.people WHERE "select" = '''; DROP TABLE t0; --' """
    assert tell(text, attributes, release) == [3]


def test_a_column_of_bins_does_not_take_the_name_of_another():
    attributes = (Attribute("x", ("0 to 1", "2 to 3"), "integer", (-0.5, 1.5, 3.5)), Attribute("X_bin", ("u", "v")))
    release = NoisyTable(np.array([[1.0, 2.0], [4.0, 8.0]]), 1.0)
    assert tell("SELECT x_bin, COUNT(*) AS n FROM releases.people GROUP BY 1", attributes, release) == [5, 10]
    assert tell("SELECT x_bin_, COUNT(*) AS n FROM releases.people GROUP BY 1", attributes, release) == [3, 12]


LEVELS = ReleaseCounts("people", Product(ATTRIBUTES, NoisyTable(COUNTS, 1.0))).levels


def count_held(variance: float) -> int:
    """How many of 400 intervals hold the exact count, where noise is of variance 9 and said to be of another."""
    generator = np.random.default_rng(5)
    text = "SELECT COUNT(*) AS n FROM releases.people WHERE sex = 'f' AND age >= 20"
    plan = plan_question(parse_released(text), build_catalog([LEVELS.table]))
    truth, held = exact(lambda sex, age, **_: sex == "f" and (age or 0) >= 20), 0
    tables = {part: COUNTS.sum(axis=tuple({0, 1, 2, 3} - set(part))) for part in ((0, 1), (1, 2), (0, 2))}
    for _ in range(400):
        measured = [
            NoisyMarginal(part, table + generator.normal(0, 3, table.shape), variance) for part, table in tables.items()
        ]
        estimates = Residuals.from_measured(COUNTS.shape, measured)
        _, results = ReleaseCounts("people", Product(ATTRIBUTES, estimates), LEVELS).answer(plan)
        (estimate,) = results.values()
        lower, upper = estimate.interval(0.95, 1)
        held += bool(lower <= truth <= upper)
    return held


def test_intervals_hold_the_exact_count_as_often_as_they_say():
    """A right one is found wrong in one of 1e6 runs; of a variance of 4 in the place of 9, 324 would be held."""
    low, high = binom.ppf([5e-7, 1 - 5e-7], 400, 0.95)
    assert low <= count_held(9.0) <= high
    assert count_held(4.0) < low
    assert count_held(25.0) > high


@pytest.mark.parametrize(("tails", "scale"), [("laplace", 2 / 3), ("gaussian", 1.0)])
def test_noise_in_whole_rows_is_held_as_often_as_intervals_say(tails, scale):
    """Exactly, from the distribution of noise in a cell; without half a step more, they hold in 92% and 88% only."""
    places = np.arange(-40, 41)
    distribution = np.exp(-np.abs(places) / scale) if tails == "laplace" else np.exp(-(places**2) / (2 * scale**2))
    variance = 2 * scale**2 if tails == "laplace" else scale**2
    held = {}
    for step in (0.0, 1.0):
        release = make_release(NoisyTable(np.zeros(COUNTS.shape), variance), tails=tails, step=step)
        text = "SELECT COUNT(*) AS n FROM releases.people WHERE sex = 'f' AND age < 10 AND kids = 1 AND smokes"
        ((lower, upper),) = ask(text, release).interval("n")
        inside = places[(lower <= places) & (places <= upper)]
        held[step] = distribution[np.isin(places, inside)].sum() / distribution.sum()
    # No more than it must be: with one row less on both sides, it holds less often than it says.
    assert held[1.0] >= 0.95 > distribution[np.isin(places, inside[1:-1])].sum() / distribution.sum()
    assert held[0.0] < 0.925


def test_half_a_step_of_a_sum_is_that_of_its_least_weight():
    narrow, wide = (make_release(WeighedTable(COUNTS, 1.0), step=step) for step in (0.0, 1.0))
    for output, half in {"COUNT(*)": 0.5, "3 * COUNT(*)": 1.5, "SUM(kids)": 0.5}.items():
        text = f"SELECT {output} AS n FROM releases.people"
        (one, two) = (ask(text, each).interval("n")[0] for each in (narrow, wide))
        assert two == pytest.approx((one[0] - half, one[1] + half))
