"""Reads questions about public tables alone, which are answered exactly and cost nothing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.plans.public_columns import PublicRows
from adomnia.privacy.kinds import Identity
from adomnia.privacy.relations import Relation, Select, Selected
from adomnia.sql.reading.refusals import check_name, refusal
from adomnia.sql.rows.selection import group_rows, is_grouped, project
from adomnia.sql.values.group_keys import output_index
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import check_parts, strip_brackets
from adomnia.sql.values.terms import default_name, free_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.privacy.expressions import Expression
    from adomnia.sql.rows.blocks import BlockReader
    from adomnia.sql.rows.correlation import Block

_MOST_OUTPUTS = 400


def read_public_rows(  # noqa: PLR0913, PLR0917 - of a question
    select: exp.Select,
    block: Block,
    blocks: BlockReader,
    declared: frozenset[str],
    limit: int | None,
    offset: int = 0,
) -> PublicRows:
    """Read a question about public tables alone; an output may have the name of a `declared` column."""
    order = select.args.get("order")
    sorted_by = list(order.expressions) if order is not None else []
    outputs = _read_outputs(select, block, blocks, sorted_by)
    names = tuple(outputs.meanings)
    for name, meaning in outputs.meanings.items():
        if name.lower() not in declared:
            check_name(name, select)
        if isinstance(meaning.kind, Identity):
            why, fix = "is an id, and ids are not kept", "select other columns, or have it declared as integer or text"
            raise refusal("identifier_column", select, why, fix, name)
    places = tuple(_read_order(ordered, outputs) for ordered in sorted_by)
    selected = tuple(
        Selected(f"c{place}", meaning, stored=False)
        for place, meaning in enumerate([*outputs.meanings.values(), *outputs.hidden])
    )
    return PublicRows(names, Select(outputs.relation, selected), places, limit, offset)


@dataclass
class _Outputs:
    """The outputs of a question by name, and those by which it is only sorted."""

    relation: Relation
    meanings: dict[str, Expression]
    read: Callable[[exp.Expr], Expression]
    distinct: bool = False  # sorted by what it shows alone
    hidden: list[Expression] = field(default_factory=list)

    def find(self, node: exp.Expr) -> int:
        """The place of what a node means among the outputs, where it is put if it is not there."""
        known = [*self.meanings.values(), *self.hidden]
        meaning = self._read_shown(node) if self.distinct else self.read(node)
        if meaning not in known:
            self.hidden.append(meaning)
            if len(known) >= _MOST_OUTPUTS:
                raise refusal("too_complex", node, f"comes after {_MOST_OUTPUTS} outputs", "select fewer")
        return known.index(meaning) if meaning in known else len(known)

    def _read_shown(self, node: exp.Expr) -> Expression:
        with suppress(Refusal):
            meaning = self.read(node)
            if meaning in self.meanings.values():
                return meaning
        why, fix = "is not an output of SELECT DISTINCT", "sort by the name or number of an output"
        raise refusal("bad_literal", node, why, fix)


def _read_outputs(select: exp.Select, block: Block, blocks: BlockReader, sorted_by: list[exp.Expr]) -> _Outputs:
    if not is_grouped(select, sorted_by):
        columns = dict(project(select, block).columns)
        return _Outputs(block.relation, columns, lambda node: read_expression(node, block.scope))
    groups = group_rows(select, block, blocks, sorted_by)
    meanings: dict[str, Expression] = {}
    taken = {item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)}
    for item in select.expressions:
        name = item.alias if isinstance(item, exp.Alias) else free_name(default_name(strip_brackets(item)), taken)
        if name.lower() in {known.lower() for known in meanings}:
            raise refusal("duplicate_alias", item, "names two outputs", "give each its own name", name)
        meanings[name] = groups.meaning(item)
    return _Outputs(groups.filter(), meanings, groups.meaning, distinct=bool(select.args.get("distinct")))


def _read_order(ordered: exp.Expr, outputs: _Outputs) -> tuple[int, bool, bool]:
    """The place of the output that a part of ORDER BY sorts by, whether descending, and whether NULL comes first."""
    check_parts(ordered, "this", "desc", "nulls_first")
    flags = (bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first")))
    return (_find_sorted(strip_brackets(ordered.this), outputs), *flags)


def _find_sorted(by: exp.Expr, outputs: _Outputs) -> int:
    """The place of an output by its number, its name, or what it means; a name behind that of a table is a column."""
    if isinstance(by, exp.Literal):
        return output_index(by, len(outputs.meanings))
    named = [place for place, name in enumerate(outputs.meanings) if name.lower() == by.name.lower()]
    if isinstance(by, exp.Column) and not by.table and named:
        return named[0]
    return outputs.find(by)
