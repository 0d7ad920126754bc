"""Kaplan-Meier: the curve of statsmodels without noise, coverage with it, and finite whatever is counted."""

from fractions import Fraction

import numpy as np
import pytest
from statsmodels.duration.survfunc import SurvfuncRight

from adomnia.errors import Refusal
from adomnia.methods.contract import Factor
from adomnia.methods.survival.kaplan_meier import METHOD
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean
from adomnia.privacy.losses import rho_of
from kit.analyses import analyse, frame
from kit.bits import SeededBits

FRAME = frame({"time": (0, 2), "week": (1, 15)}, {"arm": ("new", "old")}, whole=("week",))
EVENT = Factor("event", Column("event", Boolean()))
DEFAULTS = {"time": FRAME.numbers["time"], "event": EVENT, "intervals": 20, "breaks": (), "by": ()}
PRICES = {"epsilon": Pure(Fraction(1)), "rho": Concentrated(rho_of(1, 1e-6))}
EXACT = Pure(Fraction(100))
TRUE = np.exp(-np.linspace(0.1, 2, 20))

every_price = pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)


def ask(data, price, seed="survival", **arguments):
    return analyse(METHOD.build(FRAME, {**DEFAULTS, **arguments}), price, data, SeededBits(seed))


def people(n, seed):
    """Exponential times of mean 1, censored evenly until 2.5 and at 2."""
    generator = np.random.default_rng(seed)
    event, seen = generator.exponential(1, n), np.minimum(generator.uniform(0, 2.5, n), 2)
    return {"time": np.minimum(event, seen), "event": event <= seen}


def covering(price, n, times):
    """How often survival is covered at each time, at all times, and the median."""
    alone, together, median = [], [], []
    for place in range(times):
        found = ask(people(n, place), price, place).estimates
        alone.append(inside(found["survival"].interval(0.95, 1), TRUE))
        together.append(inside(found["survival"].interval(0.95, 20), TRUE).all())
        median.append(inside(found["median"].interval(0.95, 1), np.log(2))[0])
    return np.mean(alone, axis=0), np.mean(together), np.mean(median)


def inside(bounds, true):
    return (bounds[0] <= true) & (true <= bounds[1])


def test_whole_times_have_the_curve_of_statsmodels_without_noise():
    generator = np.random.default_rng(1)
    data = {"week": generator.integers(1, 16, 400).astype(float), "event": generator.integers(0, 2, 400) == 1}
    table = ask(data, EXACT, time=FRAME.numbers["week"])
    known = SurvfuncRight(data["week"], data["event"].astype(int))
    assert table.labels["time"] == tuple(known.surv_times)
    assert table.estimates["survival"].values == pytest.approx(known.surv_prob)
    assert table.facts["standard_error"]() == pytest.approx(tuple(known.surv_prob_se), rel=1e-6)
    assert table.facts["at_risk"]() == pytest.approx(tuple(known.n_risk))
    assert table.estimates["median"].values[0] == known.quantile(0.5)


MONTHS = frame({"month": (0, 60), "day": (0, 365), "number": (0, 60), "half": (0, 60)}, whole=("month", "day"))


def whole_people(n, seed, name, most):
    """Geometric times, and censored evenly and at the end of the study; `half` has steps of a half."""
    generator, step = np.random.default_rng(seed), 0.5 if name == "half" else 1.0
    event = np.ceil(generator.exponential(most / 4, n) / step) * step
    seen = np.minimum(np.ceil(generator.uniform(0, 1.3 * most, n) / step) * step, most)
    return {name: np.minimum(event, seen), "event": event <= seen}


def ask_whole(name, **arguments):
    return METHOD.build(MONTHS, {**DEFAULTS, "intervals": None, "time": MONTHS.numbers[name], **arguments})


