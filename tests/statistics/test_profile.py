"""How many rows people have: bins, what can be told from them, and caps that are nearly the best ones."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.catalog.model import Profile, Table
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Identity, Quantity
from adomnia.privacy.queries import Query
from adomnia.statistics.profile import Contributions, hidden_people, ladder, profile_edges, profile_query
from conftest import FIXTURES

VECTORS = json.loads((FIXTURES / "vectors2.json").read_text())
TRIPS = Table("trips", "trips.parquet", (Column("person_id", Identity(person=True)),), rows_per_person=200)
SIZES = {
    "uniform100": lambda draw, people: draw.integers(1, 101, people),
    "zipf": lambda draw, people: np.minimum(np.ceil(1.5 * (1 - draw.random(people)) ** (-1 / 1.5)), 1000),
    "lognorm": lambda draw, people: np.ceil(np.exp(draw.normal(2.5, 1.0, people))),
}


def test_the_ladder_grows_by_the_square_root_of_two():
    assert ladder(1) == (1,)
    assert ladder(2) == (1, 2)
    assert ladder(200) == (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 200)
    assert ladder(1_000_000)[-3:] == (524_288, 741_455, 1_000_000)


@given(most=st.integers(1, 10**6))
def test_the_edges_of_a_profile_hold_every_cap_and_go_beyond(most):
    edges = profile_edges(most)
    assert edges[0] == 0
    assert edges[-1] == 16 * most
    assert all(below < edge for below, edge in pairwise(edges))
    assert set(ladder(most)) <= set(edges)


def test_a_profile_is_one_query_in_which_a_person_counts_once():
    query = profile_query(TRIPS)
    assert isinstance(query, Query)
    assert query.shape == (len(profile_edges(200)) - 1,)
    sensitivity = query.sensitivity()
    assert (sensitivity.l1, sensitivity.l2_squared, sensitivity.linf) == (1, 1, 1)


def test_a_profile_outlives_columns_that_say_nothing_about_whose_rows_they_are():
    fare = Column("fare", Quantity(Fraction(0), Fraction(9)))
    other = Table("trips", "trips.parquet", (*TRIPS.columns, fare), rows_per_person=200)
    assert profile_query(other) == profile_query(TRIPS)
    elsewhere = Table("trips", "trips.parquet", (Column("driver_id", Identity(person=True)),), rows_per_person=200)
    assert profile_query(elsewhere) != profile_query(TRIPS)


SEEN = Contributions(edges=(0, 1, 2, 4, 8), people=(100.0, 0.0, 30.0, 10.0), unseen=9.0, blur=5.0)


def test_rows_beyond_a_cap_are_counted_at_the_middle_of_their_bins():
    assert SEEN.rows == 100 * 1 + 30 * 3.5 + 10 * 6.5
    assert SEEN.dropped(np.array([1, 2, 4, 8])).tolist() == [30 * 2.5 + 10 * 5.5, 30 * 1.5 + 10 * 4.5, 25.0, 0.0]


def test_the_deviation_is_that_of_the_bins_that_are_seen():
    assert SEEN.deviation(1) == pytest.approx(5 * (2 * (2.5**2 + 5.5**2)) ** 0.5)
    assert SEEN.deviation(8) == 0


def test_a_cap_is_charged_with_people_whom_nobody_sees():
    assert SEEN.top == 8
    caps = np.array([4, 8, 16, 20])
    # Ten people of 6.5 rows lose 2.5; five hidden ones may have up to 4 * 8 rows, or up to the largest cap.
    assert SEEN.bias(caps, 100).tolist() == [25 + 5 * 28, 5 * 24, 5 * 16, 5 * 12]
    assert SEEN.bias(caps, 20).tolist() == [25 + 5 * 16, 5 * 12, 5 * 4, 0]


def test_rows_beyond_the_largest_cap_do_not_enter_the_choice():
    assert SEEN.bias(np.array([2, 4]), 4).tolist() == [30 * 1.5 + 10 * 2 + 5 * 2, 0]


def test_bins_that_noise_alone_could_fill_are_empty():
    # ln(4 bins / 0.05) / 0.5 is 8.76.
    profile = Profile((0, 1, 2, 4, 8), (100, 8, 9, -50), Fraction(1, 2))
    seen = Contributions.seen(profile)
    assert seen.people == (100.0, 0.0, 9.0, 0.0)
    assert seen.unseen == pytest.approx(8.764, abs=1e-3)
    assert (seen.blur, seen.top) == (2.0, 4)


def test_nobody_seen_is_nothing_dropped():
    seen = Contributions.seen(Profile((0, 1, 2), (-3, 2), Fraction(1, 10)))
    assert (seen.rows, seen.top, seen.dropped(np.array([1])).tolist(), seen.deviation(1)) == (0, 0, [0], 0)


def test_hidden_people_are_those_of_the_bins_beyond_and_two_deviations_of_their_noise():
    profile = Profile((0, 1, 2, 4), (100, 3, 2), Fraction(1, 10))
    assert hidden_people(profile, 1) == 5 + 40
    assert hidden_people(profile, 2) == 2 + 29
    assert hidden_people(profile, 4) == 0
    assert hidden_people(Profile((0, 1), (-90,), Fraction(1, 10)), 0) == 0


def people_by_rows(rows, edges):
    return np.histogram(np.minimum(rows, edges[-1]), np.array(edges) + 0.5)[0]


def noisy(people, epsilon, draw):
    noise = draw.geometric(1 - np.exp(-epsilon), (2, len(people)))
    return tuple((people + noise[0] - noise[1]).tolist())


def best_cap(seen, slope, most):
    """The rule for one measurement whose noise is the slope times the cap."""
    caps = np.array(ladder(most))
    cost = seen.bias(caps, most) + slope * caps
    return most if slope * most <= cost.min() else int(caps[np.argmin(cost)])


@pytest.mark.parametrize("case", VECTORS["cap_planner_rule_scalar_[median,p95,cap]"])
def test_the_rule_chooses_the_published_caps_for_a_count(case):
    """One count at epsilon 1, a tenth of it for the profile: the usual cap, and the median error it leaves.

    The vectors are one run of simulated noise over shapes that are described in words. A cap may be a step of the
    ladder off where the noise decides, and an error as far as such a step takes it: half a percent of a heavy tail.
    """
    shape, people, most = case.split(",")
    people, most = int(people[2:]), int(most[5:])
    draw = np.random.default_rng(5)
    caps, errors = [], []
    for _ in range(40):
        rows = SIZES[shape](draw, people)
        edges = profile_edges(most)
        profile = Profile(edges, noisy(people_by_rows(rows, edges), 0.1, draw), Fraction(1, 10))
        cap = best_cap(Contributions.seen(profile), 1 / 0.9, most)
        answer = np.minimum(rows, cap).sum() + draw.laplace(0, cap / 0.9)
        caps.append(cap)
        errors.append(abs(answer / rows.sum() - 1) * 100)
    median_error, _, published = VECTORS["cap_planner_rule_scalar_[median,p95,cap]"][case]
    assert published / 1.5 <= np.median(caps) <= published * 1.5
    assert np.median(errors) <= max(2.0 * median_error, 0.5)


def test_without_the_people_whom_nobody_sees_heavy_tails_are_cut_too_low():
    draw = np.random.default_rng(7)
    edges, caps = profile_edges(1000), {True: [], False: []}
    for _ in range(20):
        people = people_by_rows(SIZES["zipf"](draw, 20_000), edges)
        seen = Contributions.seen(Profile(edges, noisy(people, 0.1, draw), Fraction(1, 10)))
        caps[True].append(best_cap(seen, 1.1, 1000))
        steps = np.array(ladder(1000))
        caps[False].append(int(steps[np.argmin(seen.dropped(steps) + 1.1 * steps)]))
    assert np.median(caps[False]) <= 64
    assert np.median(caps[True]) >= 181
