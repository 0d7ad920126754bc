"""Reads the HAVING of a question: conditions over the noisy values and keys of the answer."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from adomnia.plans.choices import Chain, Compared, Condition, Contrary, Keyed
from adomnia.plans.formulas import DATE, Formula, Term
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.keys import Bucket, Key, Label, key_values
from adomnia.privacy.kinds import Boolean
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.values.building import read_day
from adomnia.sql.values.scope import check_parts, items_of_in, strip_brackets
from adomnia.sql.values.terms import Values, is_date

Operand: TypeAlias = Key | Term | str | bool

_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_COMPARE = "compare an aggregate, an output or a key with a constant"


def read_having(node: exp.Expr, values: Values) -> Condition:
    """Read a condition of HAVING."""
    return _Reader(values).condition(node)


@dataclass(frozen=True)
class _Reader:
    values: Values

    def condition(self, node: exp.Expr) -> Condition:
        node = strip_brackets(node)
        match node:
            case exp.And() | exp.Or():
                function = "and" if isinstance(node, exp.And) else "or"
                return Chain(function, tuple(self.condition(part) for part in node.flatten()))
            case exp.Not():
                check_parts(node, "this")
                return Contrary(self.condition(node.this))
        if type(node) in _SIGNS:
            check_parts(node, "this", "expression")
            return self._comparison(node, _SIGNS[type(node)], node.this, node.expression)
        return self._shorthand(node)

    def _shorthand(self, node: exp.Expr) -> Condition:
        """BETWEEN, IN and IS NULL, which are short for comparisons."""
        match node:
            case exp.Between():
                check_parts(node, "this", "low", "high")
                limits = {">=": node.args["low"], "<=": node.args["high"]}
                return Chain("and", tuple(self._comparison(node, sign, node.this, limits[sign]) for sign in limits))
            case exp.In() if not node.args.get("query"):
                return Chain("or", tuple(self._comparison(node, "=", node.this, item) for item in items_of_in(node)))
            case exp.Is(expression=exp.Null()):
                check_parts(node, "this", "expression")
                self.values.source(node.this)
                return Chain("or", ())  # neither keys nor noisy values are ever NULL
        return self._boolean_key(node)

    def _boolean_key(self, node: exp.Expr) -> Condition:
        """A boolean key that stands alone as a condition."""
        if isinstance(node, exp.Boolean):
            raise refusal("bad_literal", node, "is the same for every group", _COMPARE)
        if isinstance(node, exp.Predicate):
            raise refusal_of_node(node.args.get("query") or node)
        found = self.values.source(node)
        if isinstance(found, Key) and isinstance(_expression_of(found).kind, Boolean):
            return Keyed(found, True)
        raise refusal("type_error", node, "is not a condition", _COMPARE)

    def _comparison(self, node: exp.Expr, sign: str, left: exp.Expr, right: exp.Expr) -> Condition:
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
                return Compared(sign, one, other)

    def _operand(self, node: exp.Expr) -> Operand:
        node = strip_brackets(node)
        if isinstance(node, exp.Literal) and node.is_string:
            return str(node.this)
        if isinstance(node, exp.Cast) and node.to.this == exp.DType.DATE and isinstance(node.this, exp.Literal):
            return str(read_day(node, node.this.this).value)
        return bool(node.this) if isinstance(node, exp.Boolean) else self.values.value(node)


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


def _key_comparison(node: exp.Expr, sign: str, key: Key, constant: str | bool | Fraction) -> Condition:
    wanted = _label_of(key, constant)
    if wanted is None:
        raise refusal("type_error", node, "compares values that do not fit", _COMPARE)
    if sign not in ("=", "<>") and isinstance(wanted, str | bool):
        raise refusal("type_error", node, "asks for an order that keys do not have", "use =, <> or IN")
    return Contrary(Keyed(key, wanted)) if sign == "<>" else Keyed(key, wanted, sign)


def _label_of(key: Key, constant: str | bool | Fraction) -> Label | None:
    """A constant as a value of the key; None where it cannot be one."""
    label = key_values(key)[0]
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
