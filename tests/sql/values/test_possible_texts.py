"""The texts that an expression can give are computed from declared values, as the engine computes them from rows."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import product

import duckdb
import pytest

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column, Literal, call, number, text
from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from adomnia.sql.values.possible_texts import COMPUTED, MOST_COMBINED, UnknownTextError, list_texts, number_texts
from adomnia.work import Work, limit
from kit.reference import MEANINGS, Cell
from kit.reference import value as evaluate
from privacy.functions.samples import SAMPLES, applications

SEX = Column("sex", Text(("F", "M")))
CITY = Column("city", Text(("Oslo", "Bergen", " Oslo")))
MEMBER = Column("member", Boolean())
AGE = Column("age", Quantity(Fraction(0), Fraction(3), whole=True))
BORN = Column("born", Day(date(2023, 12, 30), date(2024, 1, 2)))
NAME = Column("name", Text())


def day(year):
    return Literal(date(year, 1, 1), Day(date(year, 1, 1), date(year, 1, 1)))


def texts(function, *arguments, most=1000):
    return list_texts(call(function, *arguments), most)


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("upper", (CITY,), ["OSLO", "BERGEN", " OSLO"]),
        ("trim", (CITY,), ["Oslo", "Bergen"]),
        ("coalesce", (SEX, text("?")), ["F", "M", "?"]),
        ("nullif", (SEX, text("M")), ["F"]),
        ("||", (SEX, SEX), ["FF", "MM"]),
        ("||", (SEX, CITY), [f"{a}{b}" for a in ("F", "M") for b in ("Oslo", "Bergen", " Oslo")]),
        ("substring", (CITY, number(2), number(1)), ["s", "e", "O"]),
        ("case", (MEMBER, SEX, text("guest")), ["guest", "F", "M"]),
        ("case", (call("=", SEX, text("F")), SEX, text("m")), ["F", "m"]),
        ("case", (call(">", AGE, number(1)), SEX, text("young")), ["young", "F", "M"]),
        ("case", (call("=", NAME, text("x")), SEX, text("y")), ["y", "F", "M"]),
        ("number as text", (call("*", AGE, number(5)),), ["0", "5", "10", "15"]),
        ("boolean as text", (MEMBER,), ["false", "true"]),
        ("date as text", (BORN,), ["2023-12-30", "2023-12-31", "2024-01-01", "2024-01-02"]),
        ("format", (BORN, text("%Y")), ["2023", "2024"]),
        ("format", (BORN, text("%a")), ["Mon", "Tue", "Sat", "Sun"]),
        ("format", (BORN, text("%B")), ["January", "December"]),
        ("format", (BORN, text("%d.%m.")), ["01.01.", "02.01.", "30.12.", "31.12."]),
        ("format", (call("coalesce", BORN, day(1850)), text("%Y")), ["2023", "2024", "1850"]),
        ("format", (call("case", MEMBER, day(2020), day(2021)), text("%Y")), ["2021", "2020"]),
        ("case", (call("=", call("position", SEX, text("z")), number(Fraction(1, 2))), text("x"), SEX), ["F", "M"]),
        ("number as text", (call("case", call("=", SEX, text("F")), number(10**19), number(2)),), ["2"]),
        ("number as text", (call("case", MEMBER, number(9007199254740993000), AGE),), [*"0123", "9007199254740993024"]),
    ],
)
def test_texts_follow_from_declared_values_in_their_order(function, arguments, expected):
    assert texts(function, *arguments) == expected


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("upper", (NAME,)),
        ("coalesce", (SEX, NAME)),
        ("||", (SEX, NAME)),
        ("date as text", (Column("day", Day()),)),
        ("number as text", (Column("count", Quantity(whole=True)),)),
        ("number as text", (Column("count", Quantity(Fraction(0), Fraction(10**5), whole=True)),)),
        ("date as text", (Column("day", Day(date(1, 1, 1), date(9999, 12, 31))),)),
        ("upper", (Column("city", Text(("Gießen", "Bonn"))),)),
        ("lower", (Column("city", Text(("İzmir",))),)),
        ("upper", (text("constant"),)),
    ],
)
def test_what_does_not_follow_is_not_listed(function, arguments):
    assert texts(function, *arguments) == []


def test_no_more_texts_are_listed_than_are_asked_for():
    assert texts("||", SEX, CITY, most=6) == texts("||", SEX, CITY)
    assert texts("||", SEX, CITY, most=5) == []
    assert texts("coalesce", SEX, text("?"), most=2) == []


def test_listing_is_counted_before_it_is_done():
    days = Column("day", Day(date(1900, 1, 1), date(2030, 12, 31)))
    with limit(Work(1_000)), pytest.raises(Refusal, match="takes more than 1,000 steps"):
        texts("format", days, text("%B"))


def test_many_values_together_are_not_tried():
    many = [Column(f"c{place}", Text(tuple(map(str, range(60))))) for place in range(3)]
    assert MOST_COMBINED < 61**3
    assert texts("case", MEMBER, many[0], call("||", many[1], many[2])) == []


@pytest.mark.parametrize(
    "case", [each for each in applications() if each[0].name in COMPUTED], ids=lambda each: each[0].name
)
def test_what_is_computed_is_what_engines_are_held_to(case):
    function, kinds, constants = case
    for row in product(*(SAMPLES[type(kind)] for kind in kinds)):
        arguments = (*row, *(each if isinstance(each, str) else int(each) for each in constants))
        try:
            found = COMPUTED[function.name](*arguments)
        except UnknownTextError:
            continue
        assert found == MEANINGS[function.name](*arguments), arguments


def test_letters_change_as_the_engine_changes_them():
    letters = [chr(code) for code in [*range(1, 0x600), *range(0x3040, 0xA4D0), *range(0xAC00, 0xD7A4)]]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE letters AS SELECT UNNEST($1) AS letter", [letters])
        for name in ("upper", "lower"):
            changed = [each for (each,) in connection.execute(f"SELECT {name}(letter) FROM letters").fetchall()]
            unknown = []
            for letter, engine in zip(letters, changed, strict=True):
                try:
                    assert COMPUTED[name](letter) == engine, hex(ord(letter))
                except UnknownTextError:
                    unknown.append(letter)
            assert len(unknown) < 8
    with pytest.raises(UnknownTextError):
        COMPUTED["upper"]("\u1e96")
    for letter in ("\ua640", "\ua7cb", "\U0001e900"):  # some of them are letters only to newer engines
        with pytest.raises(UnknownTextError):
            COMPUTED["lower"](letter)


def test_every_function_that_is_computed_is_one_of_the_table():
    assert set(COMPUTED) <= set(FUNCTIONS)
    assert isinstance(call("upper", SEX).arguments[0], Column)
    assert list_texts(Literal("x", Text()), 5) == []


def test_places_in_the_list_are_told_by_the_codes_of_one_category():
    written = call("coalesce", call("substring", CITY, number(1), number(1)), text("?"))
    numbered = number_texts(written, list_texts(written, 10))
    assert numbered is not None
    assert numbered.kind == Quantity(Fraction(0), Fraction(3), whole=True)
    for value, place in (("Oslo", 0), ("Bergen", 1), (" Oslo", 2), (None, 3)):
        assert evaluate(numbered, {("", "city"): Cell(value)}) == place


def test_other_texts_have_no_codes():
    for written in (call("||", SEX, CITY), call("format", BORN, text("%B")), call("upper", NAME)):
        assert number_texts(written, list_texts(written, 100)) is None


def test_a_text_that_is_null_has_no_place():
    written = call("nullif", SEX, text("F"))
    numbered = number_texts(written, list_texts(written, 10))
    assert evaluate(numbered, {("", "sex"): Cell("F")}) is None
    assert evaluate(numbered, {("", "sex"): Cell("M")}) == 0
