"""A plan: what a question means, in our own words. Everything after it depends on the plan and not on the text.

Its identity is a hash of it as bytes, in which a class is encoded by its `tag`. That stays what it was when the class
is renamed or moved: answers are stored under such hashes, and one that is not found again would be paid for twice. A
statistic whose rounds change although its fields do not raises its `rules`: what was measured by others is another
answer then.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import date
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import sha256
from math import prod
from typing import Any, ClassVar, TypeAlias

import numpy as np

from adomnia.plans.formulas import Order, Term, list_compared, map_leaves, map_order, statistics_of
from adomnia.plans.views import TableView
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Column
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.keys import Key, key_cells
from adomnia.privacy.kinds import LATER, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Statistic

_KEPT = "_canonical"  # where a frozen dataclass keeps its encoding, beside its fields
_FIELDS = "__dataclass_fields__"  # what is_dataclass looks for, which takes classes for data as well
_DECLARED = (Text, Column)


def canonical(value: object) -> bytes:
    """An injective encoding of plain values and frozen dataclasses of them."""
    if not hasattr(type(value), _FIELDS):
        return _encode_plain(value)
    # By its hash, and once: a relation and its columns stand in every statistic, and these in several plans.
    kept = vars(value)
    if _KEPT not in kept:
        kept[_KEPT] = _encode_declared(value) if isinstance(value, _DECLARED) else _hash_fields(value)
    encoded: bytes = kept[_KEPT]
    return encoded


def _encode_plain(value: object) -> bytes:
    match value:
        case tuple():
            return b"(%d %b)" % (len(value), b"".join(map(canonical, value)))
        case str():
            text = value.encode("utf-8", "surrogatepass")
            return b"<%d:%b>" % (len(text), text)
        case None | bool():
            return f"<{value}>".encode()
        case int() | Fraction() | date() | float():  # a double is written with all digits that tell it from others
            return f"<{type(value).__name__} {value}>".encode()
        case np.ndarray() if np.issubdtype(value.dtype, np.signedinteger):
            return b"<array %b>" % sha256(repr(value.shape).encode() + value.astype("<i8").tobytes()).digest()
    raise TypeError(f"canonical value must be plain data, got {type(value).__name__}.")


@lru_cache(maxsize=1024)
def _encode_declared(value: Text | Column) -> bytes:
    """A category with all its values, or a column, once for all questions."""
    return _hash_fields(value)


def _hash_fields(value: Any) -> bytes:  # noqa: ANN401 - a dataclass
    kind: type = type(value)
    tag, names, later = _shape(kind)
    parts = [canonical(getattr(value, name)) for name in names]
    if later:
        parts += [canonical((name, getattr(value, name))) for name, usual in later if getattr(value, name) != usual]
    return b"#" + sha256(tag + b"".join(parts)).digest()


@lru_cache(maxsize=256)
def _shape(kind: type) -> tuple[bytes, tuple[str, ...], tuple[tuple[str, object], ...]]:
    """The tag of a class, the names of its fields, and those that came later with the value that stands for none."""
    if "tag" not in vars(kind):
        raise TypeError(f"canonical value must have a tag of its own, and {kind.__name__} has none.")
    rules, own = getattr(kind, "rules", 1), fields(kind)
    tag: str = vars(kind)["tag"] if rules == 1 else f"{vars(kind)['tag']} {rules}"
    names = tuple(field.name for field in own if LATER not in field.metadata)
    return f"{tag} ".encode(), names, tuple((field.name, field.default) for field in own if LATER in field.metadata)


@dataclass(frozen=True)
class Output:
    """One column of the answer: a key of the groups, a statistic, or a term that is computed from statistics."""

    name: str
    source: Key | Term


@dataclass(frozen=True)
class RowFilter:
    """A choice of rows: those for which a condition holds."""

    tag: ClassVar[str] = "Kept"
    condition: Term


@dataclass(frozen=True)
class RowLimit:
    """A choice of rows: so many of them in an order."""

    tag: ClassVar[str] = "Cut"
    order: tuple[Order, ...]
    limit: int | None
    offset: int


@dataclass(frozen=True)
class DistinctRows:
    """A choice of rows: one for all that have the same values of some keys; of no keys one always, if of nothing."""

    tag: ClassVar[str] = "Once"
    keys: tuple[Key, ...]


Choice: TypeAlias = RowFilter | RowLimit | DistinctRows


@hashed_once
@dataclass(frozen=True)
class Plan:
    """Rows of a relation, grouped by declared keys; the answer's columns; how its rows are chosen, sorted and cut.

    `inner` choices come first: those of the SELECTs inside. `sets` are the keys of each grouping, where there are
    several: what is measured by all keys is then added up over the others. A method is the one output of its plan.
    """

    relation: Relation
    keys: tuple[Key, ...]
    outputs: tuple[Output, ...]
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    having: Term | None = None
    weights: tuple[tuple[Term, Fraction], ...] = ()  # how the price is split over what is asked for
    effort: str = "normal"  # or "high"
    named: tuple[int, ...] | None = None  # the cells of the values that were found, where keys were open
    inner: tuple[Choice, ...] = ()
    sets: tuple[tuple[Key, ...], ...] = ()
    view: TableView | None = None  # of a method: what is shown of its table

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """All that is measured, each once, in an order of its own.

        The order does not depend on how the question was spelled: plans of one identity measure the same in the same
        order, so what was measured for one of them answers the others.
        """
        return tuple(self._forms.values())

    def with_statistics(self, change: Callable[[Statistic], Statistic]) -> "Plan":
        """The same plan with every statistic changed, wherever it stands."""
        return self._mapped(statistics=change)

    def with_keys(self, change: Callable[[Key], Key]) -> "Plan":
        """The same plan with every key changed, wherever it stands but in statistics."""
        changed = self._mapped(keys=change)
        sets = tuple(tuple(map(change, keys)) for keys in self.sets)
        return replace(changed, keys=tuple(map(change, self.keys)), sets=sets)

    def with_keys_everywhere(self, change: Callable[[Key], Key]) -> "Plan":
        """The same plan with every key changed, in statistics too."""

        def change_query(query: Query) -> Query:
            return replace(query, keys=tuple(map(change, query.value_keys)))

        return self.with_statistics(lambda statistic: statistic.map_queries(change_query)).with_keys(change)

    def _mapped(self, **changes: Any) -> "Plan":  # noqa: ANN401 - as map_leaves takes them
        def changed(source: Key | Term) -> Key | Term:
            return map_order(Order(source), **changes).by

        return replace(
            self,
            outputs=tuple(replace(output, source=changed(output.source)) for output in self.outputs),
            order=tuple(map_order(order, **changes) for order in self.order),
            having=None if self.having is None else map_leaves(self.having, **changes),
            weights=tuple((map_leaves(term, **changes), weight) for term, weight in self.weights),
            inner=tuple(_map_choice(choice, **changes) for choice in self.inner),
        )

    @cached_property
    def rows(self) -> int:
        """How many rows there are before any is chosen."""
        groupings = self.sets or (self.keys,)
        return sum(prod(len(key_cells(key)) for key in keys) for keys in groupings)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices of rows in their order, but for the order and the limit of the answer itself."""
        return self.inner if self.having is None else (*self.inner, RowFilter(self.having))

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """What is asked for and measured: outputs, what rows are sorted and chosen by; as often as written."""
        sources = (*(output.source for output in self.outputs), *(order.by for order in self.order))
        chosen_by = () if self.having is None else list_compared(self.having)
        inside = (term for choice in self.inner for term in _list_terms(choice))
        every = (each for each in (*sources, *chosen_by, *inside) if not isinstance(each, Key | Fraction))
        return tuple(each for each in every if any(True for _ in statistics_of(each)))

    def identity(self, price: Price, version: int) -> bytes:
        """A hash of all that the measurements depend on, price and data version included.

        Relation, statistics, bounds, steps, caps and categories are in the statistics. Names of outputs, formulas, and
        which rows come back in what order are not in it: they cost nothing to change.
        """
        return sha256(canonical((len(self._forms), price, version)) + b"".join(self._forms)).digest()

    @cached_property
    def _forms(self) -> dict[bytes, Statistic]:
        """The statistics by their encoding, which all have one length, in its order."""
        forms = {canonical(each): each for term in self.terms for each in statistics_of(term)}
        return dict(sorted(forms.items()))


def _list_terms(choice: Choice) -> Iterator[Key | Term]:
    match choice:
        case RowFilter(condition=condition):
            yield from list_compared(condition)
        case RowLimit(order=order):
            yield from (each.by for each in order)


def _map_choice(choice: Choice, **changes: Any) -> Choice:  # noqa: ANN401 - as map_leaves takes them
    match choice:
        case RowFilter(condition=condition):
            return RowFilter(map_leaves(condition, **changes))
        case RowLimit(order=order):
            return replace(choice, order=tuple(map_order(each, **changes) for each in order))
    return DistinctRows(tuple(map(changes.get("keys", lambda key: key), choice.keys)))
