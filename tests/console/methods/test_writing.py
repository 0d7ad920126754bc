"""What a form means is written so that it is read as it was typed, whatever was typed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from adomnia.catalog.model import is_column_name
from adomnia.console.methods.fields import OWN, BadField
from adomnia.console.methods.writing import write_question, write_rows
from adomnia.errors import Refusal
from adomnia.explaining.sql_text import write_column
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity, Text
from adomnia.sql.lower import lower
from adomnia.sql.methods.arguments import read_arguments
from adomnia.sql.methods.frames import read_rows
from adomnia.sql.reading.parse import parse
from adomnia.sql.values.scope import find_call
from kit.methods import hospital_catalog
from kit.planted_method import METHOD, tally

__all__ = ["hospital_catalog", "tally"]

TABLE = {"source": "table", "table": "people"}
KEYWORDS = ("select", "order", "null", "true", "case", "interval", "date", "from", "current_date", "end", "in", "rows")
SIGNS = "\"'`()[]{};,=><-*/%|\\ \n.:?$#@!~^&+_ab1éß漢🙂"
ODD = st.one_of(
    st.sampled_from(KEYWORDS),
    st.text(st.sampled_from(SIGNS), min_size=1, max_size=12).filter(is_column_name),
    st.text(min_size=1, max_size=12).filter(is_column_name),
)
TEXTS = st.text(st.sampled_from(SIGNS), min_size=1, max_size=30).filter(str.strip)
NUMBERS = st.decimals(-(10**6), 10**6, places=4)
# Pieces of SQL with which somebody could try to leave the place that they type in; some are whole, and are read.
PIECES = st.one_of(
    st.sampled_from(["age > 3", "age -- all", "age /* all */", "(age)", "SELECT * FROM people"]),
    st.lists(
        st.sampled_from(
            [
                *(
                    "age",
                    "> 3",
                    "1",
                    "(",
                    ")",
                    "))",
                    ", ",
                    "column => ",
                    "salary",
                    "'",
                    '"',
                    "--",
                    "/*",
                    "*/",
                    ";",
                    "\n",
                ),
                *("SELECT * FROM people", "UNION ALL", "WHERE", "AND", "OR", "AS x", "FROM tally(people", "TRUE", "=>"),
            ]
        ),
        max_size=8,
    ).map(" ".join),
)


def number(name: str) -> Column:
    return Column(name, Quantity(Fraction(0), Fraction(100), whole=True), Numbers(0, 100, 1))


def with_columns(catalog, *columns):
    """The same catalog, whose people have these columns beside their id."""
    people = catalog.table("people")
    return replace(catalog, tables=(replace(people, columns=(people.columns[0], *columns)), *catalog.tables[1:]))


def read_back(text, catalog):
    """The arguments of a question, as the planner reads them."""
    select = parse(text)
    call = find_call(select)
    return read_arguments(call, METHOD, read_rows(select, call, "tally", catalog, 0.95))


@given(names=st.lists(ODD, min_size=3, max_size=3, unique_by=str.lower), text=TEXTS, formula=TEXTS, typed=st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_as_the_same_arguments(hospital_catalog, names, text, formula, typed):
    first, second, factor = names
    if "person_id" in map(str.lower, names):
        return
    catalog = with_columns(hospital_catalog, number(first), number(second), Column(factor, Text(("a", "b"))))
    share, shares = typed.draw(st.decimals(0, 1, places=6)), typed.draw(st.lists(NUMBERS, min_size=1, max_size=4))
    fields = {
        **TABLE,
        "arg-column": f"={first}",
        f"arg-columns:{second}": "on",
        f"arg-columns:{first}": "on",
        "arg-factor": f"={factor}",
        "arg-share": str(share),
        "arg-shares": ", ".join(map(str, shares)),
        "arg-places": "7",
        "arg-side": "left",
        "arg-text": text,
        "arg-formula": formula,
        "arg-exact": "true",
        f"arg-by:{factor}": "on",
    }
    read = read_back(write_question(METHOD, fields).text, catalog)
    assert read["column"].name == first
    assert [each.name for each in read["columns"]] == [second, first]
    assert read["factor"].name == factor
    assert [each.name for each in read["by"]] == [factor]
    assert read["share"] == Fraction(share)
    assert read["shares"] == tuple(map(Fraction, shares))
    assert (read["places"], read["side"], read["exact"]) == (7, "left", True)
    assert (read["text"], read["formula"]) == (text, formula)


@given(where=PIECES, own=PIECES, box=PIECES, select=PIECES, source=st.sampled_from(["table", "select"]))
@example(where="TRUE)), text => (('x'", own="age", box="a", select="", source="table")
@example(where="TRUE) UNION ALL SELECT * FROM visits WHERE (TRUE", own="age", box="a", select="", source="table")
@example(where="TRUE", own="age), text => ('x'", box="a", select="", source="table")
@example(where="", own="age", box="a", select="SELECT * FROM people), text => ((SELECT 1)", source="select")
@settings(max_examples=150, deadline=None)
def test_nothing_that_is_typed_leaves_its_place(where, own, box, select, source):
    fields = {"source": source, "table": "people", "where": where, "select": select}
    fields |= {"arg-column": OWN, "arg-column.own": own, f"arg-by:{box}": "on", "arg-text": box}
    try:
        text = write_question(METHOD, fields).text
        tree = parse(text)
    except Refusal:
        return
    call = find_call(tree)
    assert call.this == "tally"
    rows, *arguments = call.expressions
    assert isinstance(rows.unnest(), exp.Query)
    named = [each.this.name for each in arguments]
    assert named == [name for name in ("column", "text", "by") if name in named]
    assert {"column", "by"} <= set(named)
    assert call.parent is tree.args["from_"].this
    assert not any(tree.args.get(clause) for clause in ("where", "joins", "with_", "limit"))
    if source == "table":
        assert rows.unnest().args["from_"].this.name == "people"
        assert not rows.unnest().args.get("joins")


@given(name=ODD)
@settings(max_examples=100, deadline=None)
def test_a_column_is_written_so_that_it_is_read_as_that_column(name):
    read = parse(f"SELECT {write_column(name)} FROM people").expressions[0]
    assert isinstance(read, exp.Column)
    assert read.name == name


def test_a_plain_form_reads_well():
    fields = {**TABLE, "where": "age >= 18", "arg-column": "=salary", "arg-by:city": "on", "arg-places": "3"}
    assert write_question(METHOD, fields).text == (
        "SELECT * FROM tally((SELECT * FROM people WHERE (age >= 18)), column => salary, by => (city))"
    )


def test_what_is_the_default_is_not_written():
    fields = {**TABLE, "arg-column": "=age", "arg-share": "0.50", "arg-side": "both", "arg-exact": "false"}
    assert write_question(METHOD, fields).text == "SELECT * FROM tally((SELECT * FROM people), column => age)"


def test_a_comment_ends_with_its_line():
    fields = {**TABLE, "where": "age > 3 -- adults", "arg-column": "=age"}
    assert find_call(parse(write_question(METHOD, fields).text)) is not None
    own = {"source": "select", "select": "SELECT age FROM people -- all;", "arg-column": "=age"}
    assert find_call(parse(write_question(METHOD, own).text)) is not None


@pytest.mark.parametrize(
    ("typed", "field", "position"),
    [
        ({"where": "age >"}, "where", None),
        ({"where": "age > 3; SELECT 1"}, "where", (1, 8)),
        ({"where": "age,\nsex"}, "where", (1, 1)),
        ({"where": "age > 3 FROM visits"}, "where", (1, 1)),
        ({"where": "1) OR (1"}, "where", None),
        ({"where": "age = 'x"}, "where", (1, 7)),
        ({"where": "age >\n 3; 4"}, "where", (2, 3)),
        ({"source": "select", "select": "SELECT age FROM people)"}, "select", None),
        ({"source": "select", "select": "DROP TABLE people"}, "select", (1, 1)),
        ({"table": ""}, "table", None),
        ({"arg-column": ""}, "arg-column", None),
        ({"arg-column": OWN, "arg-column.own": "age +"}, "arg-column", None),
        ({"arg-share": "a lot"}, "arg-share", None),
        ({"arg-shares": "0.5, NaN"}, "arg-shares", None),
        ({"arg-places": "1e"}, "arg-places", None),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_field(typed, field, position):
    with pytest.raises(BadField) as refused:
        write_question(METHOD, {**TABLE, "arg-column": "=age", **typed})
    assert refused.value.field == field
    if position is not None:
        assert refused.value.position == position


@pytest.mark.parametrize(
    ("typed", "field", "position"),
    [
        ({"where": "age > 3 AND agee < 5"}, "where", (1, 13)),
        ({"where": "age > 3 AND\n agee < 5"}, "where", (2, 2)),
        ({"table": "nowhere"}, "table", None),
        ({"source": "select", "select": "SELECT age,\n  agee FROM people"}, "select", (2, 3)),
        ({"arg-column": "=city"}, "arg-column", None),
        ({"arg-column": OWN, "arg-column.own": "salary + agee"}, "arg-column", (1, 10)),
        ({"arg-columns:age": "on", "arg-columns:nothing": "on"}, "arg-columns", None),
        ({"arg-share": "2"}, "arg-share", None),
        ({"arg-places": "2.5"}, "arg-places", None),
        ({"arg-side": "up"}, "arg-side", None),
        ({"arg-text": "wrong here"}, "arg-text", (1, 7)),
        ({"arg-by:salary": "on"}, "arg-by", None),
    ],
)
def test_what_the_planner_refuses_is_found_in_the_field_that_it_is_about(
    hospital_catalog, tally, typed, field, position
):
    written = write_question(METHOD, {**TABLE, "arg-column": "=age", **typed})
    with pytest.raises(Refusal) as refused:
        lower(written.text, hospital_catalog)
    located = written.locate(refused.value)
    assert isinstance(located, BadField)
    assert located.field == field
    if position is not None:
        assert located.position == position


def test_a_refusal_of_the_whole_belongs_to_no_field():
    written = write_question(METHOD, {**TABLE, "arg-column": "=age"})
    whole = Refusal("tally()", "is not asked today", "wait", (1, 15))
    assert written.locate(whole) is whole
    nowhere = Refusal("The budget", "is empty", "ask for more")
    assert written.locate(nowhere) is nowhere


def test_rows_are_a_select_of_their_own():
    assert write_rows(TABLE).text == "SELECT * FROM people"
    assert write_rows({"source": "select", "select": " SELECT age FROM people; "}).text == "SELECT age FROM people"


def test_numbers_may_be_written_as_people_do():
    fields = {**TABLE, "arg-column": "=age", "arg-shares": "1e-3;2 , -0.5,"}
    assert "shares => (0.001, 2, (-0.5))" in write_question(METHOD, fields).text
