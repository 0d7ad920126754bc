# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""Relations as SQL: what stands behind FROM, and the conditions that its rows must meet.

Every side of a join is a table or a SELECT in brackets with its cap and conditions inside, so that what is kept of a
table never depends on what it is joined with. Columns are named as the index names them, in every SELECT.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

from adomnia.engines.contract import PERSON, RANK, grid_name
from adomnia.engines.render.constants import double, integer, quoted
from adomnia.engines.render.scalars import Scalars, stored
from adomnia.privacy.aggregates import Average, Different, Extreme, Own, Present, Total
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.kinds import Identity
from adomnia.privacy.relations import (
    MOST_ROWS,
    Join,
    Named,
    OwnValue,
    PerPerson,
    Private,
    Public,
    Relation,
    Select,
    Selected,
    Union,
    Where,
)

From: TypeAlias = tuple[str, list[str]]

DERIVED = "rows"  # the name of a SELECT that stands alone behind FROM


def source(relation: Relation, scalars: Scalars) -> From:
    """What stands behind FROM, and the conditions for WHERE."""
    match relation:
        case Private(name=name, rows_per_person=cap):
            return quoted(name), [f"{quoted(RANK)} <= {cap}"] if cap < MOST_ROWS else []
        case Public(name=name):
            return quoted(name), []
        case Where():
            table, conditions = source(relation.source, scalars)
            return table, [*conditions, f"({scalars.value(relation.condition)})"]
        case Named():
            return _side(relation, scalars), []
        case Join():
            return _join(relation, scalars), []
    return f"({derived(relation, scalars)}) AS {quoted(DERIVED)}", []


def person(relation: Relation) -> str:
    """The person of every row: that of the first side of a join, which no LEFT JOIN leaves out."""
    match relation:
        case Where():
            return person(relation.source)
        case Join():
            return person(relation.left)
        case Named():
            return f"{quoted(relation.name)}.{quoted(PERSON)}"
    return quoted(PERSON)


def kept(conditions: list[str]) -> str:
    """The WHERE of conditions, if there are any."""
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def total(grid: str, centre: int) -> str:
    """The sum of grid integers, each counted from a centre. DuckDB adds them up in a HUGEINT, whatever their width."""
    if centre == 0:
        return f"SUM({grid})"
    # Each value less the centre, added up: so written, it costs nothing beside a sum from another centre. The product
    # is a HUGEINT too, because in a BIGINT enough rows would make it fail.
    return f"SUM({grid}) - CAST({integer(centre)} AS HUGEINT) * COUNT({grid})"


def _side(named: Named, scalars: Scalars) -> str:
    table, conditions = source(named.source, scalars)
    if isinstance(named.source, Select | Union | PerPerson):
        return f"({derived(named.source, scalars)}) AS {quoted(named.name)}"
    if not conditions:
        return f"{table} AS {quoted(named.name)}"
    return f"(SELECT * FROM {table}{kept(conditions)}) AS {quoted(named.name)}"


def _join(join: Join, scalars: Scalars) -> str:
    left, _ = source(join.left, scalars)
    conditions = [f"({scalars.value(condition)})" for condition in join.on]
    if join.right.rows_per_person:
        conditions.insert(0, f"{person(join.left)} = {person(join.right)}")
    return f"{left} {'LEFT JOIN' if join.outer else 'JOIN'} {_side(join.right, scalars)} ON {' AND '.join(conditions)}"


def derived(relation: Relation, scalars: Scalars) -> str:
    """A SELECT of its own."""
    match relation:
        case Union(parts=parts):
            return " UNION ALL ".join(derived(part, scalars) for part in parts)
        case PerPerson():
            return _per_person(relation, scalars)
    assert isinstance(relation, Select)  # noqa: S101 - all others stand behind FROM as they are
    table, conditions = source(relation.source, scalars)
    outputs = [f"{person(relation.source)} AS {quoted(PERSON)}"] if relation.rows_per_person else []
    outputs += [text for output in relation.outputs for text in _selected(output, scalars)]
    return f"SELECT {', '.join(outputs)} FROM {table}{kept(conditions)}"


