"""The cap that a plan gets: the one with the least of left-out rows and noise together, the same in all of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.catalog.model import Profile
from adomnia.plans.columns import Cap, LeftOut
from adomnia.pricing.caps import choose_caps, largest_caps
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.relations import Private
from adomnia.privacy.units import ROW
from adomnia.sql.lower import lower
from adomnia.statistics.profile import Contributions, ladder, profile_edges
from kit.plan_lines import describe_plan
from sql.hospital import HOSPITAL, ITEMS, VISITS

MOST = 200
EDGES = profile_edges(MOST)


def profile(rows_of_people, epsilon=Fraction(1, 10)):
    people, _ = np.histogram(rows_of_people, np.array(EDGES) + 0.5)
    return Profile(EDGES, tuple(people.tolist()), epsilon)


HUNDREDS = profile(np.repeat(np.arange(1, 101), 200))


def hospital(visits=HUNDREDS, items=None):
    """With a profile for visits, and one for items if it is given."""
    tables = {
        "visits": replace(VISITS, rows_per_person=MOST, profile_epsilon=Fraction(1, 10), profile=visits),
        "items": ITEMS if items is None else replace(ITEMS, rows_per_person=MOST, profile=items),
    }
    return replace(HOSPITAL, tables=tuple(tables.get(table.name, table) for table in HOSPITAL.tables))


def caps_of(text, price, catalog):
    plan, caps = choose_caps(lower(text, catalog), price, catalog)
    return plan, {cap.table: cap.rows for cap in caps}


COUNT = "SELECT COUNT(*) FROM visits"
GROUPED = "SELECT hospital, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY hospital"


def test_the_cap_has_the_least_of_left_out_rows_and_noise():
    seen, caps = Contributions.seen(HUNDREDS), np.array(ladder(MOST))
    for epsilon in (1.0, 0.01, 0.001, 0.0001):
        cost = seen.bias(caps, MOST) + caps / epsilon
        best = MOST if MOST / epsilon <= cost.min() else int(caps[np.argmin(cost)])
        assert caps_of(COUNT, Pure(epsilon), hospital())[1] == {"visits": best}


def test_the_noise_of_a_gaussian_is_its_mean_size():
    seen, caps = Contributions.seen(HUNDREDS), np.array(ladder(MOST))
    found = set()
    for rho in (1e-2, 1e-5, 1e-7, 1e-8):
        cost = seen.bias(caps, MOST) + caps / np.sqrt(2 * rho) * np.sqrt(2 / np.pi)
        best = MOST if MOST / np.sqrt(np.pi * rho) <= cost.min() else int(caps[np.argmin(cost)])
        assert caps_of(COUNT, Concentrated(rho), hospital())[1] == {"visits": best}
        found.add(best)
    assert len(found) > 2


def test_less_money_and_more_groups_mean_lower_caps():
    found = [caps_of(COUNT, Pure(epsilon), hospital())[1]["visits"] for epsilon in (1, 0.01, 0.0003, 0.00001)]
    assert found == sorted(found, reverse=True)
    assert found[0] == MOST
    assert found[-1] == 1
    grouped = COUNT.replace("COUNT", "hospital, COUNT") + " GROUP BY hospital"
    assert caps_of(grouped, Pure(0.001), hospital())[1]["visits"] < caps_of(COUNT, Pure(0.001), hospital())[1]["visits"]


def test_all_measurements_of_a_question_have_one_cap_and_so_has_its_plan():
    plan, caps = caps_of(GROUPED, Pure(0.01), hospital())
    assert 1 < caps["visits"] < MOST
    assert {measure.query.relation.rows_per_person for measure in list_measures(plan, Pure(0.01))} == {caps["visits"]}
    assert plan.relation.rows_per_person == caps["visits"]
    assert f"visits[{caps['visits']}]" in describe_plan(plan)


def test_the_cap_is_part_of_the_identity():
    catalog, price = hospital(), Pure(0.01)
    plan = lower(COUNT, catalog)
    capped, _ = choose_caps(plan, price, catalog)
    assert capped.identity(price, 1) != plan.identity(price, 1)
    assert capped.identity(price, 1) == choose_caps(plan, price, catalog)[0].identity(price, 1)


def test_aggregates_that_only_order_and_choose_are_capped_too():
    text = "SELECT hospital, COUNT(*) FROM visits GROUP BY hospital HAVING SUM(cost) > 3 ORDER BY AVG(cost)"
    plan, caps = caps_of(text, Pure(0.01), hospital())
    assert {statistic.query.relation.rows_per_person for statistic in plan.statistics} == {caps["visits"]}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(DISTINCT person_id) FROM visits",
        "SELECT AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id)",
    ],
)
def test_what_reads_all_rows_of_a_person_has_no_cap(text):
    catalog = hospital()
    plan = lower(text, catalog)
    assert choose_caps(plan, Pure(0.01), catalog) == (plan, ())


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM people",
        "SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM visits WHERE visits.person_id = people.person_id)",
    ],
)
def test_that_one_row_of_a_person_counts_is_told_as_well(text):
    catalog = hospital()
    plan = lower(text, catalog)
    assert choose_caps(plan, Pure(0.01), catalog) == (plan, (Cap("people", 1),))
    assert str(Cap("people", 1)) == (
        "people: at most 1 row of a person counts; how many rows that leaves out is not known"
    )


def test_where_every_row_is_protected_on_its_own_no_row_of_a_person_is_left_out():
    catalog = replace(hospital(), unit=ROW)
    plan = lower("SELECT COUNT(*) FROM people", catalog)
    assert choose_caps(plan, Pure(0.01), catalog) == (plan, ())
    assert largest_caps(plan, catalog) == ()


def test_people_by_group_have_a_cap():
    text = "SELECT hospital, COUNT(DISTINCT person_id) FROM visits GROUP BY hospital"
    plan, caps = caps_of(text, Pure(0.001), hospital())
    # A person is in five groups at most, so that no cap above five needs more noise.
    assert caps["visits"] == MOST
    assert plan.statistics[0].query.sensitivity().l1 == 5


def test_people_by_group_get_a_low_cap_where_groups_are_many():
    text = "SELECT FLOOR(cost), COUNT(DISTINCT person_id) FROM visits GROUP BY FLOOR(cost)"
    assert caps_of(text, Pure(0.1), hospital())[1]["visits"] < MOST


JOINED = "SELECT v.hospital, SUM(i.price) FROM items i JOIN visits v ON i.visit_id = v.visit_id GROUP BY v.hospital"


def test_joined_tables_have_caps_of_their_own():
    few = profile(np.repeat(np.arange(1, 9), 2_000))
    plan, caps = caps_of(JOINED, Pure(0.01), hospital(visits=few, items=HUNDREDS))
    tables = {table.name: table.rows_per_person for table in tables_of(plan.statistics[0].query.relation)}
    assert tables == caps
    assert 1 < caps["items"] < MOST


def tables_of(relation):
    if isinstance(relation, Private):
        return [relation]
    parts = [getattr(relation, name, None) for name in ("left", "right", "source")]
    return [
        table for part in (*parts, *getattr(relation, "parts", ())) if part is not None for table in tables_of(part)
    ]


def test_a_table_without_a_profile_keeps_its_cap_and_nobody_knows_what_it_leaves_out():
    plan = lower(COUNT, HOSPITAL)
    same, caps = choose_caps(plan, Pure(1), HOSPITAL)
    assert same is plan
    assert caps == (Cap("visits", 10),)
    assert str(caps[0]) == "visits: at most 10 rows of a person count; how many rows that leaves out is not known"
    assert str(Cap("visits", 1)).startswith("visits: at most 1 row of a person counts;")


def test_a_profile_that_was_not_paid_for_leaves_the_largest_cap():
    _, caps = choose_caps(lower(COUNT, hospital(None)), Pure(0.001), hospital(None))
    assert caps == (Cap("visits", MOST),)


def test_parts_of_a_union_and_public_tables_are_looked_through():
    text = """SELECT c.region, COUNT(*)
              FROM (SELECT person_id, day FROM visits UNION ALL SELECT person_id, born FROM people) e
              JOIN people p ON p.person_id = e.person_id JOIN cities c ON c.city = p.city GROUP BY c.region"""
    plan, caps = caps_of(text, Pure(0.001), hospital())
    assert set(caps) == {"people", "visits"}
    found = {table.name: table.rows_per_person for table in tables_of(plan.relation) if isinstance(table, Private)}
    assert found == caps
    assert caps["people"] == 1


def test_what_is_left_out_is_told_with_its_deviation_and_who_is_hidden():
    _, (cap,) = choose_caps(lower(COUNT, hospital()), Pure(0.0001), hospital())
    seen = Contributions.seen(HUNDREDS)
    exact = np.repeat(np.arange(1, 101), 200)
    share = np.maximum(exact - cap.rows, 0).sum() / exact.sum()
    assert share > 0.1
    assert cap.leaves_out.share == pytest.approx(share, rel=0.1)
    assert cap.leaves_out.deviation == pytest.approx(seen.deviation(cap.rows) / seen.rows)
    assert cap.leaves_out.seen_rows == 128
    assert 0 < cap.leaves_out.hidden_people < 150


def test_nothing_that_is_seen_to_be_left_out_is_said_so():
    _, (cap,) = choose_caps(lower(COUNT, hospital()), Pure(1), hospital())
    assert (cap.rows, cap.leaves_out.share) == (MOST, 0)
    assert str(cap).startswith("visits: at most 200 rows of a person count; no rows are seen to be left out, besides")


def test_the_line_is_short():
    cap = Cap("trips", 64, LeftOut(0.00412, 0.00113, 160, 91))
    assert str(cap) == (
        "trips: at most 64 rows of a person count; about 0.41% (+-0.1%) of all rows are seen to be left out, "
        "besides those of up to 160 people with over 91, too few to be seen"
    )
    assert str(replace(cap.leaves_out, hidden_people=0)).endswith("are seen to be left out")


def test_where_people_are_shortened_the_largest_caps_stay_and_it_is_said():
    catalog = hospital()
    (cap,) = largest_caps(lower(GROUPED, catalog), catalog)
    assert (cap.table, cap.rows, cap.shortened, cap.leaves_out.share) == ("visits", MOST, True, 0)
    assert str(cap).startswith(
        "visits: at most 200 rows of a person count, and people with many count less than that by an unknown part; no"
    )


def test_a_profile_that_shows_nobody_is_none():
    empty = profile([])
    assert choose_caps(lower(COUNT, hospital(empty)), Pure(0.001), hospital(empty))[1] == (Cap("visits", MOST),)
