"""What a method promises: a typed signature, and an analysis of the rows that it is given.

From the signature come the reading of its text and the refusals, the keywords of Python, the schema of HTTP, the list
of methods, and their page in the docs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, Literal, TypeAlias

from adomnia.errors import Refusal
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import Key, Label, key_values
from adomnia.privacy.relations import Relation
from adomnia.privacy.vectors import Variable
from adomnia.statistics.contract import Statistic

# What an argument is: names of columns, or constants. `column` is a number with bounds, `factor` has declared values,
# `names` are of columns of either sort.
Kind: TypeAlias = Literal[
    "column",
    "columns",
    "factor",
    "factors",
    "names",
    "formula",
    "number",
    "numbers",
    "integer",
    "choice",
    "text",
    "boolean",
]
Chapter: TypeAlias = Literal[
    "describe", "densities", "likelihood", "models", "testing", "survival", "robust", "releases"
]
MOST_NUMBERS = 12_800  # that are simulated in one draw of all tables: some seconds
_LEAST_NUMBERS = 30  # smaller tables take no less time


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers: its name in the question, what it is computed from, and the grid within its bounds."""

    tag: ClassVar[str] = "NumberColumn"
    name: str
    value: Expression
    domain: Numbers

    @property
    def variable(self) -> Variable:
        """The same as a variable of a vector of sums."""
        return Variable(self.value, self.domain)


@dataclass(frozen=True)
class Factor:
    """A column of declared values, by which rows can be counted apart."""

    tag: ClassVar[str] = "Factor"
    name: str
    key: Key

    @property
    def levels(self) -> tuple[Label, ...]:
        """Its values, in their order."""
        return key_values(self.key)


@dataclass(frozen=True)
class Frame:
    """The rows that a method is given, and their columns by the names that the question uses, in lower case.

    A column may be both a number and a factor: a declared range of few whole numbers, or a boolean. `confidence` is
    that of the question: some intervals are bought together with their values.
    """

    relation: Relation
    numbers: Mapping[str, NumberColumn]
    factors: Mapping[str, Factor]
    confidence: Fraction = Fraction(19, 20)
    unusable: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # why a column is no number, and the fix
    order: tuple[str, ...] = ()  # of the names of all columns, as the rows have them
    days: Mapping[str, NumberColumn] = field(default_factory=dict)  # dates, as days since the first of the calendar
    beyond: tuple[str, ...] = ()  # of the unusable: numbers whose bounds are too far or too near for doubles

    @property
    def names(self) -> tuple[str, ...]:
        """All names that may be used."""
        return tuple(dict.fromkeys((*self.numbers, *self.factors)))

    @property
    def columns(self) -> Mapping[str, NumberColumn | Factor]:
        """All columns that may be used, in the order of the rows: by their declared values if they have some."""
        both: dict[str, NumberColumn | Factor] = {**self.days, **self.numbers, **self.factors}
        return {name: both[name] for name in self.order if name in both}


class BadArgument(Refusal):
    """A refusal of one argument; `offset` is where in its text, if it is one."""

    def __init__(self, argument: str, why: str, fix: str, *, offset: int = 0, code: str = "bad_argument") -> None:
        super().__init__(argument, why, fix, code=code)
        self.argument, self.offset = argument, offset


@dataclass(frozen=True)
class Parameter:
    """One named argument: what kind of value it takes, and what it means. Without a default it must be given.

    `all_columns`: where none are named, all that the rows have are meant. `formerly` is a name that is refused, with
    this one as the fix.
    """

    name: str
    kind: Kind
    meaning: str
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    lower: float | None = None
    upper: float | None = None
    all_columns: bool = False
    formerly: str = ""


Arguments: TypeAlias = Mapping[str, Any]  # by their names, all that the signature has; None where nothing was given


@dataclass(frozen=True)
class Method:
    """An analysis that can be called. `build` makes the statistic of some rows and arguments, or refuses them.

    `returns` are the columns of its table and what they mean, but for those of `by`, and for those that depend on its
    rows: those come first, and `shows` names them. `example` is a call on the tables
    of the example hospital. `known_as` is what other programs call it: {"R": "lm", "SAS": "PROC REG"}.
    """

    name: str
    chapter: Chapter
    summary: str
    parameters: tuple[Parameter, ...]
    build: Callable[[Frame, Arguments], Statistic]
    returns: Mapping[str, str]
    example: str
    known_as: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    shows: Callable[[Frame, Arguments], tuple[str, ...]] | None = None

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, if there is one."""
        return next((each for each in self.parameters if each.name == name), None)

    def renamed(self, name: str) -> Parameter | None:
        """The parameter that had that name before, if one had."""
        return next((each for each in self.parameters if each.formerly and each.formerly == name), None)


BY = Parameter("by", "factors", "repeat it for each value of these columns")
INFERENCE = Parameter(
    "inference",
    "choice",
    "what intervals are about: the population that the people are a sample of, or the data itself",
    default="population",
    choices=("population", "data"),
)


def demand_few_tables(by: Sequence[Factor], numbers: int) -> None:
    """Refuse groups whose tables, of so many noisy numbers each, take too long to simulate."""
    tables, most = prod(len(factor.levels) for factor in by), max(1, MOST_NUMBERS // max(_LEAST_NUMBERS, numbers))
    if tables > most:
        raise BadArgument(
            "by",
            f"makes {tables} groups, each of which is simulated by itself, and here there may be {most}",
            "choose a column of fewer values, or make fewer groups in the bracketed SELECT",
        )
