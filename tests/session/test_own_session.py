"""Several tables of one's own, columns of every kind, and refusals in the words of `protect`."""

from __future__ import annotations

import tempfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from stat import S_IMODE

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import adomnia
from adomnia.engines.duckdb import DuckDB
from adomnia.errors import Refusal
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.session import own_tables, progress
from adomnia.session.conversions import convert
from adomnia.session.frames import read_frame
from adomnia.session.progress import ProgressLine
from adomnia.session.protect import fingerprint

SURE = 100  # an epsilon at which counts of a few rows a person have no noise, but for a chance below 1e-8

PEOPLE = pd.DataFrame(
    {
        "person_id": range(30),
        "age": [k % 9 for k in range(30)],
        "city": pd.Categorical([["Oslo", "Bergen", "Hamar"][k % 3] for k in range(30)]),
        "born": pd.to_datetime(["1970-01-02"] * 30),
    }
)
VISITS = pd.DataFrame({"visit_id": range(60), "person_id": [k % 30 for k in range(60)], "cost": [2.0] * 60})
ITEMS = pa.table({"visit_id": [k % 60 for k in range(90)], "price": [1] * 90})
CITIES = pa.table({"city": ["Oslo", "Bergen"], "population": [700, 300]})
HOUSE = {"people": PEOPLE, "visits": VISITS}
DECLARED = {
    "unit": "people.person_id",
    "links": {"visits": "person_id"},
    "rows_per_person": {"people": 1, "visits": 2},
    "bounds": {"age": (0, 120), "visits.cost": (0, 10)},
    "epsilon": 10_000,
}


def house(data=HOUSE, **options):
    return adomnia.protect(data, **{**DECLARED, **options})


def count(session, text):
    (found,) = session.sql(f"SELECT COUNT(*) AS n FROM {text}", epsilon=SURE)["n"]
    return found


def test_a_release_of_ones_own_table_is_paid_once_and_saved(tmp_path):
    table = {"id": list(range(100)), "sex": ["F", "M"] * 50}
    with adomnia.protect(table, unit="id", rows_per_person=1, epsilon=2, categories={"sex": ["F", "M"]}) as session:
        made = session.release("sexes", "SELECT * FROM marginals(data, columns => (sex))", epsilon=1)
        again = session.release("sexes", "SELECT * FROM marginals(data, columns => (sex))", epsilon=1)
        assert again.table.equals(made.table)
        assert session.budget().dataset.left().epsilon == 1
        with pytest.raises(Refusal, match="makes no release"):
            session.release("other", "SELECT COUNT(*) FROM data", epsilon=1)
    assert adomnia.open_release(made.save(tmp_path / "sexes")).columns == ("sex",)


def test_several_tables_are_linked_and_joined():
    with house() as session:
        assert count(session, "people JOIN visits USING (person_id) WHERE city = 'Oslo'") == 20
        kinds = {column.name: column.kind for table in session.catalog().tables for column in table.columns}
        assert kinds["person_id"] == Identity(person=True)
        assert [table.rows_per_person for table in session.catalog().tables] == [1, 2]


def test_links_may_lead_through_another_table():
    links = {"visits": "person_id -> people.person_id", "items": "visit_id -> visits.visit_id"}
    with house(
        {**HOUSE, "items": ITEMS}, links=links, rows_per_person={"people": 1, "visits": 2, "items": 3}
    ) as session:
        assert count(session, "items") == 90
        assert session.sql(
            "SELECT COUNT(DISTINCT person_id) AS n FROM items JOIN visits USING (visit_id)", epsilon=SURE
        )["n"] == [30]


