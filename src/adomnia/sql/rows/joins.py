"""Reads joins, so that no person can affect the rows of others through them.

Two private sides are joined person by person; a public side adds to each row the public rows with the same value. For
inner joins it makes no difference whether a condition is in ON or in WHERE, nor in which order they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.plans.descriptions import describe
from adomnia.privacy.expressions import Call, Column, Expression, columns_of
from adomnia.privacy.kinds import Boolean, Identity
from adomnia.privacy.relations import Join, Lookup, Named
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.rows.derived import Side, refuse_slow
from adomnia.sql.rows.ids import equate_ids
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import Scope, ScopeTable, strip_brackets

MOST_PAIRS = 2**12
_MOST_PUBLIC_COPIES = 1000
_PERSON = Identity(person=True)


@dataclass(frozen=True)
class JoinClause:
    """One JOIN: its side, whether it is a LEFT JOIN, and the conditions of its ON."""

    side: Side
    outer: bool
    on: tuple[exp.Expr, ...]


@dataclass(frozen=True)
class Joined:
    """The join of all sides, and the conditions that are left for WHERE."""

    relation: Join | Named
    conditions: list[Expression]


def read_join_condition(node: exp.Expr, scope: Scope) -> Expression:
    """Read one condition of a join; only here may ids be compared."""
    if isinstance(node, exp.EQ):
        sides = [strip_brackets(part) for part in (node.this, node.expression)]
        columns = [scope.column(part) for part in sides if isinstance(part, exp.Column)]
        if len(columns) == 2 and all(is_joinable_id(column) for column in columns):
            if columns[0].kind != columns[1].kind:
                fix = "equate the ids of the person, or the two ends of one declared link"
                raise refusal("private_join", node, "equates ids of different things", fix)
            return Call("=", tuple(sorted(columns, key=describe)), Boolean())
    meaning = read_expression(node, scope)
    if not isinstance(meaning.kind, Boolean):
        why = f"is of type {meaning.kind} where a condition must stand"
        raise refusal("type_error", node, why, "compare it with something")
    return meaning


def join_sides(first: Side, items: Sequence[JoinClause], scope: Scope, where: Iterable[exp.Expr]) -> Joined:
    """Join all sides: the first private one, then each that has a condition with those before, in the order of FROM."""
    private = [side for side in (first, *(item.side for item in items)) if not side.public]
    for side in private if len(private) > 1 else ():
        if side.relation.has_blocks:
            why, fix = (
                "has a row for each block of people, which is nobody's",
                "join before the rows are put into blocks",
            )
            raise refusal("private_join", side.node, why, fix, f"This join with {side.source.name}")
    pool = [read_join_condition(node, scope) for item in items if not item.outer for node in item.on]
    pool += [read_join_condition(node, scope) for node in where]
    begin, waiting = _choose_first([JoinClause(first, False, ()), *items])
    joined: Join | Named = begin.relation
    labels = {begin.label}
    while waiting:
        item, equal = _choose_next(waiting, pool, labels, scope)
        waiting.remove(item)
        pool = [each for each in pool if item.outer or each not in equal]
        joined = _pair(item, joined, [each for each in equal if not _says_same_person(each)])
        labels.add(item.side.label)
    return Joined(joined, pool)


def _choose_first(items: list[JoinClause]) -> tuple[Side, list[JoinClause]]:
    private = next((item for item in items if not item.side.public), items[0])
    if private.outer:
        why = "gives rows for everybody who is not in the data, so that each person decides about all of them"
        fix = "begin with the private table: FROM private LEFT JOIN public"
        raise refusal("public_left_join", private.side.node, why, fix, "LEFT JOIN from a public table to a private one")
    return private.side, [item for item in items if item is not private]


def _choose_next(
    waiting: list[JoinClause], pool: list[Expression], labels: set[str], scope: Scope
) -> tuple[JoinClause, list[Expression]]:
    """Choose the next side that can be joined, and the conditions by which it is."""
    for item in waiting:
        if item.outer and item is not waiting[0]:
            break  # what LEFT JOIN leaves out depends on all that stands before it
        conditions = (
            [read_join_condition(node, _scope_of_on(scope, item.side)) for node in item.on] if item.outer else pool
        )
        equal = [each for each in conditions if _meets(each, labels, item.side)]
        if any(_is_id(each) != item.side.public for each in equal):
            return item, conditions if item.outer else equal
    raise _refusal_of_join(waiting[0], labels, scope)


def _scope_of_on(scope: Scope, side: Side) -> Scope:
    """The scope of the ON of a LEFT JOIN, where columns of its own side are not missing yet."""
    sources = tuple(side.source if source.name == side.source.name else source for source in scope.sources)
    return Scope(sources, scope.shared, scope.given)


def _pair(item: JoinClause, joined: Join | Named, on: list[Expression]) -> Join:
    try:
        pair = Join(joined, item.side.relation, tuple(sorted(dict.fromkeys(on), key=describe)), item.outer)
    except ValueError:
        name = item.side.source.name
        why, fix = "repeats rows nobody knows how often", f"equate a column that {name} is grouped by, and that alone"
        raise refusal("fanout_join_with_public", item.side.node, why, fix, f"This join with {name}") from None
    if _public_copies(pair) > _MOST_PUBLIC_COPIES:
        raise refusal("too_complex", item.side.node, "repeats public rows too often", "join on a key", "This join")
    if pair.rows_per_person > max(MOST_PAIRS, joined.rows_per_person, item.side.relation.rows_per_person):
        why = f"makes up to {pair.rows_per_person:,} pairs of the rows of one person, more than {MOST_PAIRS:,}"
        raise refusal("too_complex", item.side.node, why, "join fewer tables", "This join")
    refuse_slow(item.side.node, pair.rows_per_person // max(1, joined.rows_per_person), on)
    return pair


def _public_copies(relation: Join | Lookup | Named) -> int:
    """How often a row of the first table is repeated by joins of public tables alone."""
    if not isinstance(relation, Join) or relation.rows_per_person:
        return 1
    return relation.matches * _public_copies(relation.left)


def _meets(each: Expression, labels: set[str], side: Side) -> bool:
    """Whether a condition equates a column of a side with a column of the sides that are joined already."""
    if not isinstance(each, Call) or each.function != "=":
        return False
    if not all(isinstance(part, Column) for part in each.arguments):
        return False
    sources = {column.source for column in columns_of(each)}
    return len(sources) == 2 and side.label in sources and sources - {side.label} <= labels


def is_joinable_id(meaning: Expression) -> bool:
    """Whether a value is an id that the index keeps: of a person, or of a link."""
    kind = meaning.kind
    return isinstance(meaning, Column) and isinstance(kind, Identity) and (kind.person or bool(kind.linked))


def _is_id(each: Expression) -> bool:
    """Whether an equality joins rows of one person only: by the person's own id, or along a link."""
    assert isinstance(each, Call)  # noqa: S101 - an equality
    return all(isinstance(part.kind, Identity) for part in each.arguments)


