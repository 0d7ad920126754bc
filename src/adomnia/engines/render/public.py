"""Aggregates of public rows as SQL: doubles as the engine adds them up, NULL where they are not finite."""

from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.relations import PublicValue

_EXACT = ("min", "max", "bool_or", "bool_and")  # of values that there are: nothing is computed


def render_public(output: PublicValue, scalars: Scalars) -> str:
    """One aggregate."""
    function, value = output.function, output.value
    if value is None:
        return scalars.as_double("COUNT(*)")
    if function in ("count", "count distinct"):
        distinct = "DISTINCT " if function == "count distinct" else ""
        return scalars.as_double(f"COUNT({distinct}{_present(value, scalars)})")
    asked, dialect = _present(value, scalars), scalars.dialect
    aggregate = dialect.spell(function, asked) if function in dialect.aggregates else f"{function.upper()}({asked})"
    return aggregate if function in _EXACT else dialect.spell("finite", aggregate)


def _present(value: Expression, scalars: Scalars) -> str:
    return scalars.value(value) if isinstance(value, Column) else scalars.present(value)
