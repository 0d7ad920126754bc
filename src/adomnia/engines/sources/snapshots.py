# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""Tables in PostgreSQL at one moment: all tables of a catalog are read in one transaction, which cannot write.

Nothing that users of the database defined is called, but for what their own views call. Every expression is total. A
value travels as the Arrow type `carried` and then counts as the engine's type `held`, so that it means what the same
column means in a Parquet file.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from adomnia.catalog.document_keys import closest
from adomnia.catalog.sources import split_table_name
from adomnia.errors import AdomniaError, Refusal, Unavailable
from adomnia.postgres import asking, check_settings, connect, describe, driver

if TYPE_CHECKING:
    import psycopg


LONGEST = 16_000  # characters of a text that travel: of a longer one the first, and a hash that tells it from others
_FAR = "'290000-01-01'"  # not much further reach the microseconds since 1970
_LAST_DAY, _LAST_MICROSECOND = 2**31 - 1, 2**63 - 1  # how DuckDB writes infinity

_HASH = "encode(sha256(convert_to({0}, 'UTF8')), 'hex')"
_TEXT = f"CASE WHEN length({{0}}) <= {LONGEST} THEN {{0}} ELSE left({{0}}, {LONGEST}) || {_HASH} END"
_DAYS = (
    f"CASE {{0}} WHEN date 'infinity' THEN {_LAST_DAY} WHEN date '-infinity' THEN -{_LAST_DAY} "
    "ELSE {0} - date '1970-01-01' END"
)
# Seconds and microseconds apart: before version 14 both come as doubles, which have no room for their sum.
_MICROSECONDS = (
    f"CASE WHEN {{{{0}}}} >= {{kind}} {_FAR} THEN {_LAST_MICROSECOND} "
    f"WHEN {{{{0}}}} = {{kind}} '-infinity' THEN -{_LAST_MICROSECOND} "
    "ELSE CAST(EXTRACT(EPOCH FROM date_trunc('second', {{0}})) AS bigint) * 1000000 "
    "+ CAST(EXTRACT(MICROSECONDS FROM {{0}}) AS bigint) % 1000000 END"
)


@dataclass(frozen=True)
class ForeignType:
    """How a column is selected, as what it travels, as what those bits are read, and what the engine takes them for."""

    held: str
    carried: pa.DataType
    sql: str = "{0}"
    read: pa.DataType | None = None

    @property
    def is_readable(self) -> bool:
        """Whether its values travel at all."""
        return self.sql != _NOTHING

    @property
    def stored(self) -> str:
        """The engine's type of the values that arrived."""
        return "VARCHAR" if self.carried == pa.string() else self.held


_NOTHING = "CAST(NULL AS text)"
_TEXTS = ForeignType("VARCHAR", pa.string(), _TEXT.format("CAST({0} AS text)"))
_LABEL = ForeignType("VARCHAR", pa.string())  # at most 63 bytes, and a cast of it could be a user's own
_WALL, _ZONED = (_MICROSECONDS.format(kind=kind) for kind in ("timestamp", "timestamptz"))
_KNOWN = {
    "int2": ForeignType("SMALLINT", pa.int16()),
    "int4": ForeignType("INTEGER", pa.int32()),
    "int8": ForeignType("BIGINT", pa.int64()),
    "oid": ForeignType("BIGINT", pa.int64()),
    "float4": ForeignType("FLOAT", pa.float32()),
    "float8": ForeignType("DOUBLE", pa.float64()),
    # Its digits, of which there may be any number: the engine reads the nearest double from them, or a key.
    "numeric": ForeignType("DECIMAL", pa.string(), "NULLIF({0}, numeric 'NaN')"),
    "bool": ForeignType("BOOLEAN", pa.bool_()),
    "text": _TEXTS,
    "varchar": _TEXTS,
    "bpchar": _TEXTS,  # a text has no blanks at its end, which do not count where such values are compared
    "name": _LABEL,
    "uuid": ForeignType("UUID", pa.string()),
    "date": ForeignType("DATE", pa.int32(), _DAYS, pa.date32()),
    "timestamp": ForeignType("TIMESTAMP", pa.int64(), _WALL, pa.timestamp("us")),
    "timestamptz": ForeignType("TIMESTAMP WITH TIME ZONE", pa.int64(), _ZONED, pa.timestamp("us", "UTC")),
}


