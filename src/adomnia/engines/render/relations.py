# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""Relations as SQL: what stands behind FROM, and the conditions that its rows must meet.

Every side of a join is a table or a SELECT in brackets with its cap and conditions inside, so that what is kept of a
table never depends on what it is joined with. Columns are named as the index names them, in every SELECT.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

from adomnia.engines.contract import PERSON, RANK, grid_name, index_name
from adomnia.engines.render.scalars import Scalars, double, integer
from adomnia.engines.render.vectors import render_public, render_spread, render_sum
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.keys import BLOCK_HASHES, Blocks
from adomnia.privacy.kinds import Boolean, Identity
from adomnia.privacy.relations import (
    MOST_ROWS,
    Join,
    Lookup,
    Named,
    OwnValue,
    PerBlock,
    PerPerson,
    Private,
    Public,
    PublicGroups,
    Relation,
    Select,
    Selected,
    Union,
    Where,
    most_rows,
)
from adomnia.privacy.scans import (
    Average,
    DistinctValues,
    NonNull,
    Own,
    OwnChoice,
    OwnExtreme,
    OwnMedian,
    OwnSpread,
    Total,
)

From: TypeAlias = tuple[str, list[str]]

DERIVED = "rows"  # the name of a SELECT that stands alone behind FROM


def render_source(relation: Relation, scalars: Scalars) -> From:
    """What stands behind FROM, and the conditions for WHERE."""
    match relation:
        case Private(name=name, rows_per_person=cap):
            return scalars.quote(name), [f"{scalars.quote(RANK)} <= {cap}"] if cap < MOST_ROWS else []
        case Public(name=name):
            return scalars.quote(name), []
        case Where():
            table, conditions = render_source(relation.source, scalars)
            return table, [*conditions, f"({scalars.value(relation.condition)})"]
        case Named():
            return _side(relation, scalars), []
        case Join() | Lookup():
            return _join(relation, scalars), []
    return f"({render_select(relation, scalars)}) AS {scalars.quote(DERIVED)}", []


def render_person(relation: Relation, scalars: Scalars) -> str:
    """The person of every row: that of the first side of a join, which no LEFT JOIN leaves out."""
    match relation:
        case Where():
            return render_person(relation.source, scalars)
        case Join() | Lookup():
            return render_person(relation.left, scalars)
        case Named():
            return f"{scalars.quote(relation.name)}.{scalars.quote(PERSON)}"
    return scalars.quote(PERSON)


def render_block(blocks: Blocks, relation: Relation, scalars: Scalars) -> str:
    """The block of every row, by its person."""
    return f"({render_person(relation, scalars)} % {BLOCK_HASHES}) % {blocks.count}"


def render_where(conditions: list[str]) -> str:
    """The WHERE of conditions, if there are any."""
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def render_total(total: Total, rows: int, scalars: Scalars) -> str:
    """The sum of the grid integers of so many rows at most, each counted from a centre."""
    grid, centre, types = scalars.grid(total.value, total.domain), total.centre, scalars.dialect.types
    added = render_sum(grid, rows, total.domain.magnitude, scalars.dialect)
    if centre == 0:
        return added
    # Each value less the centre, added up: so written, it costs nothing beside a sum from another centre. The product
    # is wide too, because in 64 bits enough rows would make it fail.
    return f"{added} - CAST({integer(centre)} AS {types.wide.name}) * COUNT({grid})"


def _side(named: Named, scalars: Scalars) -> str:
    table, conditions = render_source(named.source, scalars)
    if isinstance(named.source, Select | Union | PerPerson | PerBlock | PublicGroups):
        return f"({render_select(named.source, scalars)}) AS {scalars.quote(named.name)}"
    if not conditions:
        return f"{table} AS {scalars.quote(named.name)}"
    return f"(SELECT * FROM {table}{render_where(conditions)}) AS {scalars.quote(named.name)}"


def _join(join: Join | Lookup, scalars: Scalars) -> str:
    left, _ = render_source(join.left, scalars)
    conditions = [f"({scalars.value(condition)})" for condition in join.on]
    if join.right.rows_per_person:
        conditions.insert(0, f"{render_person(join.left, scalars)} = {render_person(join.right, scalars)}")
    kind = "LEFT JOIN" if isinstance(join, Lookup) or join.outer else "JOIN"
    return f"{left} {kind} {_side(join.right, scalars)} ON {' AND '.join(conditions) or 'TRUE'}"


