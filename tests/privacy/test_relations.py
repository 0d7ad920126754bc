"""Relations say how many rows of one person can reach their output, and never too few."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adomnia.engines.contract import PERSON
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Literal, call, number
from adomnia.privacy.keys import Blocks
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.relations import (
    MOST_PEOPLE,
    MOST_ROWS,
    Join,
    Lookup,
    Named,
    OwnValue,
    PerBlock,
    PerPerson,
    Private,
    Public,
    Select,
    Selected,
    Union,
    Where,
    everything,
    most_rows,
    recap,
)
from adomnia.privacy.scans import Average, DistinctValues, NonNull, OwnExtreme, OwnMedian, People, Rows, Total
from kit.reference import Cell, place
from kit.searches import examples
from kit.tables import rows as evaluated

SMALL = Numbers.integers(0, 3)
WHO = Column("person_id", Identity(person=True))
LINK = Column("visit_id", Identity(linked=True))
SIZE = Column("size", Quantity(Fraction(0), Fraction(3), whole=True), SMALL)
WARD = Column("ward", Text(("x", "y")))
ACTIVE = Column("active", Boolean())
COLUMNS = (WHO, LINK, SIZE, WARD, ACTIVE)

VISITS = Private("visits", 10, COLUMNS, ("visit_id",))
ITEMS = Private("items", 20, COLUMNS)
PLACES = Public("places", (SIZE, WARD, ACTIVE), (1, 3, 5))


def of(side, column):
    return replace(column, source=side)


def equal(one, other):
    return Call("=", (one, other), Boolean())


def on(left, right, column, outer=False):
    """A join of two relations by a column that both have."""
    sides = Named(left, "l"), Named(right, "r")
    return Join(*sides, (equal(of("l", column), of("r", column)),), outer)


# ------------------------------------------------------------------------------------------------ by hand


def test_a_filter_changes_neither_the_rows_per_person_nor_the_columns():
    filtered = Where(Where(VISITS, ACTIVE), Literal(False, Boolean()))
    assert filtered.rows_per_person == 10
    assert filtered.columns == COLUMNS
    assert (filtered.repeats(LINK), filtered.repeats(SIZE)) == (1, 10)


def test_relations_are_values():
    assert Where(VISITS, ACTIVE) == Where(replace(VISITS), ACTIVE)
    assert hash(Where(VISITS, ACTIVE)) == hash(Where(VISITS, ACTIVE))
    assert Where(VISITS, ACTIVE) != Where(replace(VISITS, rows_per_person=9), ACTIVE)


def test_a_key_stands_in_one_row_and_any_other_value_in_all_rows_of_a_person():
    assert [VISITS.repeats(column) for column in (LINK, SIZE, WHO)] == [1, 10, 10]
    assert [ITEMS.repeats(column) for column in (LINK, SIZE, WHO)] == [20, 20, 20]


def test_a_public_table_has_rows_of_nobody_and_knows_how_often_its_values_stand_there():
    assert PLACES.rows_per_person == 0
    assert [PLACES.repeats(column) for column in PLACES.columns] == [1, 3, 5]


def test_a_selection_passes_columns_on_as_they_are_stored_and_computes_the_rest():
    select = Select(
        VISITS, (Selected("a", SIZE), Selected("b", call("+", SIZE, number(1))), Selected("c", WARD, False))
    )
    size, computed, spelled = select.columns
    assert size == replace(SIZE, name="a")
    assert (computed.kind, computed.domain) == (Quantity(Fraction(1), Fraction(4), whole=True), None)
    assert spelled == Column("c", Text())
    assert select.rows_per_person == 10


def test_a_selected_column_repeats_like_its_source_and_a_computed_one_may_be_the_same_everywhere():
    outputs = (Selected("v", LINK), Selected("x", number(1)))
    of_people, of_nobody = Select(VISITS, outputs), Select(PLACES, (Selected("w", WARD), Selected("x", number(1))))
    assert [of_people.repeats(column) for column in of_people.columns] == [1, 10]
    assert [of_nobody.repeats(column) for column in of_nobody.columns] == [3, None]


def test_a_side_of_a_join_lends_its_name_to_its_columns():
    side = Named(VISITS, "v")
    assert {column.source for column in side.columns} == {"v"}
    assert [column.name for column in side.columns] == [column.name for column in COLUMNS]
    assert (side.rows_per_person, side.repeats(of("v", LINK)), side.repeats(of("v", SIZE))) == (10, 1, 10)
    assert side.repeats(replace(of("v", LINK), optional=True)) == 1


def test_a_join_is_no_side_of_a_join():
    with pytest.raises(ValueError, match="Named source must be one relation, got the sides of a join as x"):
        Named(on(VISITS, ITEMS, LINK), "x")


JOINS = {
    "person by person": (Join(Named(VISITS, "l"), Named(ITEMS, "r"), ()), 200),
    "person by person, or nobody": (Join(Named(VISITS, "l"), Named(ITEMS, "r"), (), outer=True), 200),
    "by the key of the left side": (on(VISITS, ITEMS, LINK), 20),
    "by the key of the right side": (on(ITEMS, VISITS, LINK), 20),
    "by the key of both": (on(VISITS, VISITS, LINK), 10),
    "left join by the key of the left side": (on(VISITS, ITEMS, LINK, outer=True), 30),
    "left join by the key of the right side": (on(ITEMS, VISITS, LINK, outer=True), 20),
    "left join by both keys": (on(VISITS, VISITS, LINK, outer=True), 10),
    "by no key": (on(VISITS, ITEMS, SIZE), 200),
    "public by a value that stands once": (on(VISITS, PLACES, SIZE), 10),
    "public by a value that stands three times": (on(VISITS, PLACES, WARD), 30),
    "public by a value that stands three times, or not": (on(VISITS, PLACES, WARD, outer=True), 30),
    "public with public": (on(PLACES, PLACES, WARD), 0),
    "people with what is theirs": (Join(Named(VISITS, "l"), Named(PerPerson(ITEMS, (), ()), "r"), (), outer=True), 10),
}


NOON = datetime.fromisoformat("2020-01-01T12:00:00")


@pytest.mark.parametrize(("join", "rows"), JOINS.values(), ids=JOINS)
def test_the_rows_of_a_join_are_known_by_hand(join, rows):
    assert join.rows_per_person == rows


def test_the_least_of_several_equalities_counts():
    conditions = (equal(of("l", WARD), of("r", WARD)), equal(of("r", SIZE), of("l", SIZE)))
    assert Join(Named(VISITS, "l"), Named(PLACES, "r"), conditions).rows_per_person == 10


@pytest.mark.parametrize(
    "condition",
    [
        equal(of("r", WARD), of("r", WARD)),
        equal(of("l", WARD), of("l", WARD)),
        equal(of("l", WARD), Literal("x", Text())),
        call("<>", of("l", WARD), of("r", WARD)),
        call("=", of("l", SIZE), call("+", of("r", SIZE), number(1))),
        of("r", ACTIVE),
    ],
)
def test_a_public_side_needs_an_equality_of_columns(condition):
    with pytest.raises(ValueError, match="Join with r must equate a column of each side, got none"):
        Join(Named(VISITS, "l"), Named(PLACES, "r"), (condition,))


def test_a_public_side_needs_an_equality_with_a_column_that_is_known_to_repeat_so_often():
    computed = Select(PLACES, (Selected("size", call("+", SIZE, number(1))),))
    with pytest.raises(ValueError, match="must equate a column of each side"):
        on(VISITS, computed, computed.columns[0])


@pytest.mark.parametrize("outer", [False, True])
def test_a_private_side_never_follows_a_public_one(outer):
    with pytest.raises(ValueError, match="Join must begin with a private side, got a public one before r"):
        on(PLACES, VISITS, WARD, outer)


def test_only_the_right_side_of_a_left_join_may_be_left_out():
    for outer in (False, True):
        columns = on(VISITS, ITEMS, LINK, outer).columns
        assert {column.source for column in columns if column.optional} == ({"r"} if outer else set())
        assert len(columns) == 2 * len(COLUMNS)


def test_columns_of_a_join_repeat_with_the_rows_they_meet():
    join = on(VISITS, ITEMS, LINK)
    assert (join.matches, join.matched) == (20, 1)
    assert join.repeats(of("l", LINK)) == 20
    assert join.repeats(of("r", LINK)) == 20
    assert on(VISITS, VISITS, LINK).repeats(of("l", LINK)) == 1
    assert on(PLACES, PLACES, WARD).repeats(of("l", SIZE)) == 3
    assert on(PLACES, PLACES, WARD).repeats(of("r", WARD)) == 9


def part(source, *columns):
    return Select(source, tuple(Selected(f"c{number}", column) for number, column in enumerate(columns)))


def test_the_rows_of_a_union_add_up():
    union = Union((part(VISITS, SIZE), part(ITEMS, SIZE), part(VISITS, SIZE)))
    assert union.rows_per_person == 40
    assert union.columns == (replace(SIZE, name="c0"),)
    assert union.repeats(union.columns[0]) == 40
    assert Union((part(VISITS, LINK), part(VISITS, LINK))).repeats(replace(LINK, name="c0")) == 2


def test_a_union_of_public_rows_repeats_as_often_as_its_parts_together_if_that_is_known():
    assert Union((part(PLACES, WARD), part(PLACES, WARD))).repeats(replace(WARD, name="c0")) == 6
    spelled = Select(PLACES, (Selected("c0", WARD, stored=False),))
    assert Union((spelled, part(PLACES, Literal("x", Text())))).repeats(Column("c0", Text())) is None


@pytest.mark.parametrize(
    ("kinds", "merged"),
    [
        (
            (Quantity(Fraction(0), Fraction(3)), Quantity(Fraction(-1), Fraction(2), whole=True)),
            Quantity(Fraction(-1), Fraction(3)),
        ),
        ((Quantity(Fraction(0), Fraction(3)), Quantity(None, Fraction(9))), Quantity(None, Fraction(9))),
        ((Quantity(Fraction(0), None, whole=True), Quantity(whole=True)), Quantity(whole=True)),
        ((Day(date(2020, 1, 1), date(2020, 2, 1)), Day(date(2019, 1, 1), date(2020, 1, 2))), Day()),
        ((Moment(zone="UTC"), Moment(NOON, NOON, "UTC")), Moment(zone="UTC")),
        ((Text(("a",)), Text(("b",))), Text()),
        ((Boolean(), Boolean()), Boolean()),
    ],
)
def test_values_of_different_bounds_are_united_within_all_of_them(kinds, merged):
    (column,) = Union(tuple(part(Private("t", 1, ()), Literal(None, kind)) for kind in kinds)).columns
    assert column == Column("c0", merged)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((part(VISITS, SIZE), part(VISITS, SIZE, WARD)), "columns of the same names"),
        ((part(VISITS, WARD), part(PLACES, WARD)), "all private or all public"),
        ((part(VISITS, WARD), part(VISITS, ACTIVE)), "must be of one kind"),
        ((part(VISITS, SIZE), part(VISITS, number(1))), "must be of one kind"),
        ((part(VISITS, WHO), part(VISITS, LINK)), "must be stored alike"),
        ((part(VISITS, Column("a", Moment(zone="UTC"))), part(VISITS, Column("b", Moment()))), "must be stored alike"),
        ((part(VISITS, WARD), part(VISITS, Literal("x", Text()))), "must be stored alike"),
    ],
)
def test_parts_that_do_not_fit_are_no_union(parts, message):
    with pytest.raises(ValueError, match=message):
        Union(parts)


def test_one_row_for_each_person_or_for_each_value_of_theirs():
    assert PerPerson(VISITS, (), ()).rows_per_person == 1
    by_ward = PerPerson(VISITS, (Selected("g0", WARD),), (OwnValue("v0", Rows()),))
    assert by_ward.rows_per_person == 10
    assert [column.name for column in by_ward.columns] == ["person", "g0", "v0"]
    assert by_ward.columns[0].kind == Identity(person=True)
    assert by_ward.repeats(by_ward.columns[1]) == 10


def test_all_rows_are_read_where_they_become_one():
    assert PerPerson(VISITS, (), ()).read == replace(VISITS, rows_per_person=MOST_ROWS)
    assert PerPerson(VISITS, (), (OwnValue("v", Rows()),)).read == replace(VISITS, rows_per_person=MOST_ROWS)
    assert PerPerson(VISITS, (Selected("g0", WARD),), ()).read == VISITS
    assert PerPerson(VISITS, (), (OwnValue("v", Rows()), OwnValue("w", DistinctValues(WARD)))).read == VISITS


TENTHS = Numbers(Fraction(-1), Fraction(2), Fraction(1, 10))


@pytest.mark.parametrize(
    ("value", "kind", "domain"),
    [
        (OwnValue("v", Rows(), SMALL), Quantity(Fraction(0), Fraction(3), True), SMALL),
        (OwnValue("v", NonNull(SIZE), SMALL), Quantity(Fraction(0), Fraction(3), True), SMALL),
        (OwnValue("v", DistinctValues(SIZE), SMALL), Quantity(Fraction(0), Fraction(3), True), SMALL),
        (OwnValue("v", Total(SIZE, TENTHS), TENTHS), Quantity(Fraction(-1), Fraction(2)), TENTHS),
        (OwnValue("v", Rows()), Quantity(Fraction(0), Fraction(MOST_ROWS), True), None),
        (OwnValue("v", DistinctValues(WARD)), Quantity(Fraction(0), Fraction(MOST_ROWS), True), None),
        (OwnValue("v", Total(SIZE, SMALL)), Quantity(Fraction(0), Fraction(3 * MOST_ROWS), True), None),
        (OwnValue("v", Total(SIZE, TENTHS)), Quantity(Fraction(-MOST_ROWS), Fraction(2 * MOST_ROWS)), None),
        (OwnValue("v", Average(SIZE, TENTHS)), Quantity(Fraction(-1), Fraction(2)), None),
        (OwnValue("v", OwnExtreme(SIZE, greatest=True)), SIZE.kind, SMALL),
        (
            OwnValue("v", OwnExtreme(call("+", SIZE, number(1)), greatest=False)),
            Quantity(Fraction(1), Fraction(4), True),
            None,
        ),
    ],
)
def test_aggregates_of_a_persons_rows_stay_within_their_bounds(value, kind, domain):
    assert value.column == Column("v", kind, domain)


def test_without_caps_is_without_caps_down_to_the_first_join():
    free = replace(VISITS, rows_per_person=MOST_ROWS)
    assert everything(Named(Where(VISITS, ACTIVE), "v")) == Named(Where(free, ACTIVE), "v")
    assert everything(part(VISITS, SIZE)) == part(free, SIZE)
    assert everything(Union((part(VISITS, SIZE),) * 2)) == Union((part(free, SIZE),) * 2)
    for kept in (on(VISITS, ITEMS, LINK), PerPerson(VISITS, (), ()), PLACES):
        assert everything(kept) == kept


def test_other_caps_reach_every_table_of_that_name_and_nothing_that_reads_all_rows():
    caps = {VISITS.name: 2}
    two = replace(VISITS, rows_per_person=2)
    assert recap(Named(Where(VISITS, ACTIVE), "v"), caps) == Named(Where(two, ACTIVE), "v")
    assert recap(Union((part(VISITS, SIZE),) * 2), caps) == Union((part(two, SIZE),) * 2)
    assert recap(on(VISITS, ITEMS, LINK), caps) == on(two, ITEMS, LINK)
    assert recap(PerPerson(VISITS, (), ()), caps) == PerPerson(two, (), ())
    for same in (PLACES, ITEMS, everything(VISITS)):
        assert recap(same, caps) == same


def test_public_is_what_no_private_table_is_part_of():
    assert PLACES.is_public
    assert on(PLACES, Where(PLACES, ACTIVE), WARD).is_public
    assert Union((part(PLACES, WARD),) * 2).is_public
    assert not VISITS.is_public
    assert not on(VISITS, PLACES, WARD).is_public
    assert not Named(PerPerson(VISITS, (), ()), "v").is_public
    assert not Union((part(VISITS, WARD),) * 2).is_public


def test_the_number_of_rows_is_bounded_by_public_facts():
    assert most_rows(VISITS) == MOST_ROWS
    assert most_rows(Private("t", 2**20, ())) == 2**20 * MOST_PEOPLE


def test_where_rows_are_not_capped_there_are_as_many_as_tables_hold():
    every = everything(VISITS)
    assert most_rows(every) == most_rows(Named(Where(every, equal(SIZE, SIZE)), "v")) == MOST_ROWS
    parts = tuple(Select(each, (Selected("size", SIZE),)) for each in (every, everything(ITEMS)))
    assert most_rows(Union(parts)) == 2 * MOST_ROWS
    capped = (parts[0], replace(parts[1], source=replace(ITEMS, rows_per_person=2**20)))
    assert most_rows(Union(capped)) == MOST_ROWS + 2**20 * MOST_PEOPLE
    joined = Join(Named(every, "v"), Named(PLACES, "p"), (equal(of("v", SIZE), of("p", SIZE)),))
    assert most_rows(joined) == MOST_ROWS * MOST_PEOPLE


def test_rows_of_blocks_are_two_a_person_and_read_all_of_theirs():
    blocks = PerBlock(VISITS, Blocks(5), (OwnValue("v0", Rows(), SMALL), OwnValue("v1", OwnExtreme(SIZE, True))))
    assert (blocks.rows_per_person, blocks.repeats(SIZE)) == (2, 2)
    assert blocks.read == everything(VISITS)
    assert [column.name for column in blocks.columns] == ["v0", "v1"]
    assert PerBlock(VISITS, Blocks(5), (OwnValue("v0", OwnMedian(SIZE)),)).read == VISITS
    assert recap(blocks, {"visits": 3}).source.rows_per_person == 3
    assert not blocks.is_public


BLOCKS = PerBlock(VISITS, Blocks(5), (OwnValue("size", OwnExtreme(SIZE, greatest=True)),))


@pytest.mark.parametrize(
    "relation",
    [
        BLOCKS,
        Where(BLOCKS, equal(SIZE, SIZE)),
        Select(BLOCKS, (Selected("size", SIZE),)),
        Union((Select(VISITS, (Selected("size", SIZE),)), Select(BLOCKS, (Selected("size", SIZE),)))),
        Join(Named(BLOCKS, "b"), Named(PLACES, "p"), (equal(of("b", SIZE), of("p", SIZE)),)),
    ],
)
def test_what_is_made_of_rows_of_blocks_is_nobodys(relation):
    assert relation.has_blocks
    assert not VISITS.has_blocks
    with pytest.raises(ValueError, match="PerPerson source must be rows of people"):
        PerPerson(relation, (), ())
    with pytest.raises(ValueError, match="PerBlock source must be rows of people"):
        PerBlock(relation, Blocks(2), ())
    for query in ({"aggregate": People()}, {"keys": (Blocks(2),)}, {"clip": Clip(1)}):
        with pytest.raises(ValueError, match="Query by person must be of rows of people"):
            replace(Query(relation, (), Rows()), **query)
    assert not Query(relation, (), Rows()).sensitivity().monotone


def test_rows_of_blocks_are_not_joined_with_people():
    person = equal(of("b", WHO), of("v", WHO))
    for left, right in ((BLOCKS, VISITS), (VISITS, BLOCKS)):
        with pytest.raises(ValueError, match="Join with v must be of rows of people"):
            Join(Named(left, "b"), Named(right, "v"), (person,))
    with pytest.raises(ValueError, match="Lookup in v must be of rows of people"):
        Lookup(Named(BLOCKS, "b"), Named(PerPerson(VISITS, (), ()), "v"))
    with pytest.raises(ValueError, match="PerBlock source must be rows of people"):
        PerBlock(PLACES, Blocks(2), ())
    with pytest.raises(ValueError, match="Query in blocks must be of rows of people"):
        Query(PLACES, (Blocks(2),), Rows())
    with pytest.raises(ValueError, match="Query keys must be of values here"):
        _ = Query(VISITS, (Blocks(2),), Rows()).value_keys


# ------------------------------------------------------------------------------------------------ by brute force


@dataclass(frozen=True)
class Small:
    """A few rows of each table: who, and the values of the columns after the person."""

    visits: list
    items: list
    places: list

    def rows(self, name, cap):
        taken = Counter()
        for who, *values in getattr(self, name):
            taken[who] += 1
            if taken[who] <= cap:
                yield who, {("", PERSON): Cell(who), **_cells(COLUMNS[1:], values)}

    def public(self, name):
        return [(None, _cells(PLACES.columns, values)) for values in getattr(self, name)]

    def tables(self, caps):
        """The relations of these tables, as a catalog would declare them."""
        often = [
            max(Counter(value for value in each if value is not None).values(), default=1)
            for each in zip(*self.places, strict=True)
        ]
        places = Public("places", PLACES.columns, tuple(often or (1, 1, 1)))
        return [replace(VISITS, rows_per_person=caps[0]), replace(ITEMS, rows_per_person=caps[1]), places]


def _cells(columns, values):
    return {
        ("", column.name): Cell(value, value if column.domain else None)
        for column, value in zip(columns, values, strict=True)
    }


_values = (st.sampled_from([None, 0, 1]), st.sampled_from([None, "x", "y"]), st.sampled_from([None, False, True]))
_someone = st.integers(0, 1)
_visits = st.lists(st.tuples(_someone, st.booleans(), *_values), max_size=8).map(
    lambda some: [(who, number if known else None, *rest) for number, (who, known, *rest) in enumerate(some)]
)
_items = st.lists(st.tuples(_someone, st.sampled_from([None, 0, 1, 2]), *_values), max_size=8)
databases = st.builds(Small, _visits, _items, st.lists(st.tuples(*_values), max_size=5))


class Maker:
    """Draws relations over some tables."""

    def __init__(self, draw, tables):
        self.draw, self.tables = draw, tables

    def pick(self, options):
        return self.draw(st.sampled_from(options))

    def relation(self, depth):
        """A relation whose columns carry no name of a side."""
        if depth == 0:
            return self.pick(self.tables)
        kind = self.pick(["where", "select", "join", "join", "union", "own"])
        return getattr(self, kind)(depth - 1)

    def where(self, depth):
        source = self.relation(depth)
        column = self.pick([column for column in source.columns if not isinstance(column.kind, Identity)] or [None])
        return source if column is None else Where(source, Call("is null", (column,), Boolean()))

    def select(self, depth):
        return self.outputs(self.relation(depth))

    def outputs(self, source):
        columns = [column for column in source.columns if not (isinstance(column.kind, Identity) and column.optional)]
        chosen = [column for column in columns if isinstance(column.kind, Identity) or self.draw(st.booleans())]
        outputs = [Selected(f"c{number}", column) for number, column in enumerate(chosen)]
        numbers = [column for column in columns if isinstance(column.kind, Quantity)]
        if numbers and self.draw(st.booleans()):
            outputs.append(Selected("computed", call("+", self.pick(numbers), number(1))))
        return Select(source, tuple(outputs))

    def join(self, depth):
        sides = [self.relation(depth) for _ in range(self.pick([2, 2, 3]))]
        sides.sort(key=lambda side: side.is_public)
        joined = Named(sides[0], "s0")
        for label, side in enumerate(sides[1:], start=1):
            joined = self.pair(joined, Named(side, f"s{label}"))
        return self.outputs(joined) if isinstance(joined, Join) else joined.source

    def pair(self, left, right):
        alike = [
            (one, other)
            for one in left.columns
            for other in right.columns
            if type(one.kind) is type(other.kind) and getattr(one.kind, "person", 0) == getattr(other.kind, "person", 0)
        ]
        chosen = [self.pick(alike) for _ in range(self.pick([0, 1, 1, 2]))] if alike else []
        try:
            return Join(left, right, tuple(equal(*pair) for pair in chosen), self.draw(st.booleans()))
        except ValueError:
            return left

    def union(self, depth):
        one = self.select(depth)
        filtered = Select(Where(one.source, Literal(True, Boolean())), one.outputs)
        return Union(tuple(self.pick([one, filtered]) for _ in range(self.pick([1, 2, 3])))) if one.outputs else one

    def own(self, depth):
        source = self.relation(depth)
        if source.is_public:
            return source
        free = [column for column in source.columns if not getattr(column.kind, "person", False)]
        keys = [self.pick(free) for _ in range(self.pick([0, 0, 1, 2]))] if free else []
        selected = tuple(Selected(f"g{number}", key) for number, key in enumerate(dict.fromkeys(keys)))
        return PerPerson(source, selected, (OwnValue("v0", Rows(), SMALL),))


@st.composite
def relations(draw):
    database = draw(databases)
    caps = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    return Maker(draw, database.tables(caps)).relation(draw(st.integers(1, 3))), database


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(relations())
def test_no_person_has_more_rows_than_declared_and_no_value_stands_in_more(made):
    relation, database = made
    found = list(evaluated(relation, database))
    people = Counter(who for who, _ in found)
    assert relation.is_public == (relation.rows_per_person == 0)
    assert relation.is_public or max(people.values(), default=0) <= relation.rows_per_person
    for column in relation.columns:
        often = relation.repeats(column)
        values = Counter((who, row[place(column)].value) for who, row in found if row[place(column)].value is not None)
        assert often is None or max(values.values(), default=0) <= often


def test_a_hash_is_computed_once_and_belongs_to_the_value():
    calls = []

    class Watched(str):
        __slots__ = ()

        def __hash__(self):
            calls.append(self)
            return super().__hash__()

    one, other = Private(Watched("a"), 1, ()), Private("a", 1, ())
    assert hash(one) == hash(one) == hash(other)
    assert len(calls) == 1
    assert hash(replace(one, rows_per_person=2)) == hash(Private("a", 2, ()))
