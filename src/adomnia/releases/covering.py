"""Private questions that a release answers too: the same rows, and columns that it has.

A question is put in the columns of the release, or a reason is found why that cannot be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.options import CONFIDENCE
from adomnia.plans.descriptions import describe
from adomnia.plans.plan import canonical
from adomnia.privacy.expressions import Call, Column
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Boolean
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private, Relation, Where
from adomnia.releases.selection import Peeled, peel
from adomnia.releases.tables import AttributeTable
from adomnia.sql.lower import plan_question, require_plan
from adomnia.sql.methods.calls import name_of
from adomnia.sql.methods.frames import read_rows
from adomnia.sql.reading.parse import parse
from adomnia.sql.values.scope import find_call
from adomnia.work import remember

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.methods.contract import Frame
    from adomnia.plans.plan import Plan
    from adomnia.privacy.expressions import Expression
    from adomnia.privacy.keys import AnyKey, Key
    from adomnia.privacy.queries import Aggregate
    from adomnia.releases.store import ReleaseEntry
    from adomnia.statistics.products import Attribute

_KEPT = 32  # releases whose questions are remembered as they were read
_PRICED = "ask without from_release, at a price"


class NotCoveredError(Exception):
    """Why a release does not answer a question, in words that follow its name."""


@dataclass(frozen=True)
class CoveringRelease:
    """A release as the catalog of today reads its question: its rows, and what each of its columns is made of."""

    entry: ReleaseEntry
    catalog: Catalog

    def translate(self, plan: Plan) -> Plan:
        """The same question about the table of the release; NotCoveredError where there is none."""
        if self.entry.facts.version != self.catalog.version:
            raise NotCoveredError(f"is of version {self.entry.facts.version} of the data")
        if plan.view is not None:
            raise NotCoveredError("has counts, and no method can be computed from these")
        asked = peel(plan.relation)
        extra = self._find_extra(asked)
        rows: Relation = Private(self._table.name, 1, self._table.table.columns)
        for condition in extra:
            rows = Where(rows, self._translate(condition))
        keys = {key: self._translate_key(key, asked) for key in plan.keys}

        def change_query(query: Query) -> Query:
            if query.relation != plan.relation:
                raise NotCoveredError("has counts of rows, and people are counted among some of them")
            return Query(rows, tuple(map(change_key, query.keys)), self._translate_aggregate(query, asked))

        def change_key(key: AnyKey) -> AnyKey:
            if key not in keys:
                raise NotCoveredError(f"has no column by which {type(key).__name__.lower()} could be told apart")
            return keys[key]

        changed = plan.with_statistics(lambda statistic: statistic.map_queries(change_query))
        return replace(changed.with_keys(lambda key: keys[key]), relation=rows)

    @cached_property
    def _table(self) -> AttributeTable:
        return AttributeTable(self.entry.name, self.entry.attributes)

    @cached_property
    def _columns(self) -> dict[Expression, Column]:
        """What the columns of the release are made of, in the columns of the table that it was made from."""
        frame = _read_release(self.entry.question, self.catalog)[0]
        express = peel(frame.relation).express
        found: dict[Expression, Column] = {}
        for column, place in self._table.columns.items():
            attribute = self.entry.attributes[place]
            value = _find_value(attribute, frame)
            if value is not None and column.name == attribute.name:
                found[express(value)] = column
        return found

    def _find_extra(self, asked: Peeled) -> list[Expression]:
        """The conditions of a question beyond those of the release, all of which it must have."""
        try:
            _, relation, meaning = _read_release(self.entry.question, self.catalog)
        except Refusal:
            raise NotCoveredError("was made by a question that the catalog does not read any more") from None
        if self.entry.facts.meaning != meaning:  # a view may be another one by now
            raise NotCoveredError("was made when the catalog meant something else by its question")
        counted = peel(relation)
        if asked.table != counted.table:
            raise NotCoveredError("was made from other rows")
        lacking = [each for each in counted.conditions if each not in asked.conditions]
        if lacking:
            raise NotCoveredError(f"counts only rows with {' and '.join(map(describe, lacking))}")
        return [each for each in asked.conditions if each not in counted.conditions]

    def _translate(self, expression: Expression) -> Expression:
        """An expression of the table's columns in those of the release."""
        if expression in self._columns:
            return self._columns[expression]
        match expression:
            case Column(name=name):
                raise NotCoveredError(f"has no column {name}")
            case Call(arguments=arguments):
                return replace(expression, arguments=tuple(map(self._translate, arguments)))
        return expression

    def _translate_key(self, key: Key, asked: Peeled) -> Key:
        if isinstance(key, Bucket):
            value, written = (self._translate(asked.express(each)) for each in (key.value, key.written))
            return replace(key, value=value, written=written)
        found = self._translate(asked.express(key))
        if isinstance(found, Column):
            return found
        if isinstance(key.kind, Boolean):
            return Bucket(found, None, found)
        raise NotCoveredError(f"has no column {key.name}")

    def _translate_aggregate(self, query: Query, asked: Peeled) -> Aggregate:
        if query.additive is None:
            raise NotCoveredError("has counts of rows, from which this does not follow")
        return query.additive.map_expressions(lambda value: self._translate(asked.express(value)))


@remember(_KEPT)
def _read_release(question: str, catalog: Catalog) -> tuple[Frame, Relation, str]:
    """The rows that the method of a release was given, those that it counted, and the hash of all that."""
    select = parse(question)
    called = find_call(select)
    assert called is not None  # noqa: S101 - nothing else makes a release
    frame = read_rows(select, called, name_of(called), catalog, CONFIDENCE).frame
    (analysis,) = require_plan(plan_question(parse(question), catalog)).statistics
    counted = analysis.queries[0].relation
    numbers = tuple((name, each.value) for name, each in frame.numbers.items())
    factors = tuple((name, each.key) for name, each in frame.factors.items())
    return frame, counted, sha256(canonical((frame.relation, counted, numbers, factors))).hexdigest()


def hash_meaning(question: str, catalog: Catalog) -> str:
    """The hash of the rows that a release is made of and of their columns, as the catalog reads its question."""
    return _read_release(question, catalog)[2]


def describe_uncovered(reasons: dict[str, str]) -> Refusal:
    """Why no release answers a question."""
    what = "A question that is to be answered from a release"
    if not reasons:
        why, fix = "finds none", f"make one with CREATE TABLE releases.NAME AS ..., or {_PRICED}"
        return Refusal(what, why, fix, code="not_covered")
    told = "; ".join(f"{name} {reason}" for name, reason in list(reasons.items())[:5])
    return Refusal(
        what, f"is covered by none: {told}", f"ask for what one of them has, or {_PRICED}", code="not_covered"
    )


def _find_value(attribute: Attribute, frame: Frame) -> Expression | None:
    """What a column of a release is made of; None where it is not one of the rows' own, with the same values."""
    name = attribute.name.lower()
    if attribute.edges:
        return frame.numbers[name].value if name in frame.numbers else None
    factor = frame.factors.get(name)
    levels = tuple(level for level in attribute.levels if level is not None)
    if factor is None or factor.levels != levels:
        return None
    return factor.key.written if isinstance(factor.key, Bucket) else factor.key
