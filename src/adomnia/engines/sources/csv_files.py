"""CSV files: where their rows begin, and the rows in UTF-8 where DuckDB could not read all of them.

Nothing is guessed: which delimiter or type a sniffer finds would depend on the rows.
"""

import codecs
import csv
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, TextIOWrapper
from itertools import chain
from pathlib import Path

from adomnia.catalog.model import CsvFormat
from adomnia.engines.sources.texts import file_name, text_literal
from adomnia.errors import Refusal

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


def _open_bytes(path: Path) -> BufferedReader | gzip.GzipFile:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def _open_text(path: Path, encoding: str) -> TextIOWrapper:
    """The letters of a file; what is none in its encoding becomes a replacement character."""
    codec = "utf-8-sig" if encoding == _UTF8 else encoding
    return TextIOWrapper(_open_bytes(path), codec, "replace", newline="")


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
    with _open_bytes(path) as file:
        try:
            while chunk := file.read(_CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True
