"""All that the price panel shows, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.pricing.notes import FREE_RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.console.ask.budget_bar import BudgetBar
    from adomnia.console.ask.expectations import ErrorLine, SizeTable
    from adomnia.console.ask.fixes import SuggestedFix
    from adomnia.console.ask.form import AskForm
    from adomnia.console.ask.funnel import Funnel
    from adomnia.console.ask.refusals import RefusalView
    from adomnia.explaining.plan_sentences import Piece
    from adomnia.messages.notes import Note


@dataclass(frozen=True)
class Coming:
    """What would come back: how many rows, and how the error of the roughest column depends on the size of groups."""

    rows: str
    grouped: bool
    sizes: SizeTable | None = None
    counted: str = ""  # the column that will tell how large the groups are


@dataclass(frozen=True)
class FreeRelease:
    """Its name, and how far off its answer may be."""

    name: str
    error: str


def find_free_release(notes: Iterable[Note]) -> FreeRelease | None:
    """The release that a note of a quote names, if one does."""
    told = next((note.facts for note in notes if note.code == FREE_RELEASE.code), None)
    return None if told is None else FreeRelease(str(told["release"]), f"{told['error']:.4g}")


def without_free_release(notes: Iterable[Note]) -> tuple[Note, ...]:
    """The notes but for that one: the panel has a field in its place."""
    return tuple(note for note in notes if note.code != FREE_RELEASE.code)


@dataclass(frozen=True)
class PriceView:
    """The price panel. `state` is empty, free, refused or priced."""

    state: str
    form: AskForm
    bar: BudgetBar
    request_id: str
    sign: str = "ε"
    word: str = "epsilon"
    price: str = ""
    delta: str = ""
    policy: str = ""  # what the owner's policy says, where it sets the price
    funnel: Funnel | None = None
    errors: tuple[ErrorLine, ...] = ()
    rough: str = ""
    vacuous: tuple[str, ...] = ()
    vacuous_fixes: tuple[SuggestedFix, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    paid_as: str = ""  # the request id of an equal question that was paid before
    too_dear: SuggestedFix | None = None
    is_too_dear: bool = False
    is_spent: bool = False  # nothing is left
    instead: str = ""  # the change to an error instead of a price, or back
    other: str = ""  # the change to the other currency
    reads: tuple[Piece, ...] = ()
    coming: Coming | None = None
    refusal: RefusalView | None = None
    release: FreeRelease | None = None  # one that would answer it for nothing
    verb: str = "ask"  # what is done once it is paid
    payer: str = "Your budget"
    is_unready: bool = False  # something is missing beside the question

    @property
    def may_ask(self) -> bool:
        """Whether the button works."""
        if self.is_unready:
            return False
        if self.state == "priced":
            return bool(self.paid_as) or not (self.is_too_dear or self.is_spent)
        return self.state == "free"

    @property
    def seen(self) -> str:
        """The price that the button says, with its currency; what is asked then costs no more."""
        if self.state == "free" or self.paid_as:
            return f"{self.word} 0"
        return f"{self.word} {self.price}" if self.state == "priced" else ""

    @property
    def button(self) -> str:
        """What the button says."""
        if self.state == "free":
            return "Ask, free"
        if self.paid_as:
            return "See it again, free" if self.verb == "ask" else f"{self.verb.capitalize()} it, free"
        return f"Pay {self.price} and {self.verb}" if self.state == "priced" else f"Pay and {self.verb}"
