"""Every scalar function gives what DuckDB gives on Spark, on every edge; none fails, and each is proved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.errors import PySparkException
from sqlglot import parse_one

from adomnia.engines.check.columns import ProvedColumn
from adomnia.engines.check.nodes import read_phrases
from adomnia.engines.check.scalars import Row
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.functions import FUNCTIONS, MOST_WAYS, REASONS
from adomnia.errors import Failure
from adomnia.privacy.functions import registry
from adomnia.privacy.kinds import Boolean, Day, Moment, Quantity, Text
from kit.scalars import arguments, by_kinds, differences, from_python, rows, same, table_of, write
from kit.spark import classic
from privacy.functions.samples import constant

PROVED = {Quantity: "number", Text: "text", Day: "day", Moment: "number", Boolean: "boolean"}
GIVEN = {Quantity: "double", Text: "text", Day: "day", Moment: "double", Boolean: "boolean"}
APPLICATIONS = [each for listed in by_kinds().values() for each in listed if each.function in FUNCTIONS]


@pytest.fixture(scope="module")
def session():
    found = classic().newSession()
    found.conf.set("spark.sql.ansi.enabled", "true")
    found.conf.set("spark.sql.session.timeZone", "UTC")
    for kinds in by_kinds():
        found.createDataFrame(arguments(kinds)).coalesce(1).createOrReplaceTempView(table_of(kinds))
    return found


def computed(session, applications, dialect=SPARK):
    """What Spark gives in every row, for functions of the same kinds in one statement."""
    parameters = {}
    columns = [f"{write(each, dialect, parameters)} AS r{place}" for place, each in enumerate(applications)]
    text = f"SELECT {', '.join(columns)}, place FROM {table_of(applications[0].kinds)}"
    bound = {f"p{number}": value for value, number in parameters.items()}
    found = sorted(session.sql(text, args=bound).collect(), key=lambda row: row.place)
    return [[row[place] for row in found] for place in range(len(columns))]


def test_every_function_is_there_or_has_a_reason_not_to_be():
    assert FUNCTIONS.keys() | REASONS.keys() == registry.FUNCTIONS.keys()
    assert not FUNCTIONS.keys() & REASONS.keys()


@pytest.mark.parametrize("kinds", by_kinds(), ids=table_of)
def test_functions_give_what_duckdb_and_python_give_in_every_row(session, kinds):
    applications = [each for each in by_kinds()[kinds] if each.function in FUNCTIONS]
    for application, found in zip(applications, computed(session, applications), strict=True):
        assert differences(application, found) == [], application
        for row, value in zip(rows(kinds), found, strict=True):
            meant = from_python(application, row)
            assert meant is ... or same(meant, value), (application, row, meant, value)


# Spellings that mean something else, or fail: each must be noticed.
PLANTED = {
    "a floor that fails": ("floor", "CAST(FLOOR({0}) AS DOUBLE)"),
    "a sign that is no number": ("sign", "CAST(SIGN({0}) AS DOUBLE)"),
    "a division by zero fails": ("/", "({0} / {1})"),
    "halves to the even number": ("round", "BROUND({0}, 0)"),
    "a backslash escapes": ("like", "({0} LIKE {1})"),
    "case as Java knows it": ("upper", "UPPER({0})"),
    "days of the week from 1": ("dow", "CAST(DAYOFWEEK({0}) AS DOUBLE)"),
    "numbers that saturate": ("number as text", "CAST(TRY_CAST({0} AS BIGINT) AS STRING)"),
    "numbers before a line break": (
        "text as number",
        "TRY_CAST(REGEXP_EXTRACT({0}, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$', 0) AS DOUBLE)",
    ),
    "white space of all kinds is trimmed": ("trim", "REGEXP_REPLACE({0}, '(?U)^\\\\s+|\\\\s+$', '')"),
}


@pytest.mark.parametrize("plant", PLANTED)
def test_a_wrong_spelling_is_noticed(session, plant):
    function, wrong = PLANTED[plant]
    planted = replace(SPARK, functions={**FUNCTIONS, function: wrong.format})

    def is_noticed(application):
        try:
            (found,) = computed(session, [application], planted)
        except PySparkException as failed:
            # A row failed, and not the text as such.
            return not str(failed.getCondition()).startswith(("UNRESOLVED", "PARSE", "DATATYPE", "INVALID_PARAM"))
        return differences(application, found) != []

    assert any(is_noticed(each) for each in APPLICATIONS if each.function == function)


# The second look.


def type_of(sql, parameters=(), kinds=()):
    columns = {("", f"a{place}"): ProvedColumn(PROVED[kind]) for place, kind in enumerate(kinds)}
    row = Row(columns, tuple(parameters), SPARK)
    return row.type(read_phrases(parse_one(sql, dialect="databricks"), SPARK))


@pytest.mark.parametrize("application", APPLICATIONS, ids=str)
def test_a_function_is_proved_to_be_of_its_type(application):
    parameters = {}
    sql = write(application, SPARK, parameters)
    kinds = [kind(whole=True) if kind is Quantity else kind() for kind in application.kinds]
    result = registry.FUNCTIONS[application.function].result(*kinds, *map(constant, application.constants))
    assert type_of(sql, parameters, application.kinds) == GIVEN[type(result)]


NUMBER, OTHER = "CAST(`a0` AS DOUBLE)", "CAST(`a1` AS DOUBLE)"
NEAR_MISSES = [
    f"({NUMBER} / {OTHER})",
    f"({NUMBER} / NULLIF({OTHER}, 1e0))",
    f"({NUMBER} % {OTHER})",
    f"({NUMBER} DIV {OTHER})",
    f"FLOOR({NUMBER})",
    f"(RINT({NUMBER}) - CASE WHEN RINT({OTHER}) > {NUMBER} THEN 1e0 ELSE 0e0 END)",
    f"(RINT({NUMBER}) - CASE WHEN RINT({NUMBER}) > {NUMBER} THEN 2e0 ELSE 0e0 END)",
    f"NANVL({NUMBER} - {NUMBER} % 2e0, {NUMBER})",
    f"LN({NUMBER})",
    f"EXP({NUMBER})",
    f"POWER({NUMBER}, {OTHER})",
    f"RAISE_ERROR({NUMBER})",
    f"ASSERT_TRUE({NUMBER} > 0e0)",
    f"JAVA_METHOD('java.lang.Thread', 'sleep', {NUMBER})",
    "(`a2` LIKE `a2`)",
    "(`a2` RLIKE `a2`)",
    "(`a2` RLIKE :p2)",
    "(`a2` RLIKE :p3)",
    "(`a2` RLIKE CONCAT('(?s)', :p1))",
    "CAST(REGEXP_EXTRACT(`a2`, :p1, 0) AS DOUBLE)",
    "TRY_CAST(REGEXP_EXTRACT(`a2`, '.*', 0) AS DOUBLE)",
    "CAST(`a2` AS DOUBLE)",
    "CAST(`a2` AS DATE)",
    f"CAST({NUMBER} AS BIGINT)",
    "LENGTH(`a2` || `a2`)",
    "LENGTH(SUBSTRING((`a2` || `a2`), 1, 4096))",
    "TRANSLATE(`a2`, 'a', 'b')",
    "SUBSTRING(`a2`, CAST(-1e0 AS INT), CAST(1e0 AS INT))",
    "DATE_ADD(`a3`, CAST(1e0 AS INT))",
    "TRUNC(`a3`, 'DECADE')",
    f"TRANSFORM(ARRAY({NUMBER}), d -> d)[0]",
]


@pytest.mark.parametrize("sql", NEAR_MISSES)
def test_what_only_resembles_a_function_is_not_proved(sql):
    with pytest.raises(Failure):
        type_of(sql, ("a", "(?:a|b)*c", "(?:a*)*"), (Quantity, Quantity, Text, Day))


def test_a_pattern_with_few_ways_is_proved():
    assert type_of("(`a2` RLIKE :p1)", ("\\A[a-z]+\\z",), (Quantity, Quantity, Text)) == "boolean"
    assert SPARK.most_ways == MOST_WAYS
