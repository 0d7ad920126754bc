"""Reads the values of the rows of an answer, and what a SELECT shows of them: outputs, their names, order and limit.

A value is a key, an aggregate, or computed with them.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from operator import add, mul, sub, truediv

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.plans.formulas import DATE, Formula, Order, Term, leaves_of
from adomnia.plans.plan import Output
from adomnia.privacy.keys import Key
from adomnia.sql.reading.refusals import check_name, refusal, refusal_of_node
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.computed import FUNCTIONS, NULL, build_cast, build_function, check_call, check_size
from adomnia.sql.values.functions import CONDITIONAL, NAMES
from adomnia.sql.values.group_keys import output_index
from adomnia.sql.values.scalars import read_number
from adomnia.sql.values.scope import check_parts, strip_brackets
from adomnia.statistics.count import Count

_LARGEST_CONSTANT = 10**300
_SIGNS: dict[type[exp.Expr], tuple[str, Callable[[Fraction, Fraction], Fraction]]] = {
    exp.Add: ("+", add),
    exp.Sub: ("-", sub),
    exp.Mul: ("*", mul),
    exp.Div: ("/", truediv),
}


class TermReader(ABC):
    """Reads the values of a SELECT whose rows are those of an answer. What names and aggregates mean is left open."""

    @abstractmethod
    def find_key(self, node: exp.Expr) -> Key | None:
        """The key that an expression stands for, if there is one."""

    @abstractmethod
    def read_name(self, node: exp.Column) -> Key | Term:
        """What a name means."""

    @abstractmethod
    def read_aggregate(self, node: exp.Expr) -> Term:
        """What an aggregate asks for."""

    @abstractmethod
    def read_window(self, node: exp.Window) -> Term:
        """What a function over several rows of the answer asks for."""

    @abstractmethod
    def read_grouping(self, node: exp.Expr) -> Term:
        """Whether a row is summed over a key."""

    @abstractmethod
    def condition(self, node: exp.Expr) -> Term:
        """Read a condition."""

    def source(self, node: exp.Expr) -> Key | Term:
        """Read a key, an aggregate or a formula."""
        found = self.value(node)
        if not isinstance(found, Key) and not any(True for _ in leaves_of(found)):
            raise refusal("not_an_aggregate", node, "is the same whatever is asked", "use COUNT, SUM or AVG")
        return found

    def value(self, node: exp.Expr) -> Key | Term:
        """Read a key, an aggregate, a formula or a constant number."""
        node = strip_brackets(node)
        return self.find_key(node) or self._read_computed(node)

    def term(self, node: exp.Expr, *, dates: bool = False) -> Term:
        """Read what can be computed with."""
        found = self.value(node)
        if not dates and is_date(found):
            raise _refusal_of_date(node)
        if isinstance(found, Key):
            why = "is a key, and keys are not computed with"
            raise refusal("type_error", node, why, "compute with aggregates and numbers")
        return found

    def _read_computed(self, node: exp.Expr) -> Key | Term:  # noqa: PLR0911 - one for each kind of node
        match node:
            case exp.Window():
                return self.read_window(node)
            case exp.Grouping() | exp.GroupingId():
                return self.read_grouping(node)
            case exp.Column() if not isinstance(node.this, exp.Star):
                return self.read_name(node)
            case exp.Neg():
                check_parts(node, "this")
                return _negate(self.term(node.this))
            case exp.Literal() if not node.is_string:
                return _constant(node)
            case exp.Case() | exp.Cast():
                return self._read_scalar(node)
        if type(node) in AGGREGATES:
            return self.read_aggregate(node)
        if type(node) in _SIGNS:
            check_parts(node, "this", "expression")
            return _combine(node, *self._read_pair(node))
        return self._read_function(node)

    def _read_function(self, node: exp.Expr) -> Term:
        if isinstance(node, exp.Pow):  # a ** 2
            check_parts(node, "this", "expression")
            return build_function(node, "POWER", [self.term(node.this), self.term(node.expression)])
        name = str(node.this).upper() if isinstance(node, exp.Anonymous) else ""
        if name not in {*FUNCTIONS, *CONDITIONAL}:
            raise _refusal_of_value(node)
        if name in CONDITIONAL and len(node.expressions) == 3:
            test, one, other = node.expressions
            parts = (self.condition(test), self._read_part(one), self._read_part(other))
            return check_size(node, Formula("case", parts))
        if name in CONDITIONAL:
            raise refusal("type_error", node, f"has {len(node.expressions)} arguments", "give it 3", name)
        check_call(node, name)
        dates = name in ("COALESCE", "IFNULL")  # never NULL, so that the others do not matter
        return build_function(node, name, [self._read_part(each, dates=dates) for each in node.expressions])

    def _read_scalar(self, node: exp.Expr) -> Term:
        """CASE and CAST."""
        if isinstance(node, exp.Cast):
            check_parts(node, "this", "to", "action", "format")
            return build_cast(node, self.term(node.this), node.to)
        check_parts(node, "this", "ifs", "default")
        terms = list[Term]()
        for each in node.args["ifs"]:
            test = each.this if node.this is None else exp.EQ(this=node.this.copy(), expression=each.this.copy())
            terms += [self.condition(test), self._read_part(each.args["true"])]
        default = node.args.get("default")
        return check_size(node, Formula("case", (*terms, NULL if default is None else self._read_part(default))))

    def _read_part(self, node: exp.Expr, *, dates: bool = False) -> Term:
        """Read what CASE or a function may take: a value, or NULL."""
        if isinstance(strip_brackets(node), exp.Null):
            return NULL
        if isinstance(strip_brackets(node), exp.Literal) and strip_brackets(node).is_string:
            why, fix = "is a text, and what is computed with answers are numbers", "write numbers"
            raise refusal("type_error", node, why, fix)
        return self.term(node, dates=dates)

    def _read_pair(self, node: exp.Expr) -> tuple[Term, Term]:
        """Both sides of an operation: numbers, or two dates, whose difference is a number of days."""
        sides = self.term(node.this, dates=True), self.term(node.expression, dates=True)
        if isinstance(node, exp.Sub) and all(map(is_date, sides)):
            return sides[0].terms[0], sides[1].terms[0]  # type: ignore[union-attr]  # formulas, then
        if any(map(is_date, sides)):
            raise _refusal_of_date(node)
        return sides


def is_date(term: Key | Term) -> bool:
    """Whether a term is a date, and not a number."""
    return isinstance(term, Formula) and term.function == DATE


def _refusal_of_date(node: exp.Expr) -> Refusal:
    fix = "subtract two of them for a number of days, as in MAX(day) - MIN(day)"
    return refusal("type_error", node, "computes with a date", fix)


def _refusal_of_value(node: exp.Expr) -> Refusal:
    scalar = isinstance(node, exp.Case | exp.If | exp.Cast | exp.Predicate | exp.Connector | exp.Not)
    if scalar or (isinstance(node, exp.Anonymous) and str(node.this).upper() in NAMES):
        return _refusal_of_scalar(node)
    if isinstance(node, exp.Func | exp.Query | exp.Window | exp.Filter | exp.IgnoreNulls | exp.Binary):
        return refusal_of_node(node)
    constant = isinstance(node, exp.Literal | exp.Boolean | exp.Null)
    why = "is neither a number nor an aggregate" if constant else "would show values of single rows"
    return refusal("not_an_aggregate", node, why, "use COUNT, SUM or AVG")


def _refusal_of_scalar(node: exp.Expr) -> Refusal:
    """Of a function of single rows where a number of a group is wanted."""
    what = "CASE" if isinstance(node, exp.Case) else None
    if node.find(exp.AggFunc) and isinstance(node, exp.Predicate | exp.Connector | exp.Not):
        fix = "make a number of it: CASE WHEN ... THEN 1 ELSE 0 END"
        return refusal("function_not_allowed", node, "is a condition, and answers are numbers", fix)
    if node.find(exp.AggFunc):
        fix = "use arithmetic, ROUND, CASE, COALESCE, GREATEST or SQRT, and compute the rest yourself, for nothing"
        return refusal("function_not_allowed", node, "is not computed with answers", fix, what)
    fix = "use COUNT, SUM or AVG of it, or group by it"
    return refusal("not_an_aggregate", node, "would show values of single rows", fix, what)


def _combine(node: exp.Expr, left: Term, right: Term) -> Term:
    sign, compute = _SIGNS[type(node)]
    if sign == "/" and right == Fraction(0):
        raise refusal("bad_literal", node, "divides by zero", "divide by something else")
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        found = compute(left, right)
        if abs(found) > _LARGEST_CONSTANT:
            raise refusal("bad_literal", node, "is beyond the range of a double", "use smaller constants")
        return found
    return check_size(node, _divide(left, right) if sign == "/" else Formula(sign, (left, right)))


def _divide(left: Term, right: Term) -> Term:
    """A quotient. NULLIF(x, 0) guards against a division by zero: of a count there is none."""
    match right:
        case Formula(function="nullif", terms=(value, Fraction(numerator=0))) if not isinstance(value, Count):
            return Formula("case", (Formula("=", (value, Fraction(0))), NULL, Formula("/", (left, value))))
        case Formula(function="nullif", terms=(Count() as count, Fraction(numerator=0))):
            right = count
    if isinstance(right, Count):
        # Of nobody there is no ratio: one is the least that a count can be where there is one.
        right = Formula("at least 1", (right,))
    return Formula("/", (left, right))


def _negate(term: Term) -> Term:
    return -term if isinstance(term, Fraction) else Formula("negative", (term,))


def _constant(node: exp.Literal) -> Fraction:
    value = read_number(node, str(node.this)).value
    assert isinstance(value, Fraction)  # noqa: S101 - as read
    return value


MOST_OUTPUTS = 100

_DIGITS = re.compile("[0-9]{1,18}")
_LIMIT = re.compile(r"0*[1-9][0-9]{0,17}", re.ASCII)
LONGEST_STEM = 55
_CALLED = (exp.Floor, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.DayOfWeek)


def read_outputs(select: exp.Select, values: TermReader, declared: frozenset[str]) -> tuple[Output, ...]:
    """Read the outputs of a SELECT and name them.

    One may be called after any of the `declared` columns, whatever their letters: the owner named those.
    """
    if len(select.expressions) > MOST_OUTPUTS:
        why = f"has {len(select.expressions):,} outputs, more than {MOST_OUTPUTS}"
        raise refusal("too_complex", select, why, "ask for fewer", "The question")
    items: list[exp.Expr] = [strip_brackets(item.unalias()) for item in select.expressions]
    sources = [values.source(item) for item in items]
    names = list(_names(select, items, sources, declared))
    return tuple(Output(name, source) for name, source in zip(names, sources, strict=True))


def read_sorting(select: exp.Select, values: TermReader, outputs: tuple[Output, ...]) -> Iterator[Order]:
    """Read ORDER BY: names, numbers and values; `values` know the outputs by their names."""
    order = select.args.get("order")
    if order is None:
        return
    check_parts(order, "expressions")
    for ordered in order.expressions:
        check_parts(ordered, "this", "desc", "nulls_first")
        flags = (bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first")))
        yield Order(_sort_source(strip_brackets(ordered.this), values, outputs), *flags)


def _sort_source(node: exp.Expr, values: TermReader, outputs: tuple[Output, ...]) -> Key | Term:
    if isinstance(node, exp.Literal):
        return outputs[output_index(node, len(outputs))].source
    if isinstance(node, exp.Column) and not node.table:  # by itself, the name of an output goes before all others
        named = [output for output in outputs if output.name.lower() == node.name.lower()]
        if named:
            return named[0].source
    if isinstance(node, exp.Var):
        raise refusal("syntax_not_allowed", node, "does not say by what", "name the outputs to sort by", "ORDER BY ALL")
    return values.source(node)


def _names(
    select: exp.Select, items: list[exp.Expr], sources: Sequence[Key | Term], declared: frozenset[str]
) -> Iterator[str]:
    """The aliases, and default names for outputs that have none."""
    taken: set[str] = set()
    for selected in select.expressions:
        if isinstance(selected, exp.Alias):
            _check_alias(selected, taken)
    for selected, item, source in zip(select.expressions, items, sources, strict=True):
        if isinstance(selected, exp.Alias):
            yield selected.alias
        else:
            made_up = _default_name(item, source)[:LONGEST_STEM]
            if not all(column.name.lower() in declared for column in item.find_all(exp.Column)):
                check_name(made_up, selected)
            yield free_name(made_up, taken)


def read_limit(select: exp.Select) -> int | None:
    """Read LIMIT."""
    limit = select.args.get("limit")
    if limit is None:
        return None
    rows = limit.args.get("expression")
    plain = isinstance(limit, exp.Limit) and isinstance(rows, exp.Literal) and not limit.args.get("limit_options")
    if not plain or rows.is_string or not _LIMIT.fullmatch(str(rows.this)):
        raise refusal("bad_literal", limit, "takes a whole number of at least 1", "write LIMIT 10", "LIMIT")
    check_parts(limit, "expression")
    return int(rows.this)


def read_offset(select: exp.Select) -> int:
    """Read OFFSET."""
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


def _default_name(node: exp.Expr, source: Key | Term) -> str:
    if isinstance(source, Count) and source.query.aggregate.of_people and type(node) in AGGREGATES:
        return f"{AGGREGATES[type(node)].name.lower()}_people"
    return default_name(node)


def default_name(node: exp.Expr) -> str:
    """`city`, `avg_salary`, `count` for COUNT(*), `sum` for a sum of anything longer, `value` for arithmetic."""
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Window):
        return str(node.this.sql_name()).lower() if isinstance(node.this, exp.Func) else "value"
    if type(node) not in AGGREGATES:
        return node.key if type(node) in _CALLED else "value"
    name = AGGREGATES[type(node)].name.lower()
    values = [node.this, node.expression] if "expression" in node.args else [node.this]
    if isinstance(node.this, exp.Distinct):
        name, values = f"{name}_distinct", node.this.expressions
    plain = all(isinstance(value, exp.Column) for value in values)
    return "_".join([name, *(value.name for value in values)]) if plain else name


def free_name(name: str, taken: set[str]) -> str:
    """The name, or the first of name_2, name_3, ... that no output has."""
    free, number = name[:LONGEST_STEM], 1
    while free.lower() in taken:
        number += 1
        free = f"{name[:LONGEST_STEM]}_{number}"
    taken.add(free.lower())
    return free
