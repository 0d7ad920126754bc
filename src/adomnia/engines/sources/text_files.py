# ruff: noqa: S608 - SQL is what this module writes; names and paths are quoted
"""Text files as DuckDB reads them: CSV, lines of JSON, and how their values are spelled.

Nothing is guessed: which delimiter or type a sniffer finds would depend on the rows. CSV that DuckDB could not read as
it is, is first written in UTF-8. A line of JSON that is none, or cannot be read, is no row, and changes no other line.

Every expression is total. What is missing is NULL; what is not spelled as declared becomes a text that nothing can be
read from, so that it is counted as unreadable and is NULL in the index.
"""

import codecs
import csv
import gzip
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader, TextIOWrapper
from itertools import chain
from pathlib import Path

import duckdb

from adomnia.catalog.model import CsvFormat
from adomnia.engines.dialect import text_literal
from adomnia.engines.duckdb_dialect import file_name
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Identity, Quantity, Text

ENDINGS = {".csv": ",", ".tsv": "\t"}
_SEPARATOR = re.compile("sep=(.)\r?\n?", re.IGNORECASE)  # the first line of a file that Excel wrote
_CHUNK = 1 << 20
_UTF8, _UTF16 = "utf-8", "utf-16"
_SHIFTED_LINE_END = "\u0a00"  # what one byte too many makes of every end of a line after it; no letter has that number


@dataclass(frozen=True)
class Header:
    """The names of the columns, the delimiter between them, how many lines they take and come before, and how one ends.

    Lines end in the rows as they do here: the first end that DuckDB meets there may stand in quotes.
    """

    names: tuple[str, ...]
    delimiter: str
    lines: int
    before: int
    line_end: str


def ending_of(path: Path) -> str:
    """How the name of a file ends, but for .gz.

    >>> ending_of(Path("People.CSV.gz"))
    '.csv'
    """
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_csv_header(path: Path, declared: CsvFormat) -> Header:
    """Read the header of a CSV file."""
    with _open_text(path, declared.encoding) as text:
        first = text.readline()
        separator = _SEPARATOR.fullmatch(first)
        if separator:
            first = text.readline()
        delimiter = declared.delimiter or (separator[1] if separator else ENDINGS[ending_of(path)])
        read: list[str] = []
        lines = _remember(chain([first], text), read)
        if declared.quote:
            reader = csv.reader(lines, delimiter=delimiter, quotechar=declared.quote, strict=True)
        else:
            reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        names = tuple(next(reader))
    end = read[-1][len(read[-1].rstrip("\r\n")) :]
    return Header(names, delimiter, len(read), 1 if separator else 0, end.replace("\r", "\\r").replace("\n", "\\n"))


def _remember(lines: Iterator[str], read: list[str]) -> Iterator[str]:
    for line in lines:
        read.append(line)
        yield line


def render_csv(path: Path, header: Header, declared: CsvFormat, scratch: Path) -> str:
    """SQL that reads a CSV file as texts p0, p1, ..."""
    columns = ", ".join(f"p{place}: 'VARCHAR'" for place in range(len(header.names)))
    end = f", new_line = '{header.line_end}'" if header.line_end else ""
    quote = text_literal(declared.quote)
    # Readers disagree on what is a line where a name in quotes has several: those are cut off in a copy.
    if declared.encoding == _UTF8 and header.lines == 1 and _is_utf8(path):
        file, skipped = path, header.before + header.lines
    else:
        file, skipped = _copy_rows(path, header, declared.encoding, scratch), 1
    return (
        f"read_csv({file_name(file)}, auto_detect = false, header = false, skip = {skipped}, "
        f"delim = {text_literal(header.delimiter)}, quote = {quote}, escape = {quote}, columns = {{{columns}}}{end})"
    )


def refuse_lost_header(name: str, header: Header) -> None:
    """Refuse a header with letters that are not of the declared encoding."""
    if any("\N{REPLACEMENT CHARACTER}" in each for each in header.names):
        why = "has a header with letters that are not in the encoding of the file"
        raise Refusal(f"Source {name}", why, 'declare the encoding, for example csv = { encoding = "latin-1" }')


def open_bytes(path: Path) -> BufferedReader | gzip.GzipFile:
    """A file as it is read, unpacked."""
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def _open_text(path: Path, encoding: str) -> TextIOWrapper:
    """The letters of a file; what is none in its encoding becomes a replacement character."""
    codec = "utf-8-sig" if encoding == _UTF8 else encoding
    return TextIOWrapper(open_bytes(path), codec, "replace", newline="")


