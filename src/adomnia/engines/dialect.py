"""What an engine's SQL calls things: a table of words and limits that statements are written from and read again by.

A template has {0}, {1}, ... where SQL of ours goes. Nothing here decides anything: an engine that spells a word in
another way has another row, and the code that uses the row stays as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from adomnia.errors import Refusal

Spelling: TypeAlias = Callable[..., str]
Declaring: TypeAlias = Callable[[str, Sequence[str]], Sequence[tuple[str, tuple[object, ...]]]]


@dataclass(frozen=True)
class IntegerType:
    """A type of exact integers: its name, and the largest integer that it holds with either sign."""

    name: str
    largest: int


@dataclass(frozen=True)
class Types:
    """The types that statements name.

    `small` is what a condition is cast to where rows are grouped by it, `days` what a number of days is, and `rank`
    what numbers the rows of a person. SUM of integers other than `wide` ones is
    carried in `sum`, and leaves the engine as `long` or as `decimal`.
    """

    double: str
    boolean: str
    text: str
    date: str
    small: str
    days: str
    rank: str
    long: IntegerType
    sum: IntegerType
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

    `temporary` is a table {0} of the rows {1}, in the place of another of that name, and `temporary_columns` an empty
    one of the columns {1}, unless it is there. `read_as` is a value of a source as another type, NULL where it is none.
    `key` is the key of the order, given in hexadecimal digits, `digest` the hash of parts joined with commas, a value
    of which equal ones and the order are the same in every engine, `low_bits` its last 24 bits as a long integer, and
    `byte_length` the length of a text in bytes.
    `days_between` counts the days from {1} to {0}. `position` is the place of a row in its table, and `side_by_side`
    pairs the rows of two tables by it; where there is no such join, rows are sorted. `declare` gives the statements,
    and what is bound to them, that declare the categories of a name, and `code` is the place of a text among those of
    a name, whose values are given too. The keys are ids as texts that are equal for equal ids: from a text that may
    spell a number, from a decimal, from a double. `local_time` is the second that {0} shows on a clock of the time zone
    {1}, without fractions; `seconds` counts those of a clock's time within the calendar since 1970.
    """

    temporary: str
    temporary_columns: str
    read_as: str
    key: str
    digest: str
    low_bits: str
    byte_length: str
    days_between: str
    position: str
    side_by_side: str | None
    declare: Declaring
    code: Callable[[str, str, Sequence[str]], str]
    spelled_key: str
    decimal_key: str
    double_key: str
    local_time: Spelling
    seconds: str


@dataclass(frozen=True, eq=False)
class Dialect:
    """One engine's SQL. `name` is what SQLGlot calls it, `engine` what we do where that is not the same.

    `functions` holds a spelling for each function of the registry that the engine has, total on every row, and
    `aggregates` those that engines spell in different ways: of one person's rows, or of public ones. `refused` says of
    every other function of the registry why it is not offered.

    `rounding` is FLOOR(value / step + 0.5) of a double, `fine_rounding` the same where the step is at most 1, if that
    is cheaper, and `fitting` a double as an integer of a type; FLOOR may be left to the latter. `truncating` is a
    double as an integer of a type, rounded towards zero. They stand in a branch of CASE for values within bounds: what
    engines do with others is not asked, as long as none of them fails.

    `raises` are the nodes, by their class in SQLGlot, that a row can make fail in this engine although they are total
    in others: the second look believes no statement that holds one.

    `readings` are phrases of this dialect that SQLGlot does not read as what they mean, each with a phrase of DuckDB
    that means the same on every value: what the second look proves is proved of the latter.

    `fence` stands behind a SELECT in brackets whose outputs are computed once, where an engine would otherwise compute
    them wherever they are named: it keeps all rows.

    `shifted` is an integer without its last bits. `most_ways` is how many ways a regular expression may have to be read
    where an engine tries one after the other.
    """

    name: str
    quotation: str
    parameter: str
    double: str
    not_a_number: str
    try_cast: str
    rounding: str
    fitting: Spelling
    truncating: Spelling
    types: Types
    functions: Mapping[str, Spelling]
    aggregates: Mapping[str, Spelling]
    refused: Mapping[str, str]
    raises: frozenset[str]
    sources: SourceTypes
    index: IndexWords
    readings: Mapping[str, str]
    shifted: str = "({0}) >> {1}"
    fine_rounding: str = ""
    fence: str = ""
    most_ways: float = inf
    engine: str = ""

    @property
    def called(self) -> str:
        """What the engine is called in messages and in the registry."""
        return self.engine or self.name

    def quote(self, name: str) -> str:
        """An identifier, whatever its letters."""
        return self.quotation + name.replace(self.quotation, self.quotation * 2) + self.quotation

    def spell(self, function: str, *arguments: str) -> str:
        """A function or an aggregate of these arguments; a Refusal where the engine has none that is as elsewhere."""
        if function in self.refused:
            why = f"is not offered on the engine {self.called}: {self.refused[function]}"
            fix = "write it in another way, or keep what it gives as a column of the table"
            raise Refusal(f"The function {function.upper()}", why, fix, code="engine")
        return (self.functions.get(function) or self.aggregates[function])(*arguments)


def text_literal(text: str) -> str:
    """A text constant of standard SQL."""
    return "'" + text.replace("'", "''") + "'"
