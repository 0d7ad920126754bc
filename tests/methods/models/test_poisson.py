"""Poisson regression: statsmodels' fit where there is no noise, intervals that cover where there is."""

import numpy as np
import pytest
import statsmodels.formula.api as smf
from pandas import DataFrame
from statsmodels.genmod.families import Poisson

from adomnia.errors import Refusal
from adomnia.methods.contract import BadArgument
from adomnia.methods.models.poisson import METHOD
from adomnia.methods.parts.models.coefficients import exponentiate_table
from adomnia.methods.parts.models.predictor import predict
from adomnia.plans.plan import canonical
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.losses import rho_of
from adomnia.sql.lower import lower
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.columns import KINDS
from kit.describing import covers_as_often
from sql.hospital import HOSPITAL

FRAME = frame({"y": (0, 20), "x": (-1, 1), "z": (0, 10), "low": (-1, 5)}, {"city": ("A", "B")}, whole=("y",))
PRICES = [Pure(1), Concentrated(rho_of(1, 1e-6))]


def build(formula, inference="population", exposure=None, given=FRAME):
    named = None if exposure is None else given.numbers[exposure]
    return METHOD.build(given, {"formula": formula, "inference": inference, "exposure": named}).specialize_for(
        PRICES[0]
    )


def draw(rows, seed=0):
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-1, 1, rows), rng.uniform(0, 10, rows)
    city = np.array(["A", "B"], dtype=object)[rng.integers(0, 2, rows)]
    y = np.minimum(rng.poisson(np.exp(0.8 + 0.6 * x + 0.05 * z - 0.3 * (city == "B"))), 20).astype(float)
    return {"y": y, "x": x, "z": z, "low": x, "city": city}


TRUTH = np.array([0.8, 0.6, 0.05, -0.3])


def read(table):
    errors = [np.nan if each is None else each for each in table.facts["standard_error"]()]
    return table.estimates["estimate"].values, np.array(errors)


def scatter(counts, fit):
    """How many times larger standard errors are for counts whose variance is not their mean."""
    means = np.asarray(fit.predict())
    return np.sqrt(((counts - means) ** 2).sum() / means.sum())


@pytest.mark.parametrize("price", [Pure(10**5), Concentrated(10**11)], ids=["Pure", "Concentrated"])
@pytest.mark.parametrize("formula", ["y ~ x + z + city", "y ~ 0 + city + x:city", "y ~ 1"])
def test_without_noise_it_is_the_fit_of_statsmodels(formula, price):
    data = draw(1500)
    found, errors = read(analyse(build(formula), price, data, SeededBits("known")))
    expected = smf.poisson(formula, DataFrame(data)).fit(disp=0)
    assert sorted(found) == pytest.approx(sorted(expected.params), abs=0.05 * expected.bse.max())
    assert sorted(errors) == pytest.approx(sorted(expected.bse * scatter(data["y"], expected)), rel=0.03)


def test_rate_ratios_are_those_of_statsmodels():
    data = draw(1500)
    table = exponentiate_table(analyse(build("y ~ x + z + city"), Pure(10**5), data, SeededBits("known")))
    expected = np.exp(smf.poisson("y ~ x + z + city", DataFrame(data)).fit(disp=0).params)
    assert sorted(table.estimates["estimate"].values) == pytest.approx(sorted(expected), rel=0.01)


def cover(price, runs, rows):
    """How often intervals at 95% hold the truth, and how many there were."""
    model, held, replied = build("y ~ x + z + city"), 0, 0
    for run in range(runs):
        values, errors = read(analyse(model, price, draw(rows, run), SeededBits(f"cover {run}")))
        told = ~np.isnan(errors)
        held += int((np.abs(values - TRUTH)[told] < 1.96 * errors[told]).sum())
        replied += int(told.sum())
    return held / replied, replied / (4 * runs)


def test_intervals_cover():
    """Of 100 intervals or more, 95% held: below 80% by chance in under 1e-6."""
    held, replied = cover(PRICES[1], runs=30, rows=5000)
    assert replied > 0.9
    assert held > 0.80


STAYS = frame({"days": (0, 60)}, {"ward": ("A", "B")}, whole=("days",))


def draw_stays(rows, seed):
    """Days in hospital, in one ward a quarter longer: their variance is about eight times their mean."""
    rng = np.random.default_rng(seed)
    in_b = rng.integers(0, 2, rows)
    days = np.minimum(np.ceil(rng.exponential(8 * np.where(in_b, 1.25, 1.0))), 60)
    return {"days": days, "ward": np.array(["A", "B"], dtype=object)[in_b]}


