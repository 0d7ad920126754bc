"""Reads a SELECT around an aggregated one: it sees the noisy rows of an answer, so all that it does is free."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from adomnia.catalog.model import Catalog
from adomnia.plans.formulas import Grouping, Term, WindowFunction
from adomnia.plans.plan import Choice, DistinctRows, Output, Plan, RowFilter, RowLimit
from adomnia.privacy.keys import Key
from adomnia.sql.reading.parse import check_clauses
from adomnia.sql.reading.refusals import refusal, refusal_of_name
from adomnia.sql.rows.blocks import MOST_TABLES, BlockReader
from adomnia.sql.rows.derived import is_person
from adomnia.sql.rows.selection import is_block
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.group_keys import resolve_key
from adomnia.sql.values.having import Conditions
from adomnia.sql.values.scope import Scope, check_parts, strip_brackets
from adomnia.sql.values.terms import read_limit, read_offset, read_outputs, read_sorting
from adomnia.sql.values.windows import TOTALS, read_over, read_terms


def find_layers(select: exp.Select, catalog: Catalog) -> list[exp.Select]:
    """This SELECT and those inside, down to the one that aggregates rows of people; itself alone if it reads these."""
    layers = [select]
    while len(layers) <= MOST_TABLES and (inner := _find_source(layers[-1])) is not None:
        layers.append(inner)
    while len(layers) > 1 and not _is_answer(layers[-1], catalog):
        layers.pop()
    for inner in layers[1:]:
        check_clauses(inner)
    return layers


def _is_answer(select: exp.Select, catalog: Catalog) -> bool:
    """Whether a SELECT aggregates rows of several people."""
    if not is_aggregated(select) or select.args.get("distinct"):
        return False
    group = select.args.get("group")
    if group is not None and any(map(is_block, group.expressions)):
        return False
    columns = [] if group is None else [each for part in group.expressions for each in part.find_all(exp.Column)]
    persons = {column.name.lower() for table in catalog.tables for column in table.columns if is_person(column)}
    if persons & {each.name.lower() for each in columns}:  # by the person; if it is another's name, that is refused
        return False
    block = BlockReader(catalog).read_block(select)
    if block.relation.is_public:
        return False
    written = (
        [] if group is None else [resolve_key(each, select, block.scope) for each in (*columns, *group.expressions)]
    )
    known = [each for part in written for each in part.find_all(exp.Column) if block.scope.knows(each)]
    return not any(is_person(block.scope.column(each)) for each in known)


def is_aggregated(select: exp.Select) -> bool:
    """Whether a SELECT has groups, or an aggregate that is not itself over a window."""
    if select.args.get("group") is not None:
        return True
    parts = [*select.expressions, *(select.args[name] for name in ("having", "order") if select.args.get(name))]
    return any(
        each.parent_select is select and not (isinstance(each.parent, exp.Window) and each.arg_key == "this")
        for part in parts
        for each in part.find_all(*AGGREGATES)
    )


def plan_around(select: exp.Select, plan: Plan) -> Plan:
    """The plan of a SELECT around one that is planned."""
    choices = plan.choices
    if plan.limit is not None or plan.offset:
        choices += (RowLimit(plan.order, plan.limit, plan.offset),)
    if plan.sets and (is_aggregated(select) or len(choices) > len(plan.choices) or select.find(exp.Window)):
        why, fix = "is around several groupings, and would count everybody more than once", "group by the keys alone"
        raise refusal("grouping_sets", select, why, fix, "This SELECT")
    # The order inside says nothing about the order outside, but for that of the keys where nothing else is said.
    keys = tuple(order for order in plan.order if isinstance(order.by, Key)) if choices == plan.choices else ()
    around = replace(plan, order=keys, limit=read_limit(select), offset=read_offset(select), having=None, inner=choices)
    names = {each.name.lower(): each.source for each in plan.outputs}
    values = _ResultValues(_name_of(select), names, added_up=bool(plan.sets))
    _expand_stars(select, plan)
    where = select.args.get("where")
    chosen = None if where is None else values.condition(where.this)
    return (_aggregate if is_aggregated(select) else _select)(select, around, values, chosen)


def _select(select: exp.Select, around: Plan, values: "_ResultValues", chosen: Term | None) -> Plan:
    """Outputs that are chosen and computed, of the rows that WHERE keeps."""
    if select.args.get("having") is not None:
        raise refusal("aggregate_in_where", select.args["having"], "has no groups", "use WHERE", "HAVING")
    once = any(isinstance(choice, DistinctRows) for choice in around.inner)
    values = replace(values, stage=None if once else len(around.inner) + (chosen is not None))
    outputs = read_outputs(select, values, frozenset(values.names))
    order = tuple(read_sorting(select, values.knowing(outputs), outputs))
    return replace(around, outputs=outputs, having=chosen, order=order + around.order)


def _aggregate(select: exp.Select, around: Plan, values: "_ResultValues", chosen: Term | None) -> Plan:
    """Aggregates of the rows that WHERE keeps, by some of their keys."""
    if any(isinstance(choice, DistinctRows) for choice in around.inner):
        why, fix = "aggregates what was aggregated from an answer", "aggregate the answer once"
        raise refusal("nested_aggregate", select, why, fix, "This SELECT")
    choices: tuple[Choice, ...] = around.inner if chosen is None else (*around.inner, RowFilter(chosen))
    keys = _read_groups(select, values)
    values = replace(values, groups=keys, stage=len(choices))
    outputs = read_outputs(select, values, frozenset(values.names))
    known = values.knowing(outputs)
    having = select.args.get("having")
    order = tuple(read_sorting(select, known, outputs))
    return replace(
        around,
        outputs=outputs,
        inner=(*choices, DistinctRows(keys)),
        having=None if having is None else known.condition(having.this),
        order=order + tuple(each for each in around.order if each.by in keys),
    )


def _find_source(select: exp.Select) -> exp.Select | None:
    """The SELECT that is all that another one reads, with the names of WITH that it knows."""
    source = select.args.get("from_")
    named = select.args.get("with_")
    known = list(named.expressions) if named is not None else []
    recursive = named is not None and named.args.get("recursive")
    alone = not select.args.get("joins") and not select.args.get("laterals")
    node = source.this if alone and source is not None else None
    if node is None or recursive or len(known) > MOST_TABLES or not _is_plain(node):
        return None
    if isinstance(node, exp.Subquery):
        return _with_names(node.this, known)
    places = [place for place, each in enumerate(known) if each.alias.lower() == node.name.lower()]
    if not places or known[places[-1]].args["alias"].args.get("columns"):
        return None
    return _with_names(known[places[-1]].this, known[: places[-1]])


def _is_plain(node: exp.Expr) -> bool:
    """Whether a table or subquery in FROM has at most an alias besides itself."""
    alias = node.args.get("alias")
    bare = not any(value for name, value in node.args.items() if name not in ("this", "alias"))
    named = alias is None or not alias.args.get("columns")
    return bare and named and isinstance(node, exp.Subquery | exp.Table)


def _with_names(query: exp.Expr, known: list[exp.Expr]) -> exp.Select | None:
    """A copy of a subquery that has all names of WITH which it knows as its own."""
    while isinstance(query, exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    inner = query.copy()
    own = inner.args.get("with_")
    every = [*(each.copy() for each in known), *(own.expressions if own is not None else ())]
    recursive = own is not None and own.args.get("recursive")
    if recursive or len({each.alias.lower() for each in every}) < len(every):  # which one is meant depends on where
        return None
    inner.set("with_", exp.With(expressions=every) if every else None)
    return inner


def _check_table(node: exp.Expr, known: str) -> None:
    """Refuse the name of another table than the one that is known."""
    named = node.table if isinstance(node, exp.Column) else ""
    if named and named.lower() != known:
        raise refusal_of_name("unknown_table", node, named, "tables of this SELECT", [known])


def _name_of(select: exp.Select) -> str:
    return str(select.args["from_"].this.alias_or_name).lower()


def _expand_stars(select: exp.Select, plan: Plan) -> None:
    """Replace * by the names of all outputs inside."""
    items: list[exp.Expr] = []
    for item in select.expressions:
        star = isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))
        if star:
            check_parts(item, "this", "table")
            _check_table(item, _name_of(select))
        items += [exp.column(output.name, quoted=True) for output in plan.outputs] if star else [item]
    select.set("expressions", items)


def _read_groups(select: exp.Select, values: "_ResultValues") -> tuple[Key, ...]:
    group = select.args.get("group")
    if group is None:
        return ()
    check_parts(group, "expressions")
    found: list[Key] = []
    for part in group.expressions:
        node = strip_brackets(part)
        own = isinstance(node, exp.Column) and node.name.lower() in values.names
        key = values.source(node if own else resolve_key(node, select, Scope(())))
        if not isinstance(key, Key):
            why, fix = (
                "is a noisy value, and rows of an answer are grouped by their keys",
                "group by keys of the answer",
            )
            raise refusal("type_error", part, why, fix)
        found.append(key)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class _ResultValues(Conditions):
    """Reads values over the rows of an answer: names mean its outputs.

    `groups` are the keys that these rows are grouped by, None where they are not. `stage` is how many choices leave the
    rows that aggregates and windows are over; None where none can be. `added_up`: some rows are summed over keys.
    Names of `outputs` go after those.
    """

    table: str
    names: Mapping[str, Key | Term]
    stage: int | None = None
    groups: tuple[Key, ...] | None = None
    outputs: tuple[Output, ...] = ()
    added_up: bool = False

    def knowing(self, outputs: tuple[Output, ...]) -> "_ResultValues":
        """The same, where names of outputs are known too."""
        return replace(self, outputs=outputs)

    def is_null(self, source: Key | Term) -> Term:
        """Whether a value is NULL: a key is, in the rows that are summed over it."""
        return Grouping(source) if isinstance(source, Key) and self.added_up else super().is_null(source)

    def find_key(self, node: exp.Expr) -> Key | None:  # noqa: ARG002 - none is written otherwise than by its name
        return None

    def read_name(self, node: exp.Column) -> Key | Term:
        check_parts(node, "this", "table")
        _check_table(node, self.table)
        found = self.names.get(node.name.lower())
        known = found is not None and (self.groups is None or found in self.groups)
        for output in () if known or node.table else self.outputs:
            if output.name.lower() == node.name.lower():
                return output.source
        if found is None:
            raise refusal_of_name("unknown_column", node, node.name, "outputs of the SELECT inside", list(self.names))
        if not known:
            raise refusal("not_an_aggregate", node, "is neither a key nor aggregated", "aggregate it, or group by it")
        return found

    def read_aggregate(self, node: exp.Expr) -> Term:
        if type(node) not in TOTALS:
            why, fix = "is not computed over rows of an answer", "use SUM, AVG, MIN, MAX or COUNT"
            raise refusal("aggregate_not_allowed", node, why, fix)
        if self.stage is None or self.groups is None:
            raise refusal("nested_aggregate", node, "stands inside another one, or in WHERE", "use one of them alone")
        return WindowFunction(
            TOTALS[type(node)], read_terms(replace(self, groups=None, outputs=()), node), self.groups, stage=self.stage
        )

    def read_window(self, node: exp.Window) -> Term:
        if self.stage is None or self.groups is not None:
            why, fix = "is over rows that are aggregated from an answer", "use it inside, over the answer itself"
            raise refusal("window_function", node, why, fix)
        return read_over(self, node, self.stage)

    def read_grouping(self, node: exp.Expr) -> Term:
        raise refusal(
            "function_not_allowed", node, "stands outside of its groups", "name it inside, with AS", "GROUPING"
        )
