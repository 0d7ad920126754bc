"""The second look at vectors: polynomials and their joint norms from the text alone, and nothing that is not proved."""

from __future__ import annotations

from itertools import islice

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.check import check_statement
from adomnia.engines.check import vectors as vectors_module
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.privacy.expressions import call
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Join, Named
from adomnia.privacy.scans import NonNull, Rows
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.vectors import Variable, Vector, constant, variable
from engines.check.looks import check, is_measured, mutants_of, refused
from engines.check.wards import VISITS, WARDS, neighbours, people, visits
from kit.polynomials import bernstein, polynomials
from kit.searches import examples

COST, WARD = VISITS.column("cost"), VISITS.column("ward")
X, Y = '(CAST("cost grid" AS BIGINT) - 0)', '(CAST("ward" AS BIGINT) - 1)'
FROM = 'FROM "visits" WHERE "rank" <= 4'


def joint(*entries, kind="DECIMAL(38, 0)"):
    sums = (f"CAST(1 AS HUGEINT) * SUM({entry})" for entry in entries)
    return f"SELECT {', '.join(f'CAST({each} AS {kind}) AS m{place}' for place, each in enumerate(sums))} {FROM}"


def moved(*entries):
    """How far one row moves entries together: one person has four."""
    (found,) = check(joint(*entries), catalog=WARDS, columns=(len(entries),))
    return found


def test_outputs_move_together_or_each_by_itself():
    ends = joint(X, f"400 - {X}")
    assert check(ends, catalog=WARDS, columns=(2,)) == (Sensitivity(l1=1600, monotone=True),)
    assert check(ends, catalog=WARDS) == (Sensitivity(l1=1600, monotone=True),) * 2
    assert check(ends, catalog=WARDS, columns=(1, 1)) == (Sensitivity(l1=1600, monotone=True),) * 2


@pytest.mark.parametrize(
    ("entries", "sensitivity"),
    [
        ((X, f"401 - {X}"), Sensitivity(1604, 1604**2, 1604, monotone=True)),
        ((X, f"399 - {X}"), Sensitivity(1604, 16 * (400**2 + 1), 1600)),
        ((X, f"(2) * (400 - {X})"), Sensitivity(l1=3200, monotone=True)),
        ((X, X), Sensitivity(3200, 2 * 1600**2, 1600, monotone=True)),
        ((X, Y), Sensitivity(1632, 16 * (400**2 + 8**2), 1600, monotone=True)),
        ((f"{X} * {Y}",), Sensitivity(l1=4 * 3200, monotone=True)),
        (('(CAST("cost grid" AS BIGINT) - 100)',), Sensitivity(l1=1200)),
        (("5", "(-3)"), Sensitivity(32, 16 * 34, 20)),
        ((f"{X} - {X}",), Sensitivity(l1=4, monotone=True)),
        ((f"{X} * {X}", X), Sensitivity(4 * 160_400, 16 * (400**4 + 400**2), 4 * 160_000, monotone=True)),
    ],
)
def test_norms_are_read_off_the_text(entries, sensitivity):
    assert moved(*entries) == sensitivity


COMPUTED_GRID = (
    'CASE WHEN CAST("ward" AS DOUBLE) < 1.0e0 THEN 1 WHEN CAST("ward" AS DOUBLE) > 9.0e0 THEN 9 '
    'ELSE TRY_CAST(FLOOR(CAST("ward" AS DOUBLE) / 1.0e0 + 0.5e0) AS BIGINT) END'
)


def of_computed(summed, *inner):
    """A sum over SELECTs that compute v, one after the other."""
    selects = (f'SELECT "person" AS "person", {each} AS v {FROM}' for each in inner or (COMPUTED_GRID,))
    return (
        f"SELECT CAST(CAST(1 AS HUGEINT) * SUM({summed}) AS DECIMAL(38, 0)) AS m0 FROM ({' UNION ALL '.join(selects)})"
    )


