"""What does not fit between a catalog and its data is counted exactly, and what is proposed really helps."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from adomnia.catalog.model import EngineChoice
from adomnia.inspection.checking import check_folder
from adomnia.inspection.reports import describe_index, inspect_data
from adomnia.session.curator import STATE, open_folder, read_catalog
from inspection.catalogs import apply_mismatch, write_catalog
from kit.filled_postgres import filled

RIDES = """
[tables.rides]
source = "rides.csv"
rows_per_person = 1
[tables.rides.columns]
person_id = { type = "id" }
VALUE
"""
RIDES_OF_INDEXES = """
[engine]
name = "duckdb"
[tables.rides]
source = "{}"
table = "rides"
rows_per_person = 1
[tables.rides.columns]
person_id = {{ type = "id" }}
"""


def rides(folder, line, *values, encoding="utf-8"):
    """One ride a person, with these values."""
    rows = "".join(f'{number},"{value}"\n' for number, value in enumerate(values))
    (folder / "rides.csv").write_bytes(f"person_id,value\n{rows}".encode(encoding))
    return write_catalog(folder, "rides.person_id", RIDES.replace("VALUE", line))


def report(folder):
    found = check_folder(folder)
    assert found.problems == ()
    return inspect_data(found.catalog)


NUMBER = 'value = { type = "number", lower = 0, upper = 10_000 }'
DAY = 'value = { type = "date", lower = 1990-01-01, upper = 2029-12-31 }'


@pytest.mark.parametrize(
    ("line", "values", "unreadable", "fix"),
    [
        (NUMBER, ["$1,234.50", "$7", "3"], 2, "currency"),
        (NUMBER, ["1,234.50", "7", "3"], 1, "thousands"),
        (NUMBER, ["1,5", "3,25", "2"], 2, "decimal"),
        (NUMBER, ["1.234,5", "3,25", "2"], 2, "decimal"),
        (NUMBER, ["12 €", "3 €", "2 €"], 3, "currency"),
        (NUMBER, ["1'234", "2", "3"], 1, "thousands"),
        (NUMBER, ["NA", "?", "3", "4"], 2, "null"),
        (NUMBER, ["$1,200", "NA", "$3"], 3, "null"),
        (NUMBER, ["many", "few", "none at all"], 3, 'value = { type = "text" }'),
        (DAY, ["4/30/1992", "12/1/1992", ""], 2, 'format = "%m/%d/%Y"'),
        (DAY, ["30/4/1992", "1/12/1992"], 2, 'format = "%d/%m/%Y"'),
        (DAY, ["30.04.1992", "-"], 2, 'format = "%d.%m.%Y"'),
        (DAY, ["30-Apr-92", "01-Dec-93"], 2, 'format = "%d-%b-%y"'),
        (DAY, ["4/30/1992 10:15", "12/1/1992 23:59"], 2, 'format = "%m/%d/%Y %H:%M"'),
        ('value = { type = "boolean" }', ["present", "absent"], 2, 'value = { type = "text" }'),
        ('value = { type = "category", values = ["Oslo"] }', ["Rome", "Oslo"], 1, 'others = "Other"'),
        (
            'value = { type = "category", values = ["Oslo"] }',
            ["oslo ", "Oslo"],
            1,
            '"oslo " differ from declared values',
        ),
        ('value = { type = "integer" }', ["1", "Unknown"], 1, 'null = ["Unknown"]'),
    ],
)
def test_a_proposal_makes_the_problem_go_away(tmp_path, line, values, unreadable, fix):
    found = report(rides(tmp_path, line, *values))
    (mismatch,) = (each for each in found.mismatches if each.kind in {"unreadable", "undeclared"})
    assert (mismatch.count, mismatch.column, mismatch.left) == (unreadable, "value", 0)
    assert fix in mismatch.fix
    assert values[0] in mismatch.says or values[1] in mismatch.says
    apply_mismatch(tmp_path, mismatch)
    assert [each.unreadable for each in report(tmp_path).columns] == [0, 0]


def test_letters_in_another_encoding_are_found_and_the_encoding_is_proposed(tmp_path):
    found = report(rides(tmp_path, 'value = { type = "text" }', "Zoë", "Ada", encoding="latin-1"))
    (mismatch,) = found.mismatches
    assert (mismatch.count, mismatch.line) == (1, 11)
    assert 'encoding = "latin-1" in tables.rides.csv' in mismatch.fix
    apply_mismatch(tmp_path, mismatch)
    assert report(tmp_path).mismatches == ()


def test_where_texts_do_not_tell_the_month_from_the_day_both_formats_are_named(tmp_path):
    (mismatch,) = report(rides(tmp_path, DAY, "3/4/1992", "1/2/1993")).mismatches
    assert mismatch.fix.endswith('("%m/%d/%Y" and "%d/%m/%Y" read as many: say which is meant)')


@pytest.mark.parametrize(("values", "doubtful"), [(["1,234", "5"], True), (["1,234", "1,234.50"], False)])
def test_where_texts_do_not_tell_thousands_from_decimals_the_owner_is_asked(tmp_path, values, doubtful):
    (mismatch,) = report(rides(tmp_path, NUMBER, *values)).mismatches
    assert 'thousands = ","' in mismatch.fix
    assert ('write decimal = "," instead' in mismatch.fix) is doubtful


def test_a_change_that_loses_more_than_it_wins_is_not_proposed(tmp_path):
    (tmp_path / "rides.csv").write_text('person_id,value,other\n1,"1,5",1.5\n2,"2,5",2.5\n3,3,3.25\n')
    folder = write_catalog(
        tmp_path, "rides.person_id", RIDES.replace("VALUE", f'{NUMBER}\nother = {{ type = "number" }}')
    )
    (mismatch,) = report(folder).mismatches
    assert "decimal" not in mismatch.fix


def test_part_of_a_problem_may_stay_and_is_told(tmp_path):
    (mismatch,) = report(rides(tmp_path, NUMBER, "1,5", "3,25", "2", "lots")).mismatches
    assert (mismatch.count, mismatch.left) == (3, 1)
    assert mismatch.fix.endswith("(then 1 are left)")


def test_clamped_and_empty_values_are_told_with_the_line(tmp_path):
    found = report(rides(tmp_path, 'value = { type = "integer", lower = 0, upper = 9 }', "10", "-1", "5"))
    assert [(each.kind, each.count, each.line) for each in found.mismatches] == [("clamped", 2, 16)]
    found = report(rides(tmp_path, 'value = { type = "integer" }', "", ""))
    assert [(each.kind, each.count) for each in found.mismatches] == [("empty", 2)]


def test_data_that_fits_has_no_findings(tmp_path):
    found = report(rides(tmp_path, NUMBER, "1", "2.5", ""))
    assert found.mismatches == ()
    assert [(each.rows, each.missing) for each in found.columns] == [(3, 0), (3, 1)]
    (people,) = found.people
    assert (people.people, people.of_nobody, people.over_cap) == (3, 0, 0)


LINKED = """
[tables.people]
source = "people.csv"
rows_per_person = 1
[tables.people.columns]
person_id = { type = "id" }

