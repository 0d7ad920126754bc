"""The log-rank test: that of statsmodels without noise, and a reply that is finite or none."""

from fractions import Fraction

import numpy as np
import pytest
from statsmodels.duration.survfunc import survdiff

from adomnia.errors import Refusal
from adomnia.methods.contract import BadArgument, Factor
from adomnia.methods.survival.log_rank import METHOD
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean
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
        assert silent == any(note.startswith("No reply") for note in table.notes)
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
