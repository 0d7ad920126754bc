"""Whole plans and relations as one line, which tests compare: two that mean something else read differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.plans.descriptions import (
    _key_name,
    _order,
    describe,
    describe_key,
    describe_set,
    describe_term,
    describe_value,
)
from adomnia.plans.plan import RowFilter, RowLimit
from adomnia.privacy.keys import Key
from adomnia.privacy.relations import (
    Join,
    Lookup,
    Named,
    PerBlock,
    PerPerson,
    Private,
    Public,
    PublicGroups,
    Select,
    Union,
    Where,
)

if TYPE_CHECKING:
    from adomnia.plans.plan import Choice, Output, Plan
    from adomnia.privacy.relations import OwnValue, PublicValue, Relation, Selected


def describe_plan(plan: Plan) -> str:
    """The whole plan.

    Keys stand in brackets; a clamped expression is followed by its bounds and step.
    """
    keys = f" BY {', '.join(map(describe_key, plan.keys))}" if plan.keys else ""
    sets = f" IN SETS {', '.join(map(describe_set, plan.sets))}" if plan.sets else ""
    rows = plan.relation
    outputs = ", ".join(_output(output, rows) for output in plan.outputs)
    having = f" HAVING {describe_term(plan.having, rows)}" if plan.having is not None else ""
    inner = "".join(_choice(choice, rows) for choice in plan.inner)
    cut = _cut(RowLimit(plan.order, plan.limit, plan.offset), rows)
    return f"{describe_relation(rows)}{keys}{sets}: {outputs}{inner}{having}{cut}"


def _choice(choice: Choice, rows: Relation) -> str:
    match choice:
        case RowFilter(condition=condition):
            return f" THEN WHERE {describe_term(condition, rows)}"
        case RowLimit():
            return f" THEN{_cut(choice, rows)}"
    return f" THEN ONCE BY {describe_set(choice.keys)}"


def _cut(cut: RowLimit, rows: Relation) -> str:
    order = f" ORDER BY {', '.join(_order(order, rows) for order in cut.order)}" if cut.order else ""
    limit = f" LIMIT {cut.limit}" if cut.limit is not None else ""
    return order + limit + (f" OFFSET {cut.offset}" if cut.offset else "")


def _output(output: Output, rows: Relation) -> str:
    if isinstance(output.source, Key):
        return f"{output.name} = [{_key_name(output.source)}]"
    return f"{output.name} = {describe_term(output.source, rows)}"


def describe_relation(relation: Relation) -> str:  # noqa: C901, PLR0911 - one line for each node
    """The tables, how many rows of a person count, and the conditions."""
    match relation:
        case Private(name=name, rows_per_person=rows):
            return f"{name}[{rows}]"
        case Public(name=name):
            return f"{name}[public]"
        case Where():
            return f"{describe_relation(relation.source)} WHERE {describe(relation.condition)}"
        case Named(source=source, name=name):
            return f"({describe_relation(source)}) AS {name}"
        case Join() | Lookup():
            return _join(relation)
        case Select():
            return f"[{', '.join(map(_selected, relation.outputs))}] FROM ({describe_relation(relation.source)})"
        case Union(parts=parts):
            return " UNION ALL ".join(f"({describe_relation(part)})" for part in parts)
        case PerBlock(blocks=blocks, outputs=values):
            return f"PER BLOCK OF {blocks.count} {_groups(relation, (), values)}"
        case PublicGroups(keys=keys, outputs=outputs):
            return f"PUBLIC GROUPS {_groups(relation, keys, outputs)}"
        case PerPerson(keys=keys, outputs=values):
            return f"PER PERSON {_groups(relation, keys, values)}"
    raise TypeError(f"describe_relation relation must be known, got {type(relation).__name__}.")


def _groups(groups: Relation, keys: tuple[Selected, ...], outputs: tuple[OwnValue | PublicValue, ...]) -> str:
    made = [*map(_selected, keys), *(f"{each.name} = {describe_value(each)}" for each in outputs)]
    return f"[{', '.join(made)}] FROM ({describe_relation(*groups.sources)})"


def _join(join: Join | Lookup) -> str:
    conditions = ["person"] * bool(join.right.rows_per_person) + [describe(condition) for condition in join.on]
    kind = "LOOKUP" if isinstance(join, Lookup) else "LEFT JOIN" if join.outer else "JOIN"
    left, right = describe_relation(join.left), describe_relation(join.right)
    return f"{left} {kind} {right} ON {' AND '.join(conditions) or 'TRUE'}"


def _selected(output: Selected) -> str:
    return f"{output.name} = {describe(output.value)}"