def find_type(name: str, is_enum: bool, is_built_in: bool) -> ForeignType:
    """The type of a column, by its name in PostgreSQL behind all domains; one that cannot be read keeps that name."""
    if is_enum:
        return _LABEL
    unreadable = ForeignType(name.upper(), pa.string(), _NOTHING)
    return _KNOWN.get(name, unreadable) if is_built_in else unreadable


_SETTINGS = {
    "search_path": "pg_catalog,pg_temp",
    "row_security": "off",  # an error where a policy would leave out rows in silence
    "lock_timeout": "10000",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, YMD",
    "TimeZone": "UTC",
    "extra_float_digits": "3",
    "jit": "off",
}
_ENCODINGS = {"UTF8", "LATIN1"}  # in others a row may hold what has no place in UTF-8, and fail
_RELATIONS = "relkind IN ('r', 'p', 'v', 'm', 'f')"  # tables, views and what is like them
_IN_SCHEMA = "FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace WHERE n.nspname = %s"
_LIST = f"SELECT relname {_IN_SCHEMA} AND {_RELATIONS} AND NOT relispartition ORDER BY 1"
_KIN = "EXISTS (SELECT 1 FROM pg_inherits WHERE pg_class.oid IN (inhrelid, inhparent))"
_FIND = f"SELECT pg_class.oid, {_KIN}, reltuples {_IN_SCHEMA} AND relname = %s AND {_RELATIONS}"
# Of some columns at least: which ones are declared is looked at where they are read.
_READABLE = (
    "SELECT has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(pg_class.oid, 'SELECT') "
    f"{_IN_SCHEMA} AND relname = %s"
)
_COLUMNS = (
    "WITH RECURSIVE behind(place, name, type, collated) AS ("
    "SELECT attnum, attname, atttypid, attcollation FROM pg_attribute "
    "WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped "
    "UNION ALL SELECT place, name, typbasetype, collated FROM behind "
    "JOIN pg_type ON pg_type.oid = type WHERE typtype = 'd') "
    # Before version 12 nothing says whether a collation is such, and none is.
    "SELECT name, CASE WHEN CAST(to_jsonb(pg_collation) ->> 'collisdeterministic' AS boolean) IS FALSE "
    "THEN 'text of which different ones count as equal' ELSE typname END, "
    "typtype = 'e', typnamespace = CAST('pg_catalog' AS regnamespace) "
    "FROM behind JOIN pg_type ON pg_type.oid = type LEFT JOIN pg_collation ON pg_collation.oid = collated "
    "WHERE typtype <> 'd' ORDER BY place"
)
_FORBIDDEN, _LOCKED = "42501", "55P03"
_PASSING = ("08", "40", "53", "57")  # classes of errors that say nothing of what was asked


@dataclass(frozen=True)
class ForeignTable:
    """A table in PostgreSQL, with about so many rows, or -1 where nobody counted them.

    `has_kin` says that it is a part of another table, or has such parts.
    """

    url: str
    name: str
    columns: tuple[tuple[str, ForeignType], ...]
    rows: float
    has_kin: bool

    @property
    def sql(self) -> str:
        return ".".join(map(quote, split_table_name(self.name)))

    def select(self, places: Sequence[int]) -> str:
        """SQL of some columns of all rows, as c0, c1, ..."""
        named = enumerate(self.columns[at] for at in places)
        listed = (f"{kind.sql.format(f't.{quote(name)}')} AS c{place}" for place, (name, kind) in named)
        return f"SELECT {', '.join(listed)} FROM {self.sql} AS t"

    def select_fingerprint(self) -> str:
        """SQL of the number of rows and of sums of their hashes, which do not depend on the order of rows."""
        values = (f"t.{quote(name)}" for name, kind in self.columns if kind.is_readable)
        hashes = f"SELECT md5(CAST(ROW({', '.join(values)}) AS text)) AS hash FROM {self.sql} AS t"
        sums = (f"SUM(CAST(CAST('x' || substr(hash, {start}, 16) AS bit(64)) AS bigint))" for start in (1, 17))
        return f"SELECT COUNT(*), {', '.join(sums)} FROM ({hashes}) AS hashes"


