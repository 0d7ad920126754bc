"""CSV files as people have them: Excel's, R's, those of pandas, and all that an encoding may be."""

from __future__ import annotations

import csv as files
import gzip
import json
from dataclasses import replace
from datetime import date

import duckdb
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from adomnia.catalog.model import CsvFormat, SourceColumn, Table
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index.columns import render_reading
from adomnia.engines.sources.facts import read_header
from adomnia.engines.sources.text_files import render_spelled
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.units import ROW
from engines.databases import catalog, category, contents, number, whole

NAME = Column("name", Text())
AGE = whole("age", 0, 120)
PAY = number("pay", 0, 10_000, 0.25)
DAY = Column("day", Day(date(2000, 1, 1), date(2030, 12, 31)))


def rows(folder, source, *columns, csv=CsvFormat(), called=()):  # noqa: B008 - a frozen value
    """The rows of a file, as the index keeps them, without what the index adds."""
    table = Table("data", source, columns, source_columns=tuple(called), csv=csv)
    engine = DuckDB.open(catalog(table, folder=folder, unit=ROW), folder / f"state {len(list(folder.iterdir()))}")
    found = [[row[column.name] for column in columns] for row in contents(engine, "data")]
    engine.close()
    return found


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.no_cover
def test_letters_are_read_in_the_declared_encoding(tmp_path, encoding, packed):
    text = "name;age\r\nJörg Müßig;40\r\nÅse;50\r\n".encode(encoding)
    source = "a.csv.gz" if packed else "a.csv"
    (tmp_path / source).write_bytes(gzip.compress(text) if packed else text)
    csv = CsvFormat(delimiter=";", encoding=encoding)
    assert rows(tmp_path, source, NAME, AGE, csv=csv) == [["Jörg Müßig", 40], ["Åse", 50]]


def test_a_file_in_another_encoding_loses_its_odd_letters_and_nothing_else(tmp_path):
    (tmp_path / "a.csv").write_bytes("name,age\nJörg,40\nAda,50\nBo,60\n".encode("latin-1"))
    assert rows(tmp_path, "a.csv", NAME, AGE) == [["J�rg", 40], ["Ada", 50], ["Bo", 60]]


def test_a_header_in_another_encoding_is_refused_with_the_line_to_add(tmp_path):
    (tmp_path / "a.csv").write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(Refusal, match=r'Source a.csv has a header .* declare .* csv = \{ encoding = "latin-1" \}'):
        rows(tmp_path, "a.csv", Column("größe", Text()))


def test_no_copy_of_a_file_is_left_behind(tmp_path):
    (tmp_path / "a.csv").write_bytes("name\nJörg\n".encode("latin-1"))
    rows(tmp_path, "a.csv", NAME, csv=CsvFormat(encoding="latin-1"))
    left = {path.name.split("-")[0] for path in (tmp_path / "state 1").iterdir()}
    assert left == {"index", "index.key", "index.json", "index.lock"}


EXCEL = "sep=;\r\nname;pay;day\r\nAda;1.234,50 €;31.12.2024\r\nBo;-9;1.2.24\r\nCy;1.5;2024-12-31\r\nDi;7,25;NA\r\n"


def test_a_file_of_a_european_excel_is_read(tmp_path):
    (tmp_path / "a.csv").write_bytes(EXCEL.encode("utf-8-sig"))
    csv = CsvFormat(decimal=",", thousands=".", currency="€", dates="%d.%m.%Y", null=("NA", "-9"))
    assert rows(tmp_path, "a.csv", NAME, PAY, DAY, csv=csv) == [
        ["Ada", 1234.5, date(2024, 12, 31)],
        ["Bo", None, date(2000, 1, 1)],  # the year 24, which is before the bound
        ["Cy", None, None],  # a full stop parts thousands here, and 1.5 has none
        ["Di", 7.25, None],
    ]


def test_a_declared_delimiter_comes_before_the_one_that_excel_names(tmp_path):
    (tmp_path / "a.csv").write_text("sep=;\nname|age\nAda;|40\n")
    assert rows(tmp_path, "a.csv", NAME, AGE, csv=CsvFormat(delimiter="|")) == [["Ada;", 40]]


