"""Questions to begin with: for any catalog there are some, and none of them is refused."""

from __future__ import annotations

from contextlib import closing

import pytest
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from adomnia.asking.batch import plan_text
from adomnia.catalog.model import Link, Table, is_name
from adomnia.console.data.examples import examples_of, joined_examples, list_examples
from adomnia.console.data.links import list_links
from adomnia.pricing.questions import Question
from adomnia.privacy.kinds import Boolean
from adomnia.session.curator import open_mock
from adomnia.sql.rows.views import open_view
from kit import catalogs, hospital
from kit.catalogs import PERSON, declare, gather, rows_of

ODD = """
"the \\"best\\" = <b>" = { type = "category", values = ["O'Hara", "a\\\\b", "100%", "<script>alert(1)</script>"] }
"größe (cm)" = { type = "number", lower = 50.5, upper = 250.25 }
"年齢" = { type = "integer", lower = 0, upper = 120 }
"select" = { type = "boolean" }
"when; --" = { type = "date", lower = 2020-01-01, upper = 2024-12-31 }
"Education Num" = { type = "integer", lower = 1, upper = 3 }
person_id = { type = "id" }
"""
NUMBERS = """
id = { type = "id" }
tiny = { type = "number", lower = -0.001, upper = 0.002 }
exact = { type = "number", lower = 0, upper = 1, step = 0.5 }
huge = { type = "number", lower = -1e300, upper = 1e300 }
open = { type = "number" }
one = { type = "integer", lower = 7, upper = 7 }
two = { type = "integer", lower = 0, upper = 1 }
wide = { type = "integer", lower = -9_000_000_000_000_000, upper = 9_000_000_000_000_000 }
"""
TIMES = """
id = { type = "id" }
born = { type = "date" }
seen = { type = "timestamp", timezone = "Europe/Oslo" }
"""
BOUNDED_TIMES = """
id = { type = "id" }
seen = { type = "timestamp", timezone = "Asia/Tokyo", lower = 2024-01-01T00:00:00, upper = 2024-12-31T23:59:59 }
"""
ANCIENT = 'id = { type = "id" }\nborn = { type = "date", lower = 0001-01-01, upper = 9999-12-31 }'
NAMED_LIKE_OUTPUTS = """
id = { type = "id" }
people = { type = "category", values = ["a", "b"] }
mean_age = { type = "integer", lower = 0, upper = 9 }
age = { type = "number", lower = 0, upper = 100 }
age_from = { type = "integer", lower = 0, upper = 9 }
median_age = { type = "text" }
share = { type = "boolean" }
"""
MANY = "\n".join(
    ['id = { type = "id" }']
    + [f'c{number} = {{ type = "category", values = ["x", "y", "z{number}"] }}' for number in range(20)]
    + [f'n{number} = {{ type = "number", lower = 0, upper = {number + 1} }}' for number in range(20)]
    + [f't{number} = {{ type = "text" }}' for number in range(20)]
)
REGIONS = rows_of(
    "regions", 'region = { type = "text" }\nname = { type = "text" }\nsize = { type = "integer" }', "public = true"
)
FILES = {"regions.csv": "region,name,size\nN,North,1\nS,South,2\nE,East,\n"}
VIEWS = """
[views.grown]
sql = "SELECT person_id, region, height / 2 AS half, height > 100 AS tall FROM people WHERE height > 3"
[views.own]
sql = "SELECT person_id, COUNT(*) AS n, MAX(cost) AS dearest FROM things GROUP BY person_id"
[views.lands]
sql = "SELECT region, size * 2 AS twice FROM regions"
"""
VIEWED = (
    rows_of(
        "people",
        'person_id = { type = "id" }\nregion = { type = "category", values = "regions.region", others = "elsewhere" }\n'
        'height = { type = "integer", lower = 0, upper = 250 }',
    ),
    rows_of(
        "things",
        'thing_id = { type = "id" }\nperson_id = { type = "id" }\ncost = { type = "number", lower = 0, upper = 9 }',
        'person = "person_id -> people.person_id"\nrows_per_person = 7',
    ),
    REGIONS,
)
WORDS = sorted(
    {
        word.lower()
        for words in (*DuckDB.Tokenizer.KEYWORDS, *DuckDB.Parser.NO_PAREN_FUNCTION_PARSERS, *exp.FUNCTION_BY_NAME)
        for word in words.split()
        if word.isidentifier()
    }
    - {"people"}
)