def test_a_grid_that_the_statement_computes_has_the_width_that_it_says():
    assert check(of_computed("v * v"), catalog=WARDS) == (Sensitivity(l1=4 * 81, monotone=True),)
    assert check(of_computed("v", COMPUTED_GRID, COMPUTED_GRID), catalog=WARDS) == (Sensitivity(72, monotone=True),)
    wide = COMPUTED_GRID.replace("BIGINT", "HUGEINT")
    assert check(of_computed(f"v * {2**63}", wide), catalog=WARDS)[0].l1 == 36 * 2**63


@pytest.mark.parametrize(
    ("summed", "inner", "reason"),
    [
        (f"v * {2**62}", (COMPUTED_GRID,), "the width of a product or a sum"),
        ("v", ('"ward"',), "a stored grid of a known width"),
        ("v", (COMPUTED_GRID, '"ward"'), "a stored grid of a known width"),
        ("v", (COMPUTED_GRID, COMPUTED_GRID.replace("BIGINT", "HUGEINT")), "a stored grid of a known width"),
    ],
)
def test_a_grid_whose_width_is_not_said_has_to_be_cast(summed, inner, reason):
    assert reason in refused(of_computed(summed, *inner), catalog=WARDS)


LAST = f"CAST((-1) AS HUGEINT) * SUM({X}) + CAST(400 AS HUGEINT) * SUM(1 + 0 * {X})"
RIGHT = (
    'SELECT "hospital" AS k0, COUNT(*) AS m0, '
    f"CAST(CAST(1 AS HUGEINT) * SUM({X} * {Y}) AS DECIMAL(38, 0)) AS m1, "
    f"CAST({LAST} AS DECIMAL(38, 0)) AS m2 "
    'FROM "visits" WHERE "rank" <= 4 GROUP BY 1'
)
COLUMNS = (1, 2)
PLANNED = Sensitivity(12_800, 16 * 3200**2, 12_800, monotone=True)


def test_the_statement_that_is_spoiled_below_is_right():
    found = check(RIGHT, catalog=WARDS, columns=COLUMNS)
    assert found == (Sensitivity(l1=4, monotone=True), PLANNED)


WRONG = {
    "a factor that is missing": (' * (CAST("ward" AS BIGINT) - 1)', ' * (CAST("ward" AS BIGINT))'),
    "a coefficient that is larger": ("CAST(400 AS", "CAST(40000 AS"),
    "a sign that is turned": ("CAST((-1) AS", "CAST(1 AS"),
    "a constant that is added": ("SUM(1 +", "SUM(100 +"),
    "a sum that is missing": (f" + CAST(400 AS HUGEINT) * SUM(1 + 0 * {X})", ""),
    "a sum of squares": ('"cost grid" AS BIGINT) - 0)', '"cost grid" AS BIGINT) - 0) * (CAST("cost grid" AS BIGINT))'),
    "another end": ('"ward" AS BIGINT) - 1', '"ward" AS BIGINT) - 9'),
}


@pytest.mark.parametrize(("right", "wrong"), WRONG.values(), ids=WRONG)
def test_other_polynomials_move_further_or_another_way(right, wrong):
    spoiled = RIGHT.replace(right, wrong, 1)
    assert spoiled != RIGHT
    _, found = check(spoiled, catalog=WARDS, columns=COLUMNS)
    assert found.l1 > PLANNED.l1 or not found.monotone


