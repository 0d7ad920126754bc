"""The second look: what one person can change, derived again from the SQL text that is about to run.

Nothing of the plan is used here, only the text and the catalog. Whatever cannot be proved by the few rules below is not
run. They say that every row counts by itself (one table, no subquery, no window), that no row can make the statement
fail (doubles, comparisons and guarded casts only), and how far one person's rows can move each output.
Proof: docs/proofs/check.md.
"""

import re
from dataclasses import dataclass
from math import floor, isfinite, prod

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from adomnia.catalog.model import Catalog, Table
from adomnia.engines.contract import PERSON, RANK, Statement
from adomnia.errors import Failure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Quantity, Text, Truth
from adomnia.privacy.queries import MOST_ROWS
from adomnia.privacy.sensitivity import Sensitivity

# Types of values. A `number` is a stored one as it lies there: it may be cast to a double or be NULL, no more. A `code`
# is the place of a category in its list.
_SAME = frozenset({"double", "boolean", "text", "day", "code"})

# Nodes whose parts all have one type, out of these, and the type of their value; None: that of the parts.
_RULES: dict[type[exp.Expr], tuple[frozenset[str], str | None]] = {
    **dict.fromkeys((exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Nullif), (frozenset({"double"}), "double")),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), (_SAME, "boolean")),
    **dict.fromkeys((exp.And, exp.Or, exp.Not), (frozenset({"boolean"}), "boolean")),
    exp.Like: (frozenset({"text"}), "boolean"),
    exp.In: (frozenset({"code"}), "boolean"),
    exp.Paren: (_SAME, None),
}
_KINDS = {Quantity: "number", Truth: "boolean", Day: "day", Text: "text"}
_CASTS = {
    exp.DType.DOUBLE: ("double", re.compile("NaN|-?Infinity")),
    exp.DType.DATE: ("day", re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")),
    exp.DType.BOOLEAN: ("boolean", None),
    exp.DType.VARCHAR: ("text", None),
}
_WIDTHS = {"BIGINT": 2**63 - 1, "INT128": 2**127 - 1, "DECIMAL(38, 0)": 10**38 - 1}
_INTEGER = re.compile("[0-9]{1,40}")
_DOUBLE = re.compile(r"[0-9]+(\.[0-9]+)?e[+-]?[0-9]{1,3}")
_REMARKS = {"typed", "safe", "big_int"}  # of the parser; they say how it would write the node for another engine


@dataclass(frozen=True)
class _Range:
    """The integers that one row can add to an output."""

    lowest: int
    highest: int

    @property
    def magnitude(self) -> int:
        return max(1, abs(self.lowest), abs(self.highest))


def checked(statement: Statement, catalog: Catalog, shape: tuple[int, ...] | None = None) -> tuple[Sensitivity, ...]:
    """What one person can change of each output m0, m1, ...; a Failure where the text does not prove it."""
    select = _parsed(statement.text)
    table = _table(select, catalog)
    for item in select.expressions:
        _require(type(item) is exp.Alias, "a name for each output")
        _only(item, "this", "alias")
    keys = [item for item in select.expressions if item.alias.startswith("k")]
    aggregates = select.expressions[len(keys) :]
    names = [f"k{place}" for place in range(len(keys))] + [f"m{place}" for place in range(len(aggregates))]
    _require([item.alias for item in select.expressions] == names, "the names of outputs")
    cells = _cells(select, [item.this for item in keys], table)
    _require(shape is None or cells == shape, "the number of cells")
    row = _Row(table, len(statement.parameters))
    cap = _cap(select, row)
    return tuple(_sensitivity(item.this, cap, cells, row) for item in aggregates)


def _parsed(text: str) -> exp.Select:
    try:
        trees = parse(text, dialect="duckdb")
    except (SqlglotError, RecursionError):
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        raise _unproved("one SELECT")
    _only(trees[0], "expressions", "from_", "where", "group")
    return trees[0]


def _table(select: exp.Select, catalog: Catalog) -> Table:
    source = select.args.get("from_") or exp.From()
    named = source.this
    table = catalog.table(named.name) if type(named) is exp.Table and isinstance(named.this, exp.Identifier) else None
    if table is None or table.public:
        raise _unproved("a private table")
    _only(source, "this")
    _only(named, "this")
    return table


def _cells(select: exp.Select, keys: list[exp.Expr], table: Table) -> tuple[int, ...]:
    """How many declared values each key has: declared categories or booleans, and grouped by exactly them."""
    group = select.args.get("group") or exp.Group(expressions=[])
    _only(group, "expressions")
    _require(group.expressions == keys, "GROUP BY")
    return tuple(_values(_column(key, table)) for key in keys)


def _values(column: Column) -> int:
    match column.kind:
        case Text(values=tuple() as values):
            return len(values)
        case Truth():
            return 2
    raise _unproved("a key with declared values")


def _cap(select: exp.Select, row: "_Row") -> int | None:
    """How many rows of a person are read, None where nothing says so; the other conditions look at a row by itself."""
    where = select.args.get("where")
    caps: list[int] = []
    for condition in _conjuncts(where.this) if where is not None else ():
        if type(condition) is exp.LTE and _name(condition.this) == RANK:
            caps.append(_integer(condition.expression))
        else:
            _require(row.type(condition) == "boolean", "a condition")
    _require(all(1 <= cap <= row.table.rows_per_person for cap in caps), "the cap")
    return min(caps, default=None)


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """What must all be true: the parts of a chain of AND, brackets kept closed."""
    return list(node.flatten(unnest=False)) if type(node) is exp.And else [node]


def _sensitivity(node: exp.Expr, cap: int | None, cells: tuple[int, ...], row: "_Row") -> Sensitivity:
    if _counts_people(node) and (cap is not None or not cells):
        # A person counts once in every cell that holds a row of theirs: where there are no keys, once in all.
        most = 1 if cap is None else min(cap, prod(cells))
        return Sensitivity(l1=most, l2_squared=most, linf=1, monotone=True)
    if cap is None:
        raise _unproved("a cap on the rows of a person")
    added = _Range(1, 1) if _counts_rows(node, row) else _summed(node, row)
    return Sensitivity(l1=added.magnitude, monotone=added.lowest >= 0).times(cap)


def _counts_people(node: exp.Expr) -> bool:
    if type(node) is not exp.Count or type(node.this) is not exp.Distinct:
        return False
    _only(node, "this")
    _only(node.this, "expressions")
    _require([_name(part) for part in node.this.expressions] == [PERSON], "COUNT(DISTINCT person)")
    return True


def _counts_rows(node: exp.Expr, row: "_Row") -> bool:
    if type(node) is not exp.Count:
        return False
    _only(node, "this")
    _require(node.this is not None, "something to count")
    if type(node.this) is not exp.Star and _name(node.this) not in row.grids:
        row.type(node.this)
    return True


def _summed(node: exp.Expr, row: "_Row") -> _Range:
    """CAST(SUM(grid) AS ...), or CAST(SUM(grid) - centre * COUNT(grid) AS ...): what one row adds to it.

    All of it is computed in integers that 2**48 rows cannot overflow, so that no row can make it fail.
    """
    _require(type(node) is exp.Cast, "an exact sum")
    summed, centre = _from_centre(node.this)
    _require(type(summed) is exp.Sum, "an exact sum")
    _only(summed, "this")
    added = _grid(summed.this, row)
    moved = _Range(added.lowest - centre, added.highest - centre)
    _require(MOST_ROWS * max(added.magnitude, abs(centre)) <= _WIDTHS["INT128"] // 2, "the width of a sum")
    _require(MOST_ROWS * moved.magnitude <= _width(node), "the width of a result")
    return moved


def _from_centre(node: exp.Expr) -> tuple[exp.Expr, int]:
    if type(node) is not exp.Sub:
        return node, 0
    times = node.expression
    _require(
        type(times) is exp.Mul and type(times.this) is exp.Cast and type(times.expression) is exp.Count, "a centre"
    )
    _require(_width(times.this) == _WIDTHS["INT128"], "a wide centre")
    _only(times.expression, "this")
    _require(times.expression.this == node.this.this, "a centre for each value")
    return node.this, _integer(times.this.this)


def _grid(node: exp.Expr, row: "_Row") -> _Range:
    """Integers: a stored grid, or a value clamped onto one."""
    if type(node) is exp.Case:
        return _clamped(node, row)
    stored = row.grids.get(_name(node))
    if stored is None:
        raise _unproved("a stored grid")
    return stored


def _clamped(node: exp.Case, row: "_Row") -> _Range:
    """CASE [WHEN v = NaN THEN NULL] WHEN v < a THEN i WHEN v > b THEN j ELSE TRY_CAST(rounded v AS ...) END."""
    _only(node, "ifs", "default")
    cast = node.args.get("default") or exp.Null()
    branches = node.args["ifs"]
    value, step = _rounded(cast)
    _require(row.type(value) == "double", "a double to clamp")
    _require(all(row.type(branch.this) == "boolean" for branch in branches), "comparisons to clamp by")
    comparisons = [type(branch.this) for branch in branches]
    # The guard against NaN may be missing: NaN is above every number, hence clamped like one.
    _require(comparisons in ([exp.LT, exp.GT], [exp.EQ, exp.LT, exp.GT]), "a clamp")
    _require(all(branch.this.this == value for branch in branches), "a clamp of the value itself")
    _require(all(type(branch.args["true"]) is exp.Null for branch in branches[:-2]), "NULL for NaN")
    # Division by a positive double, adding and floor all rise with the value, in IEEE arithmetic as in the engine's.
    bounds = [_double(branch.this.expression) / step + 0.5 for branch in branches[-2:]]
    _require(all(map(isfinite, bounds)), "a finite clamp")
    reached = [floor(bound) for bound in bounds] + [_integer(branch.args["true"]) for branch in branches[-2:]]
    within = _Range(min(reached), max(reached))
    _require(within.magnitude <= _width(cast), "the width of a clamp")
    return within


def _rounded(cast: exp.Expr) -> tuple[exp.Expr, float]:
    """The value and the step of TRY_CAST(FLOOR(value / step + 0.5) AS ...)."""
    _require(type(cast) is exp.TryCast and type(cast.this) is exp.Floor, "rounding")
    _only(cast.this, "this")
    added = cast.this.this
    _require(type(added) is exp.Add and type(added.this) is exp.Div and _double(added.expression) == 0.5, "rounding")
    step = _double(added.this.expression)
    _require(step > 0, "a step")
    return added.this.this, step


@dataclass(frozen=True)
class _Row:
    """What expressions over one row of a table may be made of."""

    table: Table
    parameters: int

    @property
    def grids(self) -> dict[str | None, _Range]:
        """The stored grids: a bounded whole number is its own, any other bounded number has one beside it."""
        found: dict[str | None, _Range] = {}
        for column in self.table.columns:
            if isinstance(column.kind, Quantity) and column.domain is not None:
                name = column.name if column.kind.whole else f"{column.name} grid"
                found[name] = _Range(column.domain.grid_lower, column.domain.grid_upper)
        return found

    def type(self, node: exp.Expr) -> str:
        """The type of an expression's value, by a closed list of nodes; parts before wholes, so that depth is free."""
        types: dict[int, str] = {}
        for part in reversed(list(node.dfs())):
            if not isinstance(part, exp.Identifier | exp.DataType | exp.If):
                types[id(part)] = _by_rule(part, types) if type(part) in _RULES else self._type(part, types)
        return types[id(node)]

    def _type(self, node: exp.Expr, types: dict[int, str]) -> str:
        match node:
            case exp.Column():
                kind = _column(node, self.table).kind
                found = "code" if isinstance(kind, Text) and kind.values is not None else _KINDS[type(kind)]
            case exp.Literal():
                found = _constant(node)
            case exp.Placeholder(this=number) if number in map(str, range(1, self.parameters + 1)):
                found = "text"
            case exp.Boolean():
                found = "boolean"
            case exp.Null():
                found = "null"
            case exp.Is(expression=exp.Null()):
                found = "boolean"
            case exp.Case():
                found = _by_cases(node, types)
            case exp.Cast() if type(node) is exp.Cast:
                found = _cast(node, types[id(node.this)])
            case _:
                raise _unproved(f"no {type(node).__name__}")
        return found


def _by_rule(node: exp.Expr, types: dict[int, str]) -> str:
    _only(node, "this", "expression", "expressions")
    allowed, result = _RULES[type(node)]
    found = {types[id(part)] for part in node.iter_expressions()}
    _require(len(found) == 1 and found <= allowed, f"parts of {type(node).__name__} of one type")
    return result or found.pop()


def _by_cases(node: exp.Case, types: dict[int, str]) -> str:
    """CASE WHEN condition THEN ..., or CASE code WHEN code THEN ...; all outcomes of one type, or NULL."""
    _only(node, "this", "ifs", "default")
    asked = "boolean" if node.this is None else "code"
    tests = [branch.this for branch in node.args["ifs"]] + ([] if node.this is None else [node.this])
    _require(all(types[id(test)] == asked for test in tests), "a CASE")
    outcomes = [branch.args["true"] for branch in node.args["ifs"]] + [node.args.get("default")]
    found = {types[id(outcome)] for outcome in outcomes if outcome is not None} - {"null"}
    _require(len(found) == 1 and found <= _SAME, "outcomes of one type")
    return found.pop()


def _cast(node: exp.Cast, given: str) -> str:
    """A stored number as a double, NULL of a type, or a constant; no cast that a row could make fail."""
    _only(node, "this", "to")
    result, constant = _CASTS.get(node.to.this, ("", None))
    as_double = given == "number" and result == "double"
    readable = given == "string" and constant is not None and constant.fullmatch(node.this.name) is not None
    _require(result != "" and (given == "null" or as_double or readable), "a cast that cannot fail")
    return result


def _constant(node: exp.Literal) -> str:
    if node.is_string:
        return "string"
    _require((_DOUBLE if "e" in node.name else _INTEGER).fullmatch(node.name) is not None, "a number")
    return "double" if "e" in node.name else "code"


def _column(node: exp.Expr, table: Table) -> Column:
    column = table.column(_name(node) or "")
    if column is None or type(column.kind) not in _KINDS:
        raise _unproved("a stored column")
    return column


def _name(node: exp.Expr) -> str | None:
    """The name of a bare column."""
    if type(node) is not exp.Column or not isinstance(node.this, exp.Identifier):
        return None
    _only(node, "this")
    return str(node.name)


def _width(cast: exp.Expr) -> int:
    """The largest integer of the type that is cast to."""
    _only(cast, "this", "to")
    return _WIDTHS.get(cast.args["to"].sql(), 0)


def _integer(node: exp.Expr) -> int:
    sign, digits = _number(node)
    _require(_INTEGER.fullmatch(digits) is not None, "a whole number")
    return sign * int(digits)


def _double(node: exp.Expr) -> float:
    sign, digits = _number(node)
    _require(_DOUBLE.fullmatch(digits) is not None, "a double")
    return sign * float(digits)


def _number(node: exp.Expr) -> tuple[int, str]:
    """Sign and digits of a constant such as 12, 0.5e0 or (-3)."""
    inner = node.unnest()
    negative = type(inner) is exp.Neg
    inner = inner.this if negative else inner
    _require(type(inner) is exp.Literal and not inner.is_string, "a number")
    return -1 if negative else 1, str(inner.this)


def _only(node: exp.Expr, *allowed: str) -> None:
    extra = {name for name, value in node.args.items() if value} - {*allowed, *_REMARKS}
    _require(not extra, f"{type(node).__name__} without {', '.join(sorted(extra))}")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise _unproved(what)


def _unproved(what: str) -> Failure:
    # The reason is for whoever reads the operator's log: the caller of a question learns that it failed, and no more.
    failure = Failure()
    failure.__cause__ = ValueError(f"Statement must have {what}; nothing else is proved.")
    return failure