def test_the_index_column_of_pandas_has_no_name(tmp_path):
    pd.DataFrame({"age": [40, 50]}).to_csv(tmp_path / "a.csv")
    called = [("name", SourceColumn(""))]
    assert rows(tmp_path, "a.csv", NAME, AGE, called=called) == [["0", 40], ["1", 50]]


def test_the_row_names_of_r_have_no_name(tmp_path):
    (tmp_path / "a.csv").write_text('"","age","name"\n"1",40,"Ada"\n"2",NA,NA\n')
    columns, called = [whole("row", 0, 9), AGE, NAME], [("row", SourceColumn(""))]
    assert rows(tmp_path, "a.csv", *columns, csv=CsvFormat(null=("NA",)), called=called) == [
        [1, 40, "Ada"],
        [2, None, None],
    ]


def test_a_header_may_have_lines_and_quotes_of_its_own(tmp_path):
    with (tmp_path / "a.csv").open("w", newline="") as file:
        files.writer(file).writerows([['the\n"age"', "name"], [40, "Ada\nLee"]])
    assert rows(tmp_path, "a.csv", AGE, NAME, called=[("age", SourceColumn('the\n"age"'))]) == [[40, "Ada\nLee"]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("inside", ["\n", "\r\n", "\r"])
@pytest.mark.no_cover
def test_lines_end_as_they_do_in_the_header_whatever_stands_in_quotes(tmp_path, end, inside):
    (tmp_path / "a.csv").write_bytes(f'name,age{end}"Ada{inside}Lee",40{end}Bo,50{end}'.encode())
    for encoding in ("utf-8", "latin-1"):  # the file itself, and a copy of its rows
        csv = CsvFormat(encoding=encoding)
        assert rows(tmp_path, "a.csv", NAME, AGE, csv=csv) == [[f"Ada{inside}Lee", 40], ["Bo", 50]]


def test_without_quotes_a_quote_is_a_letter(tmp_path):
    (tmp_path / "a.tsv").write_text('name\tage\n"Ada\t40\n5" of it\t50\n')
    assert rows(tmp_path, "a.tsv", NAME, AGE, csv=CsvFormat(quote="")) == [['"Ada', 40], ['5" of it', 50]]


def test_a_quote_that_is_never_closed_is_told_to_the_owner(tmp_path):
    (tmp_path / "a.csv").write_text('name,age\nAda,40\n"Bo,50\nCy,60\n')
    with pytest.raises(Refusal, match=r"Source a.csv cannot be read.* closes its quotes"):
        rows(tmp_path, "a.csv", NAME, AGE)


def test_columns_of_one_name_are_refused_only_where_they_are_meant(tmp_path):
    (tmp_path / "a.csv").write_text("age,name,name\n40,Ada,Lee\n")
    assert rows(tmp_path, "a.csv", AGE) == [[40]]
    with pytest.raises(Refusal, match=r'data\.name could be any of the columns "name" and "name".* rename all but one'):
        rows(tmp_path, "a.csv", NAME)
    with pytest.raises(Refusal, match=r'Source a\.csv has several columns called "name"'):
        read_header(tmp_path / "a.csv")


def test_names_that_differ_in_case_alone_are_told_apart_by_their_own(tmp_path):
    (tmp_path / "a.csv").write_text("Age,AGE\n40,50\n")
    older = whole("older", 0, 120)
    called = [("age", SourceColumn("Age")), ("older", SourceColumn("AGE"))]
    assert rows(tmp_path, "a.csv", AGE, older, called=called) == [[40, 50]]
    with pytest.raises(Refusal, match=r'column = "Age" in the line of age'):
        rows(tmp_path, "a.csv", AGE)


def test_a_name_that_the_file_does_not_have_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("Age\n40\n")
    with pytest.raises(Refusal, match=r'data\.name is declared with column = "Name", and a.csv has none'):
        rows(tmp_path, "a.csv", NAME, called=[("name", SourceColumn("Name"))])
    with pytest.raises(Refusal, match=r"data\.name is declared, and a.csv has none of that name"):
        rows(tmp_path, "a.csv", NAME)


@pytest.mark.no_cover
def test_one_odd_row_changes_no_other(tmp_path):
    plain = ["1,Oslo,Ada,3", "2,Bergen,Bo,4", "3,Oslo,Cy,5"]
    columns = [AGE, category("city", "Oslo", "Bergen"), NAME, PAY]
    odd = [
        "9e999999,Oslo,x,1",
        "4,\x00,\x1b[31m,-",
        "٣,os lo,'; DROP TABLE data; --,NaN",
        ",,,",
        '"","","",""',
        '5,Oslo,x"y,1e5',
    ]
    for place, line in enumerate(odd):
        source = f"{place}.csv"
        text = "\n".join(["age,city,name,pay", *plain[:2], line, plain[2]]).encode() + b"\n"
        (tmp_path / source).write_bytes(text.replace(b'x"y', b'\xff"y'))
        found = rows(tmp_path, source, *columns)
        assert len(found) == 4
        assert found[:2] + found[3:] == [[1, 0, "Ada", 3.0], [2, 1, "Bo", 4.0], [3, 0, "Cy", 5.0]]


ODD_BYTES = st.binary(max_size=12).map(lambda raw: raw.translate(None, b'",\r\n'))


@settings(max_examples=5, phases=[Phase.generate])
@given(st.lists(st.tuples(ODD_BYTES, ODD_BYTES, ODD_BYTES), min_size=20, max_size=60))
def test_no_bytes_in_a_field_change_another_row_or_the_opening(tmp_path_factory, odd):
    """Whoever writes what into their own row: the rows of all others are read as if it were not there."""
    folder = tmp_path_factory.mktemp("odd")
    plain = [b"%d,Ada,1.5" % place for place in range(100)]
    table = Table("data", "a.csv", (AGE, NAME, PAY))

    def others(lines):
        (folder / "a.csv").write_bytes(b"\n".join([b"age,name,pay", *lines]) + b"\n")
        engine = DuckDB.open(catalog(table, folder=folder, unit=ROW), folder / f"state {len(lines)}")
        found = [(row["age"], row["name"], row["pay"]) for row in contents(engine, "data")]
        engine.close()
        return found

    mixed = [line for pair in zip(plain, [b",".join(row) for row in odd], strict=False) for line in pair]
    mixed += plain[len(odd) :]
    found = others(mixed)
    kept = found[: 2 * len(odd) : 2] + found[2 * len(odd) :]
    assert len(found) == len(mixed)
    assert kept == [(place, "Ada", 1.5) for place in range(100)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_and_its_copy_are_read_alike(tmp_path, end):
    """Whether a file is copied depends on all of its rows: a mark of UTF-8 before the first row stays in both."""
    text = end.join(["name,age", "\ufeffAda,40", "", "Bo,50", ""]).encode()
    (tmp_path / "a.csv").write_bytes(text)
    (tmp_path / "b.csv").write_bytes(text + b"\xff,60" + end.encode())
    plain = [["\ufeffAda", 40], ["Bo", 50]]
    assert rows(tmp_path, "a.csv", NAME, AGE) == plain
    assert rows(tmp_path, "b.csv", NAME, AGE) == [*plain, ["\ufffd", 60]]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_a_byte_too_many_in_utf_16_is_refused(tmp_path, codec):
    """All rows after it would be part of one text, of which not one letter is right."""
    lines = ["\ufeffage,name\r\n1,Ada\r\n2,Bo", "\r\n3,Cy\r\n"]
    (tmp_path / "a.csv").write_bytes(b"".join(line.encode(codec) for line in lines))
    csv = CsvFormat(encoding="utf-16")
    assert rows(tmp_path, "a.csv", AGE, NAME, csv=csv) == [[1, "Ada"], [2, "Bo"], [3, "Cy"]]
    (tmp_path / "b.csv").write_bytes(b"x".join(line.encode(codec) for line in lines))
    with pytest.raises(Refusal, match=r"Source b\.csv cannot be read"):
        rows(tmp_path, "b.csv", AGE, NAME, csv=csv)


def test_a_file_is_read_as_texts(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"age,name\n007,\xff\n,Bo\n")
    assert DuckDB.read_texts(tmp_path / "a.csv").to_pydict() == {"age": ["007", None], "name": ["\ufffd", "Bo"]}
    (tmp_path / "b.csv").write_bytes(b'age,name\n1,"Ada\n2,Bo\n')
    with pytest.raises(Refusal, match=r"Source b\.csv cannot be read"):
        DuckDB.read_texts(tmp_path / "b.csv")


COLUMNS = (Column("name", Text()), whole("age", 0, 120), number("pay", 0, 100, 0.25), Column("member", Boolean()))
LINES = [
    {"name": "Ada", "age": 40, "pay": 1.5, "member": True},
    {"age": "50", "name": 'B"o', "extra": [1]},
    {"name": None, "age": 1e400, "pay": "x", "member": 0},
]
ROWS = [["Ada", 40, 1.5, True], ['B"o', 50, None, None], [None, 120, None, False]]


def rows_of_json_lines(folder, source, text, table=None):
    (folder / source).write_bytes(text)
    table = table or Table("data", source, COLUMNS)
    engine = DuckDB.open(catalog(table, folder=folder, unit=ROW), folder / f"state of {source}")
    found = [[row[column.name] for column in table.columns] for row in contents(engine, "data")]
    engine.close()
    return found


TEXT = "\n".join(json.dumps(line).replace("Infinity", "1e400") for line in LINES).encode()


@pytest.mark.parametrize("source", ["a.jsonl", "a.NDJSON", "a.jsonl.gz"])
def test_json_lines_are_read_by_their_keys(tmp_path, source):
    assert rows_of_json_lines(tmp_path, source, gzip.compress(TEXT) if source.endswith("gz") else TEXT) == ROWS


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"age": 7',
        b"[1]",
        b"7",
        b'{"name": "\xff"}',
        b'{"age":\x017}',
        b'"' + b"x" * 20_000_000,
    ],
    ids=lambda line: repr(line[:12]),
)
@pytest.mark.no_cover
def test_a_line_that_is_no_object_is_no_row_and_changes_no_other(tmp_path, line):
    first, *others = TEXT.split(b"\n")
    assert rows_of_json_lines(tmp_path, "a.jsonl", b"\r\n".join([first, line, *others])) == ROWS


