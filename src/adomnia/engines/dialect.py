"""What an engine's SQL calls things: a table of words and limits that statements are written from and read again by.

A template has {0}, {1}, ... where SQL of ours goes. Nothing here decides anything: an engine that spells a word in
another way has another row, and the code that uses the row stays as it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Spelling: TypeAlias = Callable[..., str]


@dataclass(frozen=True)
class IntegerType:
    """A type of exact integers: its name, and the largest integer that it holds with either sign."""

    name: str
    largest: int


@dataclass(frozen=True)
class Types:
    """The types that statements name.

    `small` is what a condition is cast to where rows are grouped by it, `days` what a number of days is, and `rank`
    what numbers rows and people. A sum is carried in `wide`, and leaves the engine as `long` or as `decimal`.
    """

    double: str
    boolean: str
    text: str
    date: str
    small: str
    days: str
    rank: str
    long: IntegerType
    wide: IntegerType
    decimal: IntegerType
    stored: tuple[IntegerType, ...]  # what columns of integers are stored as, the narrowest first


@dataclass(frozen=True)
class SourceTypes:
    """The types that an engine finds in the owner's files, by what they hold; `empty` where no row has a value."""

    whole: frozenset[str]
    wide: frozenset[str]
    doubles: frozenset[str]
    decimals: frozenset[str]
    booleans: frozenset[str]
    moments: frozenset[str]
    texts: frozenset[str]
    other_keys: frozenset[str]
    empty: str

    @property
    def numbers(self) -> frozenset[str]:
        """All that hold numbers."""
        return self.whole | self.wide | self.doubles | self.decimals


@dataclass(frozen=True)
class IndexWords:
    """The words that only building the index needs.

    `digest` is the hash of parts joined with commas, `byte_length` the length of a text in bytes. `position` is the
    place of a row in its table, and `side_by_side` pairs the rows of two tables by it. `unmatched` are the rows of a
    table without a partner in another by columns, `all_but` the columns of a side without one. `declared_values` are
    the statements that declare the categories of {0}, bound to the first of them, and `code` is the place of a text
    {0} among those of {1}. The keys are ids as texts that are equal for equal ids: from a text that may spell a number,
    from a decimal, from a double. `local_time` is the second that {0} shows on a clock of the time zone {1}, without
    fractions; `seconds` counts those of a clock's time within the calendar since 1970.
    """

    temporary: str
    digest: str
    byte_length: str
    position: str
    side_by_side: str
    unmatched: str
    all_but: str
    declared_values: tuple[str, str]
    code: str
    spelled_key: str
    decimal_key: str
    double_key: str
    local_time: Spelling
    seconds: str


@dataclass(frozen=True, eq=False)
class Dialect:
    """One engine's SQL. `name` is what SQLGlot calls it.

    `functions` holds a spelling for each function of the registry, total on every row. `raises` are the nodes, by their
    class in SQLGlot, that a row can make fail in this engine although they are total in others: the second look
    believes no statement that holds one.
    """

    name: str
    quotation: str
    parameter: str
    double: str
    not_a_number: str
    try_cast: str
    types: Types
    functions: Mapping[str, Spelling]
    raises: frozenset[str]
    sources: SourceTypes
    index: IndexWords

    def quote(self, name: str) -> str:
        """An identifier, whatever its letters."""
        return self.quotation + name.replace(self.quotation, self.quotation * 2) + self.quotation
