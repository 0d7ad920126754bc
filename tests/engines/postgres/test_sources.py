"""Tables of a real PostgreSQL, type by type: each value means what it means to the other engines."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Moment, Quantity, Text
from engines.databases import number, people, whole
from engines.postgres.kept import open_index, read_index
from engines.sources import test_streams as streamed
from kit.filled_postgres import filled

((_, EVERY_TYPE),) = (
    mark.args
    for mark in streamed.test_values_of_every_type_mean_what_they_mean_in_a_file.pytestmark
    if mark.name == "parametrize"
)
((_, KEYS),) = (
    mark.args
    for mark in streamed.test_equal_keys_are_one_person_and_different_ones_are_not.pytestmark
    if mark.name == "parametrize"
)


def list_types():
    """The types, each with what has to be made before, under names of its own."""
    for place, (declaration, *_) in enumerate(EVERY_TYPE):
        *made, last = declaration.split(";")
        kind = last.removeprefix("CREATE TABLE people (person_id int, x ").removesuffix(")") if made else last
        for name in re.findall(r"CREATE (?:TYPE|DOMAIN) (\w+)", declaration):
            *made, kind = (re.sub(rf"\b{name}\b", f"{name}_{place}", text) for text in (*made, kind))
        yield made, kind


def test_values_of_every_type_mean_what_they_mean_elsewhere(tmp_path):
    """All of them are columns of one table: an index takes longer to build than to read."""
    types, most = list(list_types()), max(len(cases) for *_, cases in EVERY_TYPE)
    columns = [replace(column, name=f"x{place}") for place, (_, column, _) in enumerate(EVERY_TYPE)]
    written, wanted = (
        [[*values, *[missing] * (most + 1 - len(values))] for values in listed]
        for missing, listed in (
            ("NULL", [list(cases) for *_, cases in EVERY_TYPE]),
            (None, [list(cases.values()) for *_, cases in EVERY_TYPE]),
        )
    )
    made = [statement for before, _ in types for statement in before]
    listed = ", ".join(f"{column.name} {kind}" for column, (_, kind) in zip(columns, types, strict=True))
    rows = ", ".join(f"({place}, {', '.join(row)})" for place, row in enumerate(zip(*written, strict=True)))
    create = f"CREATE TABLE people (person_id int, {listed})"
    with filled(*made, create, f"INSERT INTO people VALUES {rows}") as url:
        table = people(*columns, source=url, source_table="people")
        with closing(open_index(tmp_path, table)) as engine:
            found = read_index(engine, "people")
    assert len(types) > 20
    for column, (_, kind), values in zip(columns, types, wanted, strict=True):
        assert [row[column.name] for row in found] == values, kind


@pytest.mark.parametrize(("declaration", "keys"), KEYS)
def test_equal_keys_are_one_person_and_different_ones_are_not(tmp_path, declaration, keys):
    rows = ", ".join(f"({key}, 'x')" for key in keys)
    create = f"CREATE TABLE people (person_id {declaration}, x text)"
    with filled(create, f"INSERT INTO people VALUES {rows}") as url:
        table = people(Column("x", Text()), source=url, source_table="people", rows_per_person=2)
        with closing(open_index(tmp_path, table)) as engine:
            found = read_index(engine, "people")
    assert (len(found), len({row["person"] for row in found})) == (4, 3)


@pytest.mark.parametrize(
    ("key", "people_of"),
    [
        ("numeric", {"'NaN'": 0, "7": 1, "7.0": 1}),
        ("float8", {"'NaN'": 0, "7": 1, "-0.0": 2, "0": 2, "1e300": 3}),
        ("oid", {"4294967295": 1, "7": 2}),
    ],
)
def test_a_key_that_is_no_number_is_nobody(tmp_path, key, people_of):
    rows = ", ".join(f"({value}, 'x')" for value in people_of)
    with filled(f"CREATE TABLE people (person_id {key}, x text)", f"INSERT INTO people VALUES {rows}") as url:
        table = people(Column("x", Text()), source=url, source_table="people", rows_per_person=2)
        with closing(open_index(tmp_path, table)) as engine:
            assert len({row["person"] for row in read_index(engine, "people")}) == len(set(people_of.values()) - {0})


CREATED = 'CREATE TABLE people (person_id int, x text, "Age" int, "AGE" int, j json, d text)'


@pytest.mark.parametrize(
    ("column", "options", "says"),
    [
        (Column("y", Quantity()), {}, "Column people.y is declared, and people has none of that name"),
        (Column("x", Quantity()), {}, "Column people.x is declared as number, and people holds text"),
        (Column("j", Text()), {}, "and people holds json"),
        (whole("age", 0, 9), {}, 'Column people.age could be any of the columns "Age" and "AGE"'),
        (Column("d", Day()), {}, "Column people.d is declared as date, and the table holds text"),
        (Column("d", Moment(zone="UTC")), {}, "Column people.d is declared as timestamp, and the table holds text"),
        (number("x", 0, 1), {"source_table": "nobody"}, "is declared as public.nobody, and there is none"),
    ],
)
def test_a_table_that_is_not_as_declared_is_refused(tmp_path, column, options, says):
    with filled(CREATED) as url:
        table = people(column, **{"source": url, "source_table": "people", **options})
        with pytest.raises(Refusal) as refused:
            open_index(tmp_path, table)
    assert says in str(refused.value)


def test_a_cast_of_a_users_own_is_not_called(tmp_path):
    planted = (
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE FUNCTION lie(mood) RETURNS text LANGUAGE sql IMMUTABLE RETURN 'lie'",
        "CREATE CAST (mood AS text) WITH FUNCTION lie(mood)",
        "CREATE TABLE people (person_id int, x mood)",
        "INSERT INTO people VALUES (1, 'glad')",
    )
    with filled(*planted) as url:
        table = people(Column("x", Text()), source=url, source_table="people")
        with closing(open_index(tmp_path, table)) as engine:
            assert [row["x"] for row in read_index(engine, "people")] == ["glad"]
