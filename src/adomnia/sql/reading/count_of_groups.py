"""Rewrites a question to one that counts the rows of each of its groups."""

from sqlglot import ErrorLevel, exp


def count_of_groups(select: exp.Select) -> str:
    """The text of a question that counts the rows of each group of another question, which is changed."""
    items = list(select.expressions)
    group = select.args.get("group")
    if group is not None:
        group.set("expressions", [_resolve_number(key, items) for key in group.expressions])
    select.set("expressions", [*(item for item in items if item.find(exp.AggFunc) is None), exp.Count(this=exp.Star())])
    for clause in {"having", "order", "limit", "offset"}:  # noqa: PLC0208 - in any order
        select.set(clause, None)
    return select.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE)


def _resolve_number(key: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """Replace the number of an output in GROUP BY by its expression, because the outputs change."""
    return items[int(key.name) - 1].unalias().copy() if isinstance(key, exp.Literal) else key
