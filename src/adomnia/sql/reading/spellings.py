"""Rewrites the spellings of quantiles to one: two spellings of one question must have one plan."""

from contextlib import suppress
from decimal import Decimal

from sqlglot import exp

_SPELLINGS = (exp.PercentileCont, exp.PercentileDisc, exp.ApproxQuantile)
_NAMES = ("PERCENTILE", "APPROX_PERCENTILE")


def spell_out_quantiles(tree: exp.Expr) -> None:
    """Replace every spelling of a quantile by QUANTILE(value, share); others are left, to be refused later."""
    for node in list(tree.find_all(exp.WithinGroup, *_SPELLINGS, exp.Anonymous)):
        value, share = _arguments(node)
        if value is not None and share is not None:
            spelled = exp.Quantile(this=value, quantile=share)
            spelled.meta.update(node.meta or node.this.meta)
            node.replace(spelled)


def _arguments(node: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None]:
    """The value and the share of a spelling."""
    match node:
        case exp.WithinGroup(this=exp.PercentileCont() | exp.PercentileDisc() as inner):
            return _within_group(node, inner)
        case exp.Anonymous(this=str(name), expressions=[value, share]) if name.upper() in _NAMES:
            return value, share
        case exp.PercentileCont() | exp.PercentileDisc() if not isinstance(node.parent, exp.WithinGroup):
            return node.this, node.args.get("expression")
        case exp.ApproxQuantile() if not any(map(node.args.get, ("accuracy", "weight", "error_tolerance"))):
            return node.this, node.args.get("quantile")
    return None, None


def _within_group(node: exp.WithinGroup, inner: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None]:
    """PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY value), from the other end if DESC."""
    order = node.expression.expressions if isinstance(node.expression, exp.Order) else []
    share = inner.this
    if len(order) != 1 or inner.args.get("expression") or not isinstance(share, exp.Literal) or share.is_string:
        return None, None
    if not order[0].args.get("desc"):
        return order[0].this, share
    with suppress(ArithmeticError):
        return order[0].this, exp.Literal.number(str(1 - Decimal(str(share.this))))
    return None, None
