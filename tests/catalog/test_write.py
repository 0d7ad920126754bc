"""A draft holds what a header says and nothing more; filled in, it is a catalog."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.catalog.document_keys import NAME
from adomnia.catalog.model import RESERVED
from adomnia.catalog.write import as_name, draft, toml_string, type_of
from adomnia.errors import Refusal
from catalog.catalogs import reading

HEADERS = {
    "people": [("person_id", "BIGINT"), ("age", "INTEGER"), ("salary", "DECIMAL(10,2)"), ("city", "VARCHAR")],
    "visits 2024": [("person_id", "BIGINT"), ("day", "TIMESTAMP WITH TIME ZONE"), ("urgent", "BOOLEAN")],
}
SOURCES = {"people": "people.csv", "visits 2024": "raw/visits 2024.parquet"}

DRAFT = """\
# What the owner declares; docs/catalog.md explains every key. Lines that begin with # are yours to fill in: take what
# they say from public knowledge, never from the data. `adomnia check` names what is still missing.

[dataset]
name = "my_hospital"
version = 1                  # raise it when the data changes
# unit = "people.?"           # whose presence is hidden: the column that names a person, or "row"

[budget]
# epsilon = 10.0             # what all answers together may cost
# delta = 1e-6               # with approximate = true, Gaussian noise may be used too
# approximate = true

[analysts.alice]             # rename alice; one such section for everybody who may ask
# epsilon = 2.0              # what alice may spend of it
# ceiling = 0.5              # the most that one question may cost; docs/policies.md has more ways to set prices

[tables.people]
source = "people.csv"
# person = "? -> people.?"    # how a row finds its person; the people's own table needs no such line
# rows_per_person = ?        # how many rows of one person count; 1 where a person has one row
# public = true              # instead of both, if the table is about nobody

[tables.people.columns]
person_id = { type = "integer" }  # to aggregate it add lower = ?, upper = ?; an "id" if it names people or rows
age = { type = "integer" }  # to aggregate it add lower = ?, upper = ?; an "id" if it names people or rows
salary = { type = "number" }  # to aggregate it add lower = ?, upper = ?
city = { type = "text" }  # to group by it: a "category" with values = [?]; an "id" if it names people or rows

[tables.visits_2024]
source = "raw/visits 2024.parquet"
# person = "? -> people.?"    # how a row finds its person; the people's own table needs no such line
# rows_per_person = ?        # how many rows of one person count; 1 where a person has one row
# public = true              # instead of both, if the table is about nobody

[tables.visits_2024.columns]
person_id = { type = "integer" }  # to aggregate it add lower = ?, upper = ?; an "id" if it names people or rows
day = { type = "date" }  # times of day are not kept
urgent = { type = "boolean" }
"""


def test_a_draft_says_what_the_headers_say_and_asks_for_the_rest():
    assert draft("my hospital", HEADERS, SOURCES) == DRAFT


def test_a_draft_has_no_bound_no_unit_and_no_budget():
    content = tomllib.loads(draft("my hospital", HEADERS))
    assert content["dataset"] == {"name": "my_hospital", "version": 1}
    assert content["budget"] == content["analysts"]["alice"] == {}
    columns = [column for table in content["tables"].values() for column in table["columns"].values()]
    assert {tuple(column) for column in columns} == {("type",)}


def test_a_draft_is_refused_step_by_step_until_it_is_filled_in(tmp_path):
    text = draft("hospital", HEADERS, SOURCES)
    steps = [
        ("dataset .* has no unit", '# unit = "people.?"', 'unit = "people.person_id"'),
        ("budget .* has no epsilon", "# epsilon = 10.0", "epsilon = 10.0"),
        (r"people .* has no rows_per_person", "# rows_per_person = ?", "rows_per_person = 1"),
        (r"visits_2024 .* has no person", '# person = "? -> people.?"    # h', '# person = "? -> people.?"    # h'),
    ]
    for why, old, new in steps:
        with pytest.raises(Refusal, match=why):
            reading(tmp_path, text)
        text = text.replace(old, new, 1)
    before, linked = text.split("[tables.visits_2024]")
    linked = linked.replace('# person = "? -> people.?"', 'person = "person_id -> people.person_id"')
    text = f"{before}[tables.visits_2024]{linked}".replace("# epsilon = 2.0", "epsilon = 2.0")
    with pytest.raises(Refusal, match=r"visits_2024 .* has no rows_per_person"):
        reading(tmp_path, text)
    before, linked = text.split("[tables.visits_2024]")
    text = f"{before}[tables.visits_2024]{linked.replace('# rows_per_person = ?', 'rows_per_person = 10')}"
    with pytest.raises(Refusal, match=r"names people\.person_id, which is of type integer"):
        reading(tmp_path, text)
    catalog = reading(tmp_path, text.replace('person_id = { type = "integer" }', 'person_id = { type = "id" }'))
    assert [table.source for table in catalog.tables] == list(SOURCES.values())


def test_a_column_that_no_catalog_can_hold_is_left_out_with_the_reason():
    header = [
        ("first name", "VARCHAR"),
        ("rank", "INTEGER"),
        ("age", "INTEGER"),
        ("AGE", "INTEGER"),
        ("x", "STRUCT(a)"),
    ]
    lines = draft("data", {"t": header}).splitlines()[-5:]
    assert [line.split(":")[0] for line in lines if line.startswith("#")] == [
        '# "first name" is left out',
        '# "rank" is left out',
        '# "AGE" is left out',
        "# x is left out",
    ]
    assert lines[-1] == '# x is left out: no type of column holds "STRUCT(a)"'


def test_a_header_without_types_asks_for_them():
    line = draft("data", {"t": [("x", "")]}).splitlines()[-1]
    assert (
        line
        == 'x = { type = "text" }  # the header has no types: text, or id, integer, number, boolean, category or date'
    )


def test_a_draft_without_tables_is_still_a_text_to_fill_in():
    assert "tables" not in tomllib.loads(draft("data", {}))


@given(
    name=st.text(st.characters(codec="utf-8")),
    header=st.lists(
        st.tuples(st.text(st.characters(codec="utf-8")), st.sampled_from(["", "BIGINT", "BLOB\n[x]", "DATE"]))
    ),
)
def test_no_header_can_break_out_of_its_line(name, header):
    content = tomllib.loads(draft(name, {"t": header}, {"t": name}))
    assert set(content) == {"dataset", "budget", "analysts", "tables"}
    assert content["tables"]["t"]["source"] == name
    assert set(content["tables"]["t"]["columns"]) <= {column for column, _ in header}


@given(text=st.text())
def test_every_text_has_a_name(text):
    assert NAME.holds(as_name(text))
    assert as_name(text).lower() not in RESERVED


@given(text=st.text(st.characters(codec="utf-8")))
def test_a_quoted_text_is_read_back(text):
    assert tomllib.loads(f"key = {toml_string(text)}")["key"] == text


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("BIGINT", "integer"),
        ("DECIMAL(18, 3)", "number"),
        ("double", "number"),
        ("VARCHAR", "text"),
        ("DATE", "date"),
        ("TIMESTAMP_NS", "date"),
        ("ENUM('a')", "category"),
        ("UUID", "id"),
        ("TIME", None),
        ("BLOB", None),
        ("INTEGER[]", None),
    ],
)
def test_the_types_of_other_systems_are_understood(written, kind):
    assert type_of(written) == kind
