"""A question in one sentence: how the plan reads it, so that whoever asks sees what they asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adomnia.plans.descriptions import describe, describe_key, describe_term
from adomnia.plans.formulas import Formula, Grouping, Keyed, WindowFunction
from adomnia.plans.words import term_in_words
from adomnia.privacy.domains import Numbers
from adomnia.privacy.keys import Bucket, is_open
from adomnia.privacy.relations import Named, PerPerson, Private, Public, Where
from adomnia.privacy.scans import NonNull, People, Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from fractions import Fraction

    from adomnia.plans.formulas import Term
    from adomnia.plans.plan import Output, Plan
    from adomnia.privacy.keys import Key
    from adomnia.privacy.queries import Aggregate
    from adomnia.privacy.relations import Relation
    from adomnia.statistics.contract import Statistic

_COMPUTED = (Formula, WindowFunction, Keyed, Grouping)
_NAMED = {
    "AVG": "the mean of",
    "SUM": "the sum of",
    "MIN": "the smallest",
    "MAX": "the largest",
    "CORR": "the correlation of",
    "STDDEV_SAMP": "the standard deviation of",
    "STDDEV_POP": "the standard deviation of",
    "VAR_SAMP": "the variance of",
    "VAR_POP": "the variance of",
    "COVAR_SAMP": "the covariance of",
    "COVAR_POP": "the covariance of",
}


@dataclass(frozen=True)
class Piece:
    """A few words; `code` where they are names or SQL."""

    text: str
    code: bool = False


def read_plan(plan: Plan, *, by_row: bool = False) -> tuple[Piece, ...]:
    """The sentence of a plan, which depends on nothing else; `by_row` where it is rows that are protected."""
    measured = [output for output in plan.outputs if output.source not in plan.keys]
    outputs = [list(_read_output(output, plan)) for output in measured]
    said = [
        *_read_keys(plan, "rows" if by_row else "people"),
        *_join_pieces(outputs),
        *_read_rows(plan.relation),
        Piece(". "),
    ]
    first = Piece(said[0].text[:1].upper() + said[0].text[1:], said[0].code)
    return _merge([first, *said[1:], *_read_choice(plan), *_read_people(plan.relation, by_row)])


def count_rows(plan: Plan, *, finds_values: bool) -> str:
    """How many rows come back; `finds_values`: where a group is, nobody knows before."""
    if plan.view is not None:
        return "A table of estimates"
    if finds_values:
        return "A row for each value that is found"
    if plan.choices or plan.limit is not None:
        most = plan.rows if plan.limit is None else min(plan.limit, plan.rows)
        return f"At most {most:,} {'row' if most == 1 else 'rows'}"
    return "One row" if plan.rows == 1 else f"{plan.rows:,} rows, one for each group"


def _read_keys(plan: Plan, who: str) -> Iterator[Piece]:
    if not plan.keys:
        return
    names = [[Piece(_name_of(key, plan), code=True)] for key in plan.keys]
    if any(is_open(key) for key in plan.keys):
        yield Piece("for each value of ")
        yield from _join_pieces(names)
        yield Piece(f" that enough {who} share: ")
        return
    yield Piece(f"for each of {plan.rows:,} {'values' if len(names) == 1 else 'groups'} of ")
    yield from _join_pieces(names)
    span = _span(plan.keys[0]) if len(plan.keys) == 1 else ""
    yield Piece(f"{span}: ")


def _span(key: Key) -> str:
    """From where to where the values of a key go, where they are numbers."""
    match key:
        case Bucket(among=Numbers(lower=lower, upper=upper, step=step), shown="number"):
            return f", {lower} to {upper}" + (f" by {step}" if step != 1 else "")
    return ""


def _name_of(key: Key, plan: Plan) -> str:
    named = (output.name for output in plan.outputs if output.source == key)
    return next(named, None) or describe_key(key)


def _read_output(output: Output, plan: Plan) -> Iterator[Piece]:
    source = output.source
    if plan.view is not None:
        yield Piece("the method ")
        yield Piece(output.name, code=True)
        return
    term: Term = term_in_words(source)  # type: ignore[arg-type]  # keys are not read here
    words = None if isinstance(term, _COMPUTED) else _read_statistic(term, plan)  # type: ignore[arg-type]
    if words is not None:
        yield from words
        return
    yield Piece(output.name, code=True)
    yield Piece(", which is ")
    yield Piece(describe_term(term, plan.relation), code=True)


def _read_statistic(statistic: Statistic, plan: Plan) -> list[Piece] | None:  # noqa: PLR0911 - one for each kind
    """The words of a plain statistic over the rows of its question; None where its formula says it better."""
    operands: Sequence[Aggregate | Fraction] = statistic.operands
    if "FILTER" in describe_term(statistic, plan.relation):
        return None
    match statistic.name, operands:
        case "COUNT", (Rows(),):
            return [Piece("how many rows there are")]
        case "COUNT", (People(person=None),):
            return [Piece("how many people there are")]
        case "COUNT", (NonNull(value=value),):
            return [Piece("how many rows have "), Piece(describe(value), code=True)]
        case "QUANTILE", (of, share):
            middle = "median" if float(share) == 0.5 else f"{float(share):g} quantile"  # type: ignore[arg-type]
            return _of_values(f"the {middle} of", [of])
        case name, (*values,) if name in _NAMED and values:
            return _of_values(_NAMED[name], values)
    return None


def _of_values(words: str, operands: Iterable[Aggregate | Fraction]) -> list[Piece] | None:
    values: list[Any] = [getattr(operand, "value", None) for operand in operands]
    if any(value is None for value in values):
        return None
    return [Piece(f"{words} "), *_join_pieces([[Piece(_bare(describe(value)), code=True)] for value in values])]


def _read_rows(relation: Relation) -> Iterator[Piece]:
    tables = [[Piece(name, code=True)] for name in dict.fromkeys(_list_tables(relation))]
    yield Piece(", in ")
    yield from _join_pieces(tables)
    if isinstance(relation, Where):
        yield Piece(" where ")
        yield Piece(_bare(describe(relation.condition)), code=True)


def _list_tables(relation: Relation) -> Iterator[str]:
    match relation:
        case Private(name=name) | Public(name=name) | Named(source=Private() | Public(), name=name):
            yield name
        case _:
            for source in relation.sources:
                yield from _list_tables(source)


def _read_choice(plan: Plan) -> Iterator[Piece]:
    """What is left out of the answer in the end."""
    if plan.having is not None:
        yield Piece("Only those with ")
        yield Piece(_bare(describe_term(term_in_words(plan.having), plan.relation)), code=True)
        yield Piece(" by noisy values. ")
    if plan.limit is not None and plan.view is None:
        sorted_by = ", by noisy values" if plan.order else ""
        yield Piece(f"At most {plan.limit:,} of them come back{sorted_by}. ")


def _read_people(relation: Relation, by_row: bool) -> Iterator[Piece]:
    rows = relation.rows_per_person
    if by_row:
        yield Piece("Each row is protected by itself.")
    elif isinstance(relation, PerPerson):
        yield Piece("The rows of each person are made one first.")
    elif relation.has_blocks:
        yield Piece("The rows of each block of people are made one first.")
    elif rows == 1:
        yield Piece("One row a person.")
    else:
        yield Piece(f"At most {rows:,} rows of a person count.")


def _join_pieces(parts: Sequence[Sequence[Piece]]) -> list[Piece]:
    """With commas, and "and" before the last."""
    joined: list[Piece] = []
    for place, part in enumerate(parts):
        if place:
            joined.append(Piece(" and " if place == len(parts) - 1 else ", "))
        joined.extend(part)
    return joined


def _merge(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Neighbours of one kind as one."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and not piece.code and not merged[-1].code:
            merged[-1] = Piece(merged[-1].text + piece.text)
        elif piece.text:
            merged.append(piece)
    return tuple(merged)


def _bare(text: str) -> str:
    """Without the brackets around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1]
