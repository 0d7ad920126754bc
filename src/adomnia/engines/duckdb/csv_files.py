"""CSV files: where the rows begin, and the same text in UTF-8 if DuckDB could not read every row of it.

Nothing is guessed: which delimiter or type a sniffer finds would depend on the rows.
"""

import codecs
import csv
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from adomnia.catalog.model import CsvFormat
from adomnia.engines.duckdb.texts import file_name, text_literal
from adomnia.errors import Refusal

ENDINGS = {".csv": ",", ".tsv": "\t"}
_SEPARATOR = re.compile("sep=(.)\r?\n?", re.IGNORECASE)  # the first line of a file that Excel wrote
_CHUNK = 1 << 20
_UTF8 = "utf-8"


@dataclass(frozen=True)
class Header:
    """The names of the columns, the delimiter between them, and how many lines come before the rows."""

    names: tuple[str, ...]
    delimiter: str
    lines: int


def ending_of(path: Path) -> str:
    """How the name of a file ends, but for .gz.

    >>> ending_of(Path("People.CSV.gz"))
    '.csv'
    """
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_csv_header(path: Path, declared: CsvFormat) -> Header:
    """Read the header of a CSV file."""
    lines = _lines(path, declared.encoding)
    first, before = next(lines, ""), 0
    separator = _SEPARATOR.fullmatch(first)
    if separator:
        first, before = next(lines, ""), 1
    delimiter = declared.delimiter or (separator[1] if separator else ENDINGS[ending_of(path)])
    text = _chain(first, lines)
    if declared.quote:
        reader = csv.reader(text, delimiter=delimiter, quotechar=declared.quote, strict=True)
    else:
        reader = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return Header(tuple(next(reader, [])), delimiter, before + reader.line_num)


def render_csv(path: Path, header: Header, declared: CsvFormat, scratch: Path) -> str:
    """SQL that reads a CSV file as texts p0, p1, ..."""
    columns = ", ".join(f"p{place}: 'VARCHAR'" for place in range(len(header.names)))
    quote = text_literal(declared.quote)
    return (
        f"read_csv({file_name(_in_utf8(path, declared.encoding, scratch))}, auto_detect = false, header = false, "
        f"skip = {header.lines}, delim = {text_literal(header.delimiter)}, quote = {quote}, escape = {quote}, "
        f"columns = {{{columns}}})"
    )


def refuse_lost_header(name: str, header: Header) -> None:
    """Refuse a header with letters that are not of the declared encoding."""
    if any("\N{REPLACEMENT CHARACTER}" in each for each in header.names):
        why = "has a header with letters that are not in the encoding of the file"
        raise Refusal(f"Source {name}", why, 'declare the encoding, for example csv = { encoding = "latin-1" }')


def _lines(path: Path, encoding: str) -> Iterator[str]:
    codec = "utf-8-sig" if encoding == _UTF8 else encoding
    with open_bytes(path) as file, codecs.getreader(codec)(file, "replace") as text:
        yield from text


def _chain(first: str, others: Iterator[str]) -> Iterator[str]:
    yield first
    yield from others


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked if its name says that they are packed."""
    packed = path.suffix.lower() == ".gz"
    return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]  # it reads bytes too


def _in_utf8(path: Path, encoding: str, scratch: Path) -> Path:
    """The file itself if it is UTF-8 throughout, or a copy that is: a byte that is none would make the reader fail."""
    if encoding == _UTF8 and _is_utf8(path):
        return path
    copy = scratch / f"{len(list(scratch.iterdir()))}.csv"
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == _UTF8 else encoding)("replace")
    with open_bytes(path) as file, copy.open("w", encoding=_UTF8, newline="") as written:
        copy.chmod(0o600)
        while chunk := file.read(_CHUNK):
            written.write(decoder.decode(chunk))
        written.write(decoder.decode(b"", final=True))
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