SHAPES = {
    "only texts": ("row", [rows_of("notes", 'a = { type = "text" }\nb = { type = "text" }', "")], {}, ""),
    "only an id": ("people.id", [rows_of("people", 'id = { type = "id" }')], {}, ""),
    "one column": ("row", [rows_of("yes", 'yes = { type = "boolean" }', "")], {}, ""),
    "times without bounds": ("people.id", [rows_of("people", TIMES, "rows_per_person = 3")], {}, ""),
    "times of one year": ("people.id", [rows_of("people", BOUNDED_TIMES)], {}, ""),
    "all days there are": ("people.id", [rows_of("people", ANCIENT)], {}, ""),
    "only public": ("row", [REGIONS], FILES, ""),
    "odd names": ("people.person_id", [rows_of("people", ODD)], {}, ""),
    "numbers at their limits": ("people.id", [rows_of("people", NUMBERS)], {}, ""),
    "columns named like outputs": ("people.id", [rows_of("people", NAMED_LIKE_OUTPUTS)], {}, ""),
    "sixty columns": ("people.id", [rows_of("people", MANY, "rows_per_person = 2")], {}, ""),
    "views": ("people.person_id", list(VIEWED), FILES, VIEWS),
}


def every_example(catalog):
    links = list_links(catalog)
    tables = [*catalog.tables, *(open_view(view, catalog) for view in catalog.views)]
    yield from list_examples(catalog)
    for table in tables:
        yield from examples_of(table)
        yield from joined_examples(catalog, table, links)


def ask_all(catalog, examples):
    """Each is priced, or where it is free, answered; a refusal fails the test."""
    with closing(open_mock(catalog)) as curator:
        session = curator.session("alice")
        for example in dict.fromkeys(examples):
            if example.free:
                assert session.sql(example.sql).receipt is None
            else:
                assert session.price(example.sql, epsilon=0.1) is not None


def test_no_question_about_the_hospital_is_refused(tmp_path):
    catalog = hospital.declare(tmp_path / "hospital", hospital.LINKED)
    ask_all(catalog, every_example(catalog))


@pytest.mark.parametrize("shape", SHAPES)
def test_no_question_is_refused_whatever_the_catalog(tmp_path, shape):
    unit, tables, files, views = SHAPES[shape]
    catalog = declare(tmp_path / "shape", unit, *tables, files=files, views=views)
    examples = list(every_example(catalog))
    assert examples
    ask_all(catalog, examples)


@pytest.mark.parametrize("first", "abcdefghijklmnopqrstuvwxyz")
def test_columns_and_tables_that_are_called_like_words_of_sql_can_be_asked(first):
    for word in [word for word in WORDS if word.startswith(first)]:
        tables = [catalogs.people(catalogs.plain(word, Boolean()))]
        tables += [Table(word, "", (PERSON,), link=Link("person_id", "people", "person_id"))] if is_name(word) else []
        for example in (example for table in tables for example in examples_of(table)):
            assert plan_text(Question(example.sql), gather(tables), 0.95).outputs


def test_the_hospital_gets_the_questions_that_one_would_ask(tmp_path):
    catalog = hospital.declare(tmp_path / "hospital", hospital.LINKED)
    titles = [example.title for example in list_examples(catalog)]
    assert titles[:3] == ["People by city", "Mean salary by sex", "People by age, in steps of 10"]
    assert {"How salary goes with age and sex", "People by region of cities"} <= set(titles)
    assert len(titles) == len(set(titles)) <= 8


def test_counts_take_a_long_list_and_means_a_short_one():
    table = catalogs.people(
        catalogs.category("sex", "F", "M"),
        catalogs.category("city", *map(str, range(40))),
        catalogs.category("street", *map(str, range(900))),
        catalogs.category("number", *map(str, range(100_000))),
        catalogs.whole("age", 0, 120),
    )
    titles = [example.title for example in examples_of(table)]
    assert titles[:2] == ["People by city", "Mean age by sex"]
    assert not any("number" in title for title in titles)


def test_questions_about_public_tables_are_free():
    table = catalogs.public(
        "cities", catalogs.category("city", "a", "b"), catalogs.category("land", "x", "y"), repeats=(1, 2)
    )
    examples = examples_of(table)
    assert all(example.free for example in examples)
    assert [example.title for example in examples] == ["The first rows of cities", "Cities by land"]
