"""Columns of our own making in words: what stands behind v0, g0 and c0, for people who never wrote those names."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from adomnia.plans.descriptions import Words, describe, describe_own, describe_value
from adomnia.plans.formulas import Formula, Term, WindowFunction, map_leaves
from adomnia.privacy.expressions import Call, Column, Expression
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import (
    Named,
    OwnValue,
    PerBlock,
    PerPerson,
    PublicGroups,
    Relation,
    Select,
    Union,
)
from adomnia.privacy.scans import DistinctValues, Histogram, NonNull, Rows, Total
from adomnia.privacy.transforms.estimates import BlockEstimates
from adomnia.privacy.vectors import Variable, Vector


def in_words(query: Query) -> Query:
    """The same query, to be described: its columns are called what they are."""
    names = _names(query.relation)
    match query.aggregate:
        case BlockEstimates(sums=Vector() as sums) as estimates:
            return replace(query, aggregate=replace(estimates, sums=_worded_vector(sums, names)))
        case BlockEstimates(sums=Variable() as counted) as estimates:
            return replace(query, aggregate=replace(estimates, sums=_worded_variable(counted, names)))
        case Vector() as vector:
            return replace(query, aggregate=_worded_vector(vector, names))
        case NonNull() | DistinctValues() | Total() | Histogram() as aggregate:
            return replace(query, aggregate=replace(aggregate, value=_worded(aggregate.value, names)))
    return query


def _worded_vector(vector: Vector, names: Mapping[tuple[str, str], str]) -> Vector:
    return replace(vector, variables=tuple(_worded_variable(each, names) for each in vector.variables))


def _worded_variable(variable: Variable, names: Mapping[tuple[str, str], str]) -> Variable:
    return replace(variable, value=_worded(variable.value, names))


def term_in_words(term: Term) -> Term:
    """A statistic, or arithmetic between statistics, to be described."""
    return _without_stages(map_leaves(term, lambda statistic: statistic.map_queries(in_words)))


def _without_stages(term: Term) -> Term:
    """A term that does not say after which choices its rows are counted: who wrote the question knows."""
    match term:
        case Formula(function=function, terms=terms):
            return Formula(function, tuple(map(_without_stages, terms)))
        case WindowFunction(terms=terms):
            return replace(term, terms=tuple(map(_without_stages, terms)), stage=0)
    return term


def _worded(expression: Expression, names: Mapping[tuple[str, str], str]) -> Expression:
    match expression:
        case Column(name=name, source=source) if (source, name) in names:
            return replace(expression, name=Words(names[source, name]), source="")
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_worded(argument, names) for argument in arguments))
    return expression


def _names(relation: Relation) -> dict[tuple[str, str], str]:  # noqa: PLR0911 - one for each node
    """The words for every column that a question did not name itself, by its side and name."""
    match relation:
        case Named(source=source, name=side):
            return {(side, name): words for (_, name), words in _names(source).items()}
        case Union(parts=parts):
            return _names(parts[0])
        case Select(outputs=outputs):
            below = _names(relation.source)
            return {("", output.name): describe(_worded(output.value, below)) for output in outputs}
        case PerPerson(keys=keys, outputs=values):
            below = _names(relation.source)
            words = {("", key.name): describe(_worded(key.value, below)) for key in keys}
            return words | _own_names(values, below, "person")
        case PerBlock(outputs=values):
            return _own_names(values, _names(relation.source), "block")
        case PublicGroups(keys=keys, outputs=outputs):
            below = _names(relation.source)
            words = {("", key.name): describe(_worded(key.value, below)) for key in keys}
            return words | {("", output.name): describe_value(output) for output in outputs}
    return {side: words for source in relation.sources for side, words in _names(source).items()}


def _own_names(
    values: Iterable[OwnValue], below: Mapping[tuple[str, str], str], whose: str
) -> dict[tuple[str, str], str]:
    words = {}
    for value in values:
        aggregate = value.aggregate
        if not isinstance(aggregate, Rows):
            aggregate = replace(aggregate, value=_worded(aggregate.value, below))
        words["", value.name] = f"{describe_own(aggregate, bounds=False)} of a {whose}"
    return words