class Snapshots:
    """One transaction for each URL, begun when it is first asked for: all that is read through it is of one moment."""

    def __init__(self) -> None:
        self._opened = ExitStack()
        self._connections: dict[str, psycopg.Connection[Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all transactions; what is read after this is of another moment."""
        self._connections.clear()
        self._opened.close()

    def connection(self, url: str) -> "psycopg.Connection[Any]":
        """The transaction of a URL."""
        if url not in self._connections:
            connection = connect(url, program="adomnia index", settings=_SETTINGS)
            self._opened.callback(connection.close)
            with asking(connection):
                check_settings(connection, url, _SETTINGS)
            connection.read_only, connection.isolation_level = True, driver().IsolationLevel.REPEATABLE_READ
            self._connections[url] = connection
        return self._connections[url]

    def find_table(self, url: str, written: str) -> ForeignTable:
        """A table by its name, with or without that of its schema."""
        schema, name = split_table_name(written)
        with explain_faults(url, written):
            connection = self.connection(url)
            _refuse_encoding(url, connection.info.parameter_status("server_encoding"))
            found = connection.execute(_FIND, (schema, name)).fetchone()
            if found is None:
                raise _unknown_table(url, schema, name, self.list_tables(url, schema))
            number, has_kin, rows = found
            listed = connection.execute(_COLUMNS, (number,)).fetchall()
        columns = tuple((str(column), find_type(*kind)) for column, *kind in listed)
        return ForeignTable(url, written, columns, rows, has_kin)

    def refuse_unreadable(self, url: str, written: str) -> None:
        """Refuse a table that the role may not read at all; no row is read for this."""
        with explain_faults(url, written):
            ((readable,),) = self.connection(url).execute(_READABLE, split_table_name(written)).fetchall()
        if not readable:
            raise _explain(url, written, _FORBIDDEN)

    def list_tables(self, url: str, schema: str) -> list[str]:
        """The names of the tables and views of a schema."""
        with explain_faults(url, schema):
            return [str(name) for (name,) in self.connection(url).execute(_LIST, (schema,)).fetchall()]

    def fingerprint(self, url: str, written: str) -> str:
        """What tells the rows of a table from others, whatever their order: their number, and sums of their hashes."""
        table = self.find_table(url, written)
        with explain_faults(url, written):
            ((rows, *sums),) = self.connection(url).execute(table.select_fingerprint()).fetchall()
        return f"{rows} {' '.join(map(str, sums))}"


def quote(name: str) -> str:
    """A name as PostgreSQL reads it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def explain_faults(url: str, table: str) -> Iterator[None]:
    """Say in words of ours what went wrong: those of the server may quote rows."""
    psycopg = driver()
    try:
        yield
    except psycopg.Error as error:
        fault = _explain(url, table, error.sqlstate or _PASSING[0])
    else:
        return
    raise fault  # out here it carries no cause


def _explain(url: str, table: str, state: str) -> AdomniaError:
    where = describe(url)
    if state == _FORBIDDEN:
        named = ".".join(map(quote, split_table_name(table)))
        fix = f"GRANT SELECT ON {named}, and USAGE of its schema, to that role, and keep no policy on its rows"
        return Refusal(where, f"does not let its role read all rows of {table}", fix)
    if state == _LOCKED:
        return Unavailable(
            where, f"has {table} locked for others", "try again when the program that changes it is done"
        )
    if state.startswith(_PASSING):
        return Unavailable(where, "ended the connection", "see that the server runs, and try again")
    return Refusal(where, f"cannot read {table}", "see that every row can be read: a view may fail on one")


def _unknown_table(url: str, schema: str, name: str, known: Sequence[str]) -> Refusal:
    close = closest(name, known)
    listed = f"name one of those that are there, in upper and lower case as here: {', '.join(known)}"
    fix = (f"did you mean {close}? {listed}" if close else listed) if known else "name another schema"
    return Refusal(describe(url), f"has no table {name} in the schema {schema}", fix)


def _refuse_encoding(url: str, encoding: str | None) -> None:
    if encoding not in _ENCODINGS:
        why = f"keeps its texts as {encoding}, in which a row may hold what is no text"
        raise Refusal(describe(url), why, "copy the data to a database in UTF8")