@pytest.mark.parametrize("price", [Pure(8), Concentrated(1)], ids=["Pure", "Concentrated"])
def test_counts_that_scatter_farther_than_poissons_are_covered_too(price):
    """Of 60 that are covered with probability 0.93, fewer than 39 are in 1e-9 of all runs; by Poisson's own standard
    errors half of them were."""
    whole = draw_stays(400_000, 99)
    truth = np.diff([np.log(whole["days"][whole["ward"] == each].mean()) for each in "AB"])[0]
    model, held, alone = METHOD.build(STAYS, {"formula": "days ~ ward", "inference": "population"}), 0, 0
    for run in range(60):
        data, bits = draw_stays(3000, run), f"stays {run}"
        for asked in (model, model.specialize_for(price)):
            lower, upper = analyse(asked, price, data, SeededBits(bits)).estimates["estimate"].interval(0.95, 1)
            covered = int(lower[1] <= truth <= upper[1])
            held, alone = held + covered * asked.dispersed, alone + covered * (not asked.dispersed)
    assert held >= 39
    assert alone < 39


def test_a_note_tells_how_far_counts_scatter():
    model = METHOD.build(STAYS, {"formula": "days ~ ward", "inference": "population"}).specialize_for(Pure(100))
    notes = analyse(model, Pure(100), draw_stays(5000, 1), SeededBits("note")).notes
    (told,) = (note for note in notes if "times that of a Poisson count" in note)
    assert float(told.split("about ")[1].split(" times")[0]) == pytest.approx(8, rel=0.15)


def test_intervals_about_the_data_need_no_dispersion():
    model = METHOD.build(STAYS, {"formula": "days ~ ward", "inference": "data"}).specialize_for(Pure(1))
    assert not model.dispersed
    assert len(model.shares) == len(METHOD.build(STAYS, {"formula": "days ~ ward", "inference": "data"}).shares)


def test_where_the_last_step_is_a_long_one_the_end_of_the_way_is_covered():
    """200 people with few events and a bound far above: the intercept was missed by two of five."""
    kind = KINDS["counts with zeros"]
    rare = frame({"y": (0, 100)}, {"city": ("A", "B")}, whole=("y",))
    model = METHOD.build(rare, {"formula": "y ~ city", "inference": "population"}).specialize_for(Pure(1))
    truth, rng, held = np.log(kind.values((np.arange(10**5) + 0.5) / 10**5).mean()), np.random.default_rng(4), 0
    for run in range(60):
        city = np.array(["A", "B"], dtype=object)[rng.integers(0, 2, 200)]
        table = analyse(model, Pure(1), {"y": kind.values(rng.random(200)), "city": city}, SeededBits(f"far {run}"))
        lower, upper = table.estimates["estimate"].interval(0.95, 1)
        held += int(lower[0] <= truth <= upper[0])
    assert held >= 43  # of 60 that are covered with probability 0.93, fewer are in 1e-6 of all runs


COUNTS = frame({"visits": (0, 50), "rare": (0, 10), "age": (18, 90)}, {"sex": ("F", "M")}, ("visits", "rare", "age"))


def draw_counts(rows, seed):
    """Numbers of visits far below their bound, and rare ones that are 0 for two people of three."""
    rng = np.random.default_rng(seed)
    age, male = np.clip(np.round(rng.normal(45, 15, rows)), 18, 90), rng.integers(0, 2, rows)
    visits = np.minimum(rng.poisson(np.exp(-0.5 + 0.02 * age + 0.4 * male)), 50).astype(float)
    rare = np.minimum(rng.poisson(np.exp(-2 + 0.02 * age)), 10).astype(float)
    return {"visits": visits, "rare": rare, "age": age, "sex": np.array(["F", "M"], dtype=object)[male]}


@pytest.mark.parametrize(
    ("formula", "truth", "widest"), [("visits ~ age + sex", [-0.5, 0.02, 0.4], 0.1), ("rare ~ age", [-2, 0.02], 0.06)]
)
def test_2_000_people_have_a_reply_that_covers(formula, truth, widest):
    """Of 50 that are silent with probability 0.02, 10 are in 5 of 10**8 runs; of 50 slopes that are covered with
    probability 0.93, fewer than 31 are in 5 of 10**11 runs (binomial). It was silent in a quarter to a third."""
    model = METHOD.build(COUNTS, {"formula": formula, "inference": "population"}).specialize_for(PRICES[0])
    silent, held, widths = 0, 0, []
    for run in range(50):
        estimate = analyse(model, PRICES[0], draw_counts(2000, run), SeededBits(f"counts {run}")).estimates["estimate"]
        lower, upper = estimate.interval(0.95, 1)
        silent += int(np.isnan(estimate.values).any())
        held += int(lower[1] <= truth[1] <= upper[1])
        widths.append(upper[1] - lower[1])
    assert silent < 10
    assert held >= 31
    assert np.median(widths) < widest


