"""Lowers the text of a question to a plan: its relation, its keys, its statistics, and the order of the answer."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from sqlglot import exp

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.plans.choices import Condition, count_operations
from adomnia.plans.descriptions import describe
from adomnia.plans.formulas import Formula, count_nodes
from adomnia.plans.plan import Order, Output, Plan
from adomnia.plans.public_rows import PublicRows
from adomnia.pricing.findings import explain_need
from adomnia.privacy.aggregates import People, values_of
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import Bucket, Key, key_cells
from adomnia.privacy.relations import is_public
from adomnia.sql.reading.parse import parse
from adomnia.sql.reading.refusals import check_name, refusal
from adomnia.sql.rows.blocks import BlockReader
from adomnia.sql.rows.derived import refuse_slow
from adomnia.sql.rows.public import read_public_rows
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.group_keys import output_index, read_keys
from adomnia.sql.values.groups import Groups
from adomnia.sql.values.having import read_having
from adomnia.sql.values.quantiles import merge_quantiles
from adomnia.sql.values.scope import check_parts, strip_brackets
from adomnia.sql.values.terms import Values
from adomnia.statistics.contract import Statistic
from adomnia.statistics.count import Count
from adomnia.work import spend

_DIGITS = re.compile("[0-9]{1,18}")
MOST_OUTPUTS = 100
MOST_NUMBERS = 4 * 10**6
MOST_COMPUTED = 10**8
_STEPS_OF_A_MEASUREMENT = 25
_LONGEST_STEM = 55
_CALLED = (exp.Floor, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.DayOfWeek)
_LIMIT = re.compile(r"0*[1-9][0-9]{0,17}", re.ASCII)


def lower(text: str, catalog: Catalog) -> Plan:
    """Plan a question from its text and the catalog alone; a Refusal where it cannot be answered."""
    return require_plan(plan_question(parse(text), catalog))


def require_plan(question: Plan | PublicRows) -> Plan:
    """The plan of a question about people; a Refusal where it reads public tables alone, which has no price."""
    if isinstance(question, Plan):
        return question
    what, why = "A question about public tables alone", "costs nothing and has no price"
    raise Refusal(what, why, "ask it by itself, with sql()", (1, 1), code="public_table")


def plan_question(
    select: exp.Select, catalog: Catalog, *, finds: bool = False, confidence: float = 0.95, interval: bool = True
) -> Plan | PublicRows:
    """Plan a parsed question; one about public tables alone becomes their rows.

    `finds` allows keys whose values are found in the data. `confidence` is that of the intervals of quantiles, which
    are measured together with their values, unless there is to be no `interval`.
    """
    block = BlockReader(catalog).read_block(select)
    declared = frozenset(column.name.lower() for table in catalog.tables for column in table.columns)
    if is_public(block.relation):
        return read_public_rows(select, block, declared, _read_limit(select), _read_offset(select))
    written = read_keys(select, block.scope, block.relation, None if finds else explain_need(catalog))
    # One order of the keys however GROUP BY lists them: it is the answer's rows that are sorted as written.
    buckets = sorted((key for key in written if isinstance(key, Bucket)), key=lambda key: describe(key.written))
    columns = tuple(column for column in block.relation.columns if column in written)
    keys: tuple[Key, ...] = (*columns, *buckets)
    question = _Question(select, Groups(block.relation, keys, block.scope, confidence, interval), declared)
    outputs = question.outputs()
    order = tuple(question.order(outputs))
    if written != keys:
        order += tuple(Order(key) for key in written)
    plan = Plan(
        block.relation, keys, outputs, order, _read_limit(select), _read_offset(select), question.having(outputs)
    )
    plan = merge_quantiles(select, plan)
    if not plan.statistics:
        why, fix = "measures nothing", "add an aggregate such as COUNT(*)"
        raise refusal("not_an_aggregate", select, why, fix, "The question")
    _refuse_large(select, plan)
    # What several measurements look at is computed once.
    values = dict.fromkeys(value for statistic in plan.statistics for value in _list_values(statistic))
    refuse_slow(select, block.weight, values)
    for key in buckets:  # a text is compared with each of a list
        refuse_slow(select, block.weight * (len(key.cells) if isinstance(key.among, tuple) else 1), [key.value])
    return plan


def _list_values(statistic: Statistic) -> Iterator[Expression]:
    """What the measurements of a statistic look at."""
    for measure in next(statistic.steps(Pure(1))):
        spend(_STEPS_OF_A_MEASUREMENT)
        yield from values_of(measure.query.aggregate)


def count_numbers(plan: Plan) -> int:
    """How many numbers a plan asks for: its statistics times its groups."""
    return len(plan.statistics) * prod(len(key_cells(key)) for key in plan.keys)


def _refuse_large(select: exp.Select, plan: Plan) -> None:
    cells = prod(len(key_cells(key)) for key in plan.keys)
    numbers = count_numbers(plan)
    if numbers > MOST_NUMBERS:
        why = f"asks for {numbers:,} numbers, more than {MOST_NUMBERS:,}"
        raise refusal("too_many_cells", select, why, "ask for fewer aggregates or groups", "The question")
    sources = (*(output.source for output in plan.outputs), *(order.by for order in plan.order))
    computed = sum(count_nodes(source) for source in sources if not isinstance(source, Key))
    computed += 0 if plan.having is None else count_operations(plan.having)
    if computed * cells > MOST_COMPUTED:
        why = f"takes {computed * cells:,} operations on noisy values, more than {MOST_COMPUTED:,}"
        raise refusal("too_complex", select, why, "compute less, or ask for fewer groups", "The question")


@dataclass(frozen=True)
class _Question:
    """Reads the outputs, the order and the HAVING of a SELECT over its groups.

    An output may be called after any of the `declared` columns, whatever their letters: the owner named those.
    """

    select: exp.Select
    groups: Groups
    declared: frozenset[str]

    def outputs(self) -> tuple[Output, ...]:
        if len(self.select.expressions) > MOST_OUTPUTS:
            why = f"has {len(self.select.expressions):,} outputs, more than {MOST_OUTPUTS}"
            raise refusal("too_complex", self.select, why, "ask for fewer", "The question")
        items: list[exp.Expr] = [strip_brackets(item.unalias()) for item in self.select.expressions]
        values = Values(self.groups)
        sources = [values.source(item) for item in items]
        names = list(self._names(items, sources))
        return tuple(Output(name, source) for name, source in zip(names, sources, strict=True))

    def order(self, outputs: tuple[Output, ...]) -> Iterator[Order]:
        order = self.select.args.get("order")
        if order is None:
            return
        check_parts(order, "expressions")
        for ordered in order.expressions:
            check_parts(ordered, "this", "desc", "nulls_first")  # no value is NULL, so where NULL goes changes nothing
            yield Order(self._sort_source(strip_brackets(ordered.this), outputs), bool(ordered.args.get("desc")))

    def having(self, outputs: tuple[Output, ...]) -> Condition | None:
        having = self.select.args.get("having")
        return None if having is None else read_having(having.this, Values(self.groups, outputs))

    def _names(self, items: list[exp.Expr], sources: Sequence[Key | Statistic | Formula]) -> Iterator[str]:
        """The aliases, and default names for outputs that have none."""
        taken: set[str] = set()
        for selected in self.select.expressions:
            if isinstance(selected, exp.Alias):
                _check_alias(selected, taken)
        for selected, item, source in zip(self.select.expressions, items, sources, strict=True):
            if isinstance(selected, exp.Alias):
                yield selected.alias
            else:
                made_up = _default_name(item, source)[:_LONGEST_STEM]
                if not all(column.name.lower() in self.declared for column in item.find_all(exp.Column)):
                    check_name(made_up, selected)
                yield _free_name(made_up, taken)

    def _sort_source(self, node: exp.Expr, outputs: tuple[Output, ...]) -> Key | Statistic | Formula:
        if isinstance(node, exp.Literal):
            return outputs[output_index(node, len(outputs))].source
        if isinstance(node, exp.Var):
            raise refusal(
                "syntax_not_allowed", node, "does not say by what", "name the outputs to sort by", "ORDER BY ALL"
            )
        return Values(self.groups, outputs).source(node)


def _read_limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    if limit is None:
        return None
    rows = limit.args.get("expression")
    plain = isinstance(limit, exp.Limit) and isinstance(rows, exp.Literal) and not limit.args.get("limit_options")
    if not plain or rows.is_string or not _LIMIT.fullmatch(str(rows.this)):
        raise refusal("bad_literal", limit, "takes a whole number of at least 1", "write LIMIT 10", "LIMIT")
    check_parts(limit, "expression")
    return int(rows.this)


def _read_offset(select: exp.Select) -> int:
    offset = select.args.get("offset")
    if offset is None:
        return 0
    rows = offset.args.get("expression")
    if not isinstance(rows, exp.Literal) or rows.is_string or not _DIGITS.fullmatch(str(rows.this)):
        raise refusal("bad_literal", offset, "takes a whole number", "write OFFSET 10", "OFFSET")
    check_parts(offset, "expression")
    return int(rows.this)


def _check_alias(selected: exp.Alias, taken: set[str]) -> None:
    name = selected.alias
    check_name(name, selected.args["alias"])
    if name.lower() in taken:
        raise refusal("duplicate_alias", selected.args["alias"], "names two outputs", "give each its own name", name)
    taken.add(name.lower())


def _default_name(node: exp.Expr, source: Key | Statistic | Formula) -> str:
    """`city`, `avg_salary`, `count` for COUNT(*), `sum` for a sum of anything longer, `value` for arithmetic."""
    if isinstance(node, exp.Column):
        return node.name
    if type(node) not in AGGREGATES:
        return node.key if type(node) in _CALLED else "value"
    name = AGGREGATES[type(node)].name.lower()
    values = [node.this, node.expression] if "expression" in node.args else [node.this]
    if isinstance(source, Count) and isinstance(source.query.aggregate, People):
        return f"{name}_people"
    if isinstance(node.this, exp.Distinct):
        name, values = f"{name}_distinct", node.this.expressions
    plain = all(isinstance(value, exp.Column) for value in values)
    return "_".join([name, *(value.name for value in values)]) if plain else name


def _free_name(name: str, taken: set[str]) -> str:
    """The name, or the first of name_2, name_3, ... that no output has."""
    free, number = name[:_LONGEST_STEM], 1
    while free.lower() in taken:
        number += 1
        free = f"{name[:_LONGEST_STEM]}_{number}"
    taken.add(free.lower())
    return free