PLANTED = {
    "a wider grid": ('"cost grid"', '"cost"', "a stored grid"),
    "a double": ('"cost grid" AS BIGINT', '"cost grid" AS DOUBLE', "a stored grid within"),
    "a width that may not do": ('"cost grid" AS BIGINT', '"cost grid" AS INTEGER', "a stored grid within"),
    "a DECIMAL in a product": ('"cost grid" AS BIGINT', '"cost grid" AS DECIMAL(38, 0)', "a stored grid within"),
    "a grid as it is": ('CAST("cost grid" AS BIGINT)', '"cost grid"', "a stored grid of a known width"),
    "values that may vanish": ('CAST("cost grid" AS', 'TRY_CAST("cost grid" AS', "a stored grid of a known width"),
    "NULL as a value": ('CAST("cost grid" AS BIGINT)', 'COALESCE(CAST("cost grid" AS BIGINT), 9)', "a stored grid of"),
    "a value for NULL": ('CAST("cost grid" AS BIGINT)', 'CASE WHEN "cost grid" IS NULL THEN 9 END', "a stored grid of"),
    "a constant where there is no value": (f"SUM(1 + 0 * {X})", "SUM(1)", "sums of the same rows"),
    "a constant where there is another value": (f"SUM(1 + 0 * {X})", f"SUM(1 + 0 * {Y})", "sums of the same rows"),
    "a count of all rows": (f"SUM(1 + 0 * {X})", "COUNT(*)", "a stored grid"),
    "a count of another value": (f"SUM(1 + 0 * {X})", 'COUNT("ward")', "sums of the same rows"),
    "a count of different values": (f"SUM(1 + 0 * {X})", 'COUNT(DISTINCT "cost grid")', "a stored grid"),
    "a person": ('"cost grid"', '"person"', "a stored grid"),
    "division": ('0) * (CAST("ward" AS', '0) / (CAST("ward" AS', "a stored grid of a known width"),
    "division by whole numbers": ('0) * (CAST("ward" AS', '0) // (CAST("ward" AS', "a stored grid of a known width"),
    "a remainder": ('0) * (CAST("ward" AS', '0) % (CAST("ward" AS', "a stored grid of a known width"),
    "a shift": ('0) * (CAST("ward" AS', '0) << (CAST("ward" AS', "a stored grid of a known width"),
    "a negated polynomial": ("SUM(1 +", f"SUM(-{X} +", "a number"),
    "a fraction": ("SUM(1 +", "SUM(1.5 +", "a whole number"),
    "a double constant": ("SUM(1 +", "SUM(1e0 +", "a whole number"),
    "a fraction before a sum": ("CAST(400 AS", "CAST(400.5 AS", "a whole number"),
    "a bound constant": ("SUM(1 +", "SUM($1 +", "a stored grid of a known width"),
    "a bound constant before a sum": ("CAST(400 AS", "CAST($1 AS", "a number"),
    "a text": ("SUM(1 +", "SUM('1' +", "a number"),
    "constants among themselves": ("SUM(1 +", "SUM(20 * 20 +", "the width of a part"),
    "a constant beyond its type": ("SUM(1 +", f"SUM({2**63} +", "the width of a part"),
    "a product beyond its type": ("SUM(1 + 0 *", f"SUM(1 + {2**62} *", "the width of a product or a sum"),
    "a sum beyond its type": ("SUM(1 + 0 *", f"SUM({2**63 - 1} + 1 *", "the width of a product or a sum"),
    "a constant in 64 bits": ("CAST(400 AS HUGEINT)", "CAST(400 AS BIGINT)", "an exact sum times a wide constant"),
    "a constant that is not cast": ("CAST(400 AS HUGEINT)", "400", "an exact sum times a wide constant"),
    "a constant behind the sum": (
        'CAST((-1) AS HUGEINT) * SUM((CAST("cost grid" AS BIGINT) - 0))',
        'SUM((CAST("cost grid" AS BIGINT) - 0)) * CAST((-1) AS HUGEINT)',
        "an exact sum times a wide constant",
    ),
    "a product of sums": (
        f"+ CAST(400 AS HUGEINT) * SUM(1 + 0 * {X})",
        f"* SUM({X})",
        "an exact sum times a wide constant",
    ),
    "a difference of sums": ("+ CAST(400", "- CAST(400", "sums that are combined"),
    "a quotient of sums": ("+ CAST(400", "/ CAST(400", "an exact sum times a wide constant"),
    "a result beyond its type": ("- 1)) AS DECIMAL(38, 0)", "- 1) * 99) AS BIGINT", "the width of a result"),
    "a result as a double": ("AS DECIMAL(38, 0)) AS m1", "AS DOUBLE) AS m1", "the width of a result"),
    "no width": ("AS DECIMAL(38, 0)) AS m1", "AS VARCHAR) AS m1", "the width of a result"),
    "a plain sum": ("CAST(CAST(1 AS HUGEINT) * SUM(", "CAST(SUM(", "sums that are combined"),
    "an average": ("SUM(1 + 0", "AVG(1 + 0", "an exact sum times a wide constant"),
    "different values": ("SUM(1 + 0", "SUM(DISTINCT 1 + 0", "a stored grid of a known width"),
    "a filter": (f"0 * {X})", f"0 * {X}) FILTER (WHERE TRUE)", "an exact sum times a wide constant"),
    "a window": (f"0 * {X})", f"0 * {X}) OVER ()", "an exact sum times a wide constant"),
    "a sum that may vanish": ("CAST(CAST((-1)", "TRY_CAST(CAST((-1)", "sums that are combined"),
    "a count in a vector": (f"CAST({LAST} AS DECIMAL(38, 0))", "COUNT(*)", "sums that are combined"),
    "no cap": ('"rank" <= 4', "TRUE", "a cap on the rows of a person"),
    "a cap above the declared one": ('"rank" <= 4', '"rank" <= 5', "the cap"),
    "a column less": (f", CAST({LAST} AS DECIMAL(38, 0)) AS m2", "", "the outputs that are measured"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), PLANTED.values(), ids=PLANTED)
