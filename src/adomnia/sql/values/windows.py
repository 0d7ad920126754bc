"""Reads functions over several rows of an answer: RANK() OVER (ORDER BY COUNT(*)), SUM(COUNT(*)) OVER ()."""

from collections.abc import Iterator

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.plans.formulas import Order, Term, WindowFunction, walk
from adomnia.privacy.keys import Key
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.values.scope import check_parts, strip_brackets
from adomnia.sql.values.terms import TermReader

_RANKS: dict[type[exp.Expr], str] = {exp.Rank: "rank", exp.DenseRank: "dense_rank", exp.RowNumber: "row_number"}
TOTALS: dict[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Count: "count",
}
_RESULTS = "use it over an answer: SUM(COUNT(*)) OVER (), RANK() OVER (ORDER BY COUNT(*))"


def read_over(values: TermReader, node: exp.Window, stage: int) -> WindowFunction:
    """Read a function over the rows that so many choices leave."""
    check_parts(node, "this", "partition_by", "order", "over")
    function = node.this
    try:
        keys = tuple(_read_keys(values, node))
        order = tuple(read_order(values, node.args.get("order")))
        if type(function) in _RANKS:
            return _rank(node, function, keys, order, stage)
        if type(function) in TOTALS and not order:
            return WindowFunction(TOTALS[type(function)], read_terms(values, function), keys, stage=stage)
    except Refusal as cause:
        if cause.code == "not_an_aggregate":
            raise refusal_of_rows(node) from None
        raise
    if order:
        why, fix = "adds up in an order, row after row", "leave ORDER BY out, or add up the rows of the answer yourself"
        raise refusal("window_function", node, why, fix)
    raise refusal_of_node(node)


def refusal_of_rows(node: exp.Window) -> Refusal:
    """The refusal of a window over rows of people."""
    return refusal("window_function", node, "looks at other rows than its own", _RESULTS)


def read_terms(values: TermReader, function: exp.Expr) -> tuple[Term, ...]:
    """Read what an aggregate over rows of an answer takes; nothing, where it counts them."""
    check_parts(function, "this", "big_int")
    if isinstance(function.this, exp.Star) and isinstance(function, exp.Count):
        return ()
    if isinstance(function.this, exp.Distinct) or function.this is None:
        why, fix = "counts different values of an answer, which are noisy", "count its rows: COUNT(*)"
        raise refusal("aggregate_not_allowed", function, why, fix)
    term = values.term(function.this)
    if any(isinstance(part, WindowFunction) for part in walk(term)):
        why, fix = "is over rows whose values are over rows themselves", "ask for the inner values alone"
        raise refusal("nested_aggregate", function, why, fix)
    return (term,)


def read_order(values: TermReader, order: exp.Expr | None) -> Iterator[Order]:
    """Read what an ORDER BY sorts by."""
    if order is None:
        return
    check_parts(order, "expressions")
    for ordered in order.expressions:
        check_parts(ordered, "this", "desc", "nulls_first")
        flags = (bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first")))
        yield Order(values.source(strip_brackets(ordered.this)), *flags)


def _read_keys(values: TermReader, node: exp.Window) -> Iterator[Key]:
    for part in node.args.get("partition_by") or ():
        found = values.source(strip_brackets(part))
        if not isinstance(found, Key):
            why, fix = "is a noisy value, and parts are made by keys", "name keys of GROUP BY in PARTITION BY"
            raise refusal("type_error", part, why, fix)
        yield found


def _rank(
    node: exp.Window, function: exp.Expr, keys: tuple[Key, ...], order: tuple[Order, ...], stage: int
) -> WindowFunction:
    check_parts(function)
    if not order:
        raise refusal("window_function", node, "does not say by what", "write OVER (ORDER BY COUNT(*) DESC)")
    return WindowFunction(_RANKS[type(function)], (), keys, order, stage)
