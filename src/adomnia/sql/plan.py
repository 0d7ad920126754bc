"""A plan: what a question means, in our own words. Everything after it depends on the plan and not on the text."""

from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import sha256

from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Column
from adomnia.privacy.relations import Relation
from adomnia.sql.choices import Condition, compared
from adomnia.sql.formulas import Formula, statistics_of
from adomnia.statistics.contract import Statistic


@dataclass(frozen=True)
class Output:
    """One column of the answer: a key of the groups, a statistic, or a formula of statistics."""

    name: str
    source: Column | Statistic | Formula


@dataclass(frozen=True)
class Order:
    """One key to sort the answer by; it need not be an output."""

    by: Column | Statistic | Formula
    descending: bool = False


@dataclass(frozen=True)
class Plan:
    """Rows of a relation, grouped by declared keys; the answer's columns; how its rows are chosen, sorted and cut."""

    relation: Relation
    keys: tuple[Column, ...]
    outputs: tuple[Output, ...]
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    having: Condition | None = None

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """All that is measured, each once, in an order of its own.

        The order does not depend on how the question was spelled: plans of one identity measure the same in the same
        order, so what was measured for one of them answers the others.
        """
        return tuple(self._forms.values())

    def identity(self, price: Price, version: int) -> bytes:
        """A hash of all that the measurements depend on, price and data version included.

        Relation, statistics, bounds, steps, caps and categories are in the statistics. Names of outputs, formulas, and
        which rows come back in what order are not in it: they cost nothing to change.
        """
        return sha256(canonical((len(self._forms), price, version)) + b"".join(self._forms)).digest()

    @cached_property
    def _forms(self) -> dict[bytes, Statistic]:
        """The statistics by their encoding, which all have one length, in its order."""
        sources = (*(output.source for output in self.outputs), *(order.by for order in self.order))
        terms = [source for source in sources if not isinstance(source, Column)]
        asked = [*terms, *(compared(self.having) if self.having is not None else ())]
        known: dict[int, bytes] = {}
        forms = {_encoded(each, known): each for term in asked for each in statistics_of(term)}
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
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"canonical value must be plain data, got {type(value).__name__}.")
    # By its hash, and once: a relation and its columns stand in every statistic, with all their categories.
    if id(value) not in known:
        parts = b"".join(_encoded(getattr(value, name), known) for name in _fields(type(value)))
        known[id(value)] = b"#" + sha256(f"{type(value).__name__} ".encode() + parts).digest()
    return known[id(value)]


@lru_cache(maxsize=256)
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
