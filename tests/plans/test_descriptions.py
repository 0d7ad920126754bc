"""Plans and their parts in words."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from adomnia.plans.descriptions import describe, describe_query, describe_statistic
from adomnia.plans.words import in_words
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import FUNCTIONS, Call, Column, Literal, call, number, text
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.privacy.vectors import Variable, Vector, constant, variable
from adomnia.sql.lower import lower
from adomnia.statistics.count import Count
from kit.plan_lines import describe_plan
from sql.hospital import HOSPITAL, PEOPLE

AGE, WEIGHT, ACTIVE = (PEOPLE.column(name) for name in ("age", "weight", "active"))


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (AGE, "age"),
        (number(3), "3"),
        (number(Fraction(-1, 2)), "-0.5"),
        (number(Fraction("1e300")), str(10**300)),
        (text("it's"), "'it''s'"),
        (Literal(True, Boolean()), "TRUE"),
        (Column("true", Boolean()), '"true"'),
        (Literal(None, Text()), "NULL"),
        (Literal(date(2024, 1, 31), Day()), "DATE '2024-01-31'"),
        (call("+", AGE, number(1)), "(age + 1)"),
        (call("negative", AGE), "(-age)"),
        (call("*", WEIGHT, number(2)), "(weight * 2)"),
        (call("and", ACTIVE, call("not", ACTIVE)), "(active AND (NOT active))"),
        (call("is null", AGE), "(age IS NULL)"),
        (Column("cost", Quantity(), source="visits"), "visits.cost"),
        (call("mod", AGE, number(7)), "(age % 7)"),
        (call("case", ACTIVE, AGE, number(0)), "CASE WHEN active THEN age ELSE 0 END"),
        (call("clamp", AGE, number(0), number(9)), "CLAMP(age, 0, 9)"),
        (call("start of year", Column("born", Day())), "START OF YEAR(born)"),
    ],
)
def test_expressions_are_described_in_brackets(expression, words):
    assert describe(expression) == words


def test_every_function_is_described_in_words_of_its_own():
    arguments = {arity: tuple(Column(name, Quantity()) for name in "abc"[:arity]) for arity in (1, 2, 3)}
    calls = [Call(name, arguments[row.arity or 3], row) for name, row in FUNCTIONS.items() if name != "finite"]
    assert len(set(map(describe, calls))) == len(calls)


def test_only_expressions_are_described():
    with pytest.raises(TypeError, match="describe expression must be an expression"):
        describe(3)


@pytest.mark.parametrize(
    ("aggregate", "words"),
    [
        ("COUNT(*)", ["rows"]),
        ("COUNT(age)", ["values of age"]),
        ("COUNT(DISTINCT person_id)", ["people"]),
        ("SUM(age)", ["sum of age"]),
        ("AVG(salary)", ["sum of salary - 250000", "values of salary"]),
        ("AVG(score)", ["sum of score", "values of score"]),
        ("AVG(salary / 12)", ["sum of (salary / 12) - 20833.3125", "values of (salary / 12)"]),
    ],
)
def test_measurements_are_described_by_what_they_count(aggregate, words):
    (statistic,) = lower(f"SELECT {aggregate} FROM people", HOSPITAL).statistics
    assert [describe_query(measure.query) for measure in next(statistic.steps(Pure(1)))] == words


def test_vectors_and_combinations_are_described_by_what_they_add_up():
    people = Private("people", 1, PEOPLE.columns)
    none, both = Vector((), (constant(1, 0),)), (AGE, PEOPLE.column("salary"))
    pair = Vector(tuple(Variable(each, each.domain) for each in both), (variable(0, 2), variable(1, 2)))
    table = Combination(((Matrix.identity(3),),))
    asked = [Query(people, keys, each) for keys, each in (((), none), ((), pair), ((PEOPLE.column("sex"),), table))]
    assert [describe_query(in_words(query)) for query in asked] == [
        "1 sums of rows",
        "2 sums of age, salary",
        "3 combinations of rows",
    ]
    assert [describe_statistic(Count(query)) for query in asked[1:]] == [
        "COUNT(2 sums of age, salary)",
        "COUNT(3 combinations of rows)",
    ]


@pytest.mark.parametrize(
    ("family", "words"),
    [("normal", "2 parameters from salary"), ("weibull", "2 parameters from salary")],
)
def test_estimates_of_blocks_are_described_by_what_they_are_of(family, words):
    text = f"SELECT * FROM mle((SELECT salary FROM people), column => salary, family => '{family}')"
    (statistic,) = lower(text, HOSPITAL).statistics
    asked = [describe_query(in_words(measure.query)) for measure in statistic.planned_measures(Pure(1))]
    assert asked[1:] == [f"blocks by their estimates of {words}", f"estimates of blocks of {words}"]


def test_a_plan_is_one_line():
    plan = lower("SELECT sex, COUNT(*) AS n FROM people WHERE active GROUP BY sex ORDER BY n DESC LIMIT 2", HOSPITAL)
    assert (
        describe_plan(plan) == "people[1] WHERE active BY sex: sex = [sex], n = COUNT(*) ORDER BY COUNT(*) DESC LIMIT 2"
    )