def _copy_rows(path: Path, header: Header, encoding: str, scratch: Path) -> Path:
    """A copy in UTF-8 of what comes after the header: a byte that is no letter would make the reader fail.

    An empty line stands for the header: a mark of UTF-8 in the first row stays one there, as in a file that is not
    copied. In UTF-16 a byte too many would take in all rows after its own: such a file is refused.
    """
    copy = scratch / f"{len(list(scratch.iterdir()))}.csv"
    with _open_text(path, encoding) as text, copy.open("w", encoding=_UTF8, newline="") as written:
        copy.chmod(0o600)
        for _ in range(header.before + header.lines):
            ended = text.readline()
        written.write(ended[len(ended.rstrip("\r\n")) :])
        while chunk := text.read(_CHUNK):
            if encoding == _UTF16 and _SHIFTED_LINE_END in chunk:
                raise UnicodeError
            written.write(chunk)
    return copy


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder(_UTF8)()
    with open_bytes(path) as file:
        try:
            while chunk := file.read(_CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


JSON_ENDINGS = frozenset({".jsonl", ".ndjson"})
_LONGEST_LINE = 16_000_000


def read_keys(connection: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[str, str]]:
    """The keys of all objects, in their order of appearance: there is no header."""
    keys = f"SELECT UNNEST(json_keys(object)) AS name, ROW_NUMBER() OVER () AS line FROM {_objects(path)}"
    found = connection.execute(f"SELECT name FROM ({keys}) GROUP BY name ORDER BY MIN(line), name").fetchall()
    return [(str(name), "VARCHAR") for (name,) in found]


def render_json_lines(path: Path, names: Sequence[str]) -> str:
    """SQL that reads the values of keys as texts c0, c1, ..."""
    values = (f"json_extract_string(object, {_pointer(name)}) AS c{place}" for place, name in enumerate(names))
    return f"(SELECT {', '.join(values)} FROM {_objects(path)})"


def _objects(path: Path) -> str:
    # No character but the end of a line has a meaning: one that no JSON may hold parts columns, and nothing quotes.
    lines = (
        f"read_csv({file_name(path)}, auto_detect = false, header = false, delim = chr(1), quote = '', escape = '', "
        f"columns = {{line: 'VARCHAR'}}, strict_mode = false, ignore_errors = true, max_line_size = {_LONGEST_LINE})"
    )
    return f"(SELECT TRY_CAST(line AS JSON) AS object FROM {lines} WHERE json_type(TRY_CAST(line AS JSON)) = 'OBJECT')"


def _pointer(name: str) -> str:
    return text_literal("/" + name.replace("~", "~0").replace("/", "~1"))


_UNREADABLE = "'?'"
_BLANKS = "' \t\u00a0\u202f'"  # what stands between a number and its currency: a space, or one that breaks no line


def render_spelled(text: str, column: Column, csv: CsvFormat, days: str | None) -> str:
    """The text of a column in the usual spelling: 1234.5 for a number, 2024-01-31 for a day in the format `days`."""
    there = _leave_out_missing(text, column, csv)
    match column.kind:
        case Quantity():
            return _number(there, csv)
        case Day() if days is not None:
            return render_day(there, days)
    return there


def render_day(text: str, days: str) -> str:
    """A day in a format, as 2024-01-31."""
    digits = f"REGEXP_EXTRACT({text}, '^.*[0-9].*$')"  # DuckDB takes infinity and epoch for days as well
    read = f"CAST(TRY_CAST(TRY_STRPTIME(TRIM({digits}), {text_literal(days)}) AS DATE) AS VARCHAR)"
    return f"CASE WHEN {text} IS NOT NULL THEN COALESCE({read}, {_UNREADABLE}) END"


def _leave_out_missing(text: str, column: Column, csv: CsvFormat) -> str:
    """An empty field is missing, and of numbers, days and booleans also one of spaces; of the others a space counts."""
    if not isinstance(column.kind, Text | Identity):
        text = f"NULLIF(TRIM({text}, {_BLANKS}), '')"
    if not csv.null:
        return text
    return f"CASE WHEN TRIM({text}) NOT IN ({', '.join(map(text_literal, csv.null))}) THEN {text} END"


def _number(text: str, csv: CsvFormat) -> str:
    if csv.currency is not None:
        text = f"TRIM(REPLACE({text}, {text_literal(csv.currency)}, ''), {_BLANKS})"
    if csv.thousands is not None:
        text = _without_thousands(text, csv.thousands, csv.decimal)
    if csv.decimal != ".":
        pointed = f"REPLACE({text}, {text_literal(csv.decimal)}, '.')"
        text = f"CASE WHEN CONTAINS({text}, '.') THEN {_UNREADABLE} ELSE {pointed} END"
    return text


def _without_thousands(text: str, mark: str, decimal: str) -> str:
    """Without the marks where they part groups of digits, the last of three; anywhere else they are an error."""
    sign, point = re.escape(mark), re.escape(decimal)
    grouped = f"[+-]?[0-9]{{1,3}}({sign}[0-9]{{2,3}})*{sign}[0-9]{{3}}({point}[0-9]*)?"
    shape = f"REGEXP_FULL_MATCH({text}, {text_literal(grouped)})"
    quoted = text_literal(mark)
    plain = f"REPLACE({text}, {quoted}, '')"
    return f"CASE WHEN CONTAINS({text}, {quoted}) AND NOT {shape} THEN {_UNREADABLE} ELSE {plain} END"
