"""Questions about public tables alone: their rows as they are, exactly and at no price."""

from sqlglot import exp

from adomnia.plans.public_rows import PublicRows
from adomnia.privacy.kinds import Identity
from adomnia.privacy.relations import Select, Selected
from adomnia.sql.reading.refusals import check_name, refusal
from adomnia.sql.rows.selection import Block, projected
from adomnia.sql.values.group_keys import numbered
from adomnia.sql.values.scope import bare, only


def public_rows(select: exp.Select, block: Block, limit: int | None, offset: int = 0) -> PublicRows:
    """The rows that a question about public tables asks for."""
    if select.args.get("group") or select.args.get("having") or select.find(exp.AggFunc):
        why, fix = "aggregates public tables alone", "select their rows, which costs nothing, and count those"
        raise refusal("public_table", select, why, fix, "The question")
    columns = projected(select, block).columns
    outputs = tuple(Selected(f"c{place}", meaning, stored=False) for place, meaning in enumerate(columns.values()))
    names = tuple(columns)
    for name, meaning in columns.items():
        check_name(name, select)
        if isinstance(meaning.kind, Identity):
            why, fix = "is an id, and ids are not kept", "select other columns, or have it declared as integer or text"
            raise refusal("identifier_column", select, why, fix, name)
    return PublicRows(names, Select(block.relation, outputs), _order(select, names), limit, offset)


def _order(select: exp.Select, names: tuple[str, ...]) -> tuple[tuple[int, bool], ...]:
    order = select.args.get("order")
    found: list[tuple[int, bool]] = []
    for ordered in order.expressions if order is not None else ():
        only(ordered, "this", "desc", "nulls_first")
        by = bare(ordered.this)
        if isinstance(by, exp.Literal):
            place = numbered(by, len(names))
        else:
            places = [place for place, name in enumerate(names) if name.lower() == by.name.lower()]
            if not isinstance(by, exp.Column) or not places:
                raise refusal("bad_literal", by, "is not an output", "sort by the name or number of an output")
            place = places[0]
        found.append((place, bool(ordered.args.get("desc"))))
    return tuple(found)