def test_a_planted_wrong_statement_is_caught(right, wrong, reason):
    spoiled = RIGHT.replace(right, wrong, 1)
    assert spoiled != RIGHT
    assert reason in refused(spoiled, ["5"] * ("$1" in spoiled), catalog=WARDS, columns=COLUMNS)


GRID = '"cost grid"'
ABSENT = (
    f"SELECT CAST(CAST(1 AS HUGEINT) * SUM({X}) AS DECIMAL(38, 0)) AS m0, "
    f"CAST(CAST(400 AS HUGEINT) * COUNT({GRID}) + CAST((-1) AS HUGEINT) * SUM({X}) AS DECIMAL(38, 0)) AS m1, "
    f'CAST(CAST(400 AS HUGEINT) * (COUNT(*) - COUNT({GRID})) AS DECIMAL(38, 0)) AS m2 FROM "visits" WHERE "rank" <= 4'
)


def test_rows_that_have_the_value_are_counted_like_a_sum_of_ones():
    both = [
        f"SELECT CAST(CAST(400 AS HUGEINT) * {each} AS BIGINT) AS m0 {FROM}"
        for each in (f"COUNT({GRID})", f"SUM(1 + 0 * {X})")
    ]
    assert check(both[0], catalog=WARDS, columns=(1,)) == check(both[1], catalog=WARDS, columns=(1,))


def test_a_row_is_among_those_with_the_value_or_among_those_without():
    assert check(ABSENT, catalog=WARDS, columns=(3,)) == (Sensitivity(l1=1600, monotone=True),)
    more = ABSENT.replace("CAST(400 AS HUGEINT) * (", "CAST(900 AS HUGEINT) * (")
    assert check(more, catalog=WARDS, columns=(3,)) == (Sensitivity(l1=3600, monotone=True),)


WITHOUT = "(COUNT(*) - COUNT"
ABSENT_PLANTED = {
    "rows without another value": (f"{WITHOUT}({GRID}))", f'{WITHOUT}("ward"))', "entries that all name the value"),
    "an entry that rows without the value add to": (
        f"SUM({X}) AS DECIMAL(38, 0)) AS m0",
        "SUM(1) AS DECIMAL(38, 0)) AS m0",
        "entries that all",
    ),
    "an entry that falls": ("CAST(400 AS HUGEINT) * (", "CAST((-400) AS HUGEINT) * (", "an entry that rises"),
    "all rows": (f"COUNT(*) - COUNT({GRID})", f"COUNT({GRID}) - COUNT({GRID})", "a count of all rows"),
    "rows without a sum": (f"{WITHOUT}({GRID}))", f"(COUNT(*) - SUM({GRID}))", "a count of the rows with the value"),
    "more than rows": (f"{WITHOUT}({GRID}))", f"(COUNT(*) + COUNT({GRID}))", "an exact sum times a wide constant"),
    "different values": (f"{WITHOUT}({GRID}))", f"(COUNT(*) - COUNT(DISTINCT {GRID}))", "a stored grid"),
    "a filter": (f"{WITHOUT}({GRID}))", f"(COUNT(*) FILTER (WHERE TRUE) - COUNT({GRID}))", "a count of all rows"),
    "a constant that is not wide": ("CAST(400 AS HUGEINT) * (", "CAST(400 AS BIGINT) * (", "an exact sum times"),
    "a result beyond its type": (
        f"{WITHOUT}({GRID})) AS DECIMAL(38, 0)",
        f"{WITHOUT}({GRID})) AS INTEGER",
        "the width of a result",
    ),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), ABSENT_PLANTED.values(), ids=ABSENT_PLANTED)
