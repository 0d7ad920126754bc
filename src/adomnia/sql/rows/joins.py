"""Joins: which pairs of rows a question is about, and why one person cannot touch the rows of others through them.

Two private sides meet person by person; a public side adds, to each row, the public rows with the same value. What
conditions stand in ON and what in WHERE makes no difference between inner joins, nor does their order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.plans.descriptions import describe
from adomnia.privacy.expressions import Call, Column, Expression, columns_of
from adomnia.privacy.kinds import Identity, Truth
from adomnia.privacy.relations import Join, Named
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.rows.derived import Side, refuse_slow
from adomnia.sql.values.scalars import expression
from adomnia.sql.values.scope import Scope, Source, bare

MOST_PAIRS = 2**12
_MOST_PUBLIC_COPIES = 1000
_PERSON = Identity(person=True)


@dataclass(frozen=True)
class Item:
    """One name in FROM after the first: its side, whether LEFT JOIN brings it, and the conditions of its ON."""

    side: Side
    outer: bool
    on: tuple[exp.Expr, ...]


@dataclass(frozen=True)
class Joined:
    """The join of all sides, and the conditions that it did not need."""

    relation: Join | Named
    conditions: list[Expression]


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that must all hold."""
    if node is None:
        return []
    inner = bare(node)
    return [part for each in inner.flatten() for part in conjuncts(each)] if isinstance(inner, exp.And) else [inner]


def condition(node: exp.Expr, scope: Scope) -> Expression:
    """One condition of a join; here, and only here, ids may be equal."""
    if isinstance(node, exp.EQ):
        sides = [bare(part) for part in (node.this, node.expression)]
        columns = [scope.column(part) for part in sides if isinstance(part, exp.Column)]
        if len(columns) == 2 and all(_joinable_id(column) for column in columns):
            if columns[0].kind != columns[1].kind:
                fix = "equate the ids of the person, or the two ends of one declared link"
                raise refusal("private_join", node, "equates ids of different things", fix)
            return Call("=", tuple(sorted(columns, key=describe)), Truth())
    meaning = expression(node, scope)
    if not isinstance(meaning.kind, Truth):
        why = f"is of type {meaning.kind} where a condition must stand"
        raise refusal("type_error", node, why, "compare it with something")
    return meaning


def join(first: Side, items: Sequence[Item], scope: Scope, where: Iterable[exp.Expr]) -> Joined:
    """All sides joined: the first private one, then whichever meets what is there already, in the order of FROM."""
    pool = [condition(node, scope) for item in items if not item.outer for node in item.on]
    pool += [condition(node, scope) for node in where]
    begin, waiting = _beginning([Item(first, False, ()), *items])
    joined: Join | Named = begin.relation
    labels = {begin.label}
    while waiting:
        item, equal = _next(waiting, pool, labels, scope)
        waiting.remove(item)
        pool = [each for each in pool if item.outer or each not in equal]
        joined = _paired(item, joined, [each for each in equal if not _says_same_person(each)])
        labels.add(item.side.label)
    return Joined(joined, pool)


def _beginning(items: list[Item]) -> tuple[Side, list[Item]]:
    private = next((item for item in items if not item.side.public), items[0])
    if private.outer:
        why = "gives rows for everybody who is not in the data, so that each person decides about all of them"
        fix = "begin with the private table: FROM private LEFT JOIN public"
        raise refusal("public_left_join", private.side.node, why, fix, "LEFT JOIN from a public table to a private one")
    return private.side, [item for item in items if item is not private]


def _next(waiting: list[Item], pool: list[Expression], labels: set[str], scope: Scope) -> tuple[Item, list[Expression]]:
    """The next side that meets what is joined already, and the conditions by which it does."""
    for item in waiting:
        if item.outer and item is not waiting[0]:
            break  # what LEFT JOIN leaves out depends on all that stands before it
        conditions = [condition(node, _within(scope, item.side)) for node in item.on] if item.outer else pool
        equal = [each for each in conditions if _meets(each, labels, item.side)]
        if any(_is_id(each) != item.side.public for each in equal):
            return item, conditions if item.outer else equal
    raise _apart(waiting[0], labels)