@pytest.mark.parametrize(
    ("name", "most", "off"), [("month", 60, 1e-12), ("day", 365, 0.003), ("number", 60, 0.005), ("half", 60, 0.005)]
)
def test_the_row_of_a_time_has_survival_beyond_it(name, most, off):
    """An event at the time counts: in intervals of three months, that of the time before is 0.06 higher."""
    data = whole_people(20_000, 1, name, most)
    table = analyse(ask_whole(name), EXACT, data, SeededBits("whole"))
    known = SurvfuncRight(data[name], data["event"].astype(int))
    exact = [known.surv_prob[known.surv_times <= time][-1] for time in table.labels["time"][1:]]
    assert table.labels["time"][-1] == most
    assert table.estimates["survival"].values[1:] == pytest.approx(np.ravel(exact), abs=off)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("month", {}), ("month", {"intervals": 20}), ("number", {}), ("half", {})],
    ids=["alone", "intervals", "number", "half"],
)
def test_bands_of_whole_times_cover_survival_and_not_that_of_the_time_before(name, arguments):
    """Of 20 bands that cover with probability 0.95, fewer than 10 do in 6 of 10**10 runs (binomial)."""
    within, before, widths = [], [], []
    for seed in range(20):
        data = whole_people(10_000, seed, name, 60)
        table = analyse(ask_whole(name, **arguments), PRICES["epsilon"], data, SeededBits(str(seed)))
        times = np.array(table.labels["time"])
        lower, upper = table.estimates["survival"].interval(0.95, len(times))
        for found, beside in ((within, 0), (before, 1)):
            found.append(inside((lower, upper), np.exp(-(times - beside) / 15))[1:11].all())
        widths.append(np.median(upper - lower))
    assert sum(within) >= 10 > sum(before)
    assert np.median(widths) < 0.08


def test_a_life_table_comes_near_the_curve_of_exact_times():
    data = people(20_000, 1)
    known = SurvfuncRight(data["time"], data["event"].astype(int))
    exact = [known.surv_prob[known.surv_times <= end][-1] for end in np.linspace(0.1, 2, 20)]
    found = ask(data, EXACT)
    assert found.estimates["survival"].values == pytest.approx(np.array(exact), abs=0.003)
    assert found.estimates["median"].values[0] == pytest.approx(known.quantile(0.5), abs=0.01)
    assert any("life table" in note for note in found.notes)


@every_price
def test_intervals_bands_and_medians_cover(price):
    """Of 40 that cover with probability 0.95, fewer than 25 do in 4 of 10**11 runs (binomial): 22 such shares."""
    alone, together, median = covering(price, 1_000, 40)
    assert alone.min() >= 25 / 40
    assert together >= 25 / 40
    assert median >= 25 / 40


@pytest.mark.parametrize("part", [0.01, 0.99], ids=["before the events", "after them"])
def test_intervals_cover_wherever_people_are_censored_within_an_interval(part):
    """Of 10 that cover with probability 0.95, fewer than 4 do in 8 of 10**8 runs (binomial): 40 such shares.

    Intervals around the life table alone hold some of the times in no table.
    """
    hits = []
    for seed in range(10):
        generator = np.random.default_rng(seed)
        event, seen = generator.exponential(1, 20_000), generator.exponential(1, 20_000)
        seen = np.minimum((np.floor(seen * 10) + part) / 10, 2)
        data = {"time": np.minimum(event, seen), "event": event <= seen}
        hits.append(inside(ask(data, PRICES["epsilon"], seed).estimates["survival"].interval(0.95, 1), TRUE))
    assert np.sum(hits, axis=0).min() >= 4


def test_the_interval_of_a_median_holds_wherever_events_are_within_an_interval():
    """All events are late in their intervals. One hazard within an interval would have a median of 0.69."""
    generator = np.random.default_rng(1)
    time = np.minimum(np.floor(generator.exponential(1, 20_000) * 5) / 5 + 0.199, 2)
    median = ask({"time": time, "event": time < 2}, PRICES["epsilon"], intervals=10).estimates["median"]
    lower, upper = median.interval(0.95, 1)
    assert (lower[0], upper[0]) == pytest.approx((0.6, 0.8))
    assert lower[0] <= np.median(time) <= upper[0]


