"""Reads values of the rows of an answer: keys, aggregates, and what is computed with them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from operator import add, mul, sub, truediv

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.plans.formulas import DATE, Formula, Term, leaves_of
from adomnia.privacy.keys import Key
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.computed import FUNCTIONS, NULL, build_cast, build_function, check_call, check_size
from adomnia.sql.values.functions import CONDITIONAL, NAMES
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
