"""Names for outputs that the question gives none."""

from sqlglot import exp

from adomnia.sql.values.aggregates import AGGREGATES

LONGEST_STEM = 55
_CALLED = (exp.Floor, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.DayOfWeek)


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