def test_public_tables_are_read_exactly_and_made_up_rows_are_joined_with_them():
    with house(public={"cities": CITIES}, categories={"city": ["Oslo", "Bergen", "Hamar"]}) as session:
        assert session.sql("SELECT city, population FROM cities ORDER BY city")["population"] == [300, 700]
        assert count(session, "people JOIN cities USING (city)") == 20
        with session.mock() as mock:
            assert 0 <= count(mock, "people JOIN cities USING (city)") <= 1000


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"links": {}},
            'Table visits does not say how its rows find.* Fix: pass links={"visits": "person_id -> people',
        ),
        (
            {"links": {"visits": "cost -> people.age"}, "bounds": {}},
            "link of visits must end at the unit, people.person_id. Fix: wri",
        ),
        ({"links": {"visits": "x -> people.person_id"}}, r"Column visits\.x is not in the table"),
        ({"links": {"nobody": "x"}}, "Table visits does not say"),
        ({"links": {"visits": "person_id", "nobody": "x"}}, "link of nobody does not lead from a private table"),
        ({"links": {"visits": "person_id", "people": "person_id"}}, "link of people does not lead"),
        ({"rows_per_person": 3}, r'pass for example rows_per_person=\{"people": 1, "visits": 10\}'),
        ({"rows_per_person": {"people": 1}}, "has no rows_per_person for each"),
        ({"rows_per_person": None}, "has no rows_per_person for each"),
        ({"rows_per_person": {"people": 1, "visits": 2, "visit": 1}}, "has no rows_per_person for each"),
        ({"unit": "row", "links": None}, "rows_per_person= counts the rows of a person, and each row is protected"),
        ({"unit": "person_id"}, r'Fix: write unit="people\.person_id"'),
        ({"unit": "row"}, "The link of visits does not lead"),
        ({"bounds": {"visits.nothing": (0, 1)}}, r"name one of its columns: people\.person_id, .*visits\.cost"),
        (
            {"columns": ["age"]},
            r'columns does not name the tables\. Fix: write columns=\{"people": \["age", "city"\]\}',
        ),
        ({"columns": {"visits": {"cost": "float"}}}, r"The type of cost is none: float\. Fix: did you mean number\?"),
        ({"columns": {"visits": {"nothing": "text"}}}, "Column nothing is not in the table"),
        ({"columns": {"visits": ["nothing"]}}, "Column nothing is not in the table"),
        ({"columns": {"visits": {"cost": "category"}}}, r'pass categories=\{"cost": \["a", "b"\]\}'),
        ({"columns": {"visits": {"cost": "date"}}, "bounds": {}}, "Column cost holds double, and not date"),
        ({"public": {"visits": CITIES}}, "Public table visits is among the private tables too"),
        ({"bounds": {"city": (0, 1)}}, "Column city can mostly not be read as number"),
        ({"bounds": {"city": 5}}, "Column city can mostly not be read as number"),
        (
            {"bounds": {"person_id": (0, 1)}},
            "of type id, and only numbers, dates and timestamps have bounds. Fix: leave them out",
        ),
        ({"columns": "age"}, r'columns is a text, and not a list. Fix: write columns=\["age"\]'),
        ({"bounds": {"age": 5}}, r'Fix: pass bounds=\{"age": \(lower, upper\)\}'),
        ({"categories": {"city": {"values": ["a"], "others": "a"}}}, "categories of city cannot be used"),
        ({"categories": {"city": {"vals": ["a"]}}}, r'Fix: pass categories=\{"city": \["a", "b"\]\}'),
    ],
)
def test_what_is_wrong_is_refused_in_the_words_of_python(options, says):
    with pytest.raises(Refusal, match=says) as refused:
        house(**options)
    assert "catalog.toml" not in str(refused.value)


def test_links_that_go_round_or_that_rows_share_are_refused():
    links = {"visits": "visit_id -> items.visit_id", "items": "visit_id -> visits.visit_id"}
    with pytest.raises(Refusal, match="goes round in a circle"):
        house({**HOUSE, "items": ITEMS}, links=links, rows_per_person={"people": 1, "visits": 2, "items": 3})
    links = {"visits": "person_id", "items": "visit_id -> visits.person_id"}
    with pytest.raises(Refusal, match="several rows of one person share"):
        house({**HOUSE, "items": ITEMS}, links=links, rows_per_person={"people": 1, "visits": 2, "items": 3})


