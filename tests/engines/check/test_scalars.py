"""The second look knows the type of every expression that is ever rendered, and believes no other."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from adomnia.engines.check.columns import ProvedColumn
from adomnia.engines.check.scalars import Row
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render.scalars import double
from adomnia.errors import Failure
from adomnia.privacy.kinds import Boolean, Day, Moment, Quantity, Text
from privacy.functions.samples import applications, constant

COLUMNS = {"c": "code", "n": "number", "t": "text", "d": "day", "b": "boolean"}
BOUND = sorted({each for _, _, constants in applications() for each in constants if isinstance(each, str)})
ROW = Row({("", name): ProvedColumn(type_) for name, type_ in COLUMNS.items()}, ("x", *BOUND), DUCKDB)
WRITTEN = {Quantity: 'CAST("n" AS DOUBLE)', Text: '"t"', Day: '"d"', Moment: 'CAST("n" AS DOUBLE)', Boolean: '"b"'}
TYPES = {Quantity: "double", Text: "text", Day: "day", Moment: "double", Boolean: "boolean"}
CASES = [
    pytest.param(*case, id=f"{case[0].name} {' '.join(map(str, case[1]))} {' '.join(map(str, case[2]))}".strip())
    for case in applications()
]
DAY_OF = DUCKDB.functions["day of"]('CAST("n" AS DOUBLE)').strip("()")
CUT = "SUBSTRING({}, CAST(1e0 AS BIGINT), CAST(1024e0 AS BIGINT))"
IN_CALENDAR = "CASE WHEN \"d\" BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN \"d\" END"


def written(value):
    return f"${BOUND.index(value) + 2}" if isinstance(value, str) else double(constant(value).lower, DUCKDB)


def type_of(sql):
    return ROW.type(parse_one(sql, dialect="duckdb"))


@pytest.mark.no_cover
@pytest.mark.parametrize(("function", "kinds", "constants"), CASES)
def test_every_function_is_proved_to_be_of_its_type(function, kinds, constants):
    parts = [WRITTEN[type(kind)] for kind in kinds] + list(map(written, constants))
    result = function.result(*kinds, *map(constant, constants))
    assert type_of(DUCKDB.functions[function.name](*parts)) == TYPES[type(result)]


@pytest.mark.parametrize("type_", ["DOUBLE", "VARCHAR", "DATE", "BOOLEAN"])
def test_null_has_the_type_that_it_is_cast_to(type_):
    assert type_of(f"CAST(NULL AS {type_})") in TYPES.values()


@pytest.mark.parametrize(
    "sql",
    [
        'CAST("t" AS DOUBLE)',
        'CAST("t" AS DATE)',
        'CAST("t" AS BIGINT)',
        'CAST("n" AS BIGINT)',
        'CAST(CAST("n" AS DOUBLE) AS VARCHAR)',
        'TRY_CAST("t" AS DOUBLE)',
        'TRY_CAST("n" AS DOUBLE)',
        'TRY_CAST(CAST("n" AS DOUBLE) AS INTEGER)',
        "TRY_CAST(REGEXP_EXTRACT(\"t\", 'x') AS BIGINT)",
        "TRY_CAST(REGEXP_EXTRACT(\"t\", 'x') AS VARCHAR)",
        'TRY_CAST(REGEXP_EXTRACT("t", "t") AS DOUBLE)',
        "REGEXP_EXTRACT(\"t\", 'x', 'i')",
        "REGEXP_REPLACE(\"t\", 'x', 'y')",
        "REGEXP_MATCHES(\"t\", 'x')",
        'SUBSTRING("t", 1, 2)',
        'SUBSTRING("t", CAST(1e0 AS BIGINT))',
        'SUBSTRING("t", CAST("n" AS BIGINT), CAST(1e0 AS BIGINT))',
        'SUBSTRING("t", CAST((-1e0) AS BIGINT), CAST(1e0 AS BIGINT))',
        'SUBSTRING("t", CAST(1e0 AS BIGINT), CAST(4294967297e0 AS BIGINT))',
        'SUBSTRING("t", CAST(1.5e0 AS BIGINT), CAST(1e0 AS BIGINT))',
        'RIGHT("t", CAST(1e0 AS INTEGER))',
        'RIGHT("n", CAST(1e0 AS BIGINT))',
        'CASE "d" WHEN "d" THEN "d" END + CAST(1e0 AS INTEGER)',
        'REPEAT("t", 9)',
        'TRIM("t", "t")',
        'TRIM("t")',
        "CAST(DATE_TRUNC('month', \"d\") AS DATE)",
        f"CAST(DATE_TRUNC('month', {IN_CALENDAR.replace('0001', '0000')}) AS DATE)",
        f"CAST(DATE_TRUNC('century', {IN_CALENDAR}) AS DATE)",
        f"DATE_TRUNC('month', {IN_CALENDAR}) = \"d\"",
        'EXTRACT(EPOCH FROM "d") = 1e0',
        'CAST(EXTRACT(HOUR FROM "d") AS DOUBLE)',
        'CAST(EXTRACT(YEAR FROM "t") AS DOUBLE)',
        'EXTRACT(YEAR FROM "d") + 1e0',
        '"d" + CAST(1e0 AS INTEGER)',
        f"{IN_CALENDAR} + CAST(99999999e0 AS INTEGER)",
        f'{IN_CALENDAR} + CAST("n" AS INTEGER)',
        f"{IN_CALENDAR} + 1",
        IN_CALENDAR.replace(" END", ' WHEN TRUE THEN "d" END + CAST(1e0 AS INTEGER)'),
        IN_CALENDAR.replace(" END", ' ELSE "d" END + CAST(1e0 AS INTEGER)'),
        "CAST(NULL AS DATE) + CAST(1e0 AS INTEGER)",
        '"t" BETWEEN "t" AND "t"',
        f"{IN_CALENDAR.replace('DATE', 'DOUBLE')} + CAST(1e0 AS INTEGER)",
        '"d" + INTERVAL 1 DAY',
        DAY_OF.replace("1970-01-01", "1970-01-02"),
        DAY_OF.replace("86400e0", "1e0"),
        DAY_OF.replace("253402300799e0", "253402300800e0"),
        DAY_OF.replace("TRY_CAST", "CAST"),
        DAY_OF.replace("FLOOR", "CEIL"),
        DAY_OF.replace("CAST('1970-01-01' AS DATE)", '"d"'),
        "CAST('1970-01-01' AS DATE) + TRY_CAST(FLOOR(CAST(\"n\" AS DOUBLE) / 86400e0) AS INTEGER)",
        f"{DAY_OF.split(' + ')[1]} + 1e0",
        'GREATEST("t", "t")',
        'COALESCE("n", CAST("n" AS DOUBLE))',
        'ABS("n")',
        "ROUND(1e0, 2)",
        'SIGN("t")',
        'LENGTH("t") + 1e0',
        "LOG(3e0, 1e0)",
        "LOG(3, 1e0)",
        'LOG("c", 1e0)',
        "REGEXP_EXTRACT(\"t\", 'x', 1)",
        'ABS(CAST("nowhere" AS DOUBLE))',
        "error('x')",
        "RANDOM()",
        'CASE WHEN "n" THEN 1e0 END',
        "$99",
        'REGEXP_MATCHES("t", "t")',
        'REGEXP_MATCHES("t", $1, $1)',
        'REGEXP_MATCHES("t", $99)',
        'UPPER(REPLACE("t", $1, $1))',
        CUT.format('REPLACE("t", "t", $1)'),
        CUT.format('REPLACE("t", $1, "t")'),
        CUT.format("REPLACE(\"t\", 'x', $1)"),
        'INSTR("t", $1) + 1e0',
        'CAST(INSTR("t", $1, 2) AS DOUBLE)',
        'STRFTIME("d", $1)',
        f"STRFTIME({IN_CALENDAR}, 'x')",
        f'STRFTIME({IN_CALENDAR}, "t")',
        f'({IN_CALENDAR} + TO_MONTHS(CAST(1e0 AS INTEGER))) = "d"',
        f"CAST({IN_CALENDAR} + TO_MONTHS(CAST(9999999e0 AS INTEGER)) AS DATE)",
        f"CAST({IN_CALENDAR} + TO_MONTHS(1) AS DATE)",
        f"CAST({IN_CALENDAR} + TO_YEARS(CAST(1e0 AS INTEGER)) AS DATE)",
        'CAST("d" + TO_MONTHS(CAST(1e0 AS INTEGER)) AS DATE)',
        "TO_MONTHS(CAST(1e0 AS INTEGER)) + 1e0",
    ],
)
def test_what_a_row_could_make_fail_is_not_believed(sql):
    with pytest.raises(Failure):
        type_of(sql)


BAD_CONSTANTS = {
    "nothing is replaced": (CUT.format('REPLACE("t", $1, $2)'), ("", "x")),
    "grows nine times": (CUT.format('REPLACE("t", $1, $2)'), ("ab", "x" * 17)),
    "hours": (f"STRFTIME({IN_CALENDAR}, $1)", ("%H",)),
    "half a field": (f"STRFTIME({IN_CALENDAR}, $1)", ("%",)),
    "no format": (f"STRFTIME({IN_CALENDAR}, $1)", ("",)),
    "a long format": (f"STRFTIME({IN_CALENDAR}, $1)", ("%B" * 65,)),
    "a group left open": ('REGEXP_MATCHES("t", $1)', ("(a",)),
}
GOOD_CONSTANTS = [
    (CUT.format('REPLACE("t", $1, $2)'), ("ab", "x" * 16)),
    (f"STRFTIME({IN_CALENDAR}, $1)", ("%Y%m%d%B%b%A%a%V%G%j%u%% \n.",)),
    ('REGEXP_MATCHES("t", $1)', ("(?:a)",)),
]


def proved(sql, texts):
    return Row(ROW.columns, texts, DUCKDB).type(parse_one(sql, dialect="duckdb"))


@pytest.mark.parametrize(("sql", "texts"), BAD_CONSTANTS.values(), ids=BAD_CONSTANTS)
def test_constants_that_could_fail_or_grow_are_not_believed(sql, texts):
    with pytest.raises(Failure):
        proved(sql, texts)


@pytest.mark.parametrize(("sql", "texts"), GOOD_CONSTANTS)
def test_constants_at_their_limits_are_believed(sql, texts):
    assert proved(sql, texts) in ("text", "boolean")
