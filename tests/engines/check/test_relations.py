"""Joins, unions and aggregates of one person's rows: what reaches an aggregate is found again from the text alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice, product

import duckdb
import pytest

from adomnia.engines.check import check_statement
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.postgres.dialect import POSTGRES
from adomnia.engines.render import render
from adomnia.errors import Failure
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Literal
from adomnia.privacy.kinds import Boolean, Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import (
    Join,
    Lookup,
    Named,
    OwnValue,
    PerPerson,
    PublicGroups,
    Select,
    Selected,
    Union,
    Where,
)
from adomnia.privacy.scans import (
    Average,
    DistinctValues,
    NonNull,
    OwnChoice,
    OwnExtreme,
    OwnMedian,
    OwnSpread,
    People,
    Rows,
    Total,
)
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.units import ROW
from engines.check.looks import check, is_measured, mutants_of, refused
from engines.check.wards import WARDS, items, neighbours, people, places, visits


def column(relation, name, source=""):
    (found,) = (each for each in relation.columns if each.name == name and source in ("", each.source))
    return found


def named(relation, name=None):
    return Named(relation, name or relation.name)


def equal(left, right):
    return Call("=", (left, right), Boolean())


def on(left, right, *names, **options):
    """Two sides joined on columns that they both have."""
    pairs = tuple(equal(column(left, name, options.get("of", "")), column(right, name)) for name in names)
    return Join(left, right, pairs, options.get("outer", False))


def total(value):
    return Total(value, value.domain)


ADULT = Call(">", (column(people, "age"), Literal(Fraction(18), Quantity(Fraction(18), Fraction(18)))), Boolean())
COST = column(visits, "cost")
DOUBLED = Call(
    "*", (COST, Literal(Fraction(2), Quantity(Fraction(2), Fraction(2)))), Quantity(Fraction(0), Fraction(200))
)
PRICE, STAY = column(items, "price"), Numbers.integers(0, 20)


def part(relation, *pairs):
    return Select(relation, tuple(Selected(name, value) for name, value in pairs))


SPENT = part(visits, ("place", column(visits, "ward")), ("cost", COST), ("urgent", column(visits, "urgent")))
PAID = part(visits, ("place", column(visits, "ward")), ("cost", COST), ("urgent", column(visits, "urgent")))
NOTHING = Literal(True, Boolean())
LINKED = (("visit_id", column(visits, "visit_id")), ("ward", column(visits, "ward")))
PAIRS = on(named(places, "p"), named(places, "q"), "region")
TWO_PLACES = part(PAIRS, ("city", column(PAIRS, "city", "p")), ("ward", column(PAIRS, "ward", "p")))
OWN = PerPerson(
    Where(visits, equal(column(visits, "urgent"), Literal(True, Boolean()))),
    (),
    (
        OwnValue("visits", Rows(), STAY),
        OwnValue("spent", Total(COST, COST.domain), Numbers.bounded(0, 250, Fraction(1, 4))),
        OwnValue("raw", Total(COST, COST.domain)),
        OwnValue("centred", Total(COST, COST.domain, 200), Numbers.integers(-7, 9)),
        OwnValue("mean", Average(COST, COST.domain)),
        OwnValue("last", OwnExtreme(COST, greatest=True)),
        OwnValue("first", OwnExtreme(DOUBLED, greatest=False)),
        OwnValue("wards", DistinctValues(column(visits, "ward")), STAY),
        OwnValue("days", NonNull(column(visits, "day"))),
        OwnValue("computed", Total(DOUBLED, Numbers.bounded(0, 50, 1)), Numbers.integers(0, 10)),
    ),
)
BY_WARD = PerPerson(visits, (Selected("hospital", column(visits, "hospital")),), (OwnValue("n", Rows(), STAY),))
SPELLED = PerPerson(visits, (Selected("h", column(visits, "hospital"), stored=False),), (OwnValue("n", Rows()),))

MORE_OWN = PerPerson(
    visits,
    (),
    (
        OwnValue("middle", OwnMedian(COST)),
        OwnValue("computed", OwnMedian(DOUBLED)),
        OwnValue("spread", OwnSpread(COST, COST.domain, root=True, sample=True)),
        OwnValue("variance", OwnSpread(DOUBLED, Numbers.bounded(0, 50, 1), root=False, sample=False)),
        OwnValue("first", OwnChoice(COST, column(visits, "day"), greatest=False)),
        OwnValue("last", OwnChoice(column(visits, "hospital"), COST, greatest=True)),
        OwnValue("dear", OwnChoice(DOUBLED, DOUBLED, greatest=True)),
        OwnValue("any", OwnExtreme(column(visits, "urgent"), greatest=True)),
    ),
)


def by(relation, *names):
    """Groups of rows to look something up in, by columns as they are compared."""
    keys = tuple(Selected(f"g{place}", column(relation, name), stored=False) for place, name in enumerate(names))
    groups = PublicGroups if relation is places else PerPerson
    return Named(groups(relation, keys, (OwnValue("v0", Rows(), STAY),)), "found")


def look_up(left, right, *names):
    return Lookup(left, right, tuple(column(left, name) for name in names))


WARDS_OF_PLACES = PublicGroups(places, (Selected("ward", column(places, "ward"), stored=False),), ())
SCALAR = PublicGroups(places, (), (OwnValue("v0", OwnExtreme(column(places, "area"), greatest=True)),))
LOOKUPS = {
    "looked up by a key": (look_up(named(visits), by(items, "visit_id"), "visit_id"), 4),
    "looked up by two keys": (look_up(named(visits), by(items, "visit_id", "day"), "visit_id", "day"), 4),
    "looked up by what repeats": (look_up(named(visits), by(items, "ward"), "ward"), 4),
    "looked up by the person": (look_up(named(visits), by(items)), 4),
    "looked up twice": (look_up(look_up(named(visits), by(items, "ward"), "ward"), Named(by(places).source, "f")), 4),
    "looked up among groups that are filtered": (
        look_up(named(visits), Named(Where(by(items, "day").source, NOTHING), "found"), "day"),
        4,
    ),
    "public, looked up by what repeats": (look_up(named(visits), by(places, "ward"), "ward"), 4),
    "public, looked up by what doubles cannot tell apart": (look_up(named(visits), by(places, "code"), "ward"), 4),
    "public, looked up by a category": (look_up(named(people), by(places, "city"), "city"), 1),
    "public, one row": (Lookup(named(visits), Named(SCALAR, "found")), 4),
    "public groups by one key": (on(named(visits), named(WARDS_OF_PLACES, "groups"), "ward"), 4),
    "more by the person": (MORE_OWN, 1),
}

RELATIONS = {
    **LOOKUPS,
    "one table": (visits, 4),
    "person by person": (Join(named(visits), named(people), ()), 4),
    "the other way round": (Join(named(people), named(visits), ()), 4),
    "two tables of many rows": (Join(named(visits), named(items), ()), 24),
    "by a key of the left side": (on(named(visits), named(items), "visit_id"), 6),
    "by a key of the right side": (on(named(items), named(visits), "visit_id"), 6),
    "left join by a key of the left side": (on(named(visits), named(items), "visit_id", outer=True), 10),
    "left join by a key of the right side": (on(named(items), named(visits), "visit_id", outer=True), 6),
    "by what is no key": (on(named(visits), named(items), "day"), 24),
    "with a filter on either side": (
        on(
            named(Where(visits, Call("is null", (COST,), Boolean())), "visits"),
            named(Where(items, Call("is null", (PRICE,), Boolean())), "items"),
            "visit_id",
        ),
        6,
    ),
    "a table with itself": (Join(named(visits, "a"), named(visits, "b"), ()), 16),
    "a table with itself by its key": (on(named(visits, "a"), named(visits, "b"), "visit_id"), 4),
    "three tables": (on(on(named(visits), named(items), "visit_id"), named(people)), 6),
    "three tables, the last by a key": (
        on(Join(named(people), named(items), ()), named(visits), "visit_id", of="items", outer=True),
        6,
    ),
    "public by a column that is unique": (on(named(people), named(places), "city"), 1),
    "public by a column that repeats": (on(named(visits), named(places), "ward"), 12),
    "public by both": (
        Join(
            Join(named(people), named(visits), ()),
            named(places),
            (
                equal(column(named(people), "city"), column(named(places), "city")),
                equal(column(named(visits), "ward"), column(named(places), "ward")),
            ),
        ),
        4,
    ),
    "public, or nothing": (on(named(visits), named(places), "ward", outer=True), 12),
    "text with a category": (
        Join(named(people), named(places), (equal(column(named(people), "city"), column(named(places), "name")),)),
        1,
    ),
    "category with a text": (
        Join(named(people), named(places), (equal(column(named(people), "town"), column(named(places), "city")),)),
        1,
    ),
    "public, filtered": (
        on(
            named(people), named(Where(places, Call("is null", (column(places, "area"),), Boolean())), "places"), "city"
        ),
        1,
    ),
    "public, selected": (
        on(named(people), named(part(places, ("city", column(places, "city"))), "places"), "city"),
        1,
    ),
    "public, one after the other": (
        on(named(people), named(Union((part(places, ("city", column(places, "city"))),) * 2), "places"), "city"),
        2,
    ),
    "public, of two tables": (on(named(people), named(TWO_PLACES, "places"), "city"), 2),
    "public, of two tables, or nothing": (on(named(visits), named(TWO_PLACES, "places"), "ward", outer=True), 24),
    "one after the other": (Union((SPENT, PAID)), 8),
    "of a join, one after the other": (
        Union(
            (
                part(on(named(visits), named(items), "visit_id"), ("cost", replace(COST, source="visits"))),
                part(visits, ("cost", COST)),
            )
        ),
        10,
    ),
    "by the person": (OWN, 1),
    "by the person and a key": (BY_WARD, 4),
    "by the person and a key that is spelled out": (SPELLED, 4),
    "people with what is theirs": (Join(named(people), named(OWN, "own"), (), outer=True), 1),
    "people with what is theirs by a key": (Join(named(people), named(BY_WARD, "own"), ()), 4),
    "selected and joined by a key": (
        on(
            named(part(visits, ("visit_id", column(visits, "visit_id")), ("double", DOUBLED)), "v"),
            named(items),
            "visit_id",
        ),
        6,
    ),
    "by the person, of everything of several tables": (
        PerPerson(
            Union((part(visits, ("day", column(visits, "day"))), part(items, ("day", column(items, "day"))))),
            (),
            (OwnValue("n", Rows(), STAY),),
        ),
        1,
    ),
    "by the person, of a join": (
        PerPerson(on(named(visits), named(items), "visit_id"), (), (OwnValue("n", Rows(), STAY),)),
        1,
    ),
    "filtered after a join": (
        Where(Join(named(people), named(visits), ()), equal(column(named(people), "town"), Literal("Oslo", Text()))),
        4,
    ),
    "filtered after a selection": (Where(SPENT, Call("is null", (column(SPENT, "cost"),), Boolean())), 4),
}


def aggregates_of(relation):
    """Every aggregate that the columns of a relation allow."""
    yield Rows()
    yield People()
    for each in relation.columns:
        if each.domain is not None:
            yield Total(each, each.domain)
            yield Total(each, each.domain, each.domain.middle)
            yield NonNull(each)
        elif isinstance(each.kind, Quantity):
            yield Total(each, Numbers.bounded(-2, 3, Fraction(1, 2)))


def keys_of(relation):
    """No key, and every key with declared values."""
    yield ()
    for each in relation.columns:
        if isinstance(each.kind, Boolean) or (isinstance(each.kind, Text) and each.kind.values is not None):
            yield (each,)


def batches(relation):
    """All of these in as few statements as they can share."""
    for keys in keys_of(relation):
        found = {}
        for aggregate in aggregates_of(relation):
            query = Query(relation, keys, aggregate)
            found.setdefault(query.read, []).append(query)
        yield from map(tuple, found.values())


@pytest.mark.parametrize(("relation", "rows"), RELATIONS.values(), ids=RELATIONS)
def test_rows_of_one_person_are_found_again_from_the_text(relation, rows):
    assert relation.rows_per_person == rows
    for queries in batches(relation):
        found = check_statement(render(queries, DUCKDB), WARDS, DUCKDB, queries[0].cells)
        assert found == tuple(query.sensitivity() for query in queries)


@pytest.fixture(scope="module")
def databases():
    pairs = [neighbours(variant) for variant in range(3)]
    yield pairs
    for connection in [each for pair in pairs for each in pair]:
        connection.close()


@pytest.mark.parametrize("relation", [relation for relation, _ in RELATIONS.values()], ids=RELATIONS)
@pytest.mark.no_cover
def test_neighbours_are_as_near_as_the_text_says(relation, databases):
    for queries in batches(relation):
        statement = render(queries, DUCKDB)
        assert is_measured(statement.text, statement.parameters, databases, WARDS)


SIDES = {
    "people": people,
    "visits": visits,
    "items": items,
    "places": places,
    "own": PerPerson(visits, (), (OwnValue("ward", Total(column(visits, "ward"), STAY), STAY),)),
    "kinds": BY_WARD,
    "rows": Union((part(visits, *LINKED), part(visits, *LINKED))),
}


def chains():
    """Three sides, joined in every order, by the person or by whatever columns they share, with and without LEFT."""
    for a, b, c in product(SIDES, repeat=3):
        if a == "places" or len({a, b, c}) < 3:
            continue
        for shared, first, second in product((0, 1, 2), (False, True), (False, True)):
            pair = joined(named(SIDES[a], a), named(SIDES[b], b), shared, first)
            chain = pair and joined(pair, named(SIDES[c], c), shared, second)
            if chain:
                yield chain


def joined(left, right, shared, outer):
    """A join on the first few columns that both sides have; None for a public side that shares none."""
    pairs = [
        equal(one, other)
        for other, one in product(right.columns, left.columns)
        if one.name == other.name and one.kind == other.kind and one.name != "person"
    ][:shared]
    return Join(left, right, tuple(pairs), outer) if pairs or right.rows_per_person else None


@pytest.mark.parametrize("every", [29, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.no_cover
def test_chains_of_joins_are_as_near_as_both_derivations_say(every, databases):
    checks = 0
    for chain in islice(chains(), 0, None, every):
        queries = Query(chain, (), Rows()), Query(Where(chain, NOTHING), (), People())
        for query in queries[: 1 + checks % 2]:
            statement = render((query,), DUCKDB)
            assert check_statement(statement, WARDS, DUCKDB) == (query.sensitivity(),)
            assert is_measured(statement.text, statement.parameters, databases[checks % 3 :][:1], WARDS)
        checks += 1
    assert checks > 500 / every


VISITS = '(SELECT * FROM "visits" WHERE "rank" <= 4) AS "visits"'
ITEMS = '(SELECT * FROM "items" WHERE "rank" <= 6) AS "items"'
SAME_PERSON = '"visits"."person" = "items"."person"'
BY_KEY = '("visits"."visit_id" = "items"."visit_id")'
JOINED = 'SELECT COUNT(*) AS m0, CAST(SUM("items"."price") AS BIGINT) AS m1, COUNT(DISTINCT "items"."person") AS m2 '
JOINED += f"FROM {VISITS} JOIN {ITEMS} ON {SAME_PERSON} AND {BY_KEY}"

WRONG_JOINS = {
    "no person": (f"{SAME_PERSON} AND ", "", "sides of one person"),
    "person or key": ('person" AND', 'person" OR', "sides of one person"),
    "not the person": ('"visits"."person" =', '"visits"."person" <>', "sides of one person"),
    "the same person twice": (SAME_PERSON, '"items"."person" = "items"."person"', "sides of one person"),
    "person and another key": ('= "items"."person"', '= "items"."visit_id"', "codes of one list"),
    "person as a number": ('= "items"."person"', '= "items"."price"', "parts of EQ of one type"),
    "no condition": (f" ON {SAME_PERSON} AND {BY_KEY}", "", "JOIN or LEFT JOIN, and ON"),
    "condition that is none": (BY_KEY, '"items"."kind"', "a condition"),
    "right join": (" JOIN ", " RIGHT JOIN ", "JOIN or LEFT JOIN, and ON"),
    "full join": (" JOIN ", " FULL JOIN ", "JOIN or LEFT JOIN, and ON"),
    "cross join": (" JOIN ", " CROSS JOIN ", "Join without kind"),
    "semi join": (" JOIN ", " SEMI JOIN ", "Join without kind"),
    "nearest join": (" JOIN ", " ASOF JOIN ", "Join without method"),
    "positional join": (" JOIN ", " POSITIONAL JOIN ", "Join without method"),
    "natural join": (" JOIN ", " NATURAL JOIN ", "Join without method"),
    "comma": (f" JOIN {ITEMS} ON {SAME_PERSON} AND {BY_KEY}", f", {ITEMS}", "JOIN or LEFT JOIN, and ON"),
    "side without a cap": (f"{ITEMS}", '"items" AS "items"', "a cap on the rows"),
    "cap above the declared": ('"rank" <= 6', '"rank" <= 7', "the cap"),
    "cap of another table": ('"rank" <= 4', '"rank" <= 6', "the cap"),
    "cap after the join": ('WHERE "rank" <= 6', "", "a cap on the rows"),
    "cap outside": (f"{SAME_PERSON} AND", f'"items"."rank" <= 6 AND {SAME_PERSON} AND', "a stored column"),
    "one name for two sides": ('AS "items" ON', 'AS "VISITS" ON', "a name for each side"),
    "side without a name": (f"FROM {VISITS}", 'FROM "visits"', "a name for each side"),
    "second side without a name": (ITEMS, '"items"', "a name for each side"),
    "names for columns": ('AS "items" ON', 'AS "items"("a", "b") ON', "TableAlias without columns"),
    "column of no side": ('SUM("items"."price")', 'SUM("price")', "a stored column"),
    "column of another side": ('SUM("items"."price")', 'SUM("visits"."price")', "a stored column"),
    "column of a database": ('SUM("items"."price")', 'SUM("main"."items"."price")', "Column without db"),
    "unknown side": (ITEMS, '"ledger" AS "items"', "a declared table"),
    "table function": (ITEMS, 'range(5) AS "items"', "a declared table"),
    "values": (ITEMS, '(VALUES (1)) AS "items"', "a declared table"),
    "sample": ('FROM "items" WHERE', 'FROM "items" TABLESAMPLE 5 PERCENT WHERE', "Table without sample"),
    "sampled side": ('AS "items" ON', 'AS "items" TABLESAMPLE 5 PERCENT ON', "without sample"),
    "distinct": ('(SELECT * FROM "items"', '(SELECT DISTINCT * FROM "items"', "Select without distinct"),
    "limit": ('"rank" <= 6', '"rank" <= 6 LIMIT 5', "Select without limit"),
    "order": ('"rank" <= 6', '"rank" <= 6 ORDER BY "price"', "Select without order"),
    "qualify": ('"rank" <= 6', '"rank" <= 6 QUALIFY TRUE', "Select without qualify"),
    "all but some columns": (
        '(SELECT * FROM "items"',
        '(SELECT * EXCLUDE ("price") FROM "items"',
        "Star without except",
    ),
    "all with another column": (
        '(SELECT * FROM "items"',
        '(SELECT * REPLACE ("rank" AS "price") FROM "items"',
        "Star without replace",
    ),
    "all and a column": ('(SELECT * FROM "items"', '(SELECT *, "rank" AS "x" FROM "items"', "a name for each output"),
    "all of a join": (
        '(SELECT * FROM "items" WHERE "rank" <= 6)',
        '(SELECT * FROM "items" AS "i" JOIN "people" AS "p" ON "i"."person" = "p"."person")',
        "Select without joins",
    ),
    "grouped without a person": ('"rank" <= 6)', '"rank" <= 6 GROUP BY ALL)', "Select without group"),
    "column of the query around": ('"rank" <= 6', '"rank" <= 6 AND "visits"."urgent"', "a stored column"),
    "lateral": (f"JOIN {ITEMS}", f"JOIN LATERAL {ITEMS}", "a declared table"),
    "subquery in a condition": (BY_KEY, 'EXISTS (SELECT 1 FROM "people")', "no "),
    "with": ("SELECT COUNT(*)", 'WITH "items" AS (SELECT 1) SELECT COUNT(*)', "Select without with"),
    "ids in order": (BY_KEY, '("visits"."visit_id" < "items"."visit_id")', "parts of LT of one type"),
    "id that is not stored": (BY_KEY, '("visits"."visit_id" = "items"."item_id")', "a stored column"),
    "codes of two lists": (BY_KEY, '("visits"."hospital" = "items"."kind")', "codes of one list"),
    "different keys": ('DISTINCT "items"."person"', 'DISTINCT "items"."visit_id"', "COUNT(DISTINCT person)"),
    "sum of ids": ('SUM("items"."price")', 'SUM("items"."visit_id")', "a stored grid"),
    "sum too wide": ("AS BIGINT) AS m1", "AS INTEGER) AS m1", "the width of a result"),
}


def test_the_join_that_is_spoiled_below_is_right():
    assert check(JOINED, catalog=WARDS) == (
        Sensitivity(l1=6, monotone=True),
        Sensitivity(l1=300),
        Sensitivity(l1=1, monotone=True),
    )


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG_JOINS.values(), ids=WRONG_JOINS)
def test_a_wrong_join_is_caught(right, wrong, reason):
    assert right in JOINED
    if reason:
        assert reason in refused(JOINED.replace(right, wrong), catalog=WARDS)
    else:
        assert JOINED.replace(right, wrong) != JOINED


LARGER = {
    "no key": (f" AND {BY_KEY}", "", 24),
    "key under an alternative": (f"AND {BY_KEY}", f"AND ({BY_KEY} OR TRUE)", 24),
    "not the key": (BY_KEY, '("visits"."visit_id" <> "items"."visit_id")', 24),
    "another column": (BY_KEY, '("visits"."day" = "items"."day")', 24),
    "key of one side alone": (BY_KEY, '("visits"."visit_id" = "visits"."visit_id")', 24),
    "left join": (" JOIN ", " LEFT JOIN ", 10),
    "key without a cap on its side": (f"FROM {VISITS}", 'FROM "visits" AS "visits"', 6),
    "a lower cap": ('"rank" <= 6', '"rank" <= 2', 2),
    "two caps": ('"rank" <= 6', '"rank" <= 2 AND "rank" <= 5', 2),
    "key turned round": (BY_KEY, '("items"."visit_id" = "visits"."visit_id")', 6),
}


@pytest.mark.parametrize(("right", "other", "rows"), LARGER.values(), ids=LARGER)
def test_a_join_is_believed_as_far_as_its_conditions_go(right, other, rows):
    assert right in JOINED
    assert check(JOINED.replace(right, other), catalog=WARDS)[0] == Sensitivity(l1=rows, monotone=True)


LEFT = JOINED.replace(" JOIN ", " LEFT JOIN ")


def test_people_are_joined_with_the_first_side_and_not_with_one_that_may_be_missing():
    person = '(SELECT * FROM "people" WHERE "rank" <= 1) AS "people" ON'
    assert check(f'{LEFT} JOIN {person} "visits"."person" = "people"."person"', catalog=WARDS)[0].l1 == 10
    for optional in ("items", "people"):
        wrong = f'{LEFT} JOIN {person} "{optional}"."person" = "people"."person"'
        assert "sides of one person" in refused(wrong, catalog=WARDS)


PUBLIC = f'SELECT COUNT(*) AS m0 FROM {VISITS} JOIN "places" AS "places" '
PUBLIC += 'ON (CAST("visits"."ward" AS DOUBLE) = CAST("places"."ward" AS DOUBLE))'
WARD = 'CAST("places"."ward" AS DOUBLE)'
UNKNOWN = "an equality with a column whose values repeat so often at most"

WRONG_PUBLIC = {
    "no equality": (PUBLIC[PUBLIC.index("(CAST") :], "TRUE", UNKNOWN),
    "another comparison": ("DOUBLE) = CAST", "DOUBLE) < CAST", UNKNOWN),
    "equality with a constant": (WARD, "2.0e0", UNKNOWN),
    "equality with a computed value": (WARD, f"({WARD} * 0.0e0)", UNKNOWN),
    "equality within the public side": ('CAST("visits"."ward" AS DOUBLE)', WARD, UNKNOWN),
    "equality within the private side": (WARD, 'CAST("visits"."ward" AS DOUBLE)', UNKNOWN),
    "equality of what doubles cannot tell apart": (WARD, 'CAST("places"."code" AS DOUBLE)', UNKNOWN),
    "equality that may be missing": ("AS DOUBLE))", 'AS DOUBLE) OR "places"."name" IS NULL)', UNKNOWN),
    "equality with one of several texts": (
        PUBLIC[PUBLIC.index("(CAST") :],
        '(CASE "visits"."hospital" WHEN 0 THEN $1 END = CASE "places"."city" WHEN 0 THEN $1 WHEN 1 THEN $1 END)',
        UNKNOWN,
    ),
    "equality with a text for two columns": (
        PUBLIC[PUBLIC.index("(CAST") :],
        '(CASE "visits"."hospital" WHEN 0 THEN $1 END = CASE "places"."city" WHEN "places"."region" THEN $1 END)',
        UNKNOWN,
    ),
    "equality with a text for all others": (
        PUBLIC[PUBLIC.index("(CAST") :],
        '(CASE "visits"."hospital" WHEN 0 THEN $1 END = CASE "places"."city" WHEN 0 THEN $1 ELSE $2 END)',
        UNKNOWN,
    ),
    "public first": (f"FROM {VISITS}", 'FROM "places" AS "visits"', "a private table"),
    "cap on a public table": ('JOIN "places"', 'JOIN (SELECT * FROM "places" WHERE "rank" <= 1)', "the cap"),
    "public values without a bound": (
        'JOIN "places"',
        'JOIN (SELECT (CAST("ward" AS DOUBLE) * 0.0e0) AS "ward" FROM "places")',
        UNKNOWN,
    ),
    "public person": (
        'JOIN "places"',
        'JOIN (SELECT "ward" AS "ward", "ward" AS "person" FROM "places")',
        "the person first",
    ),
    "public groups by another key": (
        'JOIN "places"',
        'JOIN (SELECT "ward" AS "ward" FROM "places" GROUP BY "floor")',
        "GROUP BY the person",
    ),
    "private and public rows": (
        'JOIN "places"',
        'JOIN (SELECT "ward" AS "w" FROM "places" UNION ALL SELECT "person" AS "person", "ward" AS "w" FROM "visits")',
        "UNION ALL of the same columns",
    ),
    "private rows instead": ('JOIN "places"', 'JOIN (SELECT "ward" AS "ward" FROM "visits")', "the person first"),
    "two texts that are one": ("(CAST", "(CAST", "parameters that differ"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG_PUBLIC.values(), ids=WRONG_PUBLIC)
def test_a_wrong_join_with_a_public_table_is_caught(right, wrong, reason):
    assert right in PUBLIC
    parameters = ["Oslo", "Oslo" if "parameters" in reason else "Bergen"]
    assert reason in refused(PUBLIC.replace(right, wrong), parameters, catalog=WARDS)


def test_how_often_public_values_repeat_multiplies():
    assert check(PUBLIC, catalog=WARDS) == (Sensitivity(l1=12, monotone=True),)
    passed_on = 'JOIN (SELECT CAST("ward" AS DOUBLE) AS "ward" FROM "places")'
    assert check(PUBLIC.replace('JOIN "places"', passed_on), catalog=WARDS)[0].l1 == 12
    twice = PUBLIC + ' JOIN "places" AS "more" ON "places"."city" = "more"."city"'
    assert check(twice, catalog=WARDS)[0].l1 == 12
    again = PUBLIC + ' JOIN "places" AS "more" ON "places"."region" = "more"."region"'
    assert check(again, catalog=WARDS)[0].l1 == 24
    public = '(SELECT "a"."ward" AS "ward" FROM "places" AS "a" JOIN "places" AS "b" ON "a"."region" = "b"."region")'
    assert check(PUBLIC.replace('"places" AS "places"', f'{public} AS "places"'), catalog=WARDS)[0].l1 == 24
    unknown = replace(WARDS, tables=tuple(replace(table, repeats=()) for table in WARDS.tables))
    assert UNKNOWN in refused(PUBLIC, catalog=unknown)


PART = 'SELECT "person" AS "person", "cost" AS "x", "cost grid" AS "x grid", "hospital" AS "h" FROM "visits"'
PART += ' WHERE "rank" <= 4'
UNITED = f'SELECT "h" AS k0, CAST(SUM("x grid") AS BIGINT) AS m0 FROM ({PART} UNION ALL {PART}) AS "rows" GROUP BY 1'
LAST = f"UNION ALL {PART}"

WRONG_UNIONS = {
    "columns swapped": ('"cost" AS "x", "cost grid" AS "x grid"', '"cost grid" AS "x grid", "cost" AS "x"', "columns"),
    "a column less": (', "hospital" AS "h"', "", "UNION ALL of the same columns"),
    "another name": ('"hospital" AS "h"', '"hospital" AS "g"', "UNION ALL of the same columns"),
    "another type": ('"hospital" AS "h"', '"urgent" AS "h"', "UNION ALL of columns of one type"),
    "codes of another list": ('"hospital" AS "h" FROM "visits"', '"kind" AS "h" FROM "items"', "a stored column"),
    "not a grid": ('"cost grid" AS "x grid"', '"cost" AS "x grid"', "a stored grid"),
    "a computed grid": ('"cost grid" AS "x grid"', 'CAST("cost grid" AS DOUBLE) AS "x grid"', "a stored grid"),
    "no cap": (' WHERE "rank" <= 4', "", "a cap on the rows"),
    "set union": ("UNION ALL", "UNION", "Union without distinct"),
    "by name": ("UNION ALL", "UNION ALL BY NAME", "Union without by_name"),
    "intersection": ("UNION ALL", "INTERSECT", "a SELECT in brackets"),
    "difference": ("UNION ALL", "EXCEPT", "a SELECT in brackets"),
    "limit": ('"rank" <= 4', '"rank" <= 4 LIMIT 3', "Union without limit"),
    "no person": ('"person" AS "person", ', "", "the person first"),
    "another person": ('"person" AS "person"', '"ward" AS "person"', "the person of every row"),
    "person twice": ('"person" AS "person"', '"person" AS "person", "person" AS "Person"', "different names"),
    "person last": ('"person" AS "person", "cost" AS "x"', '"cost" AS "x", "person" AS "person"', "the person first"),
    "rank passed on": ('"hospital" AS "h"', '"hospital" AS "h", "ward" AS "Rank"', "outputs of different names"),
    "two of one name": ('"hospital" AS "h"', '"hospital" AS "h", "ward" AS "H"', "outputs of different names"),
    "rank looked at": ('"hospital" AS "h"', '"rank" AS "h"', "a stored column"),
    "no name": ('"hospital" AS "h"', '"hospital"', "a name for each output"),
    "a value of no type": ('"hospital" AS "h"', 'NULL AS "h"', "a value of a type"),
    "text as it is written": ('"hospital" AS "h"', "'H1' AS \"h\"", "a value of a type"),
    "an aggregate among rows": ('"hospital" AS "h"', 'COUNT("ward") AS "h"', "no Count"),
    "a window among rows": ('"hospital" AS "h"', 'ROW_NUMBER() OVER () AS "h"', "no "),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG_UNIONS.values(), ids=WRONG_UNIONS)
def test_a_wrong_union_is_caught(right, wrong, reason):
    spoiled = UNITED.replace(LAST, LAST.replace(right, wrong))
    assert spoiled != UNITED
    assert reason in refused(spoiled, catalog=WARDS)


def test_a_union_is_as_large_as_its_parts_together():
    assert check(UNITED, catalog=WARDS) == (Sensitivity(l1=8 * 400, monotone=True),)
    wider = LAST.replace('"cost grid" AS "x grid", "hospital"', '"price" AS "x grid", "kind"').replace(
        '"cost"', '"ward"'
    )
    wider = wider.replace("visits", "items").replace('"kind" AS "h"', 'CAST(NULL AS BOOLEAN) AS "h"')
    narrow = UNITED.replace('"hospital" AS "h"', '"urgent" AS "h"')
    found = narrow.replace(LAST.replace('"hospital" AS "h"', '"urgent" AS "h"'), wider)
    assert check(found, catalog=WARDS) == (Sensitivity(l1=8 * 400),)
    unioned = UNITED.replace(LAST, f"{LAST} {LAST}")
    assert check(unioned, catalog=WARDS)[0].l1 == 12 * 400
    whole = 'SELECT COUNT(*) AS m0 FROM (SELECT "person" AS "person" FROM "visits" WHERE "rank" <= 4)'
    assert check(whole, catalog=WARDS) == (Sensitivity(l1=4, monotone=True),)


EACH = 'SELECT "person" AS "person", "hospital" AS "h", CAST(CASE WHEN SUM("ward") < 1 THEN 1 '
EACH += 'WHEN SUM("ward") > 20 THEN 20 ELSE SUM("ward") END AS BIGINT) AS "n", '
EACH += 'MAX("cost grid") AS "most" FROM "visits" WHERE "rank" <= 3 GROUP BY "person", "hospital"'
OUTER = f'SELECT "h" AS k0, CAST(SUM("n") AS BIGINT) AS m0, CAST(SUM("most") AS BIGINT) AS m1 FROM ({EACH}) AS "rows" '
OUTER += "GROUP BY 1"

WRONG_GROUPS = {
    "not by the person": ('GROUP BY "person", "hospital")', 'GROUP BY "hospital")', "GROUP BY the person"),
    "by the key first": ('GROUP BY "person", "hospital")', 'GROUP BY "hospital", "person")', "GROUP BY the person"),
    "not by the key": ('GROUP BY "person", "hospital")', 'GROUP BY "person")', "an aggregate of one person"),
    "by another key": ('GROUP BY "person", "hospital")', 'GROUP BY "person", "ward")', "GROUP BY the person"),
    "by more": ('GROUP BY "person", "hospital")', 'GROUP BY "person", "hospital", "day")', "GROUP BY the person"),
    "by places": ('GROUP BY "person", "hospital")', "GROUP BY 1, 2)", "GROUP BY the person"),
    "by all": ('GROUP BY "person", "hospital")', "GROUP BY ALL)", "Group without all"),
    "by sets": ('GROUP BY "person", "hospital")', 'GROUP BY ROLLUP ("person", "hospital"))', "GROUP BY the person"),
    "by nothing": (' GROUP BY "person", "hospital")', ")", ""),
    "having": (
        'GROUP BY "person", "hospital")',
        'GROUP BY "person", "hospital" HAVING COUNT(*) > 1)',
        "without having",
    ),
    "no cap": (' WHERE "rank" <= 3', "", "a cap on the rows"),
    "another person": ('SELECT "person" AS', 'SELECT "ward" AS', "the person of every row"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG_GROUPS.values(), ids=WRONG_GROUPS)
def test_wrong_groups_of_one_persons_rows_are_caught(right, wrong, reason):
    assert right in OUTER
    assert reason in refused(OUTER.replace(right, wrong), catalog=WARDS)


def test_one_row_for_each_person_is_one_row_whatever_was_read():
    assert check(OUTER, catalog=WARDS) == (Sensitivity(l1=60, monotone=True), Sensitivity(l1=1200, monotone=True))
    alone = OUTER.replace(', "hospital")', ")").replace('"hospital" AS "h"', 'MIN("hospital") AS "h"')
    assert check(alone, catalog=WARDS) == (Sensitivity(l1=20, monotone=True), Sensitivity(l1=400, monotone=True))
    assert check(alone.replace(' WHERE "rank" <= 3', ""), catalog=WARDS) == check(alone, catalog=WARDS)


def test_what_was_unique_is_not_so_for_groups():
    keys = '(SELECT "person" AS "person", "visit_id" AS "visit_id" FROM "visits" WHERE "rank" <= 4{group}) AS "visits"'
    for group, rows in (("", 6), (' GROUP BY "person", "visit_id"', 24)):
        text = f"SELECT COUNT(*) AS m0 FROM {keys.format(group=group)} JOIN {ITEMS} ON {SAME_PERSON} AND {BY_KEY}"
        assert check(text, catalog=WARDS)[0].l1 == rows


NEAR = {
    "a join by a key": JOINED,
    "a left join": LEFT,
    "a public table": PUBLIC,
    "one after the other": UNITED,
    "groups of one person": OUTER,
}
TRAPS = ("0", "1", "LEFT", '"rank"', '"ward"', '"visits"', '"people"', "UNION")


@pytest.mark.parametrize("text", NEAR.values(), ids=NEAR)
@pytest.mark.no_cover
def test_whatever_passes_the_second_look_moves_by_no_more_than_it_says(text, databases):
    assert sum(is_measured(mutant, (), databases, WARDS) for mutant in mutants_of(text, TRAPS)) >= 5


ROWS = replace(WARDS, unit=ROW)


def test_rows_that_are_people_are_nobody_in_another_table():
    assert "codes of one list" in refused(JOINED, catalog=ROWS)
    itself = JOINED.replace(ITEMS, VISITS.replace('AS "visits"', 'AS "items"')).replace("price", "ward")
    assert check(itself, catalog=ROWS)[0].l1 == 4
    parts = [
        f'SELECT "person" AS "person", "ward" AS "w" FROM "{name}" WHERE "rank" <= 1' for name in ("visits", "items")
    ]
    both = f'({" UNION ALL ".join(parts)}) AS "rows"'
    assert check(f"SELECT COUNT(*) AS m0 FROM {both}", catalog=ROWS)[0].l1 == 2
    people = f'SELECT COUNT(DISTINCT "person") AS m0 FROM {both}'
    assert check(people, catalog=WARDS)[0].l1 == 1
    assert "COUNT(DISTINCT person)" in refused(people, catalog=ROWS)
    grouped = f'SELECT COUNT(*) AS m0 FROM (SELECT "person" AS "person" FROM {both} GROUP BY "person")'
    assert check(grouped, catalog=WARDS)[0].l1 == 1
    assert "GROUP BY the person" in refused(grouped, catalog=ROWS)
    joined = (
        f'SELECT COUNT(*) AS m0 FROM {both} JOIN {both.replace("rows", "more")} ON "rows"."person" = "more"."person"'
    )
    assert check(joined, catalog=WARDS)[0].l1 == 4
    assert "a person of both sides" in refused(joined, catalog=ROWS)


def test_the_engine_reads_columns_before_outputs_of_the_same_name():
    """Otherwise what a name means would differ from what was checked."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT * FROM (VALUES (1, 2), (1, 3)) AS v(a, b)")
    swapped = 'SELECT "a" AS "b", COUNT(*) AS "n", MAX("b") AS "a" FROM "t" WHERE "b" > 1 GROUP BY "a"'
    assert connection.execute(swapped).fetchall() == [(1, 2, 3)]
    assert connection.execute('SELECT 7 AS "a", "a" + 0 AS "c" FROM "t"').fetchall() == [(7, 1), (7, 1)]
    inner = '(SELECT "b" AS "b" FROM "t" WHERE "a" = "b" - 1) AS "x"'
    joined = f'SELECT "x"."b" FROM {inner} JOIN "t" AS "t" ON "x"."b" = "t"."b"'
    assert connection.execute(joined).fetchall() == [(2,)]


FENCED = (
    'SELECT COUNT("v0") AS m0 FROM (SELECT "person" AS "person", CAST("cost" AS {0}) AS "v0" '
    'FROM "visits" WHERE "rank" <= 2{1}) AS "rows"'
)


@pytest.mark.parametrize(
    "fence", ["LIMIT 5", "LIMIT 0", 'LIMIT "cost"', "LIMIT NULL", "OFFSET 0", "LIMIT ALL OFFSET 1"]
)
def test_a_fence_keeps_all_rows(fence):
    def look(behind, dialect):
        return check_statement(Statement(FENCED.format(dialect.types.double, behind), ()), WARDS, dialect)

    assert look(POSTGRES.fence, POSTGRES) == look("", POSTGRES) == look("", DUCKDB)
    for dialect, behind in ((POSTGRES, fence), (DUCKDB, fence), (DUCKDB, "LIMIT ALL")):
        with pytest.raises(Failure):
            look(f" {behind}", dialect)
