"""Casts give a value of the other type, or NULL; never an error, and never more than they say."""

from __future__ import annotations

import pytest

from adomnia.plans.descriptions import describe
from sql.scopes import code_of, read


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("age::INTEGER", "age"),
        ("age::DOUBLE", "age"),
        ("CAST(age AS TINYINT)", "age"),
        ("CAST(children AS TINYINT)", "INSIDE(children, -128, 127)"),
        ("CAST(children AS UTINYINT)", "INSIDE(children, 0, 255)"),
        ("TRY_CAST(salary AS INTEGER)", "ROUND(salary)"),
        ("CAST(weight AS BIGINT)", "INSIDE(ROUND(weight), -9223372036854775808, 9223372036854774784)"),
        ("CAST(salary AS SMALLINT)", "INSIDE(ROUND(salary), -32768, 32767)"),
        ("CAST(salary AS DECIMAL(4, 1))", "INSIDE((ROUND((salary * 10)) / 10), -999.9, 999.9)"),
        ("CAST(salary AS DECIMAL(9))", "ROUND(salary)"),
        ("CAST(salary AS NUMERIC)", "(ROUND((salary * 1000)) / 1000)"),
        ("CAST(age AS DECIMAL(2, 1))", "INSIDE(age, -9.9, 9.9)"),
        ("CAST(active AS INTEGER)", "BOOLEAN AS NUMBER(active)"),
        ("CAST(name AS DOUBLE)", "TEXT AS NUMBER(name)"),
        ("CAST(name AS INTEGER)", "INSIDE(ROUND(TEXT AS NUMBER(name)), -2147483648, 2147483647)"),
        ("CAST(name AS DATE)", "TEXT AS DATE(name)"),
        ("CAST(born AS DATE)", "born"),
        ("CAST(name AS BOOLEAN)", "TEXT AS BOOLEAN(name)"),
        ("CAST(age AS BOOLEAN)", "(age <> 0)"),
        ("active::BOOLEAN", "active"),
        ("age::VARCHAR", "NUMBER AS TEXT(age)"),
        ("active::VARCHAR", "BOOLEAN AS TEXT(active)"),
        ("born::VARCHAR", "DATE AS TEXT(born)"),
        ("name::VARCHAR", "name"),
        ("'7.5'::INTEGER", "ROUND(7.5)"),
        ("CAST(7 AS VARCHAR)", "NUMBER AS TEXT(7)"),
        ("CAST('x' AS VARCHAR)", "'x'"),
        ("DATE '2024-01-31'", "DATE '2024-01-31'"),
    ],
)
def test_casts_mean_what_they_say(text, meaning):
    assert describe(read(text)) == meaning


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CAST(salary AS VARCHAR)", "type_error"),
        ("CAST(age AS DATE)", "type_error"),
        ("CAST(active AS DATE)", "type_error"),
        ("CAST(born AS INTEGER)", "type_error"),
        ("CAST(born AS BOOLEAN)", "type_error"),
        ("CAST(person_id AS VARCHAR)", "identifier_column"),
        ("CAST(person_id AS INTEGER)", "identifier_column"),
        ("CAST(person_id AS DATE)", "identifier_column"),
        ("CAST(born AS TIMESTAMPTZ)", "function_not_allowed"),
        ("CAST(age AS TIMESTAMP)", "type_error"),
        ("CAST(age AS INTEGER(3))", "function_not_allowed"),
        ("CAST(salary AS DECIMAL(38, 20))", "bad_literal"),
        ("CAST('x' AS DOUBLE)", "bad_literal"),
        ("CAST('2023-02-29' AS DATE)", "bad_literal"),
        ("CAST(NULL AS INTEGER)", "bad_literal"),
    ],
)
def test_casts_that_have_no_meaning_are_refused(text, code):
    assert code_of(text) == code


def test_a_range_of_a_type_is_no_bound_to_add_up_within():
    assert read("CAST(weight AS INTEGER)").kind.upper is None
    assert read("CAST(salary AS SMALLINT)").kind.upper == 500_000
