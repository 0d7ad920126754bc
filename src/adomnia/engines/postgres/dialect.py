# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""PostgreSQL's SQL. Its arithmetic on doubles raises, so that statements call functions of our own instead."""

from collections.abc import Mapping, Sequence

from adomnia.engines.dialect import Dialect, IndexWords, IntegerType, SourceTypes, Types, text_literal
from adomnia.engines.postgres.functions import AGGREGATE_READINGS, AGGREGATES, FUNCTIONS, RAISES, READINGS, REASONS
from adomnia.engines.postgres.stored_functions import PREFIX

ORDER_SETTING = "adomnia.order"  # holds the key of the order while the index is built
_MOST_CASES = 50  # categories that are compared one after the other; more are looked up in a table

_DOUBLE = "CAST({0} AS DOUBLE PRECISION)"
_NAN = "CAST('NaN' AS DOUBLE PRECISION)"
_QUARTER, _HALF, _ZERO = (_DOUBLE.format(number) for number in ("0.25e0", "0.5e0", "0e0"))
# A quotient that underflows raises: what is below a quarter of a step is at 0, and the others are divided. By a step of
# at most 1 no number becomes smaller.
_FINE_ROUNDING = f"FLOOR({{0}} / {{1}} + {_HALF})"
_ROUNDING = f"CASE WHEN ABS({{0}}) < {{1}} * {_QUARTER} THEN {_ZERO} ELSE FLOOR({{0}} / {{1}} + {_HALF}) END"

_LONG = IntegerType("BIGINT", 2**63 - 1)
# Sums of 64 bits are of this type. It holds more, but a question must not be answered on one engine alone.
_WIDE = IntegerType("NUMERIC(60, 0)", 2**127 - 1)
_TYPES = Types(
    double="DOUBLE PRECISION",
    boolean="BOOLEAN",
    text="TEXT",
    date="DATE",
    small="INTEGER",
    days="INTEGER",
    rank="INTEGER",
    long=_LONG,
    sum=_WIDE,
    wide=_WIDE,
    decimal=IntegerType("NUMERIC(38, 0)", 10**38 - 1),
    stored=(_LONG, _WIDE),  # a sum of narrower ones is of 64 bits, which enough rows overflow
)
SOURCES = SourceTypes(
    whole=frozenset({"smallint", "integer", "bigint", "oid"}),
    wide=frozenset(),
    doubles=frozenset({"real", "double precision"}),
    decimals=frozenset({"numeric"}),
    booleans=frozenset({"boolean"}),
    moments=frozenset({"date", "timestamp without time zone", "timestamp with time zone"}),
    texts=frozenset({"text", "character varying", "character", "name", "enum"}),
    other_keys=frozenset({"uuid"}),
    empty="unknown",
)


def _declare(name: str, values: Sequence[str]) -> list[tuple[str, tuple[object, ...]]]:
    if len(values) <= _MOST_CASES:
        return []
    numbered = "UNNEST(CAST($1 AS TEXT[])) WITH ORDINALITY AS v(value, place)"
    return [
        (f"DROP TABLE IF EXISTS {name}", ()),
        (f'CREATE UNLOGGED TABLE {name} (value TEXT COLLATE "C", code INTEGER)', ()),
        (f"INSERT INTO {name} SELECT value, place - 1 FROM {numbered}", ([_storable(value) for value in values],)),
        (f"CREATE INDEX ON {name} USING hash (value)", ()),  # another kind has no room for long values
        (f"ANALYZE {name}", ()),
    ]


def _code(text: str, name: str, values: Sequence[str]) -> str:
    if len(values) > _MOST_CASES:
        return f"(SELECT v.code FROM {name} AS v WHERE v.value = {text})"
    cases = (f"WHEN {text_literal(_storable(value))} THEN {place}" for place, value in enumerate(values))
    return f"CASE {text} {' '.join(cases)} END"


def _storable(value: str) -> str:
    """A declared value; one that no text of PostgreSQL can be is one that no row has."""
    return value if "\0" not in value else f"\N{REPLACEMENT CHARACTER}{value.encode().hex()}"


