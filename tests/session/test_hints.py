"""Names from other libraries: each is refused with what to write here, and what it says is true."""

from __future__ import annotations

import ast
import copy
import pickle
import re

import pandas as pd
import polars as pl
import pytest

from adomnia.errors import Refusal
from adomnia.session.hints import FRAME_WORDS, MODEL_WORDS, READER_WORDS, TABLE_WORDS, UnknownAttribute
from adomnia.session.table import PrivateTable

COUNTS = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def advice(thing, name):
    """The fix for a name, without what introduces it."""
    with pytest.raises(AttributeError) as refused:
        getattr(thing, name)
    assert isinstance(refused.value, Refusal)
    assert not hasattr(thing, name)
    return str(refused.value.fix).removeprefix("write ")


@pytest.fixture
def answer(alice):
    return alice.sql(COUNTS, epsilon=1)


@pytest.fixture
def people(alice):
    return alice.table("people")


@pytest.mark.parametrize("name", sorted(FRAME_WORDS))
def test_what_is_left_to_pandas_is_there(answer, name):
    written = advice(answer, name).split(",")[0]
    assert written == f"answer.to_pandas().{name}"
    assert hasattr(pd.DataFrame, name)


@pytest.mark.parametrize("name", sorted(TABLE_WORDS))
def test_advice_about_private_rows_can_be_asked(alice, people, name):
    """Of the mock, so that asking costs nothing; OTHER and COLUMN are for people to fill in."""
    written = advice(people, name).replace("OTHER", "visits").replace("COLUMN", "person_id")
    if "or print" in written:
        assert eval(written.split(",")[0], {"people": people}) == people.columns
        return
    if name in {"concat", "append"}:
        written = written.replace("visits", "people")
    mock = alice.mock()
    found = eval(written, {"people": mock.table("people"), "session": mock})
    rows = found.count(epsilon=1) if isinstance(found, PrivateTable) else found
    assert len(rows) > 0


@pytest.mark.parametrize("name", sorted(READER_WORDS))
def test_what_would_show_rows_leads_to_synthetic_ones(alice, people, name):
    assert len(eval(advice(people, name).removesuffix(" for synthetic ones"), {"session": alice})) == 20
    assert advice(alice.table("visits").where("cost > 5"), name) == 'session.preview("visits") for synthetic ones'


def test_the_words_are_those_of_the_libraries():
    others = {"collect_schema", "average", "avg", "stddev", "variance", "fetchall", "fetchdf", "df", "display", "take"}
    others |= {"records", "append", "schema", "concat", "show", "to_list", "hist", "to_polars", "to_arrow"}
    for name in TABLE_WORDS.keys() | READER_WORDS:
        known = [hasattr(kind, name) for kind in (pd.DataFrame, pd.Series, pl.DataFrame, pl.LazyFrame)]
        assert any(known) or name in others, name


def test_a_column_after_a_dot_is_written_as_a_question(answer, people):
    assert advice(answer, "n") == 'answer["n"]'
    assert advice(people, "age") == 'people.mean("age", by="sex", epsilon=0.1)'
    assert advice(people, "city") == 'people.count(by="city", epsilon=0.1)'
    assert advice(people, "name") == 'people.count(by="sex", epsilon=0.1)'


def test_a_slip_is_guessed(answer, people):
    assert advice(answer, "recods") == "records"
    assert advice(answer, "zzz") == 'answer["COLUMN"], answer[0], or answer.to_pandas()'
    assert advice(people, "cuont") == "people.count"
    assert advice(people.where("age > 3"), "zzz") == "rows.where, rows.count or session.methods()"
    assert "ORDER BY" in advice(people, "sort_values")
    assert advice(people.group_by("sex"), "describe") == 'people.summary(columns="age", epsilon=0.1)'


@pytest.mark.parametrize("place", ["age", "nothing", 0, slice(3), ["age"]])
def test_rows_cannot_be_indexed(people, place):
    for rows in (people, people.group_by("sex")):
        with pytest.raises(Refusal, match="nobody can read"):
            rows[place]


def test_nobody_can_go_through_private_rows(people):
    with pytest.raises(Refusal, match="nobody can read"):
        list(people)


def test_the_parts_of_a_model_are_those_of_models(alice, answer):
    assert "lm" in advice(answer, "params")
    model = alice.mock().table("people").lm("salary ~ age", epsilon=100)
    for name in MODEL_WORDS:
        written = advice(model, name).split(", which")[0]
        assert eval(written if written.startswith("answer") else f"answer.{written}", {"answer": model}) is not None
    part = alice.sql("SELECT term, estimate FROM lm(people, formula => 'salary ~ age')", epsilon=1)
    assert "standard_error" in advice(part, "bse")
    assert "estimate" not in advice(part, "bse")


def test_what_python_looks_for_by_itself_is_simply_not_there(answer, people):
    for thing in (answer, people, people.group_by("sex")):
        with pytest.raises(AttributeError) as missing:
            thing._repr_png_  # noqa: B018
        assert not isinstance(missing.value, Refusal)
        assert copy.copy(thing) is not None


def test_the_refusal_survives_copies():
    told = UnknownAttribute("Attribute x", "is nothing", "write y", code="unknown_attribute")
    for again in (copy.copy(told), pickle.loads(pickle.dumps(told))):
        assert (str(again), again.code) == (str(told), told.code)


def test_fixes_are_python(answer, people):
    for thing, words in ((answer, FRAME_WORDS), (people, TABLE_WORDS)):
        for name in words:
            ast.parse(re.split(r", (?:where|or) ", advice(thing, name))[0])
