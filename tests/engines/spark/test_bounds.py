"""No sum can overflow on Spark, nor wrap around where a server would let it: the second look proves it of the text."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from adomnia.engines.check import check_statement
from adomnia.engines.contract import Statement
from adomnia.engines.render import render
from adomnia.engines.spark.dialect import SPARK
from adomnia.errors import Failure
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import call
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import MOST_ROWS
from adomnia.privacy.scans import Total
from adomnia.sql.lower import lower
from engines.databases import catalog, constant, people, relation, whole
from kit.spark import classic
from sql.hospital import HOSPITAL

AGE = whole("age", 0, 120)
TABLE = people(AGE, rows_per_person=3)
LAST_LONG = (2**63 - 1) // MOST_ROWS  # what so many rows may add up to in 64 bits
LAST_WIDE = (10**38 - 1) // 2 // MOST_ROWS  # and in 38 digits, before a centre is taken away


def total_of(largest, centre=0):
    query = Query(relation(TABLE), (), Total(call("*", AGE, constant(3)), Numbers.integers(0, largest), centre))
    return query, render((query,), SPARK).text


def look(text):
    return check_statement(Statement(text, ()), catalog(TABLE), SPARK)


def refused(text):
    with pytest.raises(Failure) as failure:
        look(text)
    return str(failure.value.__cause__)


@pytest.mark.parametrize(("largest", "sums"), [(LAST_LONG, 1), (LAST_LONG + 1, 2), (2**31, 3), (2**53, 4), (2**64, 1)])
@pytest.mark.parametrize("centre", [0, 7])
def test_a_sum_is_carried_in_64_bits_or_in_pieces_of_them_and_beyond_that_in_38_digits(largest, sums, centre):
    query, text = total_of(largest, centre)
    assert text.count("SUM(") == sums
    assert ("SUM(CAST(" in text) is (largest > 2**63)
    assert look(text) == (query.sensitivity(),)


PIECES = total_of(2**31)[1]
WRONG_PIECES = {
    "bits left out": ("32767", "16383", "a sum in pieces"),
    "bits that overlap": ("& 32767", "& 65535", "a sum in pieces"),
    "a mask that is none": ("32767", "32766", "a sum in pieces"),
    "another factor": ("* 32768", "* 32767", "a sum in pieces"),
    "another shift": (", 15)", ", 14)", "a sum in pieces"),
    "a piece twice": ("* 32768 +", "* 32768 + CAST(SUM((`age`) & 1) AS DECIMAL(38, 0)) +", "a sum in pieces"),
    "a piece that is subtracted": ("* 32768 +", "* 32768 -", "an exact sum"),
    "another value in a piece": ("THEN 2147483648", "THEN 2147483647", "a sum in pieces"),
    "a piece in 64 bits alone": ("32767) AS DECIMAL(38, 0))", "32767) AS BIGINT)", "a sum in pieces"),
    "a sum that is none": ("CAST(SUM(", "CAST(MAX(", "a sum in pieces"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG_PIECES.values(), ids=WRONG_PIECES)
def test_wrong_pieces_are_caught(right, wrong, reason):
    assert right in PIECES
    assert reason in refused(PIECES.replace(right, wrong, 1))


def test_pieces_that_are_too_wide_for_their_rows_are_caught():
    wider = total_of(2**29)[1]
    assert wider.count("SUM(") == 2
    assert "the width of a sum" in refused(wider.replace(str(2**29), str(2**31)))


def test_more_pieces_than_bits_are_caught():
    """Java shifts an integer of 32 bits by 45 as by 13."""
    last = PIECES.index(" + CAST(SUM(SHIFTRIGHT((CASE", PIECES.index("* 32768"))
    value = PIECES[PIECES.index("(CASE") : PIECES.index(" & 32767")]
    more = f" + CAST(SUM((SHIFTRIGHT({value}, 30)) & 32767) AS DECIMAL(38, 0)) * {2**30}"
    more += f" + CAST(SUM(SHIFTRIGHT({value}, 45)) AS DECIMAL(38, 0)) * {2**45})"
    end = PIECES.index(" AS DECIMAL(38, 0)) AS m0")
    assert "no more pieces than bits" in refused(PIECES[:last] + more + PIECES[end:])


@pytest.mark.parametrize(
    "text", ["SELECT AVG(cost) FROM visits", "SELECT hospital, VAR_POP(cost) FROM visits GROUP BY 1"]
)
def test_means_and_variances_of_fine_grids_are_proved(text):
    for price in (Pure(1), Concentrated(1)):
        for measure in list_measures(lower(text, HOSPITAL), price):
            statement = render((measure.query,), SPARK)
            check_statement(statement, HOSPITAL, SPARK, measure.query.provable)


def test_a_clamp_that_is_too_wide_for_its_sum_is_not_run():
    _, text = total_of(LAST_LONG)
    wider = text.replace(f"THEN {LAST_LONG}", f"THEN {LAST_LONG + 1}")
    assert wider != text
    assert "the width of a sum" in refused(wider)


def test_a_wide_sum_in_64_bits_is_not_run():
    _, text = total_of(2**64)
    narrow = text.replace("SUM(CAST(CASE", "SUM(CASE").replace("END AS DECIMAL(38, 0)))", "END)")
    assert narrow != text
    assert "the width of a sum" in refused(narrow)


def test_a_floor_that_fails_beyond_64_bits_is_not_run():
    """Spark's own gives integers of 64 bits, and one row that needs more would make a question fail."""
    value = "(CAST(`age` AS DOUBLE) * 3.0e0) / 1.0e0 + 0.5e0"
    floor = f"TRY_CAST(FLOOR({value}) AS DECIMAL(38, 0))"
    for largest, reason in ((2**62, None), (2**64, "a floor that no row can make fail")):
        _, text = total_of(2**64)
        before, rest = text.replace(f"> {2.0**64!r}", f"> {float(largest)!r}").split("ELSE ", 1)
        after = rest[rest.index(" END AS ") :]
        planted = f"{before.replace(f'THEN {2**64}', f'THEN {largest}')}ELSE {floor}{after}"
        if reason is None:
            look(planted)
        else:
            assert reason in refused(planted)


