"""Aggregates of one person's own rows: exact in conditions, clamped where they are aggregated again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.relations import PerPerson
from adomnia.privacy.scans import (
    Average,
    DistinctValues,
    NonNull,
    OwnChoice,
    OwnExtreme,
    OwnMedian,
    OwnSpread,
    Rows,
    Total,
)
from adomnia.sql.lower import lower
from adomnia.sql.reading.parse import parse
from adomnia.sql.rows.own_rows import find_aggregates
from sql.hospital import HOSPITAL, VISITS

COST = VISITS.column("cost")
HOSPITAL_OF = VISITS.column("hospital")


def own(aggregate, table="visits"):
    """The only aggregate of each person's rows."""
    text = f"SELECT COUNT(*) FROM (SELECT person_id, {aggregate} AS x FROM {table} GROUP BY person_id)"
    relation = lower(text, HOSPITAL).relation
    assert isinstance(relation, PerPerson)
    (output,) = relation.outputs
    return output


@pytest.mark.parametrize(
    ("aggregate", "expected", "bounds"),
    [
        ("COUNT(*)", Rows(), (1, 10)),
        ("COUNT(1)", Rows(), (1, 10)),
        ("COUNT(person_id)", Rows(), (1, 10)),
        ("COUNT(cost)", NonNull(COST), (0, 10)),
        ("COUNT(visit_id)", NonNull(VISITS.column("visit_id")), (0, 10)),
        ("COUNT(DISTINCT hospital)", DistinctValues(VISITS.column("hospital")), (0, 10)),
        ("SUM(cost)", Total(COST, COST.domain), (0, 1_000_000)),
        ("AVG(cost)", Average(COST, COST.domain), None),
        ("MAX(cost)", OwnExtreme(COST, greatest=True), None),
        ("MIN(day)", OwnExtreme(VISITS.column("day"), greatest=False), None),
        ("MEDIAN(cost)", OwnMedian(COST), None),
        ("STDDEV(cost)", OwnSpread(COST, COST.domain, root=True, sample=True), None),
        ("VAR_POP(cost)", OwnSpread(COST, COST.domain, root=False, sample=False), None),
        ("ARG_MIN(cost, day)", OwnChoice(COST, VISITS.column("day"), greatest=False), None),
        ("FIRST(cost ORDER BY day)", OwnChoice(COST, VISITS.column("day"), greatest=False), None),
        ("FIRST(cost ORDER BY day DESC)", OwnChoice(COST, VISITS.column("day"), greatest=True), None),
        ("LAST(cost ORDER BY day)", OwnChoice(COST, VISITS.column("day"), greatest=True), None),
        ("LAST(hospital ORDER BY day DESC)", OwnChoice(HOSPITAL_OF, VISITS.column("day"), greatest=False), None),
        ("CLAMP(COUNT(*), 0, 3)", Rows(), (0, 3)),
        ("CLAMP(COUNT(*), 0, 300)", Rows(), (0, 300)),
        ("CLAMP(SUM(cost), 10, 20.5)", Total(COST, COST.domain), (10, Fraction(41, 2))),
        ("CLAMP(AVG(cost), 10, 20)", Average(COST, COST.domain), None),
    ],
)
def test_an_aggregate_is_clamped_to_what_cap_and_bounds_allow_or_to_the_analysts_bounds(aggregate, expected, bounds):
    found = own(aggregate)
    assert found.aggregate == expected
    assert bounds == (found.domain and (found.domain.lower, found.domain.upper))


@pytest.mark.parametrize(
    ("value", "bounds"),
    [
        ("cost - 50", (-500, 10 * 99_950)),
        ("cost + 50", (50, 10 * 100_050)),
        ("-cost - 50", (-10 * 100_050, -50)),
        ("cost > 3", (0, 10)),
        ("3", (3, 30)),
    ],
)
def test_a_sum_of_one_row_or_of_as_many_as_the_cap_allows_is_within_its_bounds(value, bounds):
    domain = own(f"SUM({value})").domain
    assert (domain.lower, domain.upper) == bounds


