"""The rows that a method is given: a table, a view or a SELECT in brackets, and what its columns can be used for."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.methods.contract import Factor, Frame, NumberColumn
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import key_cells
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.rows.blocks import BlockReader
from adomnia.sql.rows.correlation import Block
from adomnia.sql.values.date_functions import count_days
from adomnia.sql.values.group_keys import read_key
from adomnia.sql.values.groups import domain_of, require_number
from adomnia.sql.values.scope import Scope, strip_brackets

MOST_LEVELS = 1_000  # of a column that is counted apart
BEYOND = "scale_out_of_range"
LARGEST = 10**37  # bound: products of two columns of a formula, of degree four each, are doubles
NEAREST = Fraction(1, 10**100)  # that two bounds may be to each other: the same of squares and quotients
_FIX = "begin with a table, or with a SELECT in brackets: {}(people, ...) or {}((SELECT age FROM people), ...)"


@dataclass(frozen=True)
class Given:
    """What a method is given: its rows for the method, and the names in them for whoever reads its arguments."""

    frame: Frame
    block: Block

    @property
    def scope(self) -> Scope:
        return self.block.scope


def read_rows(select: exp.Select, call: exp.Func, name: str, catalog: Catalog, confidence: float) -> Given:
    """Read the first argument of a method, in the SELECT around it, whose WITH it may use."""
    first = call.expressions[0] if call.expressions else None
    if first is None or isinstance(first, exp.Kwarg | exp.PropertyEQ):
        raise refusal("method_rows", call, "is given no rows", _FIX.format(name, name), f"{name}()")
    source = _source(strip_brackets(first), name)
    inside = exp.Select(expressions=[exp.Star()])
    inside.set("from_", exp.From(this=source))
    if select.args.get("with_") is not None:
        inside.set("with_", select.args["with_"])
    block = BlockReader(catalog).read_block(inside)
    if block.relation.is_public:
        why, fix = "is given public rows, which need no noise", "read them with SELECT, and analyse them yourself"
        raise refusal("public_table", call, why, fix, f"{name}()")
    return Given(build_frame(block, confidence), block)


def _source(node: exp.Expr, name: str) -> exp.Expr:
    """What stands in FROM for the first argument: an own copy, whose alias is no column's."""
    if isinstance(node, exp.Subquery) and not node.alias:
        rows = exp.Subquery(this=node.this.copy())
    elif isinstance(node, exp.Query):
        rows = exp.Subquery(this=node.copy())
    elif isinstance(node, exp.Column) and not node.table and isinstance(node.this, exp.Identifier):
        return exp.Table(this=node.this.copy())
    else:
        raise refusal("method_rows", node, "is no table and no SELECT in brackets", _FIX.format(name, name))
    rows.set("alias", exp.TableAlias(this=exp.to_identifier("rows")))
    return rows


def build_frame(block: Block, confidence: float) -> Frame:
    """All columns that a method can use, by what they can be used for."""
    columns = dict(_list_columns(block.scope))
    numbers, factors, days, unusable, beyond = {}, {}, {}, {}, []
    for name, value in columns.items():
        node = exp.column(exp.to_identifier(name, quoted=True))
        try:
            numbers[name.lower()] = read_number(node, value, name)
        except Refusal as cause:
            unusable[name.lower()] = (cause.why, cause.fix)
            beyond += [name.lower()] if cause.code == BEYOND else []
        if isinstance(value.kind, Day) and value.kind.lower is not None and value.kind.upper is not None:
            counted = count_days(value)
            days[name.lower()] = NumberColumn(name, counted, domain_of(node, counted))
        factor = _find_factor(node, name, value, block)
        if factor is not None:
            factors[name.lower()] = factor
    order = tuple(map(str.lower, columns))
    return Frame(block.relation, numbers, factors, Fraction(str(confidence)), unusable, order, days, tuple(beyond))


def read_number(node: exp.Expr, value: Expression, name: str) -> NumberColumn:
    """A column of numbers with bounds; a Refusal says why it is none."""
    if not isinstance(value.kind, Quantity | Boolean | Identity):
        fix = "name a column of numbers with declared bounds"
        raise refusal("type_error", node, f"is of type {value.kind}, where a number is needed", fix, name)
    number = require_number(node, value)
    domain = domain_of(node, number)
    _demand_doubles(node, domain, name)
    return NumberColumn(name, number, domain)


def _demand_doubles(node: exp.Expr, domain: Numbers, name: str) -> None:
    """Refuse bounds whose powers are no doubles: a method would fail at its price, or after payment."""
    if max(abs(domain.lower), abs(domain.upper)) > LARGEST:
        why = f"has a bound beyond {float(LARGEST):.0e}, and methods compute powers of it"
        fix = f"choose nearer bounds in the SELECT in brackets: CLAMP({name}, 0, 1000) AS {_alias(node)}"
        raise refusal(BEYOND, node, why, fix, name)
    if 0 < domain.upper - domain.lower < NEAREST:
        why = f"has bounds that are less than {float(NEAREST):.0e} apart, and methods compute powers of that"
        fix = f"choose another unit in the SELECT in brackets: {name} * 1e100 AS {_alias(node)}"
        raise refusal(BEYOND, node, why, fix, name)


def _alias(node: exp.Expr) -> str:
    return node.name if isinstance(node, exp.Column) else "value"


def read_factor(node: exp.Expr, name: str, block: Block) -> Factor:
    """A column of declared values; a Refusal says why it is none."""
    key = read_key(node, block.scope, block.relation, lambda: "declare its values")
    if len(key_cells(key)) > MOST_LEVELS:
        why = f"has {len(key_cells(key)):,} values, more than {MOST_LEVELS:,}"
        raise refusal("too_many_cells", node, why, "group it more coarsely in the SELECT in brackets", name)
    return Factor(name, key)


def _find_factor(node: exp.Expr, name: str, value: Expression, block: Block) -> Factor | None:
    whole = isinstance(value.kind, Quantity) and value.kind.whole and value.kind.bounded
    if not whole and not isinstance(value.kind, Boolean | Text):
        return None
    try:
        return read_factor(node, name, block)
    except Refusal:
        return None


def _list_columns(scope: Scope) -> Iterator[tuple[str, Expression]]:
    for source in scope.sources:
        yield from ((name, value) for name, value in source.columns.items() if not isinstance(value.kind, Identity))