def render_select(relation: Relation, scalars: Scalars) -> str:
    """A SELECT of its own."""
    match relation:
        case Union(parts=parts):
            return " UNION ALL ".join(render_select(part, scalars) for part in parts)
        case PerPerson():
            return _per_person(relation, scalars)
        case PerBlock():
            return _per_block(relation, scalars)
        case PublicGroups():
            return _public_groups(relation, scalars)
    assert isinstance(relation, Select)  # noqa: S101 - all others stand behind FROM as they are
    table, conditions = render_source(relation.source, scalars)
    whose = f"{render_person(relation.source, scalars)} AS {scalars.quote(PERSON)}"
    outputs = [whose] if relation.rows_per_person else []
    outputs += [text for output in relation.outputs for text in render_output(output, scalars)]
    return f"SELECT {', '.join(outputs)} FROM {table}{render_where(conditions)}"


def render_output(output: Selected, scalars: Scalars) -> Iterator[str]:
    """An expression, or a column in all the forms in which it is stored."""
    column = output.column
    if isinstance(column.kind, Identity) and column.kind.person:
        return
    if not isinstance(output.value, Column) or not output.stored:
        yield f"{scalars.value(output.value)} AS {scalars.quote(index_name(column.name))}"
        return
    yield f"{scalars.column(output.value)} AS {scalars.quote(index_name(column.name))}"
    if _has_grid(column):
        yield f"{scalars.column(output.value, grid=True)} AS {scalars.quote(grid_name(column))}"


def _per_person(relation: PerPerson, scalars: Scalars) -> str:
    table, conditions = render_source(relation.read, scalars)
    whose = render_person(relation.read, scalars)
    keys = [_key(key, scalars) for key in relation.keys]
    outputs = [f"{whose} AS {scalars.quote(PERSON)}"]
    outputs += [
        f"{text} AS {scalars.quote(index_name(key.name))}" for text, key in zip(keys, relation.keys, strict=True)
    ]
    outputs += [
        text for output in relation.outputs for text in _own_outputs(output, relation.read.rows_per_person, scalars)
    ]
    return f"SELECT {', '.join(outputs)} FROM {table}{render_where(conditions)} GROUP BY {', '.join([whose, *keys])}"


def _per_block(relation: PerBlock, scalars: Scalars) -> str:
    """In the place of the person stands the block: whose a row is, is for nobody to see."""
    table, conditions = render_source(relation.read, scalars)
    block = render_block(relation.blocks, relation.read, scalars)
    outputs = [f"{block} AS {scalars.quote(PERSON)}"]
    rows = most_rows(relation.read)
    outputs += [text for output in relation.outputs for text in _own_outputs(output, rows, scalars)]
    return f"SELECT {', '.join(outputs)} FROM {table}{render_where(conditions)} GROUP BY {block}"


def _public_groups(relation: PublicGroups, scalars: Scalars) -> str:
    table, conditions = render_source(relation.source, scalars)
    keys = [_key(key, scalars) for key in relation.keys]
    outputs = [f"{text} AS {scalars.quote(key.name)}" for text, key in zip(keys, relation.keys, strict=True)]
    for output in relation.outputs:
        if isinstance(output, OwnValue):
            outputs += _own_outputs(output, MOST_ROWS, scalars)
        else:
            outputs.append(f"{render_public(output, scalars)} AS {scalars.quote(output.name)}")
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(outputs)} FROM {table}{render_where(conditions)}{group}"


def _key(key: Selected, scalars: Scalars) -> str:
    if not key.stored:
        return scalars.value(key.value)
    assert isinstance(key.value, Column)  # noqa: S101 - only columns are stored
    return scalars.column(key.value)


