"""Tables that a release did not measure are estimated privately: paid as one batch, and refused before if unfit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from adomnia.errors import Refusal
from adomnia.session.quality import CellNoise, assess_held_back, choose_held_back, compare_table
from adomnia.statistics.products import Attribute
from kit.asked_releases import NoisyTable, make_release
from kit.hospital import CATALOG, CITIES, curated, declare, person

PEOPLE = [
    person(k, name=f"n{k}", age=20.0 + k % 60, sex="FM"[k % 2], city=CITIES[k % 2 if k % 5 else 3], member=k % 3 == 0)
    for k in range(3000)
]
MADE = "SELECT * FROM mwem((SELECT sex, member, city FROM people), ways => 2, rounds => 1, missing => 'left_out')"
COUNTED = "SELECT * FROM marginals((SELECT sex, city FROM people), ways => 1)"
FALSE_ALARM = 1e-6
MISSED = 0.05
TRIALS = 400
DISTRIBUTIONS = pytest.mark.parametrize("tails", ["gaussian", "laplace"])


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    with curated(declare(tmp_path_factory.mktemp("quality") / "hospital", CATALOG), PEOPLE, []) as opened:
        opened.release("rows", MADE, epsilon=1)
        opened.release("counts", COUNTED, epsilon=1)
        yield opened


@pytest.fixture
def alice(curator):
    return curator.session("alice")


@pytest.mark.parametrize(("analyst", "unit"), [("alice", "epsilon"), ("bob", "rho")])
def test_all_tables_that_are_held_back_have_one_price(curator, analyst, unit):
    session = curator.session(analyst)
    before = session.budget().personal.spent
    quality = session.quality("rows", most=2, **{unit: 0.5})
    assert len(quality.held_back) == 2
    assert all(0 <= each.lower <= each.upper <= 1 for each in quality.held_back)
    assert f"{unit} 0.5" in quality.notes[0]
    assert session.budget().personal.spent != before
    assert session.quality("rows", most=2, **{unit: 0.5}) == quality


def test_what_is_measured_without_noise_is_as_far_off_as_it_is(alice):
    (found,) = alice.quality("rows", columns=[("sex", "city")], epsilon=100).held_back
    rows = alice.open_release("rows").to_pandas()
    published = rows.groupby(["sex", "city"]).size() / len(rows)
    truth = {}
    for each in PEOPLE:
        cell = (each["sex"], each["city"])
        truth[cell] = truth.get(cell, 0) + 1 / len(PEOPLE)
    cells = {*truth, *published.index}
    true = sum(abs(truth.get(cell, 0) - published.get(cell, 0)) for cell in cells) / 2
    assert found.distance == pytest.approx(true, abs=0.005)
    assert found.lower <= true <= found.upper


def test_the_report_has_all_that_is_free_too(alice):
    free = alice.open_release("rows").quality()
    paid = alice.quality("rows", columns=[("sex", "city")], epsilon=1)
    assert paid.tables == free.tables
    assert paid.limits == free.limits
    assert "held back" in repr(paid)
    assert "held back" in paid._repr_html_()


def test_a_release_without_rows_says_nothing_of_what_it_did_not_measure(alice):
    with pytest.raises(Refusal, match="has no rows") as refused:
        alice.quality("counts", epsilon=1)
    assert refused.value.code == "release_without_rows"


def test_columns_that_are_not_there_are_refused(alice):
    for wrong in ([("sex", "age")], ["sex"], [()]):
        with pytest.raises(Refusal, match="name sets of its columns"):
            alice.quality("rows", columns=wrong, epsilon=1)


def test_cells_that_are_not_those_of_the_release_are_refused_before_anything_is_paid(alice):
    release = alice.open_release("rows")
    other = replace(release, question=release.question.replace("'left_out'", "'kept'"))
    before = alice.budget().personal.spent
    with pytest.raises(Refusal, match="has other values"):
        assess_held_back(alice, other, [("sex", "city")], 1, 0.95, {"epsilon": 1})
    assert alice.budget().personal.spent == before


def test_prices_are_as_of_any_question(alice):
    with pytest.raises(Refusal):
        alice.quality("rows", columns=[("sex", "city")])


def draw(tails, deviation, cells, generator):
    if tails == "gaussian":
        return generator.normal(0, deviation, cells)
    return generator.laplace(0, deviation / 2**0.5, cells)


def intervals(tails, truth, published, deviation, cheat=1.0):
    """Reports of noisy tables of the same truth; `cheat` is what the noise is said to be of what it is."""
    generator = np.random.default_rng(7)
    noise = CellNoise(deviation * cheat, tails, truth.size)
    return [
        compare_table(("a", "b"), truth + draw(tails, deviation, truth.size, generator), published, noise, MISSED)
        for _ in range(TRIALS)
    ]


def variation(truth, published):
    return np.abs(truth / truth.sum() - published / published.sum()).sum() / 2


def count_missed(tails, truth, published, deviation, cheat=1.0):
    true = variation(truth, published)
    found = intervals(tails, truth, published, deviation, cheat)
    return sum(not each.lower <= true <= each.upper for each in found)


MOST_MISSED = int(binom.isf(FALSE_ALARM, TRIALS, MISSED))


EVEN = np.full(60, 500.0)


HEAVY = np.sort(np.random.default_rng(0).pareto(1.1, 60) * 100).round()


SPARSE = np.where(np.arange(60) < 3, 400.0, 0.0)


@DISTRIBUTIONS
@pytest.mark.parametrize(
    "truth", [EVEN, HEAVY, SPARSE, EVEN[:1], EVEN[:2] / 100], ids=["even", "heavy", "sparse", "1", "2"]
)
@pytest.mark.parametrize("change", ["none", "other order", "other size"])
def test_intervals_hold_the_true_variation_as_often_as_they_say(tails, truth, change):
    published = {"none": truth, "other order": truth[::-1], "other size": np.append(truth[1:], 1.0) * 3}[change]
    assert count_missed(tails, truth, published, 6.0) <= MOST_MISSED


@DISTRIBUTIONS
def test_intervals_of_noise_that_is_said_to_be_smaller_than_it_is_are_found_out(tails):
    assert count_missed(tails, EVEN, EVEN, 60.0, cheat=0.4) > MOST_MISSED


@DISTRIBUTIONS
def test_intervals_say_something_where_rows_are_many(tails):
    far = EVEN.copy()
    far[:10] *= 3
    near = intervals(tails, EVEN, EVEN, 6.0)
    assert max(each.upper for each in near) < 0.03
    assert {each.lower for each in near} == {0.0}
    apart = intervals(tails, EVEN, far, 6.0)
    assert min(each.lower for each in apart) > 0.85 * variation(EVEN, far)
    assert max(each.upper for each in apart) < 1.15 * variation(EVEN, far)


def test_the_error_of_a_cell_is_free_of_noise_on_average():
    errors = [each.cell_error for each in intervals("gaussian", EVEN, np.r_[EVEN[:30] + 20, EVEN[30:] - 20], 6.0)]
    assert np.mean(errors) == pytest.approx(20, rel=0.02)


@DISTRIBUTIONS
@pytest.mark.parametrize("cells", [1, 3, 200])
def test_each_bound_is_passed_as_seldom_as_it_says_and_is_not_far_from_where_that_happens(tails, cells):
    generator = np.random.default_rng(3)
    drawn = draw(tails, 1.0, (20_000, cells), generator)
    noise, most = CellNoise(1.0, tails, cells), int(binom.isf(FALSE_ALARM, 20_000, MISSED))
    cases = {
        noise.bound_sum(MISSED): np.abs(drawn).sum(axis=1),
        noise.bound_total(MISSED): np.abs(drawn.sum(axis=1)),
        noise.bound_drop(MISSED): cells * np.abs(drawn[:, 0]).mean() - np.abs(drawn).sum(axis=1),
    }
    for bound, values in cases.items():
        assert (values > bound).sum() <= most
    sums = np.abs(drawn).sum(axis=1)
    assert noise.bound_sum(MISSED) < (1.1 if cells > 100 else 2) * np.quantile(sums, 1 - MISSED)


def test_a_table_without_rows_says_nothing():
    found = compare_table(("a",), np.zeros(4) - 1.0, np.ones(4), CellNoise(5.0, "gaussian", 4), MISSED)
    assert (found.lower, found.upper) == (0.0, 1.0)


def product(sizes, *together):
    attributes = tuple(Attribute(f"c{place}", tuple(map(str, range(size)))) for place, size in enumerate(sizes))
    return make_release(NoisyTable(np.zeros(sizes), 1.0, tuple(map(frozenset, together))), attributes).product


def test_tables_of_the_fewest_cells_that_were_not_measured_are_held_back():
    assert choose_held_back(product((5, 2, 3, 4), {0, 1}, {2, 3}), 3) == [(1, 2), (1, 3), (0, 2)]


def test_three_columns_are_held_back_where_all_pairs_were_measured():
    pairs = [{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}]
    assert choose_held_back(product((5, 2, 3, 4), *pairs), 2) == [(1, 2, 3), (0, 1, 2)]
    assert choose_held_back(product((5, 2), {0, 1}), 5) == []
