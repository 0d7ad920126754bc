"""The question that tells how many rows each group of another question has."""

from sqlglot import exp

from adomnia.sql.reading.parse import parsed


def count_of_groups(text: str) -> str:
    """The question how many rows each group has that a question is about."""
    select = parsed(text)
    items = list(select.expressions)
    group = select.args.get("group")
    if group is not None:
        group.set("expressions", [_written_out(key, items) for key in group.expressions])
    select.set("expressions", [*(item for item in items if item.find(exp.AggFunc) is None), exp.Count(this=exp.Star())])
    for clause in {"having", "order", "limit", "offset"}:  # noqa: PLC0208 - in any order
        select.set(clause, None)
    return select.sql(dialect="duckdb")


def _written_out(key: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """A key by what it is, where GROUP BY counts the outputs: some of them are left out."""
    return items[int(key.name) - 1].unalias().copy() if isinstance(key, exp.Literal) else key
