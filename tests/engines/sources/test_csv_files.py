"""CSV files as people have them: Excel's, R's, those of pandas, and all that an encoding may be."""

from __future__ import annotations

import csv as files
import gzip
from datetime import date

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from adomnia.catalog.model import CsvFormat, SourceColumn, Table
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.sources.headers import read_header
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Text
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