@pytest.mark.soak
@pytest.mark.parametrize("price", PRICES, ids=["Pure", "Concentrated"])
@pytest.mark.parametrize("rows", [10_000, 100_000])
def test_intervals_cover_for_the_usual_prices(price, rows):
    """400 intervals or more: the bars are 92% and 98.5%, here with four standard deviations to spare."""
    held, replied = cover(price, runs=110, rows=rows)
    assert replied > 0.9
    assert 0.92 - 0.04 < held <= 1.0


@pytest.mark.parametrize("price", PRICES, ids=["Pure", "Concentrated"])
@pytest.mark.parametrize("rows", [0, 1, 2, 30, 3000])
@pytest.mark.parametrize("value", [0.0, 20.0, 1e300])
def test_constant_responses_give_finite_numbers_or_no_reply(price, rows, value):
    data = draw(rows, seed=rows)
    data["y"] = np.full(rows, value)
    table = analyse(build("y ~ x + city"), price, data, SeededBits(f"ugly {rows}"))
    values, errors = read(table)
    told = ~np.isnan(values)
    assert np.all(np.isfinite(values[told]) & np.isfinite(errors[told]))
    assert told.all() or any("Not estimable:" in note for note in table.notes)


def test_what_may_be_negative_is_refused():
    with pytest.raises(Refusal, match="may be -1"):
        build("low ~ x")


def test_predictions_are_expected_counts():
    table = analyse(build("y ~ x"), Pure(10**5), draw(2000), SeededBits("predict"))
    ((value, lower, upper),) = predict(table.model, [{"x": 0.5}])
    assert 0 < lower < value < upper
    level, slope = read(table)[0]
    assert value == pytest.approx(np.exp(level + slope * 0.5))


def test_a_response_far_below_one_is_refused_before_data():
    tiny = frame({"y": (0, 1e-20), "x": (-1, 1)})
    with pytest.raises(Refusal, match="multiply it in the SELECT"):
        build("y ~ x", given=tiny)


def test_a_response_whose_squares_are_no_numbers_is_refused_before_data():
    """They ended in a bare OverflowError, or in a failure after payment."""
    huge = frame({"y": (0, 1e160), "x": (-1, 1)})
    with pytest.raises(BadArgument, match=r"may be 1e\+160"):
        build("y ~ x", given=huge)
    large = build("y ~ x", given=frame({"y": (0, 1e100), "x": (-1, 1)}))
    for price in (Pure(1), Concentrated(1)):
        assert large.specialize_for(price).planned_measures(price)


DAYS = frame({"y": (0, 60), "x": (-1, 1), "days": (1, 90)}, {"city": ("A", "B")}, whole=("y", "days"))


def draw_days(rows, seed=0):
    """Counts of so many days each, whole numbers and often 0: 0.1 a day and person, where x is 0."""
    rng = np.random.default_rng(seed)
    x, city = rng.uniform(-1, 1, rows), np.array(["A", "B"], dtype=object)[rng.integers(0, 2, rows)]
    days = np.where(rng.random(rows) < 0.3, rng.integers(1, 31, rows), 90).astype(float)
    y = np.minimum(rng.poisson(days * np.exp(np.log(0.1) + 0.5 * x - 0.4 * (city == "B"))), 60).astype(float)
    return {"y": y, "x": x, "days": days, "city": city}


@pytest.mark.parametrize("price", [Pure(10**5), Concentrated(10**11)], ids=["Pure", "Concentrated"])
@pytest.mark.parametrize("formula", ["y ~ x + city", "y ~ 0 + city + x:city", "y ~ 1"])
def test_with_an_exposure_it_is_the_fit_of_statsmodels(formula, price):
    data = draw_days(1500)
    table = analyse(build(formula, exposure="days", given=DAYS), price, data, SeededBits("known"))
    found, errors = read(table)
    expected = smf.poisson(formula, DataFrame(data), offset=np.log(data["days"])).fit(disp=0)
    assert sorted(found) == pytest.approx(sorted(expected.params), abs=0.1 * expected.bse.max())
    assert sorted(errors) == pytest.approx(sorted(expected.bse * scatter(data["y"], expected)), rel=0.05)
    assert any("exposure of all complete rows" in note for note in table.notes)


