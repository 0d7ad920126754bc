"""Vectors and combinations from the data to their noise: proved, paid for as one, and as near as they say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, nan, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.curator.executor import Executor, Statements
from adomnia.errors import Failure
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import call
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private, Where
from adomnia.privacy.scans import Rows
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.privacy.vectors import Variable, Vector, constant, variable
from adomnia.statistics.contract import Measure
from kit.gate import aggregated, meaning, moved_within, proved
from kit.hospital import CountedBits, curated, person, visit
from kit.polynomials import bernstein
from kit.searches import examples
from kit.tables import Database


def rows_of(catalog, name):
    declared = catalog.table(name)
    return Private(name, declared.rows_per_person, declared.columns), declared


def ends(catalog):
    """How far salaries are above the lower end, and below the upper one."""
    people, declared = rows_of(catalog, "people")
    salary = declared.column("salary")
    low, high = bernstein(1, salary.domain.width, 0, 1)
    return Query(people, (), Vector((Variable(salary, salary.domain),), (high, low)))


def marginals(catalog):
    """Visits by hospital, and visits that are urgent less those that are not."""
    visits, declared = rows_of(catalog, "visits")
    keys = declared.column("hospital"), declared.column("urgent")
    blocks = (Matrix.identity(5), Matrix.total(2)), (Matrix.total(5), Matrix.dense([[-1, 1]]))
    return Query(visits, keys, Combination(blocks))


def executor(curator, reserved, seed=0):
    return Executor(curator.engine, Statements(curator.engine, curator.catalog), reserved, CountedBits(seed))


def test_distances_from_both_ends_are_measured_as_one_and_add_up(curator, catalog):
    query = ends(catalog)
    width = query.aggregate.variables[0].domain.width
    measure = Measure(query, Pure(1000))
    (measured,) = executor(curator, Pure(1000)).measure((measure,))
    assert measured.values.shape == query.result_shape == (2,)
    assert measured.noise.scale == Fraction(width, 1000)  # and not twice that
    # Five people; noise of scale width / 1000 on each of two sums passes 30 times that with probability below 1e-12.
    assert 0 < abs(sum(measured.values.tolist()) - 5 * width) < 60 * width / 1000
    mean = measured.values[0] / sum(measured.values.tolist()) * 500_000
    assert abs(mean - 153_999.8) < 5_000


def test_a_vector_costs_as_much_as_one_measurement(curator, catalog):
    measure = Measure(ends(catalog), Pure(1))
    executor(curator, Pure(1)).measure((measure,))
    with pytest.raises(ValueError, match="more than was reserved"):
        executor(curator, Pure(Fraction(99, 100))).measure((measure,))


def test_noise_by_rho_follows_the_joint_length(curator, catalog):
    query = ends(catalog)
    (measured,) = executor(curator, Concentrated(Fraction(1, 2))).measure(
        (Measure(query, Concentrated(Fraction(1, 2))),)
    )
    assert measured.noise.variance == query.sensitivity().l2_squared


def test_combinations_are_measured_of_exact_counts(curator, catalog):
    query = marginals(catalog)
    (measured,) = executor(curator, Pure(600)).measure((Measure(query, Pure(600)),))
    # Twenty visits in four hospitals, three of each of five people; a scale of 6 / 600 draws 0 but once in e^100 times.
    assert measured.values.tolist()[:5] == [sum(column) for column in _by_hospital(curator, catalog)]
    assert measured.values.shape == query.result_shape == (6,)


def _by_hospital(curator, catalog):
    query = replace(marginals(catalog), aggregate=Rows())
    (found,) = curator.engine.run(curator.engine.render(query.inner), query.inner)
    return found.tolist()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("SUM(CAST", "SUM(2 * CAST"),
        ('SUM(CAST("salary grid" AS BIGINT))', 'SUM((CAST("salary grid" AS BIGINT) - 5))'),
        ("AS m1", "AS m2"),
        ('"rank" <= 1', '"rank" <= 2'),
        (' WHERE "rank" <= 1', ""),
    ],
)
def test_a_vector_that_is_rendered_wrongly_is_not_run(curator, catalog, monkeypatch, right, wrong):
    query = ends(catalog)
    rendered = curator.engine.render(query.inner)
    spoiled = replace(rendered, text=rendered.text.replace(right, wrong))
    assert spoiled != rendered
    monkeypatch.setattr(curator.engine, "render", lambda _: spoiled)
    with pytest.raises((ValueError, Failure)):
        executor(curator, Pure(1)).measure((Measure(query, Pure(1)),))
    assert curator.engine.ran == []


def test_combinations_of_more_rows_than_planned_are_not_run(curator, catalog, monkeypatch):
    query = marginals(catalog)
    thrifty = replace(query, relation=replace(query.relation, rows_per_person=1))
    rendered = curator.engine.render(query.inner)
    monkeypatch.setattr(curator.engine, "render", lambda _: rendered)
    with pytest.raises(ValueError, match="above the planned one"):
        executor(curator, Pure(1)).measure((Measure(thrifty, Pure(1)),))
    assert curator.engine.ran == []


def test_combinations_whose_plan_forgets_a_column_are_not_run(curator, catalog, monkeypatch):
    query = marginals(catalog)
    monkeypatch.setattr(Combination, "row", Combination(((Matrix.total(10),),)).row)
    with pytest.raises(ValueError, match="above the planned one"):
        executor(curator, Pure(1)).measure((Measure(query, Pure(1)),))
    assert curator.engine.ran == []


SALARIES = st.sampled_from([None, nan, inf, -inf, -5.0, 0.0, 0.125, 0.124, 250_000.0, 499_999.9, 500_000.0, 1e9])
SCORES = st.sampled_from([None, nan, -1.5, 0.0, 0.05, 2.25, 9.0])
PEOPLE = st.lists(st.tuples(SALARIES, SCORES, st.sampled_from(["F", "M", None])), max_size=6)


def vectors(catalog):
    people, declared = rows_of(catalog, "people")
    salary, score, sex = (declared.column(name) for name in ("salary", "score", "sex"))
    half = Variable(call("/", salary, score), score.domain)
    coarse = Variable(salary, replace_step(salary.domain))
    x, y = variable(0, 2), variable(1, 2)
    two = (Variable(score, score.domain), coarse)
    nine = [a * b for a in bernstein(2, score.domain.width, 0, 2) for b in bernstein(2, coarse.domain.width, 1, 2)]
    return [
        ends(catalog),
        replace(ends(catalog), aggregate=replace(ends(catalog).aggregate, absent=salary.domain.width)),
        Query(people, (sex,), Vector(two, tuple(nine))),
        Query(people, (sex,), Vector(two, (constant(1, 2), x, y, x * y - x * x * constant(3, 2)))),
        Query(Where(people, call("is null", score)), (sex,), Vector((half, coarse), (x * y, y - x, x - x))),
    ]


def replace_step(domain):
    return type(domain)(domain.lower, domain.upper, 100)


@given(PEOPLE, st.integers(0, 5))
@settings(max_examples=examples(6), deadline=None)
def test_one_person_more_moves_vectors_no_further_than_they_say_and_sums_are_those_of_python(catalog, listed, absent):
    rows = [person(who, salary=salary, score=score, sex=sex) for who, (salary, score, sex) in enumerate(listed)]
    queries = tuple(vectors(catalog))
    results = []
    for some in (rows, [row for row in rows if row["person_id"] != absent]):
        with curated(catalog, some, []) as curator:
            found = aggregated(curator, proved(curator, queries))
        for query in queries:
            assert found[query] == meaning(query, Database(catalog, {"people": some}))
        results.append(found)
    for query in queries:
        moved_within(query, *(found[query] for found in results))


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["H1", "H5", None]), st.booleans()), max_size=20))
@settings(max_examples=examples(6), deadline=None)
def test_one_person_more_moves_combinations_no_further_than_they_say(catalog, listed):
    query = marginals(catalog)
    results = []
    for absent in (None, 2):
        visits = [visit(who, hospital=at, urgent=urgent) for who, at, urgent in listed if who != absent]
        with curated(catalog, [person(who) for who in range(5) if who != absent], visits) as curator:
            (counts,) = curator.engine.run(curator.engine.render(query.inner), query.inner)
        results.append(query.apply([counts]).tolist())
        assert sum(results[-1][:5]) == int(np.sum(counts)) <= 3 * 5
        assert len(results[-1]) == prod(query.result_shape)
    moved_within(query, *results)
