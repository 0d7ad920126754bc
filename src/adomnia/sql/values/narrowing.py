"""Which values of a key the conditions of WHERE leave: those that a row may have for which all of them are true.

They follow from the text and the catalog alone. A value is left out only where no row that can exist has it: what is
not understood leaves all values. Proof that nothing private depends on it: docs/decisions/0041.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import (
    Call,
    Column,
    Expression,
    Literal,
    call,
    columns_of,
    conjuncts,
    map_columns,
    number,
)
from adomnia.privacy.keys import Bucket, Key, is_open, key_cells, key_values
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from adomnia.privacy.relations import Join, Lookup, Named, PerPerson, Relation, Select, Where
from adomnia.sql.values.conditions import size
from adomnia.sql.values.meanings import UNKNOWN, Meaning, compile_meaning, may_hold
from adomnia.sql.values.spans import EVERYWHERE, ValueScale, ValueSpan, find_direction, find_scale, find_span
from adomnia.work import remember, spend

_KEPT = 64
_MOST_TRIED = 4_000  # combinations of values
_MOST_TRIED_BESIDE = 1_000  # with those of columns that conditions read beside them
_TRIED_A_STEP = 4
_MOST_LISTED = 100  # values of a key that are not a range
_MOST_NODES = 1_000  # of what finds the place of a value in such a list
_NO_PLACE = Literal(None, Quantity(Fraction(0), Fraction(0), whole=True))

_Express = Callable[[Expression], Expression]


@remember(_KEPT)
def narrow_key(key: Key, relation: Relation) -> Key:
    """The key with the values that the conditions of a relation leave; itself where these are all, or none."""
    if is_open(key):
        return key
    conditions, express = _unfold(relation)
    return _Narrowing(key, express, tuple(conditions)).narrow() if conditions else key


def _unfold(relation: Relation) -> tuple[list[Expression], _Express]:
    """The conditions on all rows of a relation, and what its columns are made of, both in columns further inside."""
    conditions: list[Expression] = []
    express: _Express = lambda expression: expression  # noqa: E731 - it is replaced
    while True:
        match relation:
            case Where(source=source, condition=condition):
                conditions += map(express, conjuncts(condition))
            case Select(source=source, outputs=outputs):
                express = _then({each.name: each.value for each in outputs}, express)
            case Named(source=source):
                express = _then({each.name: each for each in source.columns}, express)
            case _:
                return conditions + list(_list_conditions(relation)), express
        relation = source


def _then(meanings: dict[str, Expression], express: _Express) -> _Express:
    return lambda expression: map_columns(express(expression), lambda column: meanings[column.name])


def _list_conditions(relation: Relation) -> Iterator[Expression]:
    """What is true of all rows of a relation, in its own columns."""
    match relation:
        case Join(left=left, right=right, outer=outer):
            yield from _list_conditions(left)
            yield from () if outer else _list_conditions(right)
        case Lookup(left=left):
            yield from _list_conditions(left)
        case Named(source=source, name=name):
            for condition in _list_conditions(source):
                yield map_columns(condition, lambda column: replace(column, source=name))
        case Where(source=source, condition=condition):
            yield from conjuncts(condition)
            yield from _list_conditions(source)
        case Select(source=source, outputs=outputs):
            yield from _rename(source, {each.value: each.column for each in outputs})
        case PerPerson(source=source, keys=keys):
            yield from _rename(source, {each.value: each.column for each in keys})


def _rename(source: Relation, columns: dict[Expression, Column]) -> Iterator[Expression]:
    """The conditions on a source that can be told in the columns that are selected of it."""
    for condition in _list_conditions(source):
        named = _name_parts(condition, columns)
        if named is not None:
            yield named


def _name_parts(expression: Expression, columns: dict[Expression, Column]) -> Expression | None:
    if expression in columns:
        return columns[expression]
    match expression:
        case Literal():
            return expression
        case Call(arguments=arguments):
            parts = [_name_parts(each, columns) for each in arguments]
            return None if None in parts else replace(expression, arguments=tuple(filter(None, parts)))
    return None


@dataclass(frozen=True)
class _Narrowing:
    """A key, and conditions; `express` says what the key is made of, in the columns that the conditions are of."""

    key: Key
    express: _Express
    conditions: tuple[Expression, ...]

    def narrow(self) -> Key:
        key = self._narrow_range()
        kept = self._try_leaves(key)
        if kept is None:
            kept = self._try_values(key)
        if kept is not None and 0 < len(kept) < len(key_cells(key)):
            key = _keep(key, kept)
        return key if key == self.key else replace(key, whole=self.key)  # type: ignore[arg-type]  # a Bucket by now

    def _narrow_range(self) -> Key:
        """The key between the values that it has at the ends of its one column, where it rises or falls with that."""
        match self.key, self._written:
            case Bucket(among=Numbers() as numbers) as key, written if len(columns_of(written)) == 1:
                (column,) = columns_of(written)
                scale, rises = find_scale(column), find_direction(written, column)
                span = EVERYWHERE if scale is None else self._find_span(column, scale)
                if scale is not None and rises and not span.is_empty:
                    place = compile_meaning(self.express(key.value), {column: 0})
                    ends = [None if end is None else place((scale.value(end),)) for end in (span.first, span.last)]
                    return _between(key, numbers, *(ends if rises > 0 else reversed(ends)))
        return self.key

    @property
    def _written(self) -> Expression:
        return self.express(self.key.written if isinstance(self.key, Bucket) else self.key)

    def _find_span(self, column: Column, scale: ValueScale) -> ValueSpan:
        span = EVERYWHERE
        for condition in self.conditions:
            span = span.meet(find_span(condition, column, scale))
        return span

    def _try_leaves(self, key: Key) -> set[int] | None:
        """The places of a key that some values of its columns give; None where there are too many of these."""
        leaves = _sort(columns_of(self._written))
        ranges = [self._list_values(leaf) for leaf in leaves]
        tried = prod(0 if each is None else len(each) for each in ranges)
        if not leaves or not 0 < tried <= _MOST_TRIED:
            return None
        about = [each for each in self.conditions if columns_of(each) & set(leaves)]
        for other in _sort({column for each in about for column in columns_of(each)} - set(leaves)):
            values = self._list_values(other)
            if values is not None and tried * len(values) <= _MOST_TRIED_BESIDE:
                leaves, ranges, tried = [*leaves, other], [*ranges, values], tried * len(values)
        places: dict[Expression, int] = {leaf: place for place, leaf in enumerate(leaves)}
        spend(tried * (1 + len(about)) // _TRIED_A_STEP)
        tests, find = [compile_meaning(each, places) for each in about], self._find_place(key, places)
        kept = set()
        for values in product(*(each or () for each in ranges)):
            if all(may_hold(test(values)) for test in tests):
                kept.add(find(values))
        kept.discard(None)
        return None if UNKNOWN in kept else kept

    def _list_values(self, column: Column) -> Sequence[object] | None:
        """All values that a column may have, and NULL behind them; None where these are too many."""
        match column.kind:
            case Boolean():
                return (False, True, None)
            case Text(values=tuple() as values):
                return (*values, None)
            case Day() | Quantity(whole=True):
                scale = find_scale(column)
                assert scale is not None  # noqa: S101 - numbers and days have one
                span = ValueSpan(scale.first, scale.last).meet(self._find_span(column, scale))
                assert span.first is not None  # noqa: S101 - both ends of the scale are known
                assert span.last is not None  # noqa: S101 - as above
                if 0 <= span.last - span.first < _MOST_TRIED:
                    return (*map(scale.value, range(span.first, span.last + 1)), None)
        return None

    def _find_place(self, key: Key, places: dict[Expression, int]) -> Meaning:
        """What finds the place of a key among its values: UNKNOWN where it cannot be told, None where there is none."""
        match key:
            case Bucket(among=Numbers() as numbers, value=value):
                return _on_grid(compile_meaning(self.express(value), places), numbers)
            case Bucket(among=tuple() as labels, value=value) if isinstance(value.kind, Quantity):
                return _on_grid(compile_meaning(self.express(value), places), Numbers.integers(0, len(labels) - 1))
        known: dict[object, int] = {label: place for place, label in enumerate(key_values(key))}
        meaning = compile_meaning(self._written, places)

        def find(values: tuple[object, ...]) -> object:
            value = meaning(values)
            return UNKNOWN if value is UNKNOWN else known.get(value)

        return find

    def _try_values(self, key: Key) -> set[int] | None:
        """The places of a key whose own values the conditions allow, where these speak of the key as it is written."""
        written = self._written
        about = [each for each in self.conditions if _holds_part(each, written)]
        if not about or len(key_cells(key)) > _MOST_TRIED:
            return None
        spend(len(key_cells(key)) * len(about) // _TRIED_A_STEP)
        tests = [compile_meaning(each, {written: 0}) for each in about]
        labels = enumerate(key_values(key))
        return {place for place, label in labels if all(may_hold(test((label,))) for test in tests)}


def _sort(columns: Iterable[Column]) -> list[Column]:
    return sorted(columns, key=lambda column: (column.source, column.name))


def _holds_part(expression: Expression, part: Expression) -> bool:
    arguments = expression.arguments if isinstance(expression, Call) else ()
    return expression == part or any(_holds_part(each, part) for each in arguments)


def _on_grid(meaning: Meaning, numbers: Numbers) -> Meaning:
    def find(values: tuple[object, ...]) -> object:
        value = meaning(values)
        if value is UNKNOWN or value is None:
            return value
        grid = numbers.grid(value)
        return None if grid is None else grid - numbers.grid_lower

    return find


def _between(key: Bucket, numbers: Numbers, first: object, last: object) -> Key:
    """The key from the place of one number to that of another; None, and what is not known, is no end."""
    ends = [each if isinstance(each, int | float) else None for each in (first, last)]
    lower = numbers.grid_lower if ends[0] is None else numbers.grid(ends[0])
    upper = numbers.grid_upper if ends[1] is None else numbers.grid(ends[1])
    if lower is None or upper is None or lower > upper:
        return key
    among = Numbers(lower * numbers.step, upper * numbers.step, numbers.step)
    return key if among == numbers else replace(key, among=among)


def _keep(key: Key, kept: set[int]) -> Key:
    """The key with some of its places alone: a range where they are one, a list where that is short, or all."""
    places, labels = sorted(kept), key_values(key)
    if isinstance(key, Bucket) and isinstance(key.among, Numbers):
        first, last = (key.among.grid_lower + place for place in (places[0], places[-1]))
        step = key.among.step
        around = replace(key, among=Numbers(first * step, last * step, step))
        if len(places) > last - first or not _is_short(key.value, len(places)):
            return around
        tests = [(call("=", key.value, number((key.among.grid_lower + place) * step)), place) for place in places]
        return Bucket(_number(tests), tuple(labels[place] for place in places), key.written)
    some = tuple(labels[place] for place in places)
    if isinstance(key, Bucket) and isinstance(key.among, tuple):
        value = key.value if isinstance(key.value.kind, Text) else _keep_branches(key.value, kept)
        return replace(key, value=value, among=some)
    own = key.value if isinstance(key, Bucket) else key
    if not _is_short(own, len(places)):
        return key
    return Bucket(_number([(_is(own, labels[place]), place) for place in places]), some, own)


def _keep_branches(value: Expression, kept: set[int]) -> Expression:
    """The places of texts that are kept, counted anew."""
    assert isinstance(value, Call)  # noqa: S101 - a CASE that gives the place of each
    branches = zip(value.arguments[:-1:2], value.arguments[1:-1:2], strict=True)
    found = ((test, place) for test, at in branches for place in kept if at == number(place))
    return _number(list(found))


def _is_short(value: Expression, values: int) -> bool:
    return values <= _MOST_LISTED and values * size(value) <= _MOST_NODES


def _is(value: Expression, label: object) -> Expression:
    if isinstance(value.kind, Boolean):
        return value if label else call("not", value)
    return call("=", value, Literal(str(label), Text()))


def _number(tests: Sequence[tuple[Expression, int]]) -> Expression:
    """The places of tests of which at most one is true, counted anew in their order; NULL where none is."""
    anew = {place: at for at, place in enumerate(sorted({place for _, place in tests}))}
    return call("case", *(part for test, place in tests for part in (test, number(anew[place]))), _NO_PLACE)