def test_a_wrong_count_of_rows_without_the_value_is_caught(right, wrong, reason):
    spoiled = ABSENT.replace(right, wrong, 1)
    assert spoiled != ABSENT
    assert reason in refused(spoiled, catalog=WARDS, columns=(3,))


def test_constants_before_sums_are_read_off_the_text():
    for factor in (1000, -1000):
        text = joint(X).replace("CAST(1 AS", f"CAST(({factor}) AS")
        assert check(text, catalog=WARDS) == (Sensitivity(l1=1_600_000, monotone=factor > 0),)


def test_vectors_of_no_cap_are_caught_one_by_one_too():
    text = joint(X).replace(' WHERE "rank" <= 4', "")
    assert "a cap on the rows of a person" in refused(text, catalog=WARDS)


def test_outputs_are_measured_all_of_them_and_no_more():
    for columns in ((2, 2), (1, 1), (3, 1), (1,)):
        assert "the outputs that are measured" in refused(RIGHT, catalog=WARDS, columns=columns)


def test_sums_that_no_integer_holds_are_caught():
    wide = f'(CAST("cost grid" AS HUGEINT) + {2**79})'
    assert "the width of a sum" in refused(joint(wide), catalog=WARDS)
    assert "the width of a sum" in refused(joint(X).replace("CAST(1 AS", f"CAST({2**71} AS"), catalog=WARDS)
    assert "the width of a sum" in refused(joint(wide).replace("CAST(1 AS", "CAST(0 AS"), catalog=WARDS)


def test_a_variable_is_widened_before_it_is_added_up():
    """Where an engine does not widen a sum by itself, its terms are cast: a variable alone, which is a cast, is too."""
    assert check(joint(f"CAST({X} AS HUGEINT)"), catalog=WARDS) == check(joint(X), catalog=WARDS)
    assert "a wide integer" in refused(joint(f"CAST({X} AS BIGINT)"), catalog=WARDS)
    assert "a wide integer" in refused(joint(f"CAST({X} AS DOUBLE)"), catalog=WARDS)
    narrow = X.replace("BIGINT", "TINYINT")
    assert "a stored grid within its width" in refused(joint(f"CAST({narrow} AS HUGEINT)"), catalog=WARDS)


def test_vectors_that_would_take_long_to_look_at_are_caught(monkeypatch):
    monkeypatch.setattr(vectors_module, "_MOST_POINTS", 5)
    assert "few control points" in refused(joint(f"{X} * {X} + {X}", X), catalog=WARDS, columns=(2,))


@pytest.fixture(scope="module")
def databases():
    pairs = [neighbours(variant) for variant in range(3)]
    yield pairs
    for connection in [each for pair in pairs for each in pair]:
        connection.close()


TRAPS = ["1000000", '"cost"', "AVG", "HUGEINT", "+", "COUNT", '"person"', "/"]


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.soak)])
def test_whatever_is_changed_in_a_statement_it_is_refused_or_moves_as_it_says(databases, every):
    spoiled = list(islice(mutants_of(RIGHT, TRAPS), 0, None, every))
    measured = sum(is_measured(text, (), databases, WARDS, COLUMNS) for text in spoiled)
    assert len(spoiled) > 2000 / every
    assert measured > 20 / every