@pytest.mark.soak
@every_price
@pytest.mark.parametrize("n", [300, 1_000, 10_000])
def test_intervals_cover_in_many_tables(price, n):
    alone, together, median = covering(price, n, 1_000)
    assert alone.min() >= 0.92
    assert together >= 0.93
    assert median >= 0.92


UGLY = {
    "nobody": ([], []),
    "one": ([1.0], [True]),
    "two": ([0.0, 2.0], [True, False]),
    "all censored": ([0.5, 1.0, 1.5] * 100, [False] * 300),
    "all events": ([0.5, 1.0, 1.5] * 100, [True] * 300),
    "all at once": ([1.0] * 400, [True] * 400),
    "at the bound": ([2.0] * 400, [True, False] * 200),
    "at the start": ([0.0] * 400, [True, False] * 200),
    "beyond": ([-1e300, 1e300] * 100, [True] * 200),
    "missing": ([np.nan] * 50, [True] * 50),
}


@every_price
@pytest.mark.parametrize("name", UGLY)
@pytest.mark.parametrize("intervals", [1, 20])
def test_ugly_data_has_a_falling_curve_within_its_band(name, price, intervals):
    time, event = UGLY[name]
    table = ask({"time": np.array(time, dtype=float), "event": np.array(event, dtype=bool)}, price, intervals=intervals)
    survival = table.estimates["survival"]
    assert (np.diff(survival.values) <= 0).all()
    assert ((survival.values >= 0) & (survival.values <= 1)).all()
    for cells in (1, intervals, 7 * intervals):
        lower, upper = survival.interval(0.95, cells)
        assert ((lower >= 0) & (lower <= survival.values)).all()
        assert ((upper <= 1) & (upper >= survival.values)).all()
    median = table.estimates["median"]
    lower, upper = median.interval(0.95, 1)
    known = ~np.isnan(median.values)
    assert (lower[known] <= median.values[known]).all()
    assert (median.values[known] <= upper[known]).all()
    assert ((lower[~known] == -np.inf) & (upper[~known] == np.inf)).all()
    assert all(fact is None or np.isfinite(fact) for read in table.facts.values() for fact in read())


def test_nobody_with_an_event_survives_all_the_same():
    table = ask({"time": np.full(5_000, 1.5), "event": np.zeros(5_000, dtype=bool)}, PRICES["epsilon"])
    assert table.estimates["survival"].values[:14] == pytest.approx(np.ones(14), abs=0.01)
    assert np.isnan(table.estimates["median"].values).all()


def test_where_nobody_is_left_the_interval_reaches_to_zero():
    time = np.concatenate([np.random.default_rng(1).uniform(0, 1, 2_000)])
    table = ask({"time": time, "event": np.arange(2_000) % 2 == 0}, PRICES["rho"])
    lower, _ = table.estimates["survival"].interval(0.95, 1)
    assert lower[-1] == 0
    assert table.facts["standard_error"]()[-1] is None
    assert any("reaches to 0" in note for note in table.notes)


def test_a_band_is_wider_than_intervals():
    survival = ask(people(1_000, 1), PRICES["epsilon"]).estimates["survival"]
    alone, together = (np.diff(survival.interval(0.95, cells), axis=0)[0] for cells in (1, 20))
    assert (together > 1.2 * alone).all()


def test_each_group_has_its_curve():
    data = {**people(2_000, 1), "arm": np.array(["new", "old"] * 1_000, dtype=object)}
    table = ask(data, PRICES["epsilon"], by=(FRAME.factors["arm"],))
    assert table.labels["arm"] == ("new",) * 20 + ("old",) * 20


def test_rows_of_one_person_are_refused():
    with pytest.raises(Refusal) as refused:
        METHOD.build(frame({"time": (0, 2)}, rows_per_person=2), DEFAULTS)
    assert refused.value.code == "rows_per_person"