def _selected(output: Selected, scalars: Scalars) -> Iterator[str]:
    """An expression, or a column in all the forms in which it is stored."""
    column = output.column
    if isinstance(column.kind, Identity) and column.kind.person:
        return
    if not isinstance(output.value, Column) or not output.stored:
        yield f"{scalars.value(output.value)} AS {quoted(column.name)}"
        return
    yield f"{stored(output.value)} AS {quoted(column.name)}"
    if _has_grid(column):
        yield f"{stored(output.value, grid=True)} AS {quoted(grid_name(column))}"


def _per_person(relation: PerPerson, scalars: Scalars) -> str:
    table, conditions = source(relation.read, scalars)
    whose = person(relation.read)
    keys = [scalars.value(key.value) if not key.stored else stored(_bare(key)) for key in relation.keys]
    outputs = [f"{whose} AS {quoted(PERSON)}"]
    outputs += [f"{text} AS {quoted(key.name)}" for text, key in zip(keys, relation.keys, strict=True)]
    outputs += [text for output in relation.outputs for text in _own(output, scalars)]
    return f"SELECT {', '.join(outputs)} FROM {table}{kept(conditions)} GROUP BY {', '.join([whose, *keys])}"


def _bare(key: Selected) -> Column:
    assert isinstance(key.value, Column)  # noqa: S101 - only columns are stored
    return key.value


def _own(output: OwnValue, scalars: Scalars) -> Iterator[str]:
    """An aggregate of one person's rows: a number, and beside it the grid integers that outer sums add up."""
    match output.aggregate:
        case Extreme(value=value, greatest=greatest):
            function = "MAX" if greatest else "MIN"
            yield f"{function}({_plain(value, scalars)}) AS {quoted(output.name)}"
            if isinstance(value, Column) and _has_grid(output.column):
                yield f"{function}({stored(value, grid=True)}) AS {quoted(grid_name(output.column))}"
        case Average(value=value, domain=domain):
            summed = f"CAST(SUM({scalars.grid(value, domain)}) AS DOUBLE)"
            mean = f"{summed} / NULLIF(CAST(COUNT({scalars.present(value)}) AS DOUBLE), 0e0)"
            yield f"{mean} * {double(domain.step)} AS {quoted(output.name)}"
        case aggregate:
            step = aggregate.domain.step if isinstance(aggregate, Total) else Fraction(1)
            yield from _stepped(integers(aggregate, scalars), step, output)


def integers(aggregate: Own, scalars: Scalars) -> str:
    """A count or a sum of grid integers."""
    match aggregate:
        case Total(value=value, domain=domain, centre=centre):
            return total(scalars.grid(value, domain), centre)
        case Present(value=value):
            return f"COUNT({scalars.present(value)})"
        case Different(value=value):
            return f"COUNT(DISTINCT {_plain(value, scalars)})"
    return "COUNT(*)"


def _stepped(integers: str, step: Fraction, output: OwnValue) -> Iterator[str]:
    """Integers clamped to a domain, as they are where they count and also as numbers where they count steps."""
    name = quoted(output.name)
    if output.domain is None:
        yield f"CAST({integers} AS DOUBLE) * {double(step)} AS {name}"
        return
    low, high = output.domain.grid_lower, output.domain.grid_upper
    width = "BIGINT" if output.domain.magnitude < 2**63 else "HUGEINT"
    clamped = (
        f"CAST(CASE WHEN {integers} < {integer(low)} THEN {integer(low)} "
        f"WHEN {integers} > {integer(high)} THEN {integer(high)} ELSE {integers} END AS {width})"
    )
    if _has_grid(output.column):
        yield f"CAST({clamped} AS DOUBLE) * {double(step)} AS {name}"
    yield f"{clamped} AS {quoted(grid_name(output.column))}"


def _plain(value: Expression, scalars: Scalars) -> str:
    """A value to be compared with others of its person: a column as it is stored, NULL where there is none."""
    return stored(value) if isinstance(value, Column) else scalars.present(value)


def _has_grid(column: Column) -> bool:
    return column.domain is not None and grid_name(column) != column.name