def _fitting(number: str, kind: str) -> str:
    # A cast of a double to a decimal keeps 15 digits.
    return f"CAST({number} AS {kind})" if kind == _LONG.name else f"{PREFIX}wide({number})"


def _truncating(number: str, kind: str) -> str:
    return _fitting(f"TRUNC({number})", kind)


def _read_clamps() -> Mapping[str, str]:
    """Values clamped onto a grid, of either width, with and without a guard against NaN."""
    clamped = "WHEN {0} < {1} THEN {2} WHEN {0} > {3} THEN {4} ELSE "
    steps = {"{5}": _ROUNDING, "{at_most_one}": _FINE_ROUNDING}
    return {
        f"CASE {guard.format(_NAN)}{clamped}{_fitting(rounding.format('{0}', step), kind.name)} END": (
            f"CASE {guard.format(_CANONICAL_NAN)}{clamped}TRY_CAST(FLOOR({{0}} / {step} + 0.5e0) AS {kind.name}) END"
        )
        for step, rounding in steps.items()
        for guard in ("", "WHEN {{0}} = {0} THEN NULL ")
        for kind in (_LONG, _WIDE)
    }


_CANONICAL_NAN = "CAST('NaN' AS DOUBLE)"
_INDEX = IndexWords(
    # No temporary tables: what reads one has no parallel workers. All is one transaction, so that nobody sees them.
    temporary="DROP TABLE IF EXISTS {0}; CREATE UNLOGGED TABLE {0} AS {1}",
    temporary_columns="CREATE UNLOGGED TABLE IF NOT EXISTS {0} ({1})",
    read_as="CAST({0} AS {1})",  # sources give values of the type that is declared already
    key=f"(SELECT current_setting('{ORDER_SETTING}'))",
    # The upper half of the hash read as a little-endian integer, in hexadecimal digits: bytes 15, 14, ..., 8.
    digest="TRANSLATE('opmnklijghefcdab', 'abcdefghijklmnop', SUBSTR(MD5(CONCAT({0})), 17)) COLLATE \"C\"",
    # The last three bytes of the integer that the hash is: 2, 1, 0.
    low_bits="CAST(CAST('x' || TRANSLATE('efcdab', 'abcdef', LEFT(MD5(CONCAT({0})), 6)) AS BIT(24)) AS BIGINT)",
    byte_length="OCTET_LENGTH({0})",
    days_between="({0} - {1})",
    position="ctid",
    side_by_side=None,
    declare=_declare,
    code=_code,
    spelled_key="{0}",  # no source of a private table is all text
    decimal_key="CAST(TRIM_SCALE(NULLIF({0}, CAST('NaN' AS NUMERIC))) AS TEXT)",
    double_key=(
        f"CASE WHEN {{0}} = {_NAN} THEN NULL "
        f"WHEN {{0}} = FLOOR({{0}}) AND ABS({{0}}) < {_DOUBLE.format('9e18')} THEN CAST(CAST({{0}} AS BIGINT) AS TEXT) "
        "ELSE CAST({0} AS TEXT) END"
    ),
    local_time="{0}".format,  # as well
    seconds="CAST(EXTRACT(EPOCH FROM {0}) AS BIGINT)",
)

POSTGRES = Dialect(
    name="postgres",
    quotation='"',
    parameter='CAST(${0} AS TEXT) COLLATE "C"',
    double=_DOUBLE,
    not_a_number=_NAN,
    try_cast=f"{PREFIX}long({{0}})",  # statements try no other type
    rounding=_ROUNDING,
    fine_rounding=_FINE_ROUNDING,
    fitting=_fitting,
    truncating=_truncating,
    types=_TYPES,
    functions=FUNCTIONS,
    aggregates=AGGREGATES,
    refused=REASONS,
    raises=RAISES,
    sources=SOURCES,
    index=_INDEX,
    readings={**READINGS, **_read_clamps(), **AGGREGATE_READINGS},
    fence=" LIMIT ALL",  # behind OFFSET 0 no worker would help
)