def test_keys_may_be_anything(tmp_path):
    key = "a/b~c'\".d"
    column = Column("odd", Text())
    table = Table("data", "a.jsonl", (column,), source_columns=(("odd", SourceColumn(key)),))
    assert rows_of_json_lines(tmp_path, "a.jsonl", json.dumps({key: "x", "a": {"b~c": "y"}}).encode(), table) == [["x"]]
    assert read_header(tmp_path / "a.jsonl") == {"a": "", key: ""}


def test_a_key_that_no_line_has_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"data\.name is declared, and a.jsonl has none of that name"):
        rows_of_json_lines(tmp_path, "a.jsonl", b'{"names": 1}\n')


def test_a_key_of_one_line_does_not_take_the_place_of_another_in_all_lines(tmp_path):
    """Names that differ in case alone are one name in a header; here somebody else's line could have the exact one."""
    table = Table("data", "a.jsonl", (whole("age", 0, 120),))
    with pytest.raises(Refusal, match=r"data\.age is declared, and a.jsonl has none of that name"):
        rows_of_json_lines(tmp_path, "a.jsonl", b'{"Age": 1}\n{"Age": 2}\n', table)
    table = Table("data", "a.jsonl", (whole("age", 0, 120),), source_columns=(("age", SourceColumn("Age")),))
    assert rows_of_json_lines(tmp_path, "a.jsonl", b'{"Age": 1}\n{"Age": 2}\n{"age": 9}\n', table) == [[1], [2], [None]]