def _own_outputs(output: OwnValue, rows: int, scalars: Scalars) -> Iterator[str]:
    """An aggregate of one person's rows: a number, and beside it the grid integers that outer sums add up."""
    spell = scalars.dialect.spell
    match output.aggregate:
        case OwnExtreme(value=value, greatest=greatest):
            function = "MAX" if greatest else "MIN"
            yield f"{_extreme(value, greatest, scalars)} AS {scalars.quote(index_name(output.name))}"
            if isinstance(value, Column) and _has_grid(output.column):
                yield f"{function}({scalars.column(value, grid=True)}) AS {scalars.quote(grid_name(output.column))}"
        case OwnChoice(value=value, by=by, greatest=greatest):
            yield f"{_choice(_plain(value, scalars), by, greatest, scalars)} AS {scalars.quote(output.name)}"
            if isinstance(value, Column) and _has_grid(output.column):
                chosen = _choice(scalars.column(value, grid=True), by, greatest, scalars)
                yield f"{chosen} AS {scalars.quote(grid_name(output.column))}"
        case OwnMedian(value=value):
            numbers = scalars.value(value) if isinstance(value, Column) else scalars.present(value)
            yield f"{spell('finite', spell('median', numbers))} AS {scalars.quote(output.name)}"
        case OwnSpread() as spread:
            yield f"{render_spread(spread, rows, scalars)} AS {scalars.quote(output.name)}"
        case Average(value=value, domain=domain):
            summed = scalars.wide_as_double(render_total(Total(value, domain), rows, scalars), rows * domain.magnitude)
            counted = scalars.as_double(f"COUNT({scalars.present(value)})")
            mean = spell("*", spell("/", summed, counted), double(domain.step, scalars.dialect))
            yield f"{mean} AS {scalars.quote(index_name(output.name))}"
        case Total(domain=domain, centre=centre) as total:
            largest = rows * (domain.magnitude + abs(centre))
            yield from _stepped(render_total(total, rows, scalars), largest, domain.step, output, scalars)
        case aggregate:
            yield from _stepped(render_integers(aggregate, rows, scalars), rows, Fraction(1), output, scalars)


def _extreme(value: Expression, greatest: bool, scalars: Scalars) -> str:
    if isinstance(value.kind, Boolean):
        return scalars.dialect.spell("greatest boolean" if greatest else "least boolean", _plain(value, scalars))
    return f"{'MAX' if greatest else 'MIN'}({_plain(value, scalars)})"


def _choice(value: str, by: Expression, greatest: bool, scalars: Scalars) -> str:
    order = scalars.value(by) if isinstance(by, Column) else scalars.present(by)
    return scalars.dialect.spell("value of greatest" if greatest else "value of least", order, value)


def render_integers(aggregate: Own, rows: int, scalars: Scalars) -> str:
    """A count or a sum of grid integers, of so many rows at most."""
    match aggregate:
        case Total() as total:
            return render_total(total, rows, scalars)
        case NonNull(value=value):
            return f"COUNT({scalars.present(value)})"
        case DistinctValues(value=value):
            return f"COUNT(DISTINCT {_plain(value, scalars)})"
    return "COUNT(*)"


def _stepped(integers: str, largest: int, step: Fraction, output: OwnValue, scalars: Scalars) -> Iterator[str]:
    """Integers clamped to a domain, as they are where they count and also as numbers where they count steps."""
    name, types = scalars.quote(index_name(output.name)), scalars.dialect.types
    if output.domain is None:
        yield f"{_in_steps(integers, largest, step, scalars)} AS {name}"
        return
    low, high = output.domain.grid_lower, output.domain.grid_upper
    width = types.long if output.domain.magnitude <= types.long.largest else types.wide
    clamped = (
        f"CAST(CASE WHEN {integers} < {integer(low)} THEN {integer(low)} "
        f"WHEN {integers} > {integer(high)} THEN {integer(high)} ELSE {integers} END AS {width.name})"
    )
    if _has_grid(output.column):
        yield f"{_in_steps(clamped, output.domain.magnitude, step, scalars)} AS {name}"
    yield f"{clamped} AS {scalars.quote(grid_name(output.column))}"


def _in_steps(integers: str, largest: int, step: Fraction, scalars: Scalars) -> str:
    return scalars.dialect.spell("*", scalars.wide_as_double(integers, largest), double(step, scalars.dialect))


def _plain(value: Expression, scalars: Scalars) -> str:
    """A value to be compared with others of its person: a column as it is stored, NULL where there is none."""
    return scalars.column(value) if isinstance(value, Column) else scalars.present(value)


def _has_grid(column: Column) -> bool:
    return column.domain is not None and grid_name(column) != index_name(column.name)
