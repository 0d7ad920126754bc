"""A draft holds what files show and nothing private; filled in, it is a catalog."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.errors import Refusal
from adomnia.inspection.drafts import draft
from adomnia.inspection.found_tables import ColumnLook, FoundTable
from catalog.catalogs import reading

PEOPLE = FoundTable(
    "people",
    "people.csv",
    [("", ""), ("personID", ""), ("Age", ""), ("salary", ""), ("City", ""), ("", "")],
    spelling={"delimiter": ";", "encoding": "latin-1", "null": ["NA"]},
)
VISITS = FoundTable(
    "visits 2024",
    "raw/visits 2024.parquet",
    [("personID", "BIGINT"), ("day", "TIMESTAMP WITH TIME ZONE"), ("urgent", "BOOLEAN"), ("scan", "BLOB")],
)

DRAFT = """\
# What the owner declares; docs/catalog.md explains every key. What begins with # is yours to decide: take it from
# public knowledge, never from the data. `adomnia check` names what is missing, `adomnia check --data` what is amiss.

[dataset]
name = "my_hospital"
version = 1                  # raise it when the data changes
# unit = "people.person_id"  # whose presence is hidden: one value of this column, with all rows that belong to it

[budget]
# epsilon = 1.0              # what all answers together may cost. `adomnia meaning 1` says what that means to a person
# delta = 1e-6               # with approximate = true, Gaussian noise may be used too
# approximate = true

[analysts.alice]             # rename alice; one such section for everybody who may ask
# epsilon = 1.0              # what alice may spend of it
# ceiling = 0.2              # the most that one question may cost; docs/policies.md has more ways to set prices

[tables.people]
source = "people.csv"
csv = { delimiter = ";", encoding = "latin-1", null = ["NA"] }  # as the file is written
# rows_per_person = ?  # how many rows of one person count: what is beyond is left out, and noise grows with it
# public = true        # instead, if the table is about nobody

[tables.people.columns]
# Bounds: values are moved into them, and the noise of SUM and AVG grows with the wider of |lower| and |upper|. A bound
# that is taken from the data would publish it: take a law, a form, a price list, or what everybody knows.
# Categories: list the values that a form or a code book has. Others count as missing, or as what `others` says.
# The first column, which has no name, is left out: it numbers the rows, as pandas and R write them.
# Column 6 of the file has no name, and is left out.
person_id = { column = "personID", type = "id" }  # if it names no people: "text", or "category" with values = [?]
age = { column = "Age", type = "integer" }  # to add it up or group by it: lower = ?, upper = ?
salary = { type = "number" }  # to add it up: lower = ?, upper = ?
city = { column = "City", type = "text" }  # to group by it: "category" with values = [?], others = "Other"

[tables.visits_2024]
source = "raw/visits 2024.parquet"
# person = "person_id -> people.person_id"  # how a row finds its person; the people's own table needs no such line
# rows_per_person = ?  # how many rows of one person count: what is beyond is left out, and noise grows with it
# public = true        # instead, if the table is about nobody

[tables.visits_2024.columns]
person_id = { column = "personID", type = "id" }  # if it names no people: "text", or "category" with values = [?]
day = { type = "timestamp", timezone = "UTC" }  # times of that zone; or "date"; to group by it: lower = ?, upper = ?
urgent = { type = "boolean" }
# scan is left out: no type of column holds "BLOB"
"""


def test_a_draft_says_what_the_files_show_and_asks_for_the_rest():
    assert draft("my hospital", [PEOPLE, VISITS]) == DRAFT


def test_a_draft_is_filled_in_by_uncommenting_its_lines(tmp_path):
    text = DRAFT
    with pytest.raises(Refusal) as caught:
        reading(tmp_path, text)
    told = [str(problem) for problem in (caught.value, *caught.value.others)]
    assert [word for word in ("no unit", "no epsilon", "no epsilon") if any(word in each for each in told)]
    for line in ("unit = ", "epsilon = ", "person = "):
        text = text.replace(f"# {line}", line)
    text = text.replace("# rows_per_person = ?", "rows_per_person = 3")
    catalog = reading(tmp_path, text)
    assert [table.rows_per_person for table in catalog.tables] == [3, 3]
    assert catalog.tables[0].source_column("person_id").name == "personID"


def test_what_the_owner_let_us_look_at_comes_before_the_name_but_ids_stay_ids():
    looks = {"joined": ColumnLook("date", ("%m/%d/%Y",)), "key": ColumnLook("integer"), "age": ColumnLook("text")}
    table = FoundTable("t", "t.csv", [(name, "") for name in looks], looks=looks)
    columns = tomllib.loads(draft("d", [table]))["tables"]["t"]["columns"]
    assert columns == {
        "joined": {"type": "date", "format": "%m/%d/%Y"},
        "key": {"type": "id"},
        "age": {"type": "text"},
    }


def test_columns_of_one_name_are_left_out_with_the_reason():
    text = draft("d", [FoundTable("t", "t.csv", [("a", ""), ("a", ""), ("b", "")])])
    assert [*tomllib.loads(text)["tables"]["t"]["columns"]] == ["b"]
    assert '# "a" is left out: the file has several columns of that name.' in text


def test_without_an_id_each_row_is_proposed_as_a_person():
    assert '# unit = "row"' in draft("d", [FoundTable("t", "t.csv", [("age", "")])])


def test_a_table_of_a_database_names_it():
    text = draft("d", [FoundTable("t", "d.sqlite", [("age", "BIGINT")], source_table="T 1")])
    assert tomllib.loads(text)["tables"]["t"]["table"] == "T 1"


@given(
    name=st.text(st.characters(codec="utf-8")),
    header=st.lists(
        st.tuples(st.text(st.characters(codec="utf-8")), st.sampled_from(["", "BIGINT", "BLOB\n[x]", "DATE"]))
    ),
)
def test_no_header_can_break_out_of_its_line(name, header):
    content = tomllib.loads(draft(name, [FoundTable("t", name, header)]))
    assert set(content) == {"dataset", "budget", "analysts", "tables"}
    assert content["tables"]["t"]["source"] == name
    assert len(content["tables"]["t"]["columns"]) <= len(header)