def _says_same_person(each: Expression) -> bool:
    """Whether a condition equates two persons, which every join of private sides does anyway."""
    return (
        isinstance(each, Call)
        and each.function == "="
        and all(isinstance(part, Column) and part.kind == _PERSON and not part.optional for part in each.arguments)
    )


def _refusal_of_join(item: JoinClause, labels: set[str], scope: Scope) -> Refusal:
    name = item.side.source.name
    if item.side.public:
        why, fix = "repeats every row for each public one", f"equate a column of each: ON a.column = {name}.column"
        return refusal("fanout_join_with_public", item.side.node, why, fix, f"This join with {name}")
    if item.side.label.rsplit("_", 1)[0] in labels:
        why = "pairs people with each other, so that one person touches everybody's rows"
        fix = "name the table once, or equate the ids of the person"
        return refusal("private_self_join", item.side.node, why, fix, f"{name} joined with itself")
    why = "pairs rows of different people, so that one person touches everybody's rows"
    before = [source for source in scope.sources if source.name != item.side.source.name]
    pair = equate_ids(before, [item.side.source])
    fix = "equate the ids of the person, or of a declared link, in ON" + (f": {pair}" if pair else "")
    return refusal("private_join", item.side.node, why, fix, f"This join with {name}")


def scope_over(sides: Sequence[Side], items: Sequence[JoinClause], shared: Iterable[str]) -> Scope:
    """The scope of all sides; columns that may be missing after a LEFT JOIN are marked."""
    outer = {item.side.label for item in items if item.outer}
    sources: list[ScopeTable] = [(side.optional() if side.label in outer else side).source for side in sides]
    return Scope(tuple(sources), frozenset(shared))