def test_with_rows_as_the_unit_tables_have_no_links():
    with house(unit="row", links=None, rows_per_person=None) as session:
        assert (count(session, "people"), count(session, "visits")) == (30, 60)


def test_a_declaration_for_one_table_goes_before_that_for_all():
    with house(
        bounds={"visits.age": (0, 5), "age": (0, 9)}, data={**HOUSE, "visits": pl.from_pandas(VISITS.assign(age=7))}
    ) as s:
        bounds = {
            table.name: column.kind.upper
            for table in s.catalog().tables
            for column in table.columns[:4]
            if column.name == "age"
        }
    assert bounds == {"people": 9, "visits": 5}


def test_columns_are_chosen_and_ids_come_with_them():
    with house(columns={"people": ["city"], "visits": ["cost"]}, bounds={}) as session:
        assert [[column.name for column in table.columns] for table in session.catalog().tables] == [
            ["person_id", "city"],
            ["person_id", "cost"],
        ]


def test_values_that_are_not_listed_can_be_counted_together():
    with house(categories={"city": {"values": ["Oslo"], "others": "elsewhere"}}) as session:
        answer = session.sql("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=SURE)
    assert answer["n"] == [10, 20]
    assert answer["city"] == ["Oslo", "elsewhere"]


def test_every_value_is_converted_by_itself():
    """What a row becomes must not depend on the rows of others."""
    texts = ["1", " 2 ", "x", "inf", None, "1e400"]
    for wanted in ("number", "integer", "boolean", "date"):
        alone = [convert(pa.chunked_array([pa.array([each], pa.string())]), wanted).to_pylist()[0] for each in texts]
        assert convert(pa.chunked_array([texts]), wanted).to_pylist() == alone
    assert alone == [None] * 6
    assert convert(pa.chunked_array([texts]), "number").to_pylist() == [
        1.0,
        2.0,
        None,
        float("inf"),
        None,
        float("inf"),
    ]


@pytest.mark.parametrize(
    ("values", "wanted", "expected"),
    [
        ([1.0, 2.5, None], "text", ["1", "2.5", None]),
        ([True, None], "category", ["true", None]),
        ([1, 0, None], "boolean", [True, False, None]),
        ([0.5, float("nan")], "boolean", [True, None]),
        (["Yes", "no", "maybe"], "boolean", [True, False, None]),
        ([True, False], "number", [1.0, 0.0]),
        (["2020-01-02", "2020-01-02 05:00", "soon"], "date", [date(2020, 1, 2), date(2020, 1, 2), None]),
        ([date(2020, 1, 2)], "text", ["2020-01-02"]),
        ([datetime(2020, 1, 2)], "date", [datetime(2020, 1, 2)]),  # noqa: DTZ001
        (["a"], "id", ["a"]),
        (pa.array([0], pa.timestamp("ns", "UTC")), "date", [datetime(1970, 1, 1, tzinfo=UTC)]),
        (pa.array([2**60, 0], pa.timestamp("us")), "text", [None, "1970-01-01 00:00:00"]),
        ([[1]], "text", None),
        ([date(2020, 1, 2)], "number", None),
    ],
)
def test_columns_are_read_as_they_are_declared(values, wanted, expected):
    converted = convert(pa.chunked_array([pa.array(values)]), wanted)
    assert (None if converted is None else converted.to_pylist()) == expected


def read(data, **options):
    with adomnia.protect(data, **{"unit": "who", "rows_per_person": 1, "epsilon": 10_000, **options}) as session:
        return count(session, "data"), {
            column.name: type(column.kind) for column in session.catalog().tables[0].columns
        }


COLUMNS = {"who": [1, 2, 3], "pay": [1.0, 2.0, 3.0], "born": [date(2000, 1, 1)] * 3, "yes": [True, False, None]}
TYPES = {"who": Identity, "pay": Quantity, "born": Day, "yes": Boolean}


@pytest.mark.parametrize("kind", ["index", "relation", "query", "batch", "nullable", "zoned", "categorical"])
@pytest.mark.no_cover
def test_tables_of_many_kinds_are_read(kind):
    table = pa.table(COLUMNS)
    frame = table.to_pandas()
    nullable = frame.astype({"who": "Int64", "pay": "Float64", "yes": "boolean", "born": "datetime64[ns]"})
    with duckdb.connect() as connection:
        data = {
            "index": frame[frame.pay > 0].set_index("pay", drop=False).rename_axis(None),
            "relation": connection.from_arrow(table),
            "query": pl.from_arrow(table).lazy(),
            "batch": table.to_batches()[0],
            "nullable": nullable,
            "zoned": nullable.assign(born=nullable.born.dt.tz_localize("UTC")),
            "categorical": frame.assign(who=frame.who.astype("category"), pay=frame.pay.astype("category")),
        }[kind]
        assert read(data) == (3, TYPES)


@pytest.mark.no_cover
@pytest.mark.parametrize("suffix", ["parquet", "csv", "tsv"])
def test_files_are_read(suffix, tmp_path):
    path = tmp_path / f"own.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table(COLUMNS), path)
    else:
        pl.DataFrame(COLUMNS).write_csv(path, separator="," if suffix == "csv" else "\t")
    bounds = {"pay": (0, 10), "born": (date(1990, 1, 1), date(2010, 1, 1))}
    assert read(path, bounds=bounds, columns={"yes": "boolean"}) == (3, TYPES)
    assert read(str(path), columns={"pay": "text"})[1]["pay"] is Text


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("missing.csv", r"File missing\.csv cannot be read"),
        ("missing.parquet", r"File missing\.parquet cannot be read"),
        ("people.xlsx", r"File people\.xlsx is of no kind that can be read"),
        (5, "Table data cannot be read as a table"),
        (pa.table({"who": [1], "l": [[1]]}), "Column l holds list.*, which cannot be asked about"),
        (
            pd.DataFrame({"who": [1, 2], "x": [1, "secret"]}),
            r'Column x holds values of several.*columns=\{"x": "text"\}',
        ),
    ],
)
def test_what_is_no_table_is_refused_without_a_value(data, says):
    with pytest.raises(Refusal, match=says) as refused:
        read(data)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_mixed_values_are_texts_where_they_are_declared_to_be_or_left_out():
    mixed = pd.DataFrame({"who": [1, 2], "x": [1, "a"], "y": [1, 2]})
    assert read(mixed, columns={"x": "text"})[1]["x"] is Text
    assert read(mixed, columns=["y"])[1] == {"who": Identity, "y": Quantity}


