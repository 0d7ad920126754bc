# ruff: noqa: S608 - the statements are constants of this module
"""Settings that statements depend on, and a few statements whose answers are known, tried before a server is trusted.

Settings may be kept and not heeded. Engines that speak Spark's protocol are not all Spark. One in which 0 and -0
differ, or that computes branches that are not taken, would give other answers, or fail on single rows. Whether sums
that overflow fail is not asked: the second look proves of every statement that none can, in the types that are tried
here.
"""

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from adomnia.engines.spark.dialect import SPARK
from adomnia.errors import Refusal

if TYPE_CHECKING:
    import pyspark.sql
    import pyspark.sql.connect.session

    Session: TypeAlias = pyspark.sql.SparkSession | pyspark.sql.connect.session.SparkSession

# What statements mean depends on these. They are set for the session alone, and read again.
PINNED: Mapping[str, str] = MappingProxyType(
    {
        "spark.sql.ansi.enabled": "true",  # what overflows fails, and is not wrapped around
        "spark.sql.ansi.doubleQuotedIdentifiers": "false",
        "spark.sql.ansi.enforceReservedKeywords": "true",  # else FROM t WHERE (c) is the table t under the name WHERE
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.sql.groupByOrdinal": "true",
        "spark.sql.decimalOperations.allowPrecisionLoss": "false",
        "spark.sql.storeAssignmentPolicy": "ANSI",
        "spark.sql.parser.escapedStringLiterals": "false",
        "spark.sql.variable.substitute": "false",  # else ${env:HOME} in a name or a category is what it stands for
        "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",  # 1e0 is a double
        "spark.sql.legacy.literal.pickMinimumPrecision": "true",
        "spark.sql.legacy.allowNegativeScaleOfDecimal": "false",
        "spark.sql.legacy.timeParserPolicy": "CORRECTED",
        "spark.sql.timestampType": "TIMESTAMP_LTZ",  # what TIMESTAMP is
        "spark.sql.legacy.parameterSubstitution.constantsOnly": "false",
        "spark.sql.optimizer.excludedRules": "",
        "spark.sql.adaptive.enabled": "true",
        # Files are read whole or not at all, and days before 1582 as they are written.
        "spark.sql.files.ignoreCorruptFiles": "false",
        "spark.sql.files.ignoreMissingFiles": "false",
        "spark.sql.parquet.mergeSchema": "false",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # else the names of folders decide
        "spark.sql.parquet.aggregatePushdown": "false",  # what is counted are rows, not what files say of them
        "spark.sql.parquet.filterPushdown": "true",  # what no row of a page fits is not read
        "spark.sql.parquet.binaryAsString": "false",
        "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
        "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.fieldId.read.enabled": "false",
        "spark.sql.sources.partitionOverwriteMode": "static",
        "spark.sql.execution.arrow.useLargeVarTypes": "false",
        # Plans and statements would be a log of questions: where Spark writes them down, there is nothing in them.
        "spark.sql.redaction.string.regex": "(?s).+",
        "spark.sql.maxPlanStringLength": "0",
    }
)
_NAN = "(CAST('NaN' AS DOUBLE) + id)"
_MINUS_ZERO = "((id - id) * -1e0)"
_FAR = 2.0**70 + 2.0**18
_LIKE = SPARK.spell("like", "CONCAT('ab%', id)", "'_b%'")
_WIDE = SPARK.types.wide.name
# Each is true of both rows, of which `id` is 0 and 1; written with it, so that nothing is computed beforehand.
TRUTHS = {
    "0 and -0 are equal": f"COUNT(NULLIF({_MINUS_ZERO}, 0e0)) = 0",
    "a quotient that is guarded against 0 fails in no row": f"COUNT({SPARK.spell('/', '(1e0 + id)', _MINUS_ZERO)}) = 0",
    "an exponent makes a double": "MIN(TYPEOF(1e0 + id)) = 'double'",
    "only the branch that is taken is computed": "MIN(CASE WHEN id < 2 THEN 1 ELSE FLOOR(1e300 + id) END) = 1",
    "NaN is equal to itself and above all": f"MIN(CASE WHEN {_NAN} = {_NAN} AND {_NAN} > 1e308 THEN 1 END) = 1",
    "casts round towards zero or give NULL": (
        "SUM(TRY_CAST(-1.5e0 - id AS BIGINT)) = -3 AND COUNT(TRY_CAST(1e300 + id AS BIGINT)) = 0"
    ),
    "halves are rounded to the even number": "SUM(RINT(0.5e0 + id)) = 2e0",
    "shifts keep the sign": f"SUM({SPARK.shifted.format('id - 8', 2)}) = -4",
    "texts are compared by their bytes": (
        "MIN(CASE WHEN CONCAT('Z', id) < CONCAT('a', id) THEN LEFT('日本', 1) END) = '日'"
    ),
    "patterns never try again what fitted": f"MIN({_LIKE}) = TRUE",
    "days are those of all years": (
        "MIN(TRUNC(DATE_ADD(CAST('0001-01-30' AS DATE), CAST(id AS INT)), 'MONTH')) = CAST('0001-01-01' AS DATE)"
    ),
    "weeks begin on Monday": "SUM(WEEKDAY(DATE_ADD(CAST('2023-12-31' AS DATE), CAST(id AS INT)))) = 6",
    "hashes are those of the bytes": "MIN(MD5(CONCAT('a', id))) = '5640486daa6880d667b76c958820361a'",
    "sums are carried in 64 bits or in 38 digits": (
        f"TYPEOF(SUM(CAST(id AS TINYINT))) = 'bigint' AND TYPEOF(SUM(CAST(id AS {_WIDE}))) = 'decimal(38,0)' "
        f"AND TYPEOF(MIN(CAST(id AS {_WIDE}) * id)) = 'decimal(38,0)'"
    ),
    "wide sums are exact": f"SUM(CAST(9223372036854775807 AS {_WIDE}) + id) = 18446744073709551615",
    "wide integers are made exactly of doubles": f"MAX({SPARK.fitting(f'({_FAR!r} + id)', _WIDE)}) = {int(_FAR)}",
    "quotients and roots are those of IEEE": (
        "MIN((1e0 + id) / 3e0) = 0.3333333333333333e0 AND MAX(SQRT(1e0 + id)) = 1.4142135623730951e0"
    ),
    "missing values count as missing": "MAX(GREATEST(NULLIF(id, 0), id)) = 1 AND COUNT(NULLIF(id, 0)) = 1",
}


