"""How a text file is laid out: encoding, delimiter and header, found in its first lines."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from adomnia.engines.sources.text_files import open_bytes
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adomnia.catalog.model import CsvFormat

USUAL = {".csv": ",", ".tsv": "\t"}  # what a delimiter is unless the catalog says otherwise
_FIRST_BYTES = 1 << 20
_FIRST_LINES = 20
_DELIMITERS = (",", ";", "\t", "|")
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SEPARATOR = re.compile("sep=(.)\\r?\\n?", re.IGNORECASE)  # the first line of a file that Excel wrote
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
_DAY = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}([ T].*)?")
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
_YEARS = range(1800, 2200)
_SERIES = 3  # so many days, or numbers that rise, name the columns of a series
_WINDOWS = range(0x80, 0xA0)  # letters of Windows-1252, control characters of Latin-1


@dataclass(frozen=True)
class Layout:
    """The encoding, the delimiter, and the names that the first line gives to the columns."""

    encoding: str
    delimiter: str
    header: tuple[str, ...]


def is_text_file(path: Path) -> bool:
    """Whether a name is that of a CSV or TSV file, compressed or not."""
    return text_suffix(path) in USUAL


def text_suffix(path: Path) -> str:
    """The ending of a file's name, without that of a compressed one."""
    name = path.name.lower().removesuffix(".gz")
    return f".{name.rpartition('.')[2]}"


def find_layout(path: Path) -> Layout:
    """The layout of a CSV file by its first lines; rows after them are not read."""
    try:
        first = _read_beginning(path)
    except (OSError, EOFError):
        raise Refusal(f"File {path.name}", "is not a file that can be read", "correct its name") from None
    encoding = find_encoding(first, len(first) < _FIRST_BYTES)
    lines = first.decode(encoding, errors="replace").removeprefix("\ufeff").splitlines(keepends=True)[:_FIRST_LINES]
    separator = _SEPARATOR.fullmatch(lines[0]) if lines else None
    lines = lines[1:] if separator else lines
    delimiter = separator[1] if separator else _find_delimiter(lines, USUAL[text_suffix(path)])
    header = next(csv.reader(lines, delimiter=delimiter), [])
    if not header:
        raise Refusal(f"File {path.name}", "is empty", "name a file with a header")
    return Layout(encoding, delimiter, tuple(header))


def find_other_layout(path: Path, declared: CsvFormat) -> dict[str, str]:
    """The keys of `csv` that a text file needs because its first lines are not written as declared."""
    if not is_text_file(path) or not path.is_file():
        return {}
    found = find_layout(path)
    written = {"delimiter": found.delimiter, "encoding": found.encoding}
    said = {"delimiter": declared.delimiter or USUAL[text_suffix(path)], "encoding": declared.encoding}
    return {key: value for key, value in written.items() if value != said[key]}


def names_columns(line: Sequence[str]) -> bool:
    """Whether the first line of a file may be its header: the row of a person is none.

    >>> names_columns(["id", "2023", "2024"]), names_columns(["0", "1"]), names_columns(["Anna", "34", "1990-02-01"])
    (True, True, False)
    """
    fields = [field.strip() for field in line]
    days = [field for field in fields if _DAY.fullmatch(field)]
    if any(map(_ADDRESS.fullmatch, fields)) or 0 < len(days) < _SERIES:
        return False
    numbers = [
        (place, float(field.replace(",", "."))) for place, field in enumerate(fields) if _NUMBER.fullmatch(field)
    ]
    values = [number for place, number in numbers if number not in _YEARS and number not in {place, place + 1}]
    rising = all(one < other for (_, one), (_, other) in pairwise(numbers))
    return not values or (rising and len(numbers) >= _SERIES)


def read_encoding(path: Path) -> str:
    """The encoding of a whole file."""
    with open_bytes(path) as file:
        return find_encoding(file.read())


def find_encoding(content: bytes, whole: bool = True) -> str:
    """The encoding of a file, or of its beginning: UTF-8 if it can be, else what Excel and old programs write.

    >>> find_encoding("Zoë".encode()), find_encoding("Zoë".encode("latin-1"))
    ('utf-8', 'latin-1')
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content, whole)  # a beginning may end within a character
    except UnicodeDecodeError:
        return "cp1252" if any(byte in _WINDOWS for byte in content) else "latin-1"
    return "utf-8"


def _read_beginning(path: Path) -> bytes:
    with open_bytes(path) as file:
        return file.read(_FIRST_BYTES)


def _find_delimiter(lines: list[str], usual: str) -> str:
    """The one that parts the header and the lines after it into the same number of fields, the most of them."""
    return max((usual, *_DELIMITERS), key=lambda delimiter: _count_fields(lines, delimiter))


def _count_fields(lines: list[str], delimiter: str) -> tuple[bool, int]:
    # The last line may be cut off, or a quoted text may go on after it.
    widths = [len(row) for row in islice(csv.reader(lines, delimiter=delimiter), max(len(lines) - 1, 1)) if row]
    return len(set(widths)) <= 1, widths[0] if widths else 0