def test_the_version_follows_from_the_rows_of_all_tables():
    one, other = pa.table({"x": [1]}), pa.table({"x": [2]})
    versions = [
        fingerprint(each) for each in ({"a": one}, {"a": other}, {"a": one, "b": other}, {"a": other, "b": one})
    ]
    assert len(set(versions)) == 4
    assert fingerprint({"a": pa.table({"x": pa.chunked_array([[1], [2]])})}) == fingerprint(
        {"a": pa.table({"x": [1, 2]})}
    )


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("text", "payment", "fix"),
    [
        ("SELECT SUM(age) FROM people", {"epsilon": 1}, 'or pass bounds={"age": (lower, upper)} to adomnia.protect'),
        (
            "SELECT MEDIAN(born) FROM people",
            {"epsilon": 1},
            'pass bounds={"born": (date(2020, 1, 1), date(2029, 12, 31))} to adomnia.protect',
        ),
        (
            "SELECT city, COUNT(*) FROM people GROUP BY city",
            {"epsilon": 1},
            'pass categories={"city": ["a", "b"]} to adomnia.protect, or name the groups: ',
        ),
        (
            "SELECT city, COUNT(*) FROM people GROUP BY city",
            {"epsilon": 1},
            "pass delta=1e-6 to adomnia.protect, and add",
        ),
        ("SELECT COUNT(*) FROM people", {"rho": 1}, "or pass delta=1e-6 to adomnia.protect"),
        ("SELECT COUNT(*) FROM read_csv('x')", {"epsilon": 1}, "name a table that was passed to adomnia.protect"),
    ],
)
def test_refusals_say_what_to_pass(text, payment, fix):
    with house(bounds={}) as session:
        asked = [session.sql] if "rho" in payment else [session.sql, session.price, session.explain]
        for ask in asked:
            with pytest.raises(Refusal) as refused:
                ask(text, **payment)
            assert fix in refused.value.fix
            assert "owner" not in refused.value.fix
        with pytest.raises(Refusal, match=r"adomnia\.protect"):
            session.batch([text], **payment)