GERMAN = CsvFormat(decimal=",", thousands=".", currency="€")
DOLLARS = CsvFormat(thousands=",", currency="$")
NUMBER, DAY_OF_SPELLINGS = Column("x", Quantity()), Column("x", Day())


def read(cell, column, csv, days=None):
    """A cell as the index reads it."""
    spelled = render_spelled("cell", column, csv, days)
    sql = f'SELECT {render_reading(column, DUCKDB)} FROM (SELECT {spelled} AS "x" FROM (SELECT $1::VARCHAR AS cell))'
    with duckdb.connect() as connection:
        return connection.execute(sql, [cell]).fetchone()[0]


@pytest.mark.parametrize(
    ("csv", "cells"),
    [
        (
            CsvFormat(),
            {"1.5": 1.5, " 7 ": 7, "\t7\u00a0": 7, "1,5": None, "$1": None, "": None, "  ": None, "1e5": 1e5},
        ),
        (GERMAN, {"1.234,50 €": 1234.5, "€1,5": 1.5, "-1.234.567": -1234567, "+2,": 2, "7": 7, "1234,5": 1234.5}),
        (GERMAN, {"1.5": None, "1.2345": None, "1234.567": None, ".123": None, "1,234.5": None, "?": None, "€": None}),
        (
            DOLLARS,
            {"$1,234.50": 1234.5, "-$5": -5, "$ -5": -5, "1,23,456": 123456, "1,5": None, "$1,2345": None, ",": None},
        ),
        (CsvFormat(decimal=","), {"1,5": 1.5, "1.5": None, "1,5,5": None, "1,5e2": 150}),
        (CsvFormat(thousands="\u202f"), {"1\u202f234.5": 1234.5, "1 234": None}),
        (CsvFormat(thousands="'"), {"1'234": 1234}),
        (CsvFormat(null=("-9", "it's NA", "")), {"-9": None, " -9 ": None, "it's NA": None, "9": 9, "-9.0": -9}),
    ],
)
@pytest.mark.no_cover
def test_a_number_is_read_as_it_is_spelled_and_anything_else_is_null(csv, cells):
    assert {cell: read(cell, NUMBER, csv) for cell in cells} == cells
    assert read(None, NUMBER, csv) is None