def test_intervals_with_an_exposure_cover_and_without_it_they_do_not():
    """Of 75 intervals, 95% held: below 75% by chance in under 1e-9."""
    truth, held, blind, width = np.array([np.log(0.1), 0.5, -0.4]), 0, 0, []
    for run in range(25):
        data = draw_days(4000, run)
        for exposure in ("days", None):
            table = analyse(
                build("y ~ x + city", exposure=exposure, given=DAYS), PRICES[0], data, SeededBits(f"days {run}")
            )
            lower, upper = table.estimates["estimate"].interval(0.95, 1)
            covered = int(((lower <= truth) & (truth <= upper)).sum())
            held, blind = held + covered * (exposure is not None), blind + covered * (exposure is None)
            width += [upper - lower] if exposure is not None else []
    assert held > 75 * 0.75
    assert blind <= 50  # the intercept is that of a count, and not of a rate
    assert np.median(width, axis=0) == pytest.approx([0.2, 0.3, 0.3], abs=0.25)


def test_rows_without_an_exposure_are_left_out():
    data = draw_days(2000)
    data["days"][::2] = np.nan
    data["y"][::2] = 60.0
    found, _ = read(analyse(build("y ~ 1", exposure="days", given=DAYS), Pure(10**5), data, SeededBits("missing")))
    rest = {name: values[1::2] for name, values in data.items()}
    expected = np.log(rest["y"].sum() / rest["days"].sum())
    assert found == pytest.approx([expected], abs=0.01)


def test_an_exposure_is_part_of_what_is_asked_and_its_absence_is_not():
    without, with_it = (canonical(build("y ~ x", exposure=each, given=DAYS)) for each in (None, "days"))
    assert without != with_it


def test_an_exposure_that_may_be_zero_is_refused():
    given = frame({"y": (0, 60), "days": (0, 90)}, {}, whole=("y",))
    with pytest.raises(BadArgument, match=r"exposure => CLAMP\(days, 0.09, 90\)"):
        build("y ~ 1", exposure="days", given=given)


def test_predictions_are_of_an_exposure_of_one():
    table = analyse(build("y ~ city", exposure="days", given=DAYS), Pure(10**5), draw_days(3000), SeededBits("rate"))
    ((mean, lower, upper),) = predict(table.model, [{"city": "A"}])
    assert lower < mean < upper
    assert mean == pytest.approx(0.1 * np.sinh(0.5) / 0.5, rel=0.05)  # x is spread evenly


def test_weights_and_an_exposure_go_together():
    given = frame({"y": (0, 60), "x": (-1, 1), "days": (1, 90), "w": (0, 4)}, {"city": ("A", "B")}, whole=("y", "w"))
    data = draw_days(3000)
    data["w"] = np.random.default_rng(2).integers(0, 5, 3000).astype(float)
    named = {"exposure": given.numbers["days"], "weight": given.numbers["w"]}
    built = METHOD.build(given, {"formula": "y ~ x", "inference": "population", **named})
    found, _ = read(analyse(built, Pure(10**5), data, SeededBits("both")))
    held = {"freq_weights": data["w"], "offset": np.log(data["days"])}
    expected = smf.glm("y ~ x", DataFrame({"y": data["y"], "x": data["x"]}), family=Poisson(), **held).fit()
    assert found == pytest.approx(expected.params.to_numpy(), abs=0.005)


@pytest.mark.parametrize(("name", "widest"), [("skewed money", 0.12), ("counts with zeros", 0.18), ("smooth", 0.08)])
def test_intervals_hold_the_slope_of_a_skewed_column(name, widest):
    """Newton's steps are made for even columns: without what is allowed for that, half of them miss it."""
    kind, rows, draws = KINDS[name], 20_000, 40
    every = kind.values((np.arange(100_000) + 0.5) / 100_000)
    given = frame({"x": kind.bounds, "y": (0, 20)}, {}, whole=("x", "y") if kind.whole else ("y",))
    asked, random, hits, widths = build("y ~ x", given=given), np.random.default_rng(6), 0, []
    for seed in range(draws):
        x = kind.values(random.random(rows))
        y = np.minimum(random.poisson(np.exp(0.25 * (x - every.mean()) / every.std())), 20).astype(float)
        table = analyse(asked, PRICES[0], {"x": x, "y": y}, SeededBits(f"{name} {seed}"))
        lower, upper = (each[1] * every.std() for each in table.estimates["estimate"].interval(0.95, 1))
        hits += bool(lower <= 0.25 <= upper)
        widths.append(upper - lower)
    assert covers_as_often(hits, draws, 0.93)
    assert np.median(widths) < widest
    assert any("Values of `x` " in note for note in table.notes) == (name != "smooth")


@pytest.mark.parametrize("method", ["poisson", "huber_regression"])
def test_products_that_no_engine_adds_up_exactly_are_refused_with_a_fix(method):
    text = f"SELECT * FROM {method}(people, formula => 'age ~ poly(salary, 2) + {{}}')"
    with pytest.raises(Refusal, match=r"too large to be added up exactly.*Fix: use lower powers"):
        lower(text.format("poly(score, 2)"), HOSPITAL)
    lower(text.format("score"), HOSPITAL)
