"""Terms of an answer: statistics, and what is computed from them and from other rows of the answer, which is free."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, TypeAlias, Union

from adomnia.privacy.keys import Key, Label
from adomnia.statistics.contract import Statistic

DATE = "date"  # the function that reads a number of days as a date
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")

Term: TypeAlias = Union[Statistic, "Formula", "WindowFunction", "Keyed", "Grouping", Fraction]


@dataclass(frozen=True)
class Formula:
    """A function of terms. A condition is one too: 1 where it holds, 0 where it does not, one half where that is NULL.

    `case` has conditions and values in turns, and what holds otherwise as its last term.
    """

    tag: ClassVar[str] = "Formula"
    function: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Keyed:
    """The condition that a key compares so with a constant, which need not be one of its values."""

    tag: ClassVar[str] = "Keyed"
    key: Key
    value: Label
    sign: str = "="


@dataclass(frozen=True)
class Grouping:
    """1 in the rows that are summed over a key, 0 in the others."""

    tag: ClassVar[str] = "Grouping"
    key: Key


@dataclass(frozen=True)
class Order:
    """One key or term to sort rows by; it need not be an output."""

    tag: ClassVar[str] = "Order"
    by: Key | Term
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class WindowFunction:
    """A function of all rows of the answer that have the same values of some keys: a total, an extreme or a rank.

    Its rows are those that the first choices of the plan leave, so many as `stage` says. A rank has an order, a count
    of rows no term.
    """

    tag: ClassVar[str] = "Over"
    function: str
    terms: tuple[Term, ...] = ()
    keys: tuple[Key, ...] = ()
    order: tuple[Order, ...] = ()
    stage: int = 0


def parts_of(term: Term) -> tuple[Term, ...]:
    """The terms that a term is computed from."""
    if isinstance(term, Formula):
        return term.terms
    if isinstance(term, WindowFunction):
        return (*term.terms, *(each.by for each in term.order if not isinstance(each.by, Key)))
    return ()


def walk(term: Term) -> Iterator[Term]:
    """A term and all that it is made of."""
    yield term
    for part in parts_of(term):
        yield from walk(part)


def leaves_of(term: Term) -> Iterator[Term]:
    """The terms of a formula that are no formulas and no constants, as often as they are written."""
    if isinstance(term, Formula):
        for part in term.terms:
            yield from leaves_of(part)
    elif not isinstance(term, Fraction):
        yield term


def statistics_of(term: Term) -> Iterator[Statistic]:
    """The statistics of a term, as often as they are written."""
    for part in walk(term):
        if not isinstance(part, Formula | WindowFunction | Keyed | Grouping | Fraction):
            yield part


def list_compared(condition: Term) -> Iterator[Term]:
    """The terms that a condition compares, as often as they are written."""
    if isinstance(condition, Formula) and condition.function in ("and", "or", "not"):
        for part in condition.terms:
            yield from list_compared(part)
    elif isinstance(condition, Formula):
        yield from condition.terms
    elif isinstance(condition, WindowFunction):
        yield condition


def map_leaves(
    term: Term,
    statistics: Callable[[Statistic], Statistic] = lambda statistic: statistic,
    keys: Callable[[Key], Key] = lambda key: key,
) -> Term:
    """The same term with every statistic, or key, changed."""
    match term:
        case Fraction():
            return term
        case Formula(function=function, terms=terms):
            return Formula(function, tuple(map_leaves(part, statistics, keys) for part in terms))
        case Keyed(key=key) | Grouping(key=key):
            return replace(term, key=keys(key))
        case WindowFunction(terms=terms, order=order):
            return replace(
                term,
                terms=tuple(map_leaves(part, statistics, keys) for part in terms),
                keys=tuple(map(keys, term.keys)),
                order=tuple(map_order(each, statistics, keys) for each in order),
            )
    return statistics(term)


def map_order(
    order: Order,
    statistics: Callable[[Statistic], Statistic] = lambda statistic: statistic,
    keys: Callable[[Key], Key] = lambda key: key,
) -> Order:
    """The same order with every statistic, or key, changed."""
    by = keys(order.by) if isinstance(order.by, Key) else map_leaves(order.by, statistics, keys)
    return replace(order, by=by)


def count_nodes(term: Term) -> int:
    """Of how many functions, statistics and constants a term consists."""
    return sum(1 for _ in walk(term))


def is_linear(term: Term) -> bool:
    """Whether a term is a sum of statistics times constants: how wide its box is depends on no value."""
    if isinstance(term, WindowFunction):
        return term.function == "sum" and all(map(is_linear, term.terms))
    if not isinstance(term, Formula):
        return not isinstance(term, Keyed | Grouping)
    first, *others = term.terms or (Fraction(0),)
    match term.function:
        case "+" | "-" | "negative" | "date":
            return all(map(is_linear, term.terms))
        case "*":
            return sum(not isinstance(part, Fraction) for part in term.terms) == 1 and all(map(is_linear, term.terms))
        case "/":
            return isinstance(others[0], Fraction) and is_linear(first)
    return False


def may_be_null(term: Term) -> bool:  # noqa: PLR0911 - one for each kind of function
    """Whether a term can be NULL at all: noisy values never are, but functions of them may be."""
    if isinstance(term, WindowFunction):
        return bool(term.terms) and term.function != "count"
    if not isinstance(term, Formula):
        return False
    match term.function:
        case "null" | "nullif" | "sqrt" | "ln" | "log10" | "power" | "inside":
            return True
        case "coalesce" | "greatest" | "least":
            return all(map(may_be_null, term.terms))
        case "case":
            return any(map(may_be_null, (*term.terms[1::2], term.terms[-1])))
        case "is null" | "and" | "or" | "not":
            return False
    return any(map(may_be_null, term.terms))
