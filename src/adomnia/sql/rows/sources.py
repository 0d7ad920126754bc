"""Reads FROM: the tables and subqueries in it, their names, and how they are joined."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.fixes import ASK_RELEASE
from adomnia.messages.references import Setting
from adomnia.messages.texts import Fix, Message, write
from adomnia.methods.registry import find_method
from adomnia.privacy import relations
from adomnia.sql.reading.creating import SCHEMA
from adomnia.sql.reading.refusals import refusal, refusal_of_name, refusal_of_node
from adomnia.sql.rows.derived import Derived
from adomnia.sql.values.scope import check_parts

_TABLE = Message(Setting("table"))


@dataclass(frozen=True)
class FromItem:
    """One table or subquery in FROM: its node, its name, and how it is joined with those before it."""

    node: exp.Expr
    name: str
    outer: bool = False
    on: exp.Expr | None = None
    shared: tuple[str, ...] = ()


def read_from(select: exp.Select) -> list[FromItem]:
    """Read the tables and subqueries in FROM, in their order."""
    source = select.args.get("from_")
    if source is None:
        raise _refusal_without_table(select)
    check_parts(source, "this")
    found = [FromItem(source.this, _name(source.this)), *_nested_joins(source.this), *map(_read_join, _joins(select))]
    names = [each.name.lower() for each in found]
    for place, each in enumerate(found):
        if names[place] in names[:place]:
            raise refusal("duplicate_alias", each.node, "names two tables", "give each its own name with AS", each.name)
    return found


def find_table(node: exp.Expr, catalog: Catalog) -> Derived:
    """Find the table of the catalog that a node names."""
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous) and find_method(str(node.this.this)):
        fix = "ask it by itself: SELECT * FROM it"
        raise refusal("method_inside", node, "is a method, whose table is an answer and no rows", fix, node.this.this)
    if not isinstance(node, exp.Table) or isinstance(node.this, exp.Func):
        raise refusal("function_not_allowed", node, "is not a table of the catalog", _TABLE)
    if node.args.get("sample"):
        why = "picks an arbitrary subset, which gives no privacy"
        raise refusal("tablesample", node, why, "leave the sampling out", "Sampling")
    name = ".".join(part.name for part in node.parts)
    if node.db.lower() == SCHEMA:
        why, alone = "is a release, which costs nothing and has no price", write("ask it by itself, with {sql()}")
        raise refusal("public_table", node, why, Fix(alone, ASK_RELEASE), name)
    for table in catalog.tables:
        if table.name.lower() == name.lower():
            check_parts(node, "this", "alias", "joins")
            columns = {column.name: column for column in table.columns}
            if table.public:
                return Derived(relations.Public(table.name, table.columns, table.repeats), columns)
            keys = catalog.unique_keys(table.name)
            return Derived(relations.Private(table.name, table.rows_per_person, table.columns, keys), columns)
    tables = [table.name for table in catalog.tables]
    raise refusal_of_name("unknown_table", node, name, "tables of the catalog", tables)


def _joins(select: exp.Select) -> Iterator[exp.Join]:
    yield from select.args.get("joins") or ()


def _nested_joins(node: exp.Expr) -> Iterator[FromItem]:
    """The joins that the parser attaches to a table in brackets."""
    yield from map(_read_join, node.args.get("joins") or ())


def _read_join(join: exp.Join) -> FromItem:
    if join.find(exp.Lateral) and isinstance(join.this, exp.Lateral):
        raise refusal("lateral", join, "computes a table for every row", "ask about one table", "LATERAL")
    side, kind, method = (str(join.args.get(part) or "").upper() for part in ("side", "kind", "method"))
    if method or kind not in ("", "INNER", "CROSS", "OUTER") or side not in ("", "LEFT"):
        word = " ".join(filter(None, (method, side, kind)))
        why, fix = "is not answered", "use JOIN or LEFT JOIN with ON, the private table first"
        raise refusal("join", join, why, fix, f"{word} JOIN")
    check_parts(join, "this", "on", "using", "side", "kind")
    shared = tuple(part.name.lower() for part in join.args.get("using") or ())
    return FromItem(join.this, _name(join.this), side == "LEFT", join.args.get("on"), shared)


def _name(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    if alias is not None:
        check_parts(alias, "this")
    if isinstance(node, exp.Lateral):
        raise refusal("lateral", node, "computes a table for every row", "ask about one table", "LATERAL")
    return str(node.alias_or_name) or "subquery"


def _refusal_without_table(select: exp.Select) -> Refusal:
    for item in select.expressions:
        asked = item.unalias()
        if isinstance(asked, exp.Func | exp.Query) and not isinstance(asked, exp.AggFunc):
            return refusal_of_node(asked)
    fix = "add FROM and a table of the catalog"
    return refusal("not_an_aggregate", select, "asks about no table", fix, "The question")
