"""A table of one's own under protection."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import adomnia
from adomnia.errors import Refusal
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.wire.answers import answer_facts

DATA = {
    "who": [1, 1, 2, None, 3],
    "pay": [1.0, 2.0, float("nan"), 4.0, 1e9],
    "sort": ["a", "b", "a", None, "z"],
    "yes": [True, False, None, True, True],
    "age": [1, 2, 3, 4, 5],
    "day": [date(2020, 1, 1)] * 5,
}
SURE = 100  # an epsilon at which counts of a few rows a person have no noise, but for a chance below 1e-8


def protected(data=None, **options):
    declared = {"unit": "who", "rows_per_person": 1, "epsilon": 10_000, "bounds": {"pay": (0, 10)}} | options
    return adomnia.protect(pa.table(DATA) if data is None else data, **declared)


def value(session, asked):
    (result,) = session.sql(f"SELECT {asked} AS x FROM data", epsilon=SURE)["x"]
    return None if result is None else round(result, 2)


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "dictionary"])
def test_every_kind_of_table_is_read_alike(kind):
    table = pa.table(DATA)
    data = {"arrow": table, "pandas": table.to_pandas(), "polars": pl.from_arrow(table), "dictionary": DATA}[kind]
    session = protected(data, rows_per_person=2, categories={"sort": ["a", "b"]})
    assert [value(session, asked) for asked in ("COUNT(*)", "COUNT(DISTINCT who)", "COUNT(pay)")] == [4, 3, 3]
    assert value(session, "SUM(pay)") == pytest.approx(1 + 2 + 10, abs=3)  # within, but for a chance below 1e-6
    assert session.sql("SELECT sort, COUNT(*) AS n FROM data GROUP BY sort", epsilon=SURE)["n"] == [2, 1]


def test_rows_of_one_person_are_capped():
    assert value(protected(), "COUNT(*)") == 3
    assert value(protected(rows_per_person=2), "COUNT(*)") == 4


def test_every_row_can_be_a_person_of_its_own():
    session = protected(unit="row", rows_per_person=None)
    assert value(session, "COUNT(*)") == 5
    assert session.catalog().tables[0].rows_per_person == 1


def test_types_come_from_the_schema_and_bounds_from_the_caller():
    session = protected(bounds={"pay": (0, 10), "age": (0, 9)}, categories={"sort": ["a"]})
    kinds = {column.name: type(column.kind) for column in session.catalog().tables[0].columns}
    assert kinds == {"who": Identity, "pay": Quantity, "sort": Text, "yes": Boolean, "age": Quantity, "day": Day}
    assert 7 <= value(session, "SUM(age)") <= 12


def test_a_number_without_bounds_can_be_counted_and_not_added():
    session = protected()
    assert value(session, "COUNT(age)") == 3
    with pytest.raises(Refusal, match="no declared bounds"):
        session.sql("SELECT SUM(age) FROM data", epsilon=1)


@pytest.mark.parametrize(
    "options", [{"unit": "nobody"}, {"bounds": {"nothing": (0, 1)}}, {"categories": {"nothing": ["a"]}}]
)
def test_a_column_that_is_not_there_is_refused_with_those_that_are(options):
    with pytest.raises(Refusal, match=r"is not in the table\. Fix: name one of its columns: who, pay, sort"):
        protected(**options)


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, float("nan")])
def test_rows_per_person_is_a_positive_whole_number(rows):
    with pytest.raises(ValueError, match="rows_per_person"):
        protected(rows_per_person=rows)


def test_how_many_rows_of_a_person_count_is_declared_or_refused_with_what_to_pass():
    fix = r"Fix: pass rows_per_person=1 if .* Or pass unit=.row."
    with pytest.raises(Refusal, match=rf"has no rows_per_person\. {fix}") as no:
        adomnia.protect(pa.table(DATA), unit="who", epsilon=1)
    assert no.value.code == "no_cap"
    with pytest.raises(Refusal, match=r"^rows_per_person= counts the rows of a person, and each row is protected"):
        adomnia.protect(pa.table(DATA), unit="row", rows_per_person=2, epsilon=1)


@pytest.mark.parametrize("ask", ["sql", "price"])
def test_the_cap_in_force_is_said_and_so_is_that_there_is_none(ask):
    text = "SELECT COUNT(*) FROM data"
    capped, rows = protected(), adomnia.protect(pa.table(DATA), unit="row", epsilon=1)
    (cap,) = getattr(capped, ask)(text, epsilon=0.1).caps
    assert str(cap) == "data: at most 1 row of a person counts; how many rows that leaves out is not known"
    own = getattr(rows, ask)(text, epsilon=0.1)
    assert (own.caps, own.notes) == ((), ("Each row is protected on its own, not each person.",))
    assert own.notes[0] in str(rows.explain(text))
    assert own.notes[0] in str(rows.explain(text, epsilon=0.1))


def test_an_answer_says_the_cap_and_its_notes_wherever_it_is_shown():
    capped = protected().sql("SELECT COUNT(*) FROM data", epsilon=1)
    rows = adomnia.protect(pa.table(DATA), unit="row", epsilon=1).sql("SELECT COUNT(*) FROM data", epsilon=0.1)
    for shown in (repr, lambda answer: answer._repr_html_(), lambda answer: str(answer_facts(answer))):
        assert "at most 1 row of a person counts" in shown(capped)
        assert "Each row is protected on its own, not each person." in shown(rows)


@pytest.mark.parametrize("bounds", [(10, 0), (0, float("nan")), (0, float("inf"))])
def test_bounds_that_are_none_are_refused(bounds):
    with pytest.raises((ValueError, Refusal)):
        protected(bounds={"pay": bounds})


@pytest.mark.no_cover
@pytest.mark.parametrize("other", ["pay grid", "rank", "person", "rowid", "Pay Day"])
def test_a_column_is_never_read_for_another_whatever_its_name(other):
    """A column called like the grid of another was once added up in its place, unclamped."""
    arrays = [pa.array([1, 2]), pa.array([1e9, 1e9]), pa.array([1e9, 1e9])]
    session = protected(pa.table(arrays, names=["who", other, "pay"]), epsilon=10_000, bounds={"pay": (0, 2)})
    assert session.sql("SELECT SUM(pay) AS total FROM data", epsilon=1000).records()[0]["total"] == pytest.approx(
        4, abs=0.5
    )


@pytest.mark.parametrize("columns", [["PAY", "pay"], ["pay", "pay"]])
def test_column_names_that_the_index_could_confuse_are_refused(columns):
    arrays = [pa.array([1, 2]), *(pa.array([1e9, 1e9]) for _ in columns)]
    with pytest.raises(Refusal):
        protected(pa.table(arrays, names=["who", *columns]))


@pytest.mark.parametrize("categories", [["a", "a"], [], "ab"])
def test_categories_that_are_none_are_refused(categories):
    with pytest.raises((Refusal, ValueError, TypeError)):
        protected(categories={"sort": categories})


def test_a_table_that_holds_other_types_is_refused_without_a_value():
    with pytest.raises(Refusal) as refused:
        protected(bounds={"sort": (0, 1)})
    assert "z" not in str(refused.value).split()


def test_with_a_delta_rho_can_be_spent():
    session = protected(epsilon=1, delta=1e-6)
    assert len(session.sql("SELECT COUNT(*) FROM data", rho=0.001)) == 1
    with pytest.raises(Refusal, match="pure"):
        protected(epsilon=1).sql("SELECT COUNT(*) FROM data", rho=0.001)


def test_a_ledger_in_a_file_remembers(tmp_path):
    first = protected(epsilon=1, ledger=tmp_path / "ledger.sqlite")
    answer = first.sql("SELECT COUNT(*) FROM data", epsilon=0.75)
    first._curator.close()
    second = protected(epsilon=1, ledger=tmp_path / "ledger.sqlite")
    assert second.sql("SELECT COUNT(*) FROM data", epsilon=0.75)["count"] == answer["count"]
    with pytest.raises(Refusal, match="is more than is left"):
        second.sql("SELECT COUNT(*) FROM data", epsilon=0.5, allow_uninformative=True)
    second._curator.close()


def test_a_person_with_very_many_rows_counts_as_often_as_the_cap_allows():
    many = pd.DataFrame({"who": [1] * 20_000 + [2], "pay": [9.0] * 20_001})
    session = protected(many, rows_per_person=5)
    # Within, but for a chance below 1e-9.
    assert value(session, "COUNT(*)") == pytest.approx(6, abs=1)
    assert value(session, "SUM(pay)") == pytest.approx(54, abs=11)


def test_an_empty_table_and_one_without_a_known_person_are_answered():
    empty = pa.table({"who": pa.array([], pa.int64()), "pay": pa.array([], pa.float64())})
    nobody = pa.table({"who": pa.array([None, None], pa.int64()), "pay": [1.0, 2.0]})
    for data in (empty, nobody):
        session = protected(data)
        assert [value(session, asked) for asked in ("COUNT(*)", "COUNT(DISTINCT who)")] == [0, 0]
        assert value(session, "AVG(pay)") is None


def test_a_column_that_is_called_like_the_unit_of_rows_is_refused():
    """It may hold people, and protecting rows instead would be silent."""
    with pytest.raises(Refusal, match=r"^Unit row is a column of the table"):
        adomnia.protect(pa.table({"row": [1, 1, 2], "age": [1, 2, 3]}), unit="row", epsilon=1)


def test_answers_about_other_rows_are_not_given_again(tmp_path):
    """One ledger for two tables gave the count of the first for the second, free."""
    counted = []
    for size in (10, 10, 1000):
        session = adomnia.protect(pa.table({"x": range(size)}), unit="row", epsilon=100, ledger=tmp_path / "ledger")
        counted.append(session.sql("SELECT COUNT(*) AS n FROM data", epsilon=20))
        session._curator.close()
    assert [answer.replayed for answer in counted] == [False, True, False]
    assert counted[0]["n"] == counted[1]["n"] != counted[2]["n"]


def test_one_ledger_is_for_one_unit_of_the_same_rows(tmp_path):
    """Equal questions would count other rows."""
    table = pa.table({"who": [1, 1, 2], "x": [1, 2, 3]})
    ledger = tmp_path / "ledger"
    adomnia.protect(table, unit="who", rows_per_person=2, epsilon=1, ledger=ledger).close()
    with pytest.raises(
        Refusal, match=r"^The unit is row, and it was .*Fix: pass unit= and links= as before, or another"
    ):
        adomnia.protect(table, unit="row", epsilon=1, ledger=ledger)
    adomnia.protect(table, unit="who", rows_per_person=2, epsilon=1, ledger=ledger).close()


DAYS = pa.table({"who": range(400), "born": pa.array([date(1950, 1, 1) + timedelta(days=30 * n) for n in range(400)])})


def dated(**options):
    bounds = {"born": (date(1940, 1, 1), date(1999, 12, 31))}
    return adomnia.protect(DAYS, unit="who", rows_per_person=1, epsilon=100, **{"bounds": bounds, **options})


def test_dates_are_answered_with_dates():
    answer = dated().sql("SELECT MIN(born) AS a, MEDIAN(born) AS m, MAX(born) AS z FROM data", epsilon=60)
    (record,) = answer.records()
    middle = date(1950, 1, 1) + timedelta(days=30 * 200)
    assert abs(record["m"] - middle) < timedelta(days=300)  # ten rows away: e^-50 of all answers
    assert record["m_lower"] <= record["m"] <= record["m_upper"]
    assert date(1940, 1, 1) == record["a_lower"] <= record["a"] == record["a_upper"] < record["z"]
    assert answer.interval("z") == [(record["z"], date(1999, 12, 31))]
    assert answer.to_arrow().schema.field("m_upper").type == pa.date32()
    assert f"{record['m']}  {record['m_lower']} to {record['m_upper']}" in repr(answer)


def test_dates_are_compared_and_subtracted():
    session = dated()
    text = "SELECT MAX(born) - MIN(born) AS days FROM data HAVING MEDIAN(born) > "
    (days,) = session.sql(f"{text} DATE '1940-01-01'", epsilon=30)["days"]
    assert 0 < days <= 30 * 400
    assert len(session.sql(f"{text} '1999-12-31'", epsilon=30)) == 0


def test_the_error_of_a_date_is_told_in_days():
    explained = str(dated().explain("SELECT MEDIAN(born) AS m FROM data", epsilon=1))
    assert "dates from 1940-01-01 to 1999-12-31" in explained
    assert re.search(r"error: at most [0-9,]+ days in a group", explained)
    (expected,) = dated().price("SELECT MEDIAN(born) AS m FROM data", epsilon=1).outputs
    assert expected.days
    assert expected.relative is None


@pytest.mark.parametrize("bounds", [(0, 1), (date(2000, 1, 1), date(1999, 1, 1)), ("1990-01-01", "1999-01-01")])
def test_bounds_of_dates_are_dates_in_their_order(bounds):
    with pytest.raises(Refusal, match="two dates in their order"):
        dated(bounds={"born": bounds})


PAY = pa.table({"who": range(600), "pay": pa.array([float(n % 83) + 0.25 for n in range(600)])})


def test_a_question_may_do_without_the_intervals_of_its_quantiles():
    session = adomnia.protect(PAY, unit="who", rows_per_person=1, bounds={"pay": (0, 100)}, epsilon=1000)
    text = "SELECT MEDIAN(pay) AS m, MAX(pay) AS z, COUNT(*) AS n FROM data"
    answer = session.sql(text, epsilon=90, interval=False)
    ((lower, upper),) = answer.interval("m")
    assert (lower, upper) == (0.0, 100.0)
    assert answer.interval("z")[0][0] == pytest.approx(answer["z"][0], abs=1e-3)
    assert "not bought" in repr(answer)
    assert session.sql(text, epsilon=90, interval=False, confidence=0.99).replayed is False
    median = "SELECT MEDIAN(pay) AS m FROM data"
    first = session.sql(median, epsilon=5, interval=False, confidence=0.9)
    assert session.sql(median, epsilon=5, interval=False).replayed
    assert not session.sql(median, epsilon=5).replayed
    assert session.batch([median], epsilon=5, interval=False)[0].interval("m") == first.interval("m") == [(0.0, 100.0)]
    with pytest.raises(TypeError, match="interval must be True or False"):
        session.sql(median, epsilon=5, interval="no")


NOON = datetime.fromisoformat("2024-01-31T12:30:00")
TIMES = pa.table(
    {"who": range(400), "at": [NOON] * 400, "zoned": pa.array([NOON] * 400, pa.timestamp("ns", "Asia/Tokyo"))}
)


def timed(frame=TIMES, **options):
    kinds = {"columns": {"at": "timestamp", "zoned": "timestamp"}, **options}
    return adomnia.protect(frame, unit="who", rows_per_person=1, epsilon=100, **kinds)


def test_datetimes_are_timestamps_where_they_are_declared_so():
    session = timed(bounds={"at": (NOON, NOON)})
    assert [str(column.kind) for column in session.catalog().tables[0].columns] == ["id", "timestamp", "timestamp"]
    answer = session.sql(
        "SELECT HOUR(zoned) AS h, COUNT(*) AS n FROM data WHERE at = ? GROUP BY h", epsilon=8, parameters=[NOON]
    )
    assert [row["h"] for row in answer.records() if row["n"] > 200] == [21]
    assert [str(column.kind) for column in timed(columns=None).catalog().tables[0].columns] == ["id", "date", "date"]


def test_texts_are_timestamps_where_they_are_declared_so():
    frame = pa.table({"who": range(400), "at": ["2024-01-31T12:30:00"] * 400})
    answer = timed(frame, columns={"at": "timestamp"}).sql(
        "SELECT MINUTE(at) AS m, COUNT(*) AS n FROM data GROUP BY m", epsilon=8
    )
    assert [row["m"] for row in answer.records() if row["n"] > 200] == [30]
    with pytest.raises(Refusal, match="holds int64, and not timestamp"):
        timed(pa.table({"who": range(4), "at": range(4)}), columns={"at": "timestamp"})


@pytest.mark.parametrize(
    "bounds", [(date(2020, 1, 1), date(2021, 1, 1)), (NOON, NOON - timedelta(1)), (NOON.replace(tzinfo=UTC), NOON)]
)
def test_bounds_of_timestamps_are_local_times_in_their_order(bounds):
    with pytest.raises(Refusal, match="two local times in their order"):
        timed(bounds={"at": bounds})


@pytest.mark.parametrize("price", [{"epsilon": 0.1}, {}])
def test_where_each_row_is_hidden_by_itself_bills_and_explanations_speak_of_rows(price):
    session = adomnia.protect(pa.table(DATA), unit="row", epsilon=1)
    question = "SELECT COUNT(*) FROM data"
    said = [repr(session.catalog()), repr(session.explain(question, **price))]
    if price:
        said.append(repr(session.price(question, **price)))
        assert "One row moves it by" in said[-1]
        assert "a row counts once here" in said[-1]
    assert "one row moves it by at most 1" in said[1]
    assert "data: each row counts once, as declared" in said[1]
    honest = re.compile(r"not (each|of one) person")
    assert [each for each in said if "person" in honest.sub("", each)] == []
    assert all(honest.search(each) for each in said)