@pytest.mark.parametrize(
    ("aggregate", "code"),
    [
        ("SUM(weight)", "unbounded_expression"),
        ("AVG(weight)", "unbounded_expression"),
        ("SUM(name)", "type_error"),
        ("MAX(name)", "type_error"),
        ("MIN(active)", "type_error"),
        ("MAX(person_id)", "type_error"),
        ("SUM(person_id)", "identifier_column"),
        ("SUM(DISTINCT age)", "aggregate_not_allowed"),
        ("SUM(SUM(age))", "aggregate_not_allowed"),
        ("COUNT(DISTINCT age, sex)", "aggregate_not_allowed"),
        ("SUM(age ORDER BY age)", "aggregate_not_allowed"),
        ("COUNT()", "aggregate_not_allowed"),
        ("KURTOSIS(age)", "aggregate_not_allowed"),
        ("FIRST(age)", "aggregate_not_allowed"),
        ("FIRST(age ORDER BY age, salary)", "aggregate_not_allowed"),
        ("FIRST(age ORDER BY name)", "type_error"),
        ("FIRST(age ORDER BY salary NULLS FIRST)", "aggregate_not_allowed"),
        ("ARG_MAX(person_id, age)", "identifier_column"),
        ("ARG_MAX(age, name)", "type_error"),
        ("BOOL_OR(age)", "type_error"),
        ("MEDIAN(name)", "type_error"),
        ("SUM(age * 1e300)", "scale_out_of_range"),
        ("CLAMP(SUM(age), 3, 1)", "empty_bounds"),
        ("CLAMP(3, COUNT(*), 5)", "bad_literal"),
    ],
)
def test_what_is_no_aggregate_of_a_persons_rows_is_refused(aggregate, code):
    with pytest.raises(Refusal) as refusal:
        own(aggregate, "people")
    assert refusal.value.code == code


NUMBERED = "ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY day)"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT SUM(cost) FROM (SELECT *, {NUMBERED} AS n FROM visits) WHERE n = 1",
        f"SELECT SUM(cost) FROM (SELECT * FROM visits QUALIFY {NUMBERED} = 1)",
    ],
)
def test_who_numbers_the_rows_of_a_person_learns_how_to_have_the_first(text):
    with pytest.raises(Refusal) as refusal:
        lower(text, HOSPITAL)
    assert refusal.value.code == "window_function"
    way_out = refusal.value.fix.rsplit(": ", 1)[1].removesuffix(", by the person's id")
    own = {"id,": "person_id,", "BY id": "BY person_id", "BY y": "BY day", "(x": "(cost", "FROM t": "FROM visits"}
    for word, name in own.items():
        way_out = way_out.replace(word, name)
    assert lower(f"SELECT SUM(x) FROM ({way_out})", HOSPITAL).statistics


def test_an_id_that_is_not_kept_is_not_counted():
    bills = "items JOIN visits v USING (visit_id)"
    text = f"SELECT AVG(n) FROM (SELECT v.person_id, {{}} AS n FROM {bills} GROUP BY v.person_id)"
    for aggregate in ("COUNT(item_id)", "COUNT(DISTINCT item_id)"):
        with pytest.raises(Refusal) as refusal:
            lower(text.format(aggregate), HOSPITAL)
        assert refusal.value.code == "identifier_column"


def test_a_sum_of_many_rows_may_be_too_large_where_one_row_is_not():
    assert own("SUM(cost * 5e293)").domain.upper > 10**299
    with pytest.raises(Refusal) as refusal:
        own("SUM(cost * 5e294)")
    assert refusal.value.code == "scale_out_of_range"


def test_the_same_aggregate_is_computed_once_and_in_one_order():
    texts = [
        "SELECT AVG(a + b + c) FROM (SELECT person_id, {}, {}, {} FROM visits GROUP BY person_id)".format(*named)
        for named in (
            ("COUNT(*) AS a", "SUM(cost) AS b", "COUNT(*) AS c"),
            ("SUM(cost) AS b", "COUNT(*) AS a", "COUNT(1) AS c"),
        )
    ]
    one, other = (lower(text, HOSPITAL) for text in texts)
    assert one.relation == other.relation
    assert len(one.relation.outputs) == 2


def test_so_many_aggregates_are_too_many():
    named = ", ".join(f"SUM(cost + {n}) AS a{n}" for n in range(101))
    with pytest.raises(Refusal) as refusal:
        lower(f"SELECT AVG(a1) FROM (SELECT person_id, {named} FROM visits GROUP BY person_id)", HOSPITAL)
    assert refusal.value.code == "too_complex"


def test_the_aggregates_of_a_select_are_its_own_and_no_windows():
    select = parse("SELECT COUNT(*) + SUM(a), MAX(b) OVER (), (SELECT MIN(c) FROM d), AVG(e) FROM f")
    assert [node.sql() for node in find_aggregates(select.expressions, select)] == ["COUNT(*)", "SUM(a)", "AVG(e)"]


def test_squares_that_no_integer_holds_are_refused():
    huge = Column("cost", Quantity(Fraction(0), Fraction(2**60), whole=True), Numbers.integers(0, 2**60))
    table = replace(VISITS, columns=tuple(huge if each.name == "cost" else each for each in VISITS.columns))
    tables = tuple(table if each.name == "visits" else each for each in HOSPITAL.tables)
    catalog = replace(HOSPITAL, tables=tables)
    with pytest.raises(Refusal) as refused:
        lower("SELECT AVG(s) FROM (SELECT person_id, STDDEV(cost) AS s FROM visits GROUP BY person_id)", catalog)
    assert refused.value.code == "scale_out_of_range"
