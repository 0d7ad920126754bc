"""Explains how many rows of one person a relation can have: a tree with one line for each step."""

from collections.abc import Iterator

from adomnia.explaining.tree import Node
from adomnia.plans.descriptions import describe, describe_own, describe_value
from adomnia.privacy.relations import (
    Join,
    Lookup,
    Named,
    PerBlock,
    PerPerson,
    Private,
    Public,
    PublicGroups,
    Relation,
    Union,
    Where,
)


def render_reasons(relation: Relation) -> str:
    """Render the tree of a relation as indented lines, its root first."""
    return "\n".join(_indent(reason_tree(relation), 0))


def reason_tree(relation: Relation, by_row: bool = False) -> Node:
    """The tree of a relation: each step, its rows per person, or per row where each is hidden by itself, and why."""
    text = f"{_what(relation)}: {(_times if by_row else _rows)(relation)}, {_why(relation)}"
    return Node(text, tuple(reason_tree(part, by_row) for part in _parts(relation)))


def _indent(node: Node, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}{node.text}"
    for part in node.parts:
        yield from _indent(part, depth + 1)


def _rows(relation: Relation) -> str:
    rows = relation.rows_per_person
    return "public" if not rows else f"at most {rows:,} row{'s' if rows > 1 else ''} of a person"


def _times(relation: Relation) -> str:
    rows = relation.rows_per_person
    counts = "each row counts once" if rows == 1 else f"each row counts at most {rows:,} times"
    return counts if rows else "public"


def _parts(relation: Relation) -> tuple[Relation, ...]:
    match relation:
        case Named(source=Private() | Public()):
            return ()
    return relation.sources


def _what(relation: Relation) -> str:  # noqa: PLR0911 - one for each node
    match relation:
        case Private(name=name) | Public(name=name) | Named(name=name):
            return name
        case Where(condition=condition):
            return f"where {describe(condition)}"
        case Join(right=right, outer=outer):
            return f"{'left join' if outer else 'join'} with {right.name}"
        case Lookup(right=right):
            return f"look up in {right.name}"
        case Union():
            return "union all"
        case PublicGroups(keys=keys, outputs=outputs):
            by = ", ".join(describe(key.value) for key in keys) or "nothing"
            return f"{', '.join(map(describe_value, outputs)) or 'one row'} by {by}"
        case PerBlock(blocks=blocks, outputs=outputs):
            return f"{', '.join(describe_own(output.aggregate) for output in outputs)} by block, of {blocks.count:,}"
        case PerPerson(keys=keys, outputs=outputs):
            by = ", ".join(["person", *(describe(key.value) for key in keys)])
            return f"{', '.join(describe_own(output.aggregate) for output in outputs) or 'one row'} by {by}"
    return f"select {', '.join(column.name for column in relation.columns)}"


def _why(relation: Relation) -> str:  # noqa: PLR0911 - one for each node
    match relation:
        case Private() | Named(source=Private()):
            return "as declared"
        case Public() | Named(source=Public()) | PublicGroups():
            return "about nobody"
        case Join():
            return _why_pairs(relation)
        case Lookup():
            return "because each row finds one at most"
        case Union(parts=parts):
            return " + ".join(f"{part.rows_per_person:,}" for part in parts)
        case PerBlock():
            return "because the row of their block is taken away and another put in its place"
        case PerPerson(keys=keys):
            return "no more than rows of theirs" if keys else "because all their rows become one"
    return "those of what it is made of"


def _why_pairs(join: Join) -> str:
    left, right = join.left.rows_per_person, join.right.rows_per_person
    if join.rows_per_person == left * join.matches:
        return f"because {_each_row(left)} before meets at most {join.matches:,} of {join.right.name}"
    alone = f", and {left:,} before may meet none" if join.outer else ""
    return f"because {_each_row(right)} of {join.right.name} meets at most {join.matched:,} before it{alone}"


def _each_row(rows: int) -> str:
    return "the one row" if rows == 1 else f"each of {rows:,} rows"
