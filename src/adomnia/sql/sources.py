"""What a question is about: FROM names one private table, and everything else there is refused with its reason."""

from sqlglot import exp

from adomnia.catalog.model import Catalog, Table
from adomnia.errors import Refusal
from adomnia.sql.refusals import refusal, unanswerable, unknown
from adomnia.sql.scalars import Scope, only


def scope_of(select: exp.Select, catalog: Catalog) -> Scope:
    """The private table that a question is about."""
    source = select.args.get("from_")
    if source is None:
        raise _about_nothing(select)
    only(source, "this")
    if isinstance(source.this, exp.Subquery):
        raise _subquery(select, source.this)
    table = _table(source.this, catalog)
    for join in select.args.get("joins") or ():
        raise _join(join, table, catalog)
    if table.public:
        why = "is public, and questions about public tables alone are not answered yet"
        raise refusal("public_table", source.this, why, "ask the owner: public tables can be read as files")
    alias = source.this.args.get("alias")
    if alias is None:
        return Scope(table, table.name)
    only(alias, "this")
    return Scope(table, str(alias.name))


def _about_nothing(select: exp.Select) -> Refusal:
    for item in select.expressions:
        asked = item.unalias()
        if isinstance(asked, exp.Func | exp.Query) and not isinstance(asked, exp.AggFunc):
            return unanswerable(asked)
    fix = "add FROM and a table of the catalog"
    return refusal("not_an_aggregate", select, "asks about no table", fix, "The question")


def _table(node: exp.Expr, catalog: Catalog) -> Table:
    if not isinstance(node, exp.Table) or isinstance(node.this, exp.Func):
        raise refusal("function_not_allowed", node, "is not a table of the catalog", "name a table of the catalog")
    if node.args.get("sample"):
        why = "picks an arbitrary subset, which gives no privacy"
        raise refusal("tablesample", node, why, "leave the sampling out", "Sampling")
    name = ".".join(part.name for part in node.parts)
    for table in catalog.tables:
        if table.name.lower() == name.lower():
            only(node, "this", "alias")
            return table
    tables = [table.name for table in catalog.tables]
    raise unknown("unknown_table", node, name, "tables of the catalog", tables)


def _subquery(select: exp.Select, source: exp.Subquery) -> Refusal:
    inner = source.this
    if isinstance(inner, exp.SetOperation):
        return refusal("set_operation", inner, "is not answered yet", "ask about one table", "UNION")
    if inner.args.get("limit") or inner.args.get("offset"):
        why = "keeps rows by their order, which depends on everybody's rows"
        return refusal("limit_below_aggregate", inner, why, "use LIMIT outside only", "LIMIT inside FROM")
    if not any(item.find(exp.AggFunc) for item in select.expressions):
        why, fix = "would show values of single rows", "use COUNT, SUM or AVG"
        return refusal("not_an_aggregate", select, why, fix, "The question")
    if any(item.find(exp.AggFunc) for item in inner.expressions) and not inner.args.get("group"):
        return refusal("nested_aggregate", inner, "is aggregated again", "ask for the inner one alone", "An aggregate")
    return unanswerable(source)


def _join(join: exp.Join, left: Table, catalog: Catalog) -> Refusal:
    if join.find(exp.Lateral):
        return refusal("lateral", join, "computes a table for every row", "ask about one table", "LATERAL")
    if isinstance(join.this, exp.Subquery):
        return unanswerable(join.this)
    right = _table(join.this, catalog)
    if right == left:
        why = "pairs people with each other, so that one person touches everybody's rows"
        return refusal("private_self_join", join, why, "name the table once", f"{left.name} joined with itself")
    if right.public and not _on_columns(join):
        what, why = f"This join with {right.name}", "repeats every row for each public one"
        return refusal("fanout_join_with_public", join, why, "ask about one table", what)
    return refusal("join", join, "is not answered yet", "ask about one table", f"A join with {right.name}")


def _on_columns(join: exp.Join) -> bool:
    if join.args.get("using"):
        return True
    condition = join.args.get("on")
    equality = condition.find(exp.EQ) if condition is not None else None
    return (
        equality is not None and isinstance(equality.this, exp.Column) and isinstance(equality.expression, exp.Column)
    )
