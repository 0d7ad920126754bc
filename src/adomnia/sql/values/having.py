"""Reads conditions over the noisy values and keys of an answer: HAVING, those of CASE, and WHERE around an answer."""

from contextlib import suppress
from datetime import date, datetime
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from adomnia.plans.formulas import DATE, Formula, Keyed, Term, may_be_null
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.keys import Bucket, Key, Label, key_values
from adomnia.privacy.kinds import Boolean
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.values.building import read_day, read_moment
from adomnia.sql.values.casts import TIMESTAMPS
from adomnia.sql.values.scope import check_parts, items_of_in, strip_brackets
from adomnia.sql.values.terms import TermReader, is_date

Operand: TypeAlias = Key | Term | str | bool

SIGNS: dict[type[exp.Expr], str] = {  # of comparisons
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_COMPARE = "compare an aggregate, an output or a key with a constant"


class Conditions(TermReader):
    """Reads values and conditions."""

    def condition(self, node: exp.Expr) -> Term:
        node = strip_brackets(node)
        match node:
            case exp.And() | exp.Or():
                function = "and" if isinstance(node, exp.And) else "or"
                return Formula(function, tuple(self.condition(part) for part in node.flatten()))
            case exp.Not():
                check_parts(node, "this")
                return Formula("not", (self.condition(node.this),))
        if type(node) in SIGNS:
            check_parts(node, "this", "expression")
            return self._comparison(node, SIGNS[type(node)], node.this, node.expression)
        return self._shorthand(node)

    def _shorthand(self, node: exp.Expr) -> Term:
        """BETWEEN, IN and IS NULL, which are short for comparisons."""
        match node:
            case exp.Between():
                check_parts(node, "this", "low", "high")
                limits = {">=": node.args["low"], "<=": node.args["high"]}
                return Formula("and", tuple(self._comparison(node, sign, node.this, limits[sign]) for sign in limits))
            case exp.In() if not node.args.get("query"):
                return Formula("or", tuple(self._comparison(node, "=", node.this, item) for item in items_of_in(node)))
            case exp.Is(expression=exp.Null()):
                check_parts(node, "this", "expression")
                return self.is_null(self.source(node.this))
        return self._boolean_key(node)

    def is_null(self, source: Key | Term) -> Term:
        """Whether a value is NULL: neither keys nor noisy values ever are."""
        if isinstance(source, Key) or not may_be_null(source):
            return Formula("or", ())
        return Formula("is null", (source,))

    def _boolean_key(self, node: exp.Expr) -> Term:
        """A boolean key that stands alone as a condition."""
        if isinstance(node, exp.Boolean):
            raise refusal("bad_literal", node, "is the same for every group", _COMPARE)
        if isinstance(node, exp.Predicate):
            raise refusal_of_node(node.args.get("query") or node)
        found = self.source(node)
        if isinstance(found, Key) and isinstance(_expression_of(found).kind, Boolean):
            return Keyed(found, True)
        raise refusal("type_error", node, "is not a condition", _COMPARE)

    def _comparison(self, node: exp.Expr, sign: str, left: exp.Expr, right: exp.Expr) -> Term:
        match _days(left, right, self._operand(left), self._operand(right)):
            case (Column() | Bucket()) as key, (str() | bool() | Fraction()) as constant:
                return _key_comparison(node, sign, key, constant)
            case (str() | bool() | Fraction()) as constant, (Column() | Bucket()) as key:
                return _key_comparison(node, _MIRRORED.get(sign, sign), key, constant)
            case (Column() | Bucket() | str() | bool(), _) | (_, Column() | Bucket() | str() | bool()):
                raise refusal("type_error", node, "compares values that do not fit", _COMPARE)
            case Fraction(), Fraction():
                raise refusal("bad_literal", node, "compares constants", _COMPARE)
            case one, other if is_date(one) is not is_date(other):
                raise refusal("type_error", node, "compares values that do not fit", _COMPARE)
            case one, other:
                return Formula(sign, (one, other))

    def _operand(self, node: exp.Expr) -> Operand:
        node = strip_brackets(node)
        if isinstance(node, exp.Literal) and node.is_string:
            return str(node.this)
        if isinstance(node, exp.Cast) and node.to.this == exp.DType.DATE and isinstance(node.this, exp.Literal):
            return str(read_day(node, node.this.this).value)
        if isinstance(node, exp.Cast) and node.to.this in TIMESTAMPS and isinstance(node.this, exp.Literal):
            return str(read_moment(node, node.this.this).value)
        return bool(node.this) if isinstance(node, exp.Boolean) else self.value(node)


def _days(left: exp.Expr, right: exp.Expr, one: Operand, other: Operand) -> tuple[Operand, Operand]:
    """Both sides of a comparison; a text beside a date that was measured is a date too."""
    if isinstance(other, str) and _is_date(one):
        return one, _date(right, other)
    return (_date(left, one), other) if isinstance(one, str) and _is_date(other) else (one, other)


def _is_date(operand: Operand) -> bool:
    return not isinstance(operand, str | bool) and is_date(operand)


def _date(node: exp.Expr, written: str) -> Formula:
    day = read_day(node, written).value
    assert isinstance(day, date)  # noqa: S101 - as read
    return Formula(DATE, (Fraction((day - date.min).days),))


def _key_comparison(node: exp.Expr, sign: str, key: Key, constant: str | bool | Fraction) -> Term:
    wanted = _label_of(node, key, constant)
    if wanted is None:
        raise refusal("type_error", node, "compares values that do not fit", _COMPARE)
    if sign not in ("=", "<>") and isinstance(wanted, str | bool):
        raise refusal("type_error", node, "asks for an order that keys do not have", "use =, <> or IN")
    return Formula("not", (Keyed(key, wanted),)) if sign == "<>" else Keyed(key, wanted, sign)


def _label_of(node: exp.Expr, key: Key, constant: str | bool | Fraction) -> Label | None:
    """A constant as a value of the key; None where it cannot be one."""
    label = key_values(key)[0]
    if isinstance(label, datetime) and isinstance(constant, str):
        return read_moment(node, constant).value  # type: ignore[return-value]  # a moment, as read
    if isinstance(label, date) and isinstance(constant, str):
        with suppress(ValueError):
            return date.fromisoformat(constant)
        return None
    fits = isinstance(constant, bool) is isinstance(label, bool) and isinstance(constant, str) is isinstance(label, str)
    if not fits or isinstance(label, date):
        return None
    return float(constant) if isinstance(constant, Fraction) else constant


def _expression_of(key: Key) -> Expression:
    return key.written if isinstance(key, Bucket) else key
