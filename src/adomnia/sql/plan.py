"""A plan: what a question means, in our own words. Everything after it depends on the plan and not on the text."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import sha256

from adomnia.privacy.events import Price
from adomnia.privacy.keys import Key
from adomnia.privacy.kinds import Text
from adomnia.privacy.relations import Relation
from adomnia.sql.choices import Condition, compared, rewritten
from adomnia.sql.formulas import Formula, mapped, statistics_of
from adomnia.statistics.contract import Statistic


@dataclass(frozen=True)
class Output:
    """One column of the answer: a key of the groups, a statistic, or a formula of statistics."""

    name: str
    source: Key | Statistic | Formula


@dataclass(frozen=True)
class Order:
    """One key to sort the answer by; it need not be an output."""

    by: Key | Statistic | Formula
    descending: bool = False


@dataclass(frozen=True)
class Plan:
    """Rows of a relation, grouped by declared keys; the answer's columns; how its rows are chosen, sorted and cut."""

    relation: Relation
    keys: tuple[Key, ...]
    outputs: tuple[Output, ...]
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    having: Condition | None = None
    weights: tuple[tuple[Statistic | Formula, Fraction], ...] = ()  # how the price is split over what is asked for
    effort: str = "normal"  # or "high"
    named: tuple[int, ...] | None = None  # the cells of the values that were found, where keys were open

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """All that is measured, each once, in an order of its own.

        The order does not depend on how the question was spelled: plans of one identity measure the same in the same
        order, so what was measured for one of them answers the others.
        """
        return tuple(self._forms.values())

    def with_statistics(self, change: Callable[[Statistic], Statistic]) -> "Plan":
        """The same plan with every statistic changed, wherever it stands."""

        def changed(source: Key | Statistic | Formula) -> Key | Statistic | Formula:
            return source if isinstance(source, Key) else mapped(source, change)  # type: ignore[return-value]

        return replace(
            self,
            outputs=tuple(replace(output, source=changed(output.source)) for output in self.outputs),
            order=tuple(replace(order, by=changed(order.by)) for order in self.order),
            having=None if self.having is None else rewritten(self.having, lambda term: mapped(term, change)),
            weights=tuple((mapped(term, change), weight) for term, weight in self.weights),  # type: ignore[misc]
        )

    @cached_property
    def terms(self) -> tuple[Statistic | Formula, ...]:
        """What is asked for: outputs, what the answer is sorted by, and what HAVING compares; as often as written."""
        sources = (*(output.source for output in self.outputs), *(order.by for order in self.order))
        chosen_by = () if self.having is None else compared(self.having)
        return tuple(each for each in (*sources, *chosen_by) if not isinstance(each, Key | Fraction))

    def identity(self, price: Price, version: int) -> bytes:
        """A hash of all that the measurements depend on, price and data version included.

        Relation, statistics, bounds, steps, caps and categories are in the statistics. Names of outputs, formulas, and
        which rows come back in what order are not in it: they cost nothing to change.
        """
        return sha256(canonical((len(self._forms), price, version)) + b"".join(self._forms)).digest()

    @cached_property
    def _forms(self) -> dict[bytes, Statistic]:
        """The statistics by their encoding, which all have one length, in its order."""
        known: dict[int, bytes] = {}
        forms = {_encoded(each, known): each for term in self.terms for each in statistics_of(term)}
        return dict(sorted(forms.items()))


def canonical(value: object) -> bytes:
    """An injective encoding of plain values and frozen dataclasses of them."""
    return _encoded(value, {})


def _encoded(value: object, known: dict[int, bytes]) -> bytes:
    match value:
        case None | bool():
            return f"<{value}>".encode()
        case int() | Fraction() | date():
            return f"<{type(value).__name__} {value}>".encode()
        case str():
            text = value.encode("utf-8", "surrogatepass")
            return b"<%d:%b>" % (len(text), text)
        case tuple():
            return b"(%d %b)" % (len(value), b"".join(_encoded(item, known) for item in value))
        case Text():
            return _of_text(value)
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"canonical value must be plain data, got {type(value).__name__}.")
    # By its hash, and once: a relation and its columns stand in every statistic, with all their categories.
    if id(value) not in known:
        parts = b"".join(_encoded(getattr(value, name), known) for name in _fields(type(value)))
        known[id(value)] = b"#" + sha256(f"{type(value).__name__} ".encode() + parts).digest()
    return known[id(value)]


@lru_cache(maxsize=256)
def _of_text(kind: Text) -> bytes:
    """A category with all its values, once for all questions."""
    return b"#" + sha256(b"Text " + _encoded(kind.values, {})).digest()


@lru_cache(maxsize=256)
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
