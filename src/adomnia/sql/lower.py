"""Lowers the text of a question to a plan: its relation, its keys, its statistics, and the order of the answer."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import prod

from sqlglot import exp

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.texts import write
from adomnia.plans.descriptions import describe
from adomnia.plans.formulas import Formula, Grouping, Order, Term, WindowFunction, count_nodes, walk
from adomnia.plans.plan import Output, Plan, RowFilter, RowLimit
from adomnia.plans.public_columns import PublicRows
from adomnia.pricing.findings import explain_need
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Column, Expression, conjuncts
from adomnia.privacy.keys import Bucket, Key, key_cells
from adomnia.privacy.kinds import Identity, Text
from adomnia.privacy.relations import Where
from adomnia.sql.around import find_layers, is_aggregated, plan_around
from adomnia.sql.methods.calls import plan_method
from adomnia.sql.reading.parse import parse, refuse_distinct
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.reading.spellings import fill_in_today
from adomnia.sql.rows.blocks import BlockReader
from adomnia.sql.rows.correlation import Block
from adomnia.sql.rows.derived import refuse_slow
from adomnia.sql.rows.public import read_public_rows
from adomnia.sql.values.aggregates import read_aggregate
from adomnia.sql.values.group_keys import WrittenKeys, leave_values, read_keys
from adomnia.sql.values.groups import Groups
from adomnia.sql.values.having import Conditions
from adomnia.sql.values.population import infer_population
from adomnia.sql.values.quantiles import merge_quantiles
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import check_parts, find_call, own_nodes
from adomnia.sql.values.terms import read_limit, read_offset, read_outputs, read_sorting
from adomnia.sql.values.windows import read_over, refusal_of_rows
from adomnia.statistics.contract import Statistic
from adomnia.statistics.extreme import Extreme
from adomnia.statistics.population.quantile import PopulationQuantile
from adomnia.statistics.quantile import Quantile
from adomnia.work import spend

MOST_NUMBERS = 4 * 10**6
MOST_COMPUTED = 10**8
_STEPS_OF_A_MEASUREMENT = 25
_OPERATIONS_OF_A_WINDOW = 50  # it sorts
_EACH_GROUPING = "ask for each grouping by itself"


@dataclass(frozen=True)
class _Asked:
    """How a question is asked: whether it finds values of keys, and what its quantiles buy."""

    finds: bool = False
    confidence: float = 0.95
    interval: bool = True


@dataclass(frozen=True)
class _Draft:
    """A plan, and how much work it is to read a column of its rows."""

    plan: Plan
    weight: int


def lower(text: str, catalog: Catalog) -> Plan:
    """Plan a question from its text and the catalog alone; a Refusal where it cannot be answered."""
    return require_plan(plan_question(parse(text), catalog))


def require_plan(question: Plan | PublicRows) -> Plan:
    """The plan of a question about people; a Refusal where it reads public tables alone, which has no price."""
    if isinstance(question, Plan):
        return question
    what, why = "A question about public tables alone", "costs nothing and has no price"
    raise Refusal(what, why, write("ask it by itself, with {sql()}"), (1, 1), code="public_table")


def plan_question(  # noqa: PLR0913 - all that a plan depends on
    select: exp.Select,
    catalog: Catalog,
    *,
    finds: bool = False,
    confidence: float = 0.95,
    interval: bool = True,
    inference: str = "data",
) -> Plan | PublicRows:
    """Plan a parsed question; one about public tables alone becomes their rows.

    `finds` allows keys whose values are found in the data. `confidence` is that of the intervals of quantiles, which
    are measured together with their values, unless there is to be no `interval`. With the `inference` "population",
    intervals are about the population that the people are a sample of.
    """
    fill_in_today(select, catalog.today)
    call = find_call(select)
    if call is not None:
        if inference == "population":
            why, fix = "is said beside a method, which says it itself", "write inference => 'population' inside"
            raise refusal("bad_inference", call, why, fix, write("{inference=population}"))
        return plan_method(select, call, catalog, confidence)
    draft = _draft(select, catalog, _Asked(finds, confidence, interval))
    if isinstance(draft, PublicRows):
        return draft
    if not draft.plan.statistics:
        why, fix = "measures nothing", "add an aggregate such as COUNT(*)"
        raise refusal("not_an_aggregate", select, why, fix, "The question")
    plan = infer_population(select, draft.plan) if inference == "population" else draft.plan
    if any(each.query.form == "histogram" for each in plan.statistics):
        plan = merge_quantiles(select, plan)
    _refuse_large(select, plan)
    _refuse_not_additive(select, plan)
    # What several measurements look at is computed once.
    values = dict.fromkeys(value for statistic in plan.statistics for value in _list_values(statistic))
    refuse_slow(select, draft.weight, values)
    for key in plan.keys:  # a text is compared with each of a list
        if isinstance(key, Bucket):
            listed = isinstance(key.among, tuple) and isinstance(key.value.kind, Text)
            refuse_slow(select, draft.weight * (len(key.cells) if listed else 1), [key.value])
    return plan


def _draft(select: exp.Select, catalog: Catalog, asked: _Asked) -> _Draft | PublicRows:
    """A plan of what the innermost SELECT measures, and of what those around it do with that."""
    *others, measures = find_layers(select, catalog) if _names_people(select, catalog) else [select]
    for each in others:
        refuse_distinct(each)
    draft = _draft_block(measures, catalog, asked)
    for around in reversed(others):
        assert isinstance(draft, _Draft)  # noqa: S101 - aggregates of people
        draft = replace(draft, plan=plan_around(around, draft.plan))
    return draft


def _draft_block(select: exp.Select, catalog: Catalog, asked: _Asked) -> _Draft | PublicRows:
    about_people = _names_people(select, catalog)
    declared = frozenset(column.name.lower() for table in catalog.tables for column in table.columns)
    reader = BlockReader(catalog, exact=not about_people)
    block = reader.read_block(select)
    if block.relation.is_public != reader.exact:  # a name of WITH, or a view, is other than it sounds
        reader = BlockReader(catalog, exact=not reader.exact)
        block = reader.read_block(select)
    if block.relation.is_public:
        return read_public_rows(select, block, reader, declared, read_limit(select), read_offset(select))
    refuse_distinct(select)
    written = _read_keys(select, block, catalog, asked)
    # One order of the keys however GROUP BY lists them: it is the answer's rows that are sorted as written.
    buckets = sorted((key for key in written.keys if isinstance(key, Bucket)), key=lambda key: describe(key.written))
    columns = tuple(column for column in block.relation.columns if column in written.keys)
    keys: tuple[Key, ...] = (*columns, *buckets)
    groups = Groups(block.relation, keys, block.scope, asked.confidence, asked.interval, written.sets)
    having = select.args.get("having")
    windows = GroupValues(groups, stage=int(having is not None) if is_aggregated(select) else None)
    outputs = read_outputs(select, windows, declared)
    order = tuple(read_sorting(select, replace(windows, outputs=outputs), outputs))
    if written.keys != keys:
        order += tuple(Order(key) for key in written.keys)
    chosen = None if having is None else GroupValues(groups, outputs).condition(having.this)
    plan = Plan(
        block.relation, keys, outputs, order, read_limit(select), read_offset(select), chosen, sets=written.sets
    )
    if any(leave_values(key, block.relation) != key for key in plan.keys):
        plan = plan.with_keys_everywhere(lambda key: leave_values(key, block.relation))
    return _Draft(plan, block.weight)


def _read_keys(select: exp.Select, block: Block, catalog: Catalog, asked: _Asked) -> WrittenKeys:
    """The keys of GROUP BY, of which those that nobody declared need what finds their values."""
    if select.args.get("group") is None:
        return WrittenKeys()
    if block.relation.has_blocks:
        return read_keys(select, block.scope, block.relation, _explain_blocks)
    lacking = None if asked.finds else partial(explain_need, catalog)
    return read_keys(select, block.scope, block.relation, lacking)


def _explain_blocks() -> str:
    """What it takes to group blocks by values that nobody declared."""
    return "filter with WHERE before rows are put into blocks: values are found by who has them"


def _names_people(select: exp.Select, catalog: Catalog) -> bool:
    """Whether a question names a private table, or a view, which may be made of one."""
    names = {table.name.lower() for table in catalog.tables if not table.public}
    names |= {view.name.lower() for view in catalog.views}
    return any(table.name.lower() in names for table in select.find_all(exp.Table))


def _list_values(statistic: Statistic) -> Iterator[Expression]:
    """What the measurements of a statistic look at."""
    for measure in next(statistic.steps(Pure(1))):
        spend(_STEPS_OF_A_MEASUREMENT)
        yield from measure.query.aggregate.expressions
        if measure.query.aggregate.of_people and isinstance(measure.query.relation, Where):
            yield from conjuncts(measure.query.relation.condition)  # which may be its own


def count_numbers(plan: Plan) -> int:
    """How many numbers a plan asks for: its statistics times its groups, those that are added up among them."""
    if plan.view is not None:
        return sum(prod(query.result_shape) for statistic in plan.statistics for query in statistic.queries)
    measured = prod(len(key_cells(key)) for key in plan.keys)
    return len(plan.statistics) * (measured + plan.rows if plan.sets else measured)


def _refuse_large(select: exp.Select, plan: Plan) -> None:
    numbers = count_numbers(plan)
    if numbers > MOST_NUMBERS:
        why = f"asks for {numbers:,} numbers, more than {MOST_NUMBERS:,}"
        raise refusal("too_many_cells", select, why, "ask for fewer aggregates or groups", "The question")
    computed = sum(map(_count_operations, _list_computed(plan))) * plan.rows
    if computed > MOST_COMPUTED:
        why = f"takes {computed:,} operations on noisy values, more than {MOST_COMPUTED:,}"
        raise refusal("too_complex", select, why, "compute less, or ask for fewer groups", "The question")


def _list_computed(plan: Plan) -> Iterator[Term]:
    """All that is computed on noisy values, as often as it is written."""
    sources = [*(output.source for output in plan.outputs), *(order.by for order in plan.order)]
    for choice in plan.choices:
        if isinstance(choice, RowFilter):
            yield choice.condition
        elif isinstance(choice, RowLimit):
            sources += (order.by for order in choice.order)
    yield from (source for source in sources if not isinstance(source, Key))


def _count_operations(term: Term) -> int:
    return count_nodes(term) + _OPERATIONS_OF_A_WINDOW * sum(isinstance(part, WindowFunction) for part in walk(term))


def _refuse_not_additive(select: exp.Select, plan: Plan) -> None:
    """Refuse several groupings of what is not added up from one to the next."""
    for statistic in plan.statistics if plan.sets else ():
        counted = statistic.query.aggregate.different
        if counted or isinstance(statistic, Quantile | PopulationQuantile | Extreme):
            why = f"has {statistic.name}{' DISTINCT' if counted else ''}, which does not add up"
            raise refusal("grouping_sets", select, why, _EACH_GROUPING, "GROUP BY with several groupings")


@dataclass(frozen=True)
class GroupValues(Conditions):
    """Reads values over the groups of a question. Names of keys go before those of `outputs`, and these before others.

    `stage` is how many choices leave the rows that a window is over; None where it cannot be over any.
    """

    groups: Groups
    outputs: tuple[Output, ...] = ()
    stage: int | None = None

    def read_aggregate(self, node: exp.Expr) -> Term:
        return read_aggregate(self.groups, node)

    def read_window(self, node: exp.Window) -> Term:
        if self.stage is None:
            raise refusal_of_rows(node)
        if self.groups.sets:
            why = "is over rows of several groupings, and would count everybody more than once"
            raise refusal("window_function", node, why, "group by the keys alone: GROUP BY a, b")
        return read_over(self, node, self.stage)

    def read_grouping(self, node: exp.Expr) -> Term:
        check_parts(node, "expressions")
        found: Term = Fraction(0)
        for part in node.expressions:
            key = self.source(part)
            if not isinstance(key, Key):
                raise refusal("type_error", part, "is not a key", "write GROUPING(key)")
            one = Grouping(key)
            found = one if found == Fraction(0) else Formula("+", (Formula("*", (found, Fraction(2))), one))
        return found

    def is_null(self, source: Key | Term) -> Term:
        """Whether a value is NULL: a key is, in the rows that are summed over it."""
        return Grouping(source) if isinstance(source, Key) and self.groups.sets else super().is_null(source)

    def find_key(self, node: exp.Expr) -> Bucket | None:
        """The key by an expression that a node stands for, if there is one."""
        buckets = [key for key in self.groups.keys if isinstance(key, Bucket)]
        known = self.groups.scope.given
        own = list(own_nodes(node, self.groups.scope))
        computes = any(isinstance(each, exp.AggFunc | exp.Query) and id(each) not in known for each in own)
        if not buckets or computes or not any(isinstance(each, exp.Column) or id(each) in known for each in own):
            return None
        if isinstance(node, exp.Column) and not self.groups.scope.knows(node):
            return None
        with suppress(Refusal):
            meaning = read_expression(node, self.groups.scope)
            return next((key for key in buckets if key.written == meaning), None)
        return None

    def read_name(self, node: exp.Column) -> Key | Term:
        known = self.groups.scope.column(node) if self.groups.scope.knows(node) else None
        if isinstance(known, Column) and known in self.groups.keys:
            return known
        for output in self.outputs:
            if not node.table and output.name.lower() == node.name.lower():
                return output.source
        column = self.groups.scope.column(node)
        by = "" if isinstance(column.kind, Identity) else f", or GROUP BY {node.name}"
        raise refusal("not_an_aggregate", node, "would show values of single rows", f"use COUNT, SUM or AVG{by}")