def _within(scope: Scope, side: Side) -> Scope:
    """The scope of a LEFT JOIN's own ON, where nothing of its side is missing yet."""
    sources = tuple(side.source if source.name == side.source.name else source for source in scope.sources)
    return Scope(sources, scope.shared, scope.given)


def _paired(item: Item, joined: Join | Named, on: list[Expression]) -> Join:
    try:
        pair = Join(joined, item.side.relation, tuple(sorted(dict.fromkeys(on), key=describe)), item.outer)
    except ValueError:
        raise _apart(item, set()) from None
    if _public_copies(pair) > _MOST_PUBLIC_COPIES:
        raise refusal("too_complex", item.side.node, "repeats public rows too often", "join on a key", "This join")
    if pair.rows_per_person > max(MOST_PAIRS, joined.rows_per_person, item.side.relation.rows_per_person):
        why = f"makes up to {pair.rows_per_person:,} pairs of the rows of one person, more than {MOST_PAIRS:,}"
        raise refusal("too_complex", item.side.node, why, "join fewer tables", "This join")
    refuse_slow(item.side.node, pair.rows_per_person // max(1, joined.rows_per_person), on)
    return pair


def _public_copies(relation: Join | Named) -> int:
    """How often a row of the first table is repeated by joins of public tables alone."""
    if isinstance(relation, Named) or relation.rows_per_person:
        return 1
    return relation.matches * _public_copies(relation.left)


def _meets(each: Expression, labels: set[str], side: Side) -> bool:
    """Whether a condition equates a column of a side with one of those that are joined already."""
    if not isinstance(each, Call) or each.function != "=":
        return False
    if not all(isinstance(part, Column) for part in each.arguments):
        return False
    sources = {column.source for column in columns_of(each)}
    return len(sources) == 2 and side.label in sources and sources - {side.label} <= labels


def _joinable_id(meaning: Expression) -> bool:
    kind = meaning.kind
    return isinstance(meaning, Column) and isinstance(kind, Identity) and (kind.person or bool(kind.linked))


def _is_id(each: Expression) -> bool:
    """Whether an equality keeps to one person: by the person's own id, or along a link."""
    assert isinstance(each, Call)  # noqa: S101 - an equality
    return all(isinstance(part.kind, Identity) for part in each.arguments)


def _says_same_person(each: Expression) -> bool:
    """Whether a condition is the one that every join of private sides has anyway."""
    return (
        isinstance(each, Call)
        and each.function == "="
        and all(isinstance(part, Column) and part.kind == _PERSON and not part.optional for part in each.arguments)
    )


def _apart(item: Item, labels: set[str]) -> Refusal:
    name = item.side.source.name
    if item.side.public:
        why, fix = "repeats every row for each public one", f"equate a column of each: ON a.column = {name}.column"
        return refusal("fanout_join_with_public", item.side.node, why, fix, f"This join with {name}")
    if item.side.label.rsplit("_", 1)[0] in labels:
        why = "pairs people with each other, so that one person touches everybody's rows"
        fix = "name the table once, or equate the ids of the person"
        return refusal("private_self_join", item.side.node, why, fix, f"{name} joined with itself")
    why = "pairs rows of different people, so that one person touches everybody's rows"
    fix = f"equate the ids of the person, or of a declared link, in ON: a.person_id = {name}.person_id"
    return refusal("private_join", item.side.node, why, fix, f"This join with {name}")


def scope_over(sides: Sequence[Side], items: Sequence[Item], shared: Iterable[str]) -> Scope:
    """The names of all sides; columns that LEFT JOIN may leave out are marked."""
    outer = {item.side.label for item in items if item.outer}
    sources: list[Source] = [(side.optional() if side.label in outer else side).source for side in sides]
    return Scope(tuple(sources), frozenset(shared))