def pin(session: "Session") -> None:
    """Set what statements depend on; a Refusal where Spark keeps something else."""
    for name, value in PINNED.items():
        kept = None
        with suppress(Exception):
            kept = session.conf.get(name)
        with suppress(Exception):
            if kept != value:
                session.conf.set(name, value)
                kept = session.conf.get(name)
        if kept != value:
            fix = "let sessions set it, or use another server"
            raise Refusal("Spark", f'does not keep the setting {name} = "{value}", which answers depend on', fix)


def try_out(session: "Session") -> None:
    """A Refusal unless a server computes what statements depend on as Spark does."""
    if all(_ask(session, *TRUTHS.values())):
        return
    wrong = [name for name, truth in TRUTHS.items() if not all(_ask(session, truth))]
    said = f"it does not hold that {wrong[0]}" if wrong else "it does not answer all at once what it answers one by one"
    why = f"speaks Spark's protocol, and does not compute as Spark does: {said}"
    raise Refusal("The server", why, "use Spark 4, or another engine")


def _ask(session: "Session", *truths: str) -> list[bool]:
    """Whether each of them holds; none where one cannot be computed."""
    with suppress(Exception):
        listed = ", ".join(f"({truth}) AS t{place}, COUNT(*) AS n{place}" for place, truth in enumerate(truths))
        (row,) = session.sql(f"SELECT {listed} FROM RANGE(2)").toArrow().to_pylist()
        return [row[f"t{place}"] is True for place in range(len(truths))]
    return [False]
