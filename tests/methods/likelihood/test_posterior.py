"""Posteriors: calibrated under strong noise where the naive one is not, and the same as by listing all cases."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from adomnia.errors import Refusal
from adomnia.methods.contract import BadArgument
from adomnia.methods.likelihood.posterior import METHOD, Beliefs, Mixture
from adomnia.methods.parts.likelihood.conjugates import CONJUGATES
from adomnia.privacy.events import Concentrated, Pure
from kit.analyses import Arms, analyse, frame
from kit.bits import SeededBits

FRAME = frame({"x": (0, 40), "z": (-30, 30), "k": (0, 30), "b": (0, 1)}, {"city": ("A", "B")}, whole=("k", "b"))
STRONG = Pure(Fraction(1, 8))
PRICES = {"epsilon": Pure(Fraction(1)), "rho": Concentrated(Fraction(1, 8))}


def draw_normal(generator):
    square = 1 / generator.gamma(6.0, 1 / 80.0)
    mu = generator.normal(2.0, np.sqrt(square / 4))
    return (mu, np.sqrt(square)), lambda n: generator.normal(mu, np.sqrt(square), n)


def draw_bernoulli(generator):
    chance = generator.beta(2, 5)
    return (chance,), lambda n: (generator.random(n) < chance) * 1.0


def draw_poisson(generator):
    mean = generator.gamma(3, 2.0)
    return (mean,), lambda n: generator.poisson(mean, n) * 1.0


def draw_exponential(generator):
    rate = generator.gamma(8, 1 / 20)
    return (rate,), lambda n: generator.exponential(1 / rate, n)


# The column, the prior, and how a distribution and then its values are drawn from it.
CASES = {
    "bernoulli": ("b", (2, 5), draw_bernoulli),
    "poisson": ("k", (3, Fraction(1, 2)), draw_poisson),
    "exponential": ("x", (8, 20), draw_exponential),
    "normal": ("z", (2, 4, 6, 80), draw_normal),
}
every_family = pytest.mark.parametrize("family", CASES)


def build(family, **arguments):
    column, prior, _ = CASES[family]
    given = {"column": FRAME.numbers[column], "family": family, "prior": tuple(map(Fraction, prior)), "by": ()}
    return METHOD.build(FRAME, {**given, **arguments})


def measure(analysis, data, price, seed):
    return Arms(data, SeededBits(seed)).measure(analysis.planned_measures(price)[0])


def believe(family, values, price, seed="posterior", **arguments):
    analysis = build(family, **arguments)
    measured = measure(analysis, {CASES[family][0]: np.asarray(values, dtype=float)}, price, seed)
    return Beliefs(analysis.conjugate, analysis.prior, analysis.sample, measured), measured


def rank(mixture, value):
    """How much of a posterior is below a value."""
    return float(mixture._weights @ mixture._distribution.below(np.array(value), *mixture._parameters))


def plug_in(analysis, measured):
    """The conjugate formula, fed with noisy sums as if they were exact."""
    domain, conjugate = analysis.sample.vector.variables[0].domain, analysis.conjugate
    entries = measured.values.astype(float) / float(domain.width) ** (len(measured.values) - 1)
    rows = max(entries.sum(), conjugate.fewest, 1.0)
    width, start = float(domain.width * domain.step), float(domain.lower)
    mean = np.clip(entries @ np.linspace(0, 1, len(entries)) / rows, 1e-3, 1 - 1e-3)
    if len(entries) == 2:
        sums = (np.array([rows * (start + width * mean)]),)
    else:
        spread = np.clip(entries[2] / rows - mean**2, 1e-4, 0.25)
        sums = (np.array([start + width * mean]), np.array([width**2 * spread]))
    distributions = conjugate.update(analysis.prior, np.array([rows]), *sums)
    return [Mixture(distribution, np.ones(1)) for distribution in distributions]


def ranks(family, times, price=STRONG):
    """Of each parameter that is drawn from the prior, in its posterior and in the naive one."""
    analysis, (column, _, draw), right, naive = build(family), CASES[family], [], []
    for place in range(times):
        truth, values = draw(generator := np.random.default_rng((77, place)))
        data = {column: values(int(generator.integers(2, 80)))}
        measured = measure(analysis, data, price, f"{family} {place}")
        beliefs = Beliefs(analysis.conjugate, analysis.prior, analysis.sample, measured)
        right.append(list(map(rank, beliefs.distributions, truth)))
        naive.append(list(map(rank, plug_in(analysis, measured), truth)))
    return np.array(right), np.array(naive)


def is_uniform(found):
    """Whether ranks are uniform, in their order and in the outer tenth: a false alarm in 10**6 runs."""
    outer = (np.abs(found - 0.5) > 0.45).sum(axis=0)
    order = min(stats.kstest(each, "uniform").pvalue for each in found.T)
    tails = min(stats.binomtest(int(each), len(found), 0.1).pvalue for each in outer)
    return min(order, tails) > 2.5e-7


@pytest.mark.parametrize(
    ("family", "times"), [("bernoulli", 100), ("poisson", 50), ("exponential", 50), ("normal", 30)]
)
def test_the_truth_is_anywhere_in_its_posterior_but_not_in_the_naive_one(family, times):
    right, naive = ranks(family, times)
    assert is_uniform(right)
    assert not is_uniform(naive)


@pytest.mark.soak
@every_family
@pytest.mark.parametrize("price", [STRONG, Pure(Fraction(2)), Concentrated(Fraction(1, 20))], ids=str)
def test_posteriors_are_calibrated_in_many_tables(family, price):
    assert is_uniform(ranks(family, 1_000, price)[0])


def list_cases(measured, width, most_rows):
    """All numbers of rows and sums that are possible, and the exact distribution of the noise at each."""
    rows, total = np.meshgrid(np.arange(most_rows), np.arange(most_rows * width), indexing="ij")
    below, above = measured.values.tolist()
    off = np.abs(above - total) + np.abs(below - (rows * width - total))
    log_noise = -off / float(measured.noise.scale)
    inside = total <= rows * width
    return rows[inside], total[inside], log_noise[inside]


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 0.0, 0.0, 1.0, 0.0]], ids=["nobody", "one", "five"])
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_a_tiny_table_has_the_posterior_that_follows_from_listing_all_cases(values, epsilon):
    beliefs, measured = believe("bernoulli", values, Pure(Fraction(epsilon)))
    rows, ones, logs = list_cases(measured, 1, 120)
    logs = logs + stats.betabinom(rows, 2, 5).logpmf(ones)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    (distribution,) = beliefs.distributions
    mean = weights @ ((2 + ones) / (7 + rows))
    assert distribution.mean == pytest.approx(mean, rel=1e-4)
    for level in (0.025, 0.5, 0.975):
        found = weights @ stats.beta(2 + ones, 5 + rows - ones).cdf(distribution.quantile(level))
        assert found == pytest.approx(level, abs=1e-3)


def test_numbers_of_events_have_the_posterior_that_follows_from_listing_all_cases():
    column = frame({"k": (0, 3)}, whole=("k",)).numbers["k"]
    beliefs, measured = believe("poisson", [0.0, 2.0, 1.0, 3.0], Pure(Fraction(1)), column=column)
    rows, total, logs = list_cases(measured, 3, 60)
    logs = logs + np.where(
        rows > 0, stats.nbinom(3, 0.5 / (0.5 + rows)).logpmf(total), np.where(total == 0, 0.0, -np.inf)
    )
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    (distribution,) = beliefs.distributions
    assert distribution.mean == pytest.approx(weights @ ((3 + total) / (0.5 + rows)), rel=1e-4)
    assert distribution.deviation == pytest.approx(
        np.sqrt(weights @ ((3 + total) * (4 + total) / (0.5 + rows) ** 2) - distribution.mean**2), rel=1e-3
    )


@every_family
def test_with_next_to_no_noise_it_is_the_conjugate_posterior(family):
    values = CASES[family][2](np.random.default_rng(5))[1](60)
    exact = 90 if CONJUGATES[family].discrete else 10**5
    beliefs, measured = believe(family, values, Pure(Fraction(exact)))
    for distribution, plain in zip(beliefs.distributions, plug_in(build(family), measured), strict=True):
        assert distribution.mean == pytest.approx(plain.mean, rel=2e-3)
        assert distribution.deviation == pytest.approx(plain.deviation, rel=2e-2)
        assert distribution.quantile(0.9) == pytest.approx(plain.quantile(0.9), rel=2e-3)


@every_family
def test_noise_that_hides_everything_leaves_the_prior(family):
    """But for the number of rows, the larger the more is believed: the posterior is never narrower than by chance."""
    beliefs, _ = believe(family, [], Pure(Fraction(1, 100)))
    plain = CONJUGATES[family].update(build(family).prior, np.zeros(1), *[np.zeros(1)] * len(CONJUGATES[family].terms))
    for distribution, prior in zip(beliefs.distributions, plain, strict=True):
        assert abs(distribution.mean - prior.mean[0]) < 2.5 * np.sqrt(prior.variance[0])
        assert 0.2 * np.sqrt(prior.variance[0]) < distribution.deviation < 3 * np.sqrt(prior.variance[0])


@every_family
@pytest.mark.parametrize(
    "x", [[], [1.0], [0.0] * 300, [1e300, -1e300] * 99, [np.nan] * 9], ids=["nobody", "one", "zeros", "far", "missing"]
)
@pytest.mark.parametrize(("prior", "price"), [("own", "rho"), ("weak", "epsilon")])
def test_ugly_data_has_finite_figures(family, price, x, prior):
    analysis = build(family, **({} if prior == "own" else {"prior": ()}))
    table = analyse(analysis, PRICES[price], {CASES[family][0]: np.array(x, dtype=float)}, SeededBits("ugly"))
    estimate = table.estimates["estimate"]
    lower, upper = estimate.interval(0.95, 1)
    assert np.isfinite([estimate.values, lower, upper]).all()
    assert ((lower <= estimate.values) & (estimate.values <= upper)).all()
    quartiles = [table.facts[name]() for name in ("lower_quartile", "median", "upper_quartile")]
    assert all(low <= middle <= high for low, middle, high in zip(*quartiles, strict=True))


def test_many_rows_leave_little_to_believe():
    beliefs, _ = believe("poisson", np.random.default_rng(1).poisson(6, 200_000), PRICES["epsilon"])
    assert beliefs.means == pytest.approx([6.0], abs=0.03)
    assert beliefs.deviations == pytest.approx([np.sqrt(6 / 200_000)], rel=0.1)


def test_it_is_repeated_for_groups():
    data = {"b": np.array([1.0, 0.0] * 100), "city": np.array(["A", "B"] * 100, dtype=object)}
    table = analyse(build("bernoulli", by=(FRAME.factors["city"],)), PRICES["epsilon"], data, SeededBits("groups"))
    assert table.labels["city"] == ("A", "B")
    assert table.estimates["estimate"].values == pytest.approx([1.0, 0.0], abs=0.2)


@pytest.mark.parametrize("prior", [(1,), (1, 2, 3), (0, 1), (1, -1)], ids=str)
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(BadArgument):
        build("bernoulli", prior=tuple(map(Fraction, prior)))


def test_a_normal_prior_must_have_a_variance():
    with pytest.raises(BadArgument):
        build("normal", prior=tuple(map(Fraction, (2, 4, 1, 80))))


def test_several_rows_of_a_person_are_refused():
    rows = frame({"x": (0, 1)}, rows_per_person=2)
    with pytest.raises(Refusal) as refused:
        METHOD.build(rows, {"column": rows.numbers["x"], "family": "normal", "prior": (), "by": ()})
    assert refused.value.code == "rows_per_person"
