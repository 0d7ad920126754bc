"""The log-rank test: that of statsmodels without noise, and a reply that is finite or none."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import chdtrc
from statsmodels.duration.survfunc import survdiff

from adomnia.distributions.simulations import draw_again
from adomnia.errors import Refusal
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.contract import BadArgument, Factor
from adomnia.methods.parts.survival.times import SurvivalCurve
from adomnia.methods.survival.log_rank import METHOD, Differences
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean
from adomnia.privacy.losses import rho_of
from kit.analyses import analyse, frame
from kit.bits import SeededBits

FRAME = frame({"time": (0, 2), "week": (1, 15)}, {"arm": ("new", "old"), "one": ("A",)}, whole=("week",))
EVENT = Factor("event", Column("event", Boolean()))
DEFAULTS = {
    "time": FRAME.numbers["week"],
    "event": EVENT,
    "group": FRAME.factors["arm"],
    "intervals": 20,
    "breaks": (),
    "by": (),
}
EXACT = Pure(Fraction(100))
NOISES = {"laplace": DiscreteLaplace(Fraction(1)), "gaussian": DiscreteGaussian(1 / (2 * rho_of(1, 1e-6)))}
INTERVALS = 20

every_noise = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)


def ask(data, price, **arguments):
    return analyse(METHOD.build(FRAME, {**DEFAULTS, **arguments}), price, data, SeededBits("log-rank"))


def people(n):
    generator = np.random.default_rng(n)
    return {
        "week": generator.integers(1, 16, n).astype(float),
        "event": generator.integers(0, 2, n) == 1,
        "arm": generator.choice(np.array(["new", "old"], dtype=object), n),
    }


def test_it_is_that_of_statsmodels_without_noise():
    data = people(300)
    table = ask(data, EXACT)
    facts = {name: read() for name, read in table.facts.items()}
    statistic, p_value = survdiff(data["week"], data["event"].astype(int), data["arm"])
    assert table.labels["group"] == ("new", "old")
    assert facts["statistic"] == pytest.approx((statistic,) * 2)
    assert facts["p_value"] == pytest.approx((p_value,) * 2)
    assert facts["df"] == (1, 1)
    observed = table.estimates["observed"]
    assert observed.values.tolist() == [data["event"][data["arm"] == arm].sum() for arm in ("new", "old")]
    assert sum(facts["expected"]) == pytest.approx(data["event"].sum())


def test_many_whole_times_have_that_of_statsmodels_by_default():
    months, data = frame({"month": (0, 60)}, whole=("month",)).numbers["month"], people(2000)
    time = np.ceil(np.random.default_rng(2).exponential(15, 2000) * np.where(data["arm"] == "new", 1.1, 1.0))
    data["month"] = np.minimum(time, 60)
    table = ask(data, EXACT, time=months, intervals=None)
    statistic, _ = survdiff(data["month"], data["event"].astype(int), data["arm"])
    assert table.facts["statistic"]()[0] == pytest.approx(statistic, rel=0.01)


def test_events_at_the_latest_of_grouped_times_count():
    days, data = frame({"day": (0, 365), "number": (0, 365)}, whole=("day",)), people(2000)
    time = np.ceil(np.random.default_rng(2).exponential(200, 2000) * np.where(data["arm"] == "new", 1.1, 1.0))
    data["day"] = data["number"] = np.minimum(time, 365)  # where half of a group have the event
    statistic, _ = survdiff(data["day"], data["event"].astype(int), data["arm"])
    for name in ("day", "number"):
        table = ask(data, EXACT, time=days.numbers[name], intervals=None)
        assert table.facts["statistic"]()[0] == pytest.approx(statistic, rel=0.05)
        observed = table.estimates["observed"].values.tolist()
        assert observed == [data["event"][data["arm"] == arm].sum() for arm in ("new", "old")]


@pytest.mark.parametrize("price", [Pure(Fraction(1)), Concentrated(Fraction(1, 40))], ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 20, 1_000])
def test_its_reply_is_a_probability_or_none(price, n):
    for change in ({}, {"event": np.zeros(n, dtype=bool)}, {"arm": np.array(["new"] * n, dtype=object)}):
        table = ask({**people(n), **change}, price)
        facts = {name: read() for name, read in table.facts.items()}
        silent = facts["p_value"][0] is None
        assert silent == (facts["statistic"][0] is None)
        assert silent == any(note.startswith("Not estimable") for note in table.notes)
        assert silent or 0 <= facts["p_value"][0] <= 1
        assert np.isfinite(facts["expected"]).all()


def test_it_is_repeated_for_each_value_of_by():
    data = {**people(400), "one": np.array(["A"] * 400, dtype=object)}
    table = ask(data, EXACT, by=(FRAME.factors["one"],))
    assert table.labels == {"one": ("A", "A"), "group": ("new", "old")}


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(BadArgument, match="between 2 and 50"):
        METHOD.build(FRAME, {**DEFAULTS, "group": FRAME.factors["one"]})
    with pytest.raises(Refusal) as refused:
        METHOD.build(frame({"time": (0, 2)}, rows_per_person=2), DEFAULTS)
    assert refused.value.code == "rows_per_person"


def test_more_groups_than_can_be_compared_are_refused():
    many = frame({}, {"arm": tuple(map(str, range(51)))}).factors["arm"]
    with pytest.raises(BadArgument, match="between 2 and 50"):
        METHOD.build(FRAME, {**DEFAULTS, "group": many})


def tables(n, times, shares=(0.5, 0.5), rates=(1, 1), ends=(2.5, 2.5), seed=()):  # noqa: PLR0913, PLR0917 - a design
    """Counts by table, group, event and interval; exponential times, censored evenly and at 2."""
    generator = np.random.default_rng([n, *seed])
    group = generator.choice(len(shares), size=(times, n), p=shares)
    event = generator.exponential(1, (times, n)) / np.array(rates)[group]
    seen = generator.uniform(0, 1, (times, n)) * np.array(ends)[group]
    place = (np.minimum(np.minimum(event, seen), 2) / 2 * INTERVALS).astype(int)
    found = np.zeros((times, len(shares), 2, INTERVALS + 1))
    happened = (event <= np.minimum(seen, 2)).astype(int)
    np.add.at(found, (np.arange(times)[:, None], group, happened, np.minimum(place, INTERVALS)), 1)
    return found


def p_values(counts, noise, *, believed=None, seed=1):
    """Of tables with noise, by who believes in that variance of it."""
    noisy = counts + np.rint(draw_again(noise, np.random.default_rng(seed), counts.shape))
    after = noisy[..., INTERVALS:].reshape(*noisy.shape[:2], 2)
    variance = noise.cumulants.variance if believed is None else believed
    events, censored = noisy[..., 1, :INTERVALS], noisy[..., 0, :INTERVALS]
    found = Differences(SurvivalCurve(events, censored, after, variance, halved=True))
    return chdtrc(counts.shape[1] - 1, found.statistic)


@pytest.mark.parametrize("groups", [2, 3])
def test_without_noise_it_is_that_of_statsmodels(groups):
    generator = np.random.default_rng(3)
    time, group = generator.integers(0, 12, 300), generator.integers(0, groups, 300)
    event = generator.integers(0, 2, 300)
    counts = np.zeros((groups, 2, 12))
    np.add.at(counts, (group, event, time), 1)
    found = Differences(SurvivalCurve(counts[:, 1], counts[:, 0], np.zeros((groups, 0)), 0.0, halved=False))
    statistic, p_value = survdiff(time, event, group)
    assert found.statistic == pytest.approx(statistic)
    assert chdtrc(groups - 1, found.statistic) == pytest.approx(p_value)


@every_noise
@pytest.mark.parametrize(
    "design",
    [{}, {"shares": (0.8, 0.2)}, {"rates": (0.1, 0.1)}, {"ends": (2.5, 1.0)}, {"shares": (0.5, 0.3, 0.2)}],
    ids=["even", "uneven", "rare", "censored unlike", "three groups"],
)
@pytest.mark.parametrize("n", [300, 1_000])
def test_equal_groups_are_told_apart_at_the_stated_rate(design, noise, n):
    """Of 600 tests at 5%, more than 10.5% reject in one of 10**7 runs."""
    full = {"rates": (1, 1, 1), "ends": (2.5, 2.5, 2.5), **design} if len(design.get("shares", ())) == 3 else design
    rejected = (p_values(tables(n, 600, **full), noise) < 0.05).mean()
    assert 0.005 <= rejected <= 0.105


@pytest.mark.soak
@every_noise
@pytest.mark.parametrize("n", [300, 1_000, 10_000])
def test_equal_groups_are_told_apart_at_the_stated_rate_in_many_tables(noise, n):
    """Of 4,000 tests at 5.5%, more than 7.8% reject in one of 10**9 runs (binomial); at 3%, fewer than 1.5%."""
    runs = [(p_values(tables(n, 500, seed=(run,)), noise, seed=run) < 0.05).mean() for run in range(8)]
    assert 0.015 <= np.mean(runs) <= 0.078


def test_who_knows_nothing_of_the_noise_rejects_too_often():
    counts = tables(300, 400)
    assert (p_values(counts, NOISES["gaussian"], believed=0.0) < 0.05).mean() > 0.2


@every_noise
def test_different_groups_are_told_apart(noise):
    assert (p_values(tables(2_000, 100, rates=(1, 1.5)), noise) < 0.05).mean() > 0.85


def test_intervals_of_more_noise_than_events_weigh_less():
    counts = tables(500, 1)[0]
    after = counts[..., INTERVALS:].reshape(2, 2)
    loud, quiet = (
        Differences(
            SurvivalCurve(counts[:, 1, :INTERVALS], counts[:, 0, :INTERVALS], after, variance, halved=True)
        ).weights
        for variance in (2.0, 0.0)
    )
    assert (quiet == 1).all()
    assert loud[0] > loud[8] > 0
    assert (loud < 1).all()


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6])
def test_any_counts_have_a_finite_statistic(scale):
    counts = np.random.default_rng(4).normal(0, scale, (50, 3, 2, 7))
    found = Differences(SurvivalCurve(counts[..., 0, :], counts[..., 1, :], counts[..., 0, :2], scale**2, halved=True))
    assert np.isfinite(found.statistic).all()
    assert (found.statistic >= 0).all()
