"""Functions are called by name, mean what the table says, and are refused with what they take."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.plans.descriptions import describe
from adomnia.privacy.expressions import FUNCTIONS
from adomnia.privacy.kinds import Quantity
from adomnia.sql.values.functions import NAMES
from sql.scopes import code_of, read


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("ABS(score)", "ABS(score)"),
        ("abs(score)", "ABS(score)"),
        ("ROUND(salary)", "ROUND(salary)"),
        ("ROUND(salary, 2)", "(ROUND((salary * 100)) / 100)"),
        ("ROUND(salary, -3)", "(ROUND((salary / 1000)) * 1000)"),
        ("ROUND(salary, 0)", "ROUND(salary)"),
        ("CEILING(salary)", "CEIL(salary)"),
        ("LOG(salary)", "LOG10(salary)"),
        ("POW(age, 2)", "POWER(age, 2)"),
        ("MOD(age, 7)", "(age % 7)"),
        ("GREATEST(salary, age, 3, age)", "GREATEST(3, GREATEST(age, salary))"),
        ("LEAST(born, '2020-01-01')", "LEAST(DATE '2020-01-01', born)"),
        ("COALESCE(age, salary, 0)", "COALESCE(age, COALESCE(salary, 0))"),
        ("IFNULL(born, '2020-01-01')", "COALESCE(born, DATE '2020-01-01')"),
        ("NULLIF(born, '2020-01-01')", "NULLIF(born, DATE '2020-01-01')"),
        ("CONCAT(name, sex)", "(COALESCE(name, '') || COALESCE(sex, ''))"),
        ("CONCAT(name)", "COALESCE(name, '')"),
        ("CLAMP(salary, 0, 10)", "CLAMP(salary, 0, 10)"),
        ("LEFT(name, 3)", "SUBSTRING(name, 1, 3)"),
        ("RIGHT(name, 3)", "RIGHT(name, 3)"),
        ("SUBSTR(name, 2)", "SUBSTRING(name, 2, 2147483647)"),
        ("SUBSTRING(name, 2, 3)", "SUBSTRING(name, 2, 3)"),
        ("STARTS_WITH(name, 'A')", "STARTS_WITH(name, 'A')"),
        ("CHAR_LENGTH(UPPER(TRIM(name)))", "LENGTH(UPPER(TRIM(name)))"),
        ("WEEKDAY(born)", "DOW(born)"),
        ("DATE_PART('Month', born)", "MONTH(born)"),
        ("DATE_PART('dayofyear', born)", "DOY(born)"),
        ("DATE_TRUNC('month', born)", "START OF MONTH(born)"),
        ("DATE_TRUNC('day', born)", "SHIFT(born, 0)"),
        ("DATE_DIFF('day', born, '2020-01-01')", "DAYS BETWEEN(DATE '2020-01-01', born)"),
        ("DATEDIFF('years', born, born)", "(YEAR(born) - YEAR(born))"),
        (
            "DATE_DIFF('month', born, born)",
            "(((YEAR(born) * 12) + MONTH(born)) - ((YEAR(born) * 12) + MONTH(born)))",
        ),
    ],
)
def test_functions_mean_what_the_table_says(text, meaning):
    assert describe(read(text)) == meaning


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CLAMP(salary, 10, 1)", "empty_bounds"),
        ("CLAMP(salary, 'NaN'::DOUBLE, 1)", "bad_literal"),
        ("CLAMP(salary, age, 1)", "bad_literal"),
        ("CLAMP(salary, 1)", "type_error"),
        ("CLAMP(salary, 'a', 'b')", "type_error"),
        ("CLAMP(name, 0, 1)", "type_error"),
        ("CLAMP()", "type_error"),
        ("ROUND(salary, age)", "function_not_allowed"),
        ("ROUND(salary, 0.5)", "bad_literal"),
        ("ROUND(salary, 16)", "bad_literal"),
        ("ROUND()", "type_error"),
        ("ROUND(name)", "type_error"),
        ("GREATEST(age)", "type_error"),
        ("GREATEST(name, name)", "type_error"),
        ("LEAST(age, born)", "type_error"),
        ("COALESCE(age)", "type_error"),
        ("COALESCE(age, name)", "type_error"),
        ("COALESCE(person_id, person_id)", "identifier_column"),
        ("CONCAT()", "type_error"),
        ("CONCAT(name, age)", "type_error"),
        ("SUBSTRING(name, -age, 5)", "function_not_allowed"),
        ("SUBSTRING(name, 0, 5)", "type_error"),
        ("SUBSTRING(name, 1, 0.5)", "type_error"),
        ("LEFT(name, age)", "function_not_allowed"),
        ("LEFT(name)", "type_error"),
        ("RIGHT(name, -1)", "type_error"),
        ("DATE_PART(name, born)", "function_not_allowed"),
        ("DATE_TRUNC('hour', born)", "type_error"),
        ("DATE_TRUNC('month', age)", "type_error"),
        ("DATE_DIFF('hour', born, born)", "function_not_allowed"),
        ("DATE_DIFF('day', born)", "type_error"),
        ("DATE_DIFF('day', born, '2020')", "bad_literal"),
        ("UPPER(age)", "type_error"),
        ("UPPER(name, 'x')", "type_error"),
        ("UPPER(person_id)", "identifier_column"),
        ("ABS(DISTINCT age)", "syntax_not_allowed"),
        ("ABS(*)", "syntax_not_allowed"),
        ("ABS(age AS x)", "syntax_not_allowed"),
        ("CHR(age)", "function_not_allowed"),
        ("error('hit')", "function_not_allowed"),
        ("sha256(name)", "function_not_allowed"),
        ("REGEXP_EXTRACT(name, 'x')", "function_not_allowed"),
    ],
)
def test_what_does_not_fit_is_refused_by_what_is_wrong(text, code):
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("CLAMP(salary, 0, 1e18)", 0, 500_000),
        ("CLAMP(1 / (salary - 50000), -1, 1)", -1, 1),
        ("CLAMP(weight, 0, 250)", 0, 250),
        ("CLAMP(age, 200, 300)", 200, 200),
        ("CASE WHEN name = 'Ann Lee' THEN salary * 1000000 ELSE 0 END", 0, 5 * 10**11),
        ("ROUND(score * 2.5)", -3, 3),
        ("GREATEST(age, 7)", 0, 120),
        ("age % 7", 0, 6),
        ("POWER(score, 2)", 0, 1),
        ("LENGTH(sex)", 1, 1),
        ("YEAR(born)", 1900, 2030),
    ],
)
def test_bounds_that_sums_rely_on(text, lower, upper):
    kind = read(text).kind
    assert isinstance(kind, Quantity)
    assert (kind.lower, kind.upper) == (Fraction(lower), Fraction(upper))


def test_a_misfit_says_what_is_taken():
    with pytest.raises(Refusal) as refusal:
        read("RIGHT(name, -1)")
    assert str(refusal.value).startswith(
        "RIGHT(name, -1) is made of text, integer. Fix: it takes text, a constant from 0 on."
    )


def test_every_name_of_the_table_can_be_called():
    assert {name for row in FUNCTIONS.values() for name in row.spellings} <= NAMES
    assert all(name.isascii() and name == name.upper() for name in NAMES)