def test_names_that_need_quotes_in_sql_need_none_in_python():
    people = PEOPLE.rename(columns={"born": "pay day"})
    tables = {"people": people}
    with (
        house(tables, links={}, rows_per_person={"people": 1}, bounds={}) as session,
        pytest.raises(Refusal) as refused,
    ):
        session.sql('SELECT MEDIAN("pay day") FROM people', epsilon=1)
    assert refused.value.fix.startswith('pass bounds={"pay day": (date(')


def folders():
    return set(Path(tempfile.gettempdir()).glob("adomnia-*"))


def test_the_folder_for_what_does_not_fit_into_memory_is_private_and_goes_with_the_session(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with house():
        (made,) = folders()
        assert S_IMODE(made.stat().st_mode) == 0o700
    assert not folders()
    session = house()
    assert len(folders()) == 1
    own_tables.remove_folder(str(folders().pop()), -1)  # of another process
    assert len(folders()) == 1
    del session
    assert not folders()


def test_nothing_is_left_where_protecting_fails(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(adomnia.Unavailable):
        house(ledger=tmp_path)  # a folder is no ledger
    assert not folders()


def test_the_folder_for_what_does_not_fit_is_made_where_it_is_wanted(monkeypatch, tmp_path):
    wanted = tmp_path / "wanted"
    wanted.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with house(spill=wanted):
        (made,) = wanted.iterdir()
        assert S_IMODE(made.stat().st_mode) == 0o700
        assert not folders()
    assert not list(wanted.iterdir())


def test_nothing_is_written_to_disk_where_that_is_wanted(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    session = house(spill=":memory:")
    assert not folders()
    with session._curator.engine._connection.cursor() as cursor:
        assert cursor.execute("SELECT current_setting('temp_directory')").fetchall() in [[("",)], [(None,)]]
    session.close()


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(Refusal, match="is not a folder that can be written") as caught:
        house(spill=tmp_path / "nowhere")
    assert caught.value.code == "bad_spill"


@pytest.mark.parametrize(
    ("spill", "why"), [(":memory:", "nothing may be written to disk"), (None, "nor into the folder for what does not")]
)
def test_what_does_not_fit_into_memory_is_refused_with_what_helps(monkeypatch, spill, why):
    def fail(*_given, **_named):
        raise adomnia.Unavailable("The index", "does not fit", "give it more", "no_memory")

    monkeypatch.setattr(DuckDB, "load", fail)
    with pytest.raises(Refusal, match=f"does not fit into the 1200MB .*{why}") as caught:
        house(spill=spill)
    assert "pass spill=FOLDER" in caught.value.fix
    assert caught.value.code == "no_memory"


def test_other_troubles_of_the_engine_stay_what_they_are(monkeypatch):
    def fail(*_given, **_named):
        raise adomnia.Unavailable("The index", "cannot be written", "free space")

    monkeypatch.setattr(DuckDB, "load", fail)
    with pytest.raises(adomnia.Unavailable, match="cannot be written"):
        house()


class Terminal:
    def __init__(self, watched):
        self.text, self._watched = "", watched

    def isatty(self):
        return self._watched

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.mark.parametrize(("watched", "patience", "says"), [(True, 0, True), (True, 60, False), (False, 0, False)])
def test_progress_is_told_to_somebody_who_waits(monkeypatch, watched, patience, says):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", patience)
    monkeypatch.setattr(progress.sys, "stderr", terminal := Terminal(watched))
    with ProgressLine() as tell:
        tell("people: ranking", 0.5)
    assert (" 50%  people: ranking" in terminal.text) is says
    assert terminal.text.endswith("\r") is says


@pytest.mark.parametrize("values", [[1.0, 1.5, 2], [Decimal("1.5")], [True, False], [1, 2]])
@pytest.mark.parametrize("odd", ["x", Decimal("1.25"), 2.25, 10**30, "\ud800", np.True_])
def test_the_text_of_an_object_does_not_depend_on_other_rows(values, odd):
    """Arrow finds one type for all objects of a column: 1.5 is 1.50 beside 1.25, and 1 is 1.0 beside 2.5."""
    declared = {"categories": {"x": ["1", "1.5", "2", "true", "false"]}}
    alone = read_frame("data", pd.DataFrame({"x": pd.Series(values, dtype=object)}), None, {"x": "category"})
    mixed = read_frame("data", pd.DataFrame({"x": pd.Series([*values, odd], dtype=object)}), None, {"x": "category"})
    assert mixed["x"].to_pylist()[:-1] == alone["x"].to_pylist()
    assert set(alone["x"].to_pylist()) <= set(declared["categories"]["x"])


def test_columns_may_be_called_by_numbers():
    frame = pd.DataFrame({0: [1, 2], 1: [3, 4]})
    with adomnia.protect(frame, unit="row", epsilon=10_000, bounds={1: (0, 10)}, columns=[1]) as session:
        assert session.sql('SELECT SUM("1") AS total FROM data', epsilon=500)["total"] == [7]


def test_objects_of_several_types_are_read_as_the_declared_type():
    frame = pd.DataFrame({"x": pd.Series([1, "2", "a", None, 10**30], dtype=object)})
    assert read_frame("data", frame, None, {"x": "number"})["x"].to_pylist() == ["1", "2", "a", None, str(10**30)]


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Table data has several columns called a"),
        (pd.DataFrame({"who": [1j]}), "Column who holds complex128, which cannot be asked about"),
    ],
)
def test_the_column_that_cannot_be_read_is_named(frame, says):
    with pytest.raises(Refusal, match=says):
        read_frame("data", frame, None, {})


def test_texts_with_bounds_are_numbers_or_days_as_in_a_file():
    frame = pd.DataFrame({"who": [1, 2], "pay": ["1", "2"], "day": ["2020-01-01", None], "none": [None, None]})
    days = (date(2020, 1, 1), date(2020, 1, 2))
    _, kinds = read(frame, bounds={"pay": (0, 1), "day": days, "none": (0, 1)})
    assert kinds == {"who": Identity, "pay": Quantity, "day": Day, "none": Quantity}


def test_a_quote_that_is_never_closed_takes_no_rows_away_unnoticed(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'who,name\n1,"Ada\n2,Bo\n3,Cy\n')
    with pytest.raises(Refusal, match=r"a\.csv cannot be read.*close their quotes"):
        read_frame("data", tmp_path / "a.csv", None, {})
    (tmp_path / "a.csv").write_bytes(b"who,name\n1,\xff\n2,Bo\n")
    assert read_frame("data", tmp_path / "a.csv", None, {}).to_pydict() == {"who": ["1", "2"], "name": ["\ufffd", "Bo"]}
