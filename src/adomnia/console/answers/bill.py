"""The bill of an answer: whose rows, what was measured at which price, what followed from it, and its receipt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.console.prices import Paid, show_cost, show_price

if TYPE_CHECKING:
    from adomnia.api.ledger_view import LedgerEntry
    from adomnia.explaining.tree import Node
    from adomnia.ledger.requests import Receipt
    from adomnia.pricing.bills import Quote

_TITLES = {"rows": "Whose rows", "groups": "Groups", "measured": "Measured", "answered": "Answered"}
_MEASURED = "measured"
_EXPECTED = "expected"  # before: what came is in the answer


@dataclass(frozen=True)
class BillLine:
    """A line of the bill and those below it; a measurement has a number and a price."""

    text: str
    parts: tuple[BillLine, ...] = ()
    place: int = 0
    price: Paid | None = None


@dataclass(frozen=True)
class Bill:
    """Sections of lines, and the sum."""

    sections: tuple[BillLine, ...]
    total: Paid | None = None


def build_bill(tree: Node, quote: Quote) -> Bill:
    """The bill of a question from its explanation, with the prices of its quote."""
    found = {part.kind: part for part in tree.parts}
    sections = []
    for kind, title in _TITLES.items():
        if kind in found:
            lines = _measured(found[kind], quote) if kind == _MEASURED else _lines(found[kind].parts)
            sections.append(BillLine(title, lines))
    return Bill(tuple(sections), show_cost(quote.event))


def show_tree(tree: Node) -> Bill:
    """An explanation without a bill, as it is."""
    return Bill((BillLine(tree.text, _lines(tree.parts)),))


def _measured(node: Node, quote: Quote) -> tuple[BillLine, ...]:
    lines = zip(node.parts, quote.measurements, strict=True)
    return tuple(
        BillLine(measurement.what, _lines(part.parts), place, show_price(measurement.price))
        for place, (part, measurement) in enumerate(lines, 1)
    )


def _lines(nodes: tuple[Node, ...]) -> tuple[BillLine, ...]:
    return tuple(BillLine(node.text, _lines(node.parts)) for node in nodes if node.kind != _EXPECTED)


@dataclass(frozen=True)
class ReceiptView:
    """What a receipt says; `at` and `entry` are known of an entry that the ledger still has."""

    cost: Paid
    analyst: str
    request_id: str
    hash: str
    at: str | None = None
    entry: int | None = None


def build_receipt(receipt: Receipt, entry: LedgerEntry | None = None) -> ReceiptView:
    """The receipt, with the time and the number of its entry if the ledger has it."""
    told = (show_cost(receipt.event), receipt.analyst or "the dataset", receipt.request_id, receipt.hash)
    return ReceiptView(*told) if entry is None else ReceiptView(*told, entry.at, entry.sequence)