[tables.rides]
source = "rides.csv.gz"
person = "person_id -> people.person_id"
rows_per_person = 2
[tables.rides.columns]
ride_id = { type = "id" }
person_id = { type = "id" }

[tables.stops]
source = "stops.csv"
person = "ride_id -> rides.ride_id"
rows_per_person = 100
[tables.stops.columns]
ride_id = { type = "id" }
"""


@pytest.fixture
def linked(tmp_path):
    (tmp_path / "people.csv").write_text("person_id\n1\n2\n7\n007\nA\na\n")
    rows = [(f"r{number}", "1") for number in range(9)] + [("r9", "2"), ("r10", ""), ("r11", "99"), ("r12", "02")]
    text = "ride_id,person_id\n" + "".join(f"{ride},{person}\n" for ride, person in rows)
    (tmp_path / "rides.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "stops.csv").write_text("ride_id\nr1\nr1\nnowhere\n")
    return write_catalog(tmp_path, "people.person_id", LINKED)


def test_people_over_the_cap_and_what_it_costs(linked):
    found = report(linked)
    rides = found.people[1]
    assert (rides.rows, rides.of_nobody, rides.people, rides.over_cap, rides.most) == (13, 1, 4, 1, 9)
    assert rides.left_out == ((2, 7), (4, 5), (8, 1), (16, 0), (32, 0))
    (mismatch,) = (each for each in found.mismatches if each.kind == "over_cap")
    assert "7 of 13 rows are left out (5 at 4, 1 at 8, 0 at 16, 0 at 32)" in mismatch.says
    assert "rows_per_person = 16 in tables.rides" in mismatch.fix
    apply_mismatch(linked, mismatch)
    assert [each for each in report(linked).mismatches if each.kind == "over_cap"] == []


def test_a_cap_that_is_chosen_privately_is_raised_at_its_largest(linked):
    catalog = linked / "catalog.toml"
    private = catalog.read_text().replace("rows_per_person = 2", "rows_per_person = { max = 2, epsilon = 0.1 }")
    catalog.write_text(private)
    (mismatch,) = (each for each in report(linked).mismatches if each.kind == "over_cap")
    apply_mismatch(linked, mismatch)
    assert [each for each in report(linked).mismatches if each.kind == "over_cap"] == []


def test_rows_of_nobody_orphans_and_keys_that_differ_in_spelling(linked):
    found = {(each.kind, each.table): each for each in report(linked).mismatches}
    assert found["nobody", "rides"].count == 1
    assert found["orphans", "rides"].count == 2
    assert "1 of them would, if keys were spelled alike" in found["orphans", "rides"].says
    assert found["orphans", "stops"].count == 1
    assert found["spelling", "people"].count == 4


def test_keys_that_occur_twice_where_tables_are_linked_by_them(linked):
    (linked / "rides.csv.gz").write_bytes(gzip.compress(b"ride_id,person_id\nr1,1\nr1,2\nr2,2\n"))
    found = report(linked)
    assert found.people == ()
    assert [(each.kind, each.table, each.column, each.count) for each in found.mismatches] == [
        ("duplicate_keys", "rides", "ride_id", 1)
    ]


def test_where_each_row_is_a_person_nobody_is_counted(tmp_path):
    folder = rides(tmp_path, NUMBER, "1")
    catalog = folder / "catalog.toml"
    text = catalog.read_text().replace('"rides.person_id"', '"row"').replace("rows_per_person = 1\n", "")
    catalog.write_text(text)
    assert report(folder).people == ()


def test_a_few_values_that_cannot_be_read_do_not_make_a_text_of_the_column(tmp_path):
    (mismatch,) = report(rides(tmp_path, 'value = { type = "integer" }', "1", "2", "0x10")).mismatches
    assert (mismatch.changes, mismatch.fix[:23]) == ((), "correct it in the file,")


def test_categories_in_another_encoding_are_not_taken_for_others(tmp_path):
    line = 'value = { type = "category", values = ["Zoë"] }'
    (mismatch,) = report(rides(tmp_path, line, "Zoë", "Zoë", encoding="latin-1")).mismatches
    assert mismatch.fix == 'encoding = "latin-1" in tables.rides.csv'


def test_tables_in_a_database_are_of_when_they_were_read(tmp_path):
    with filled("CREATE TABLE rides (person_id int)") as url:
        folder = write_catalog(tmp_path, "rides.person_id", RIDES_OF_INDEXES.format(url))
        (before,) = describe_index(read_catalog(folder))
        assert before.says == f"There is none of version 1 yet: it will be made in {folder / STATE}."
        open_folder(folder).close()
        (after,) = describe_index(read_catalog(folder))
    assert after.says.startswith(f"It lies in {folder / STATE}, and has the rows of 20")
    assert "raise version" in after.says


def test_an_index_that_lies_elsewhere_is_not_missed_here(tmp_path):
    with filled("CREATE TABLE rides (person_id int)") as url:
        catalog = read_catalog(write_catalog(tmp_path, "rides.person_id", RIDES_OF_INDEXES.format(url)))
        (told,) = describe_index(replace(catalog, engine=EngineChoice("postgres")))
        assert told.says.startswith("It lies in a schema of the database of these tables, or, where its role may not")
        (told,) = describe_index(replace(catalog, engine=EngineChoice("spark", index="s3a://bucket/adomnia")))
        assert told.says == "There is none of version 1 yet: it will be made in s3a://bucket/adomnia."


def test_nothing_is_said_of_files(tmp_path):
    (tmp_path / "rides.csv").write_text("person_id\n1\n")
    text = RIDES_OF_INDEXES.format("rides.csv").replace('table = "rides"\n', "")
    assert list(describe_index(read_catalog(write_catalog(tmp_path, "rides.person_id", text)))) == []