@pytest.mark.parametrize("centre", [0, 7])
def test_what_38_digits_do_not_hold_is_not_run(centre):
    query, text = total_of(2**76, centre)  # which is a double
    assert look(text) == (query.sensitivity(),)
    look(text.replace(f"THEN {2**76}", f"THEN {LAST_WIDE}"))
    wider = text.replace(f"THEN {2**76}", f"THEN {LAST_WIDE + 1}")
    assert wider != text
    assert "the width of a sum" in refused(wider)


def test_a_centre_that_is_too_wide_is_not_run():
    _, text = total_of(2**20, 7)
    assert "the width of a sum" in refused(text.replace("CAST(7 AS", f"CAST({LAST_WIDE + 1} AS"))


def test_a_result_that_its_type_does_not_hold_is_not_run():
    _, text = total_of(LAST_LONG + 1)
    before, after = text.rsplit("AS DECIMAL(38, 0)) AS m0", 1)
    assert "the width of a result" in refused(f"{before}AS BIGINT) AS m0{after}")


HIDING = {
    "a line that goes on": "FROM `people` -- \\\n WHERE",
    "a line that has ended": "FROM `people` -- \r WHERE",
    "a remark": "FROM `people` /* all */ WHERE",
    "a remark in a remark": "FROM `people` /* /* */ */ WHERE",
}


@pytest.mark.parametrize("hiding", HIDING.values(), ids=HIDING)
def test_no_statement_with_a_comment_is_run(hiding):
    """After a backslash, Spark reads the next line as part of the comment: a cap in it would be none."""
    _, text = total_of(LAST_LONG)
    planted = text.replace("FROM `people` WHERE", hiding)
    assert planted != text
    assert "one SELECT" in refused(planted)


@pytest.mark.parametrize("end", [";", "; SELECT 1", " |> WHERE TRUE"])
def test_no_statement_goes_on_after_its_end(end):
    _, text = total_of(LAST_LONG)
    assert "one SELECT" in refused(text + end)


def test_spark_reads_on_after_a_backslash_in_a_comment():
    session = classic().newSession()
    rows = session.sql("SELECT COUNT(*) AS n FROM RANGE(9) -- \\\n WHERE id < 3").collect()
    assert rows[0].n == 9


def test_no_statement_shifts_by_a_sign():
    """After the word ARRAY, which many functions are written with, Spark reads >> as the end of two types."""
    assert ">>" not in total_of(2**53)[1]
    tree = parse_one(SPARK.shifted.format("x", 3), dialect=SPARK.name)
    assert tree == parse_one("(x) >> 3", dialect=SPARK.name)