BOTH = (Variable(COST, COST.domain), Variable(WARD, WARD.domain))
COMPUTED = Variable(call("*", COST, WARD), COST.domain)
VECTORS = {
    "both ends": Vector(BOTH[:1], tuple(bernstein(1, 400, 0, 1))),
    "squares": Vector(BOTH[1:], tuple(bernstein(2, 8, 0, 1))),
    "nine": Vector(BOTH, tuple(a * b for a in bernstein(2, 400, 0, 2) for b in bernstein(2, 8, 1, 2))),
    "moments": Vector(BOTH, (constant(1, 2), variable(0, 2), variable(1, 2), variable(0, 2) * variable(1, 2))),
    "computed": Vector((COMPUTED, BOTH[1]), (variable(0, 2), variable(0, 2) - variable(1, 2))),
    "one value twice": Vector((BOTH[1], BOTH[1]), (variable(0, 2) * variable(1, 2), variable(0, 2))),
}


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
@pytest.mark.parametrize("keys", [(), (VISITS.column("hospital"),)])
@pytest.mark.no_cover
def test_neighbours_are_as_near_as_both_derivations_say(databases, vector, keys):
    asked = Query(visits, keys, vector), Query(visits, keys, Rows()), Query(visits, keys, NonNull(COST))
    statement, columns = render(asked, DUCKDB), tuple(query.columns for query in asked)
    derived = check_statement(statement, WARDS, DUCKDB, asked[0].cells, columns)
    planned = tuple(query.sensitivity() for query in asked)
    assert derived[1:] == planned[1:]
    if vector == VECTORS["one value twice"]:  # that they are the same is only seen in the text
        assert (derived[0].l1 <= planned[0].l1, derived[0].l2_squared <= planned[0].l2_squared) == (True, True)
    else:
        assert derived[0] == planned[0]
    assert is_measured(statement.text, statement.parameters, databases, WARDS, columns)


def test_rows_that_are_joined_count_as_often_as_they_are_met(databases):
    both = Join(Named(people, "p"), Named(visits, "v"), (), outer=False)
    cost = next(column for column in both.columns if column.name == "cost")
    vector = Vector((Variable(cost, cost.domain),), tuple(bernstein(1, 400, 0, 1)))
    query = Query(both, (), vector)
    statement = render((query,), DUCKDB)
    assert (
        check_statement(statement, WARDS, DUCKDB, (), (2,))
        == (Sensitivity(l1=1600, monotone=True),)
        == (query.sensitivity(),)
    )
    assert is_measured(statement.text, (), databases, WARDS, (2,))


@given(st.lists(polynomials(2, 2), min_size=1, max_size=4))
@settings(max_examples=examples(20), deadline=None)
def test_any_vector_moves_between_neighbours_as_both_derivations_say(databases, entries):
    query = Query(visits, (VISITS.column("hospital"),), Vector(BOTH, tuple(entries)))
    statement = render((query,), DUCKDB)
    assert check_statement(statement, WARDS, DUCKDB, query.cells, (query.columns,)) == (query.sensitivity(),)
    assert is_measured(statement.text, (), databases, WARDS, (query.columns,))


def test_the_engine_computes_a_vector_as_the_check_supposes():
    """In integers of the width of the cast, and NULL where a part is."""
    with duckdb.connect() as connection:
        connection.execute('CREATE TABLE t ("g" UTINYINT)')
        connection.execute("INSERT INTO t VALUES (0), (255), (NULL)")
        for kind in ("BIGINT", "HUGEINT"):
            entry = f'((-3)) * (CAST("g" AS {kind}) - 255) + 7 + 0 * (CAST("g" AS {kind}) - 5)'
            found = connection.execute(f"SELECT typeof({entry}), {entry} FROM t").fetchall()
            assert found == [(kind, 772), (kind, 7), (kind, None)]
            summed = connection.execute(f"SELECT typeof(SUM({entry})), SUM({entry}), SUM(1 + 0 * {entry}) FROM t")
            assert summed.fetchall() == [("HUGEINT", 779, 16)]
