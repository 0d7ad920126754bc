"""A plan: what a question means, in our own words. Everything after it depends on the plan and not on the text."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256

from adomnia.plans.canonical import canonical, encode
from adomnia.plans.choices import Condition, list_terms, rewrite_condition
from adomnia.plans.formulas import Formula, map_statistics, statistics_of
from adomnia.privacy.events import Price
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.keys import Key
from adomnia.privacy.relations import Relation
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


@hashed_once
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
            return source if isinstance(source, Key) else map_statistics(source, change)  # type: ignore[return-value]

        return replace(
            self,
            outputs=tuple(replace(output, source=changed(output.source)) for output in self.outputs),
            order=tuple(replace(order, by=changed(order.by)) for order in self.order),
            having=None
            if self.having is None
            else rewrite_condition(self.having, lambda term: map_statistics(term, change)),
            weights=tuple((map_statistics(term, change), weight) for term, weight in self.weights),  # type: ignore[misc]
        )

    @cached_property
    def terms(self) -> tuple[Statistic | Formula, ...]:
        """What is asked for: outputs, what the answer is sorted by, and what HAVING compares; as often as written."""
        sources = (*(output.source for output in self.outputs), *(order.by for order in self.order))
        chosen_by = () if self.having is None else list_terms(self.having)
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
        forms = {encode(each, known): each for term in self.terms for each in statistics_of(term)}
        return dict(sorted(forms.items()))
