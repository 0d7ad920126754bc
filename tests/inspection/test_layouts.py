"""Encoding, delimiter and header are found in the first lines of a file."""

from __future__ import annotations

import gzip

import pytest

from adomnia.errors import Refusal
from adomnia.inspection.files import find_tables
from adomnia.inspection.layouts import Layout, find_encoding, find_layout, is_text_file, names_columns

ROWS = "name;size\nZoë;1,5\nAda;2,25\n"


@pytest.mark.parametrize(
    ("name", "content", "layout"),
    [
        ("a.csv", b"name,size\nAda,1\n", Layout("utf-8", ",", ("name", "size"))),
        ("a.csv", b"\xef\xbb\xbfname,size\nAda,1\n", Layout("utf-8", ",", ("name", "size"))),
        ("a.csv", ROWS.encode(), Layout("utf-8", ";", ("name", "size"))),
        ("a.csv", ROWS.encode("latin-1"), Layout("latin-1", ";", ("name", "size"))),
        ("a.csv", ROWS.replace("ë", "€").encode("cp1252"), Layout("cp1252", ";", ("name", "size"))),
        ("a.csv", ROWS.encode("utf-16"), Layout("utf-16", ";", ("name", "size"))),
        ("a.tsv", b"name\tsize\n", Layout("utf-8", "\t", ("name", "size"))),
        ("a.tsv", b"name,size\n1,2\n", Layout("utf-8", ",", ("name", "size"))),
        ("a.csv", b'"a,b";c\n1;2\n3;4\n', Layout("utf-8", ";", ("a,b", "c"))),
        ("a.csv", b'"","a b"\n1,2\n', Layout("utf-8", ",", ("", "a b"))),
        ("a.csv", b"sep=;\r\nname;size\r\nAda;1,5\r\n", Layout("utf-8", ";", ("name", "size"))),
        ("a.csv", b"alone\n1\n", Layout("utf-8", ",", ("alone",))),
        ("a.csv", b"a|b\r\n1|2\r\n", Layout("utf-8", "|", ("a", "b"))),
        # Texts with commas and line breaks: the delimiter that gives all rows one width wins over one that gives more.
        ("a.csv", b'id;note\n1;"a, b,\nc"\n2;d, e\n3;f\n', Layout("utf-8", ";", ("id", "note"))),
    ],
)
def test_a_layout_is_found(tmp_path, name, content, layout):
    (tmp_path / name).write_bytes(content)
    assert find_layout(tmp_path / name) == layout
    compressed = tmp_path / f"{name}.gz"
    compressed.write_bytes(gzip.compress(content))
    assert find_layout(compressed) == layout


@pytest.mark.parametrize(("content", "why"), [(b"", "is empty"), (None, "is not a file that can be read")])
def test_a_file_without_a_header_is_refused(tmp_path, content, why):
    if content is not None:
        (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(Refusal, match=why):
        find_layout(tmp_path / "a.csv")


def test_a_beginning_may_end_within_a_character():
    cut = "Zoë".encode()[:-1]
    assert find_encoding(cut, whole=False) == "utf-8"
    assert find_encoding(cut) == "latin-1"


def test_text_files_are_known_by_their_names(tmp_path):
    assert [is_text_file(tmp_path / name) for name in ("a.CSV", "a.tsv.gz", "a.parquet")] == [True, True, False]


@pytest.mark.parametrize(
    ("name", "fix"), [("a.json", "orient=.records."), ("a.xlsx", "as CSV"), ("a.dat", r"\.csv\.gz")]
)
def test_a_file_of_another_kind_is_refused_with_the_way_to_convert_it(tmp_path, name, fix):
    (tmp_path / name).touch()
    with pytest.raises(Refusal, match=f"is of no kind that its ending tells. Fix: .*{fix}"):
        find_tables(tmp_path, [tmp_path / name])


@pytest.mark.parametrize(
    "line",
    [
        "Anna,34,C50",
        "1001,Oslo",
        "34.5,f",
        "Anna,1980-01-31",
        "Anna,31.1.80,Oslo",
        "anna@example.org,f",
        "-1,x",
        "7,3,9,4",
    ],
)
def test_a_file_that_begins_with_a_row_is_refused(tmp_path, line):
    """It became the names of columns in the catalog, which is public."""
    (tmp_path / "a.csv").write_text(f"{line}\n{line}\n")
    for look in (False, True):
        with pytest.raises(Refusal, match="begins with a row of values") as refused:
            find_tables(tmp_path, [tmp_path / "a.csv"], look)
        assert refused.value.fix == "write a line above it that names the columns"
        assert refused.value.what == "File a.csv"


@pytest.mark.parametrize(
    "line",
    [
        "name,size",
        "country,2019,2020",
        "0,1,2,3",
        "id,400.5,401,401.5",
        "place,1/22/20,1/23/20,1/24/20",
        "Q1 2020,x",
        "",
    ],
)
def test_years_places_and_series_may_be_names_of_columns(line):
    assert names_columns(line.split(","))
