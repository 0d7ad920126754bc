"""Reads questions about public tables alone, which are answered exactly and cost nothing."""

from sqlglot import exp

from adomnia.plans.public_rows import PublicRows
from adomnia.privacy.kinds import Identity
from adomnia.privacy.relations import Select, Selected
from adomnia.sql.reading.refusals import check_name, refusal
from adomnia.sql.rows.selection import Block, project
from adomnia.sql.values.group_keys import output_index
from adomnia.sql.values.scope import check_parts, strip_brackets


def read_public_rows(
    select: exp.Select, block: Block, declared: frozenset[str], limit: int | None, offset: int = 0
) -> PublicRows:
    """Read a question about public tables alone; an output may have the name of a `declared` column."""
    if select.args.get("group") or select.args.get("having") or select.find(exp.AggFunc):
        why, fix = "aggregates public tables alone", "select their rows, which costs nothing, and count those"
        raise refusal("public_table", select, why, fix, "The question")
    columns = project(select, block).columns
    outputs = tuple(Selected(f"c{place}", meaning, stored=False) for place, meaning in enumerate(columns.values()))
    names = tuple(columns)
    for name, meaning in columns.items():
        if name.lower() not in declared:
            check_name(name, select)
        if isinstance(meaning.kind, Identity):
            why, fix = "is an id, and ids are not kept", "select other columns, or have it declared as integer or text"
            raise refusal("identifier_column", select, why, fix, name)
    return PublicRows(names, Select(block.relation, outputs), _read_order(select, names), limit, offset)


def _read_order(select: exp.Select, names: tuple[str, ...]) -> tuple[tuple[int, bool], ...]:
    order = select.args.get("order")
    found: list[tuple[int, bool]] = []
    for ordered in order.expressions if order is not None else ():
        check_parts(ordered, "this", "desc", "nulls_first")
        by = strip_brackets(ordered.this)
        if isinstance(by, exp.Literal):
            place = output_index(by, len(names))
        else:
            places = [place for place, name in enumerate(names) if name.lower() == by.name.lower()]
            if not isinstance(by, exp.Column) or not places:
                raise refusal("bad_literal", by, "is not an output", "sort by the name or number of an output")
            place = places[0]
        found.append((place, bool(ordered.args.get("desc"))))
    return tuple(found)