@pytest.mark.parametrize(
    ("days", "cells"),
    [
        ("%d.%m.%Y", {"31.12.2024": "2024-12-31", " 1.2.2024 ": "2024-02-01", "2024-12-31": None, "30.2.2024": None}),
        ("%Y-%d-%m", {"2024-31-12": "2024-12-31", "2024-01-31": None}),
        ("%m/%d/%y", {"12/31/99": "1999-12-31", "infinity": None, "epoch": None, "": None, "12/31/1999": None}),
        ("%b %d, %Y %I:%M %p", {"Dec 31, 2024 1:05 PM": "2024-12-31", "Dec 31, 2024": None}),
        (None, {"2024-12-31": "2024-12-31", "31.12.2024": None}),
    ],
)
def test_a_day_is_read_in_its_format_and_in_no_other(days, cells):
    found = {cell: read(cell, DAY_OF_SPELLINGS, CsvFormat(), days) for cell in cells}
    assert {cell: day and day.isoformat() for cell, day in found.items()} == cells


def test_what_is_missing_is_so_in_every_column():
    csv = CsvFormat(null=("NA",))
    for kind in (Quantity(), Day(), Boolean(), Text(), Identity()):
        assert read("NA", Column("x", kind), csv) is None
    assert read(" ", Column("x", Text()), csv) == " "
    assert read("no", Column("x", Boolean()), csv) is False


@pytest.mark.parametrize("csv", [CsvFormat(null=("NA",), thousands=","), replace(GERMAN, null=("NA",))])
def test_what_is_missing_is_not_taken_for_unreadable(csv):
    spelled = render_spelled("cell", NUMBER, csv, None)
    with duckdb.connect() as connection:
        (found,) = connection.execute(f"SELECT {spelled} FROM (SELECT 'NA' AS cell)").fetchone()
    assert found is None
