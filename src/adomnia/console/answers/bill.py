"""The bill of an answer: whose rows, which groups, what was measured at which price, and what was answered from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.pricing.parts import amount
from adomnia.privacy.amounts import show_up
from adomnia.privacy.events import Concentrated
from adomnia.privacy.losses import loss

if TYPE_CHECKING:
    from adomnia.explaining.tree import Node
    from adomnia.pricing.quotes import Quote
    from adomnia.privacy.events import AnyPrice, Event

__all__ = ["Bill", "BillLine", "Money", "build_bill", "show_cost", "show_tree"]

_TITLES = {"rows": "Whose rows", "groups": "Groups", "measured": "Measured", "answered": "Answered"}
_MEASURED = "measured"
_ERRORS = ("error", "interval")  # what was to be expected before: what came is in the answer


@dataclass(frozen=True)
class Money:
    """An amount with the sign of its currency, and the word for it."""

    sign: str
    word: str
    amount: str
    delta: str = ""


@dataclass(frozen=True)
class BillLine:
    """A line of the bill and those below it; a measurement has a number and a price."""

    text: str
    parts: tuple[BillLine, ...] = ()
    place: int = 0
    price: Money | None = None


@dataclass(frozen=True)
class Bill:
    """Sections of lines, and the sum."""

    sections: tuple[BillLine, ...]
    total: Money | None = None


def build_bill(tree: Node, quote: Quote) -> Bill:
    """The bill of a question from its explanation, with the prices of its quote."""
    found = {part.text: part for part in tree.parts if part.text in _TITLES}
    sections = []
    for text, title in _TITLES.items():
        if text in found:
            lines = _measured(found[text], quote) if text == _MEASURED else _lines(found[text].parts)
            sections.append(BillLine(title, lines))
    return Bill(tuple(sections), show_cost(quote.event))


def show_tree(tree: Node) -> Bill:
    """An explanation without a bill, as it is."""
    return Bill((BillLine(tree.text, _lines(tree.parts)),))


def show_cost(event: Event) -> Money:
    """What was paid, in its own currency."""
    spent = loss(event)
    delta = show_up(spent.delta) if spent.delta else ""
    if spent.epsilon is None:
        return Money("ρ", "rho", show_up(spent.rho), delta)
    return Money("ε", "epsilon", show_up(spent.epsilon), delta)


def _measured(node: Node, quote: Quote) -> tuple[BillLine, ...]:
    lines = zip(node.parts, quote.measurements, strict=True)
    return tuple(
        BillLine(measurement.what, _lines(part.parts), place, _show_price(measurement.price))
        for place, (part, measurement) in enumerate(lines, 1)
    )


def _show_price(price: AnyPrice) -> Money:
    sign, word = ("ρ", "rho") if isinstance(price, Concentrated) else ("ε", "epsilon")
    return Money(sign, word, show_up(amount(price)))


def _lines(nodes: tuple[Node, ...]) -> tuple[BillLine, ...]:
    kept = (node for node in nodes if node.text.partition(":")[0] not in _ERRORS)
    return tuple(BillLine(node.text, _lines(node.parts)) for node in kept)
