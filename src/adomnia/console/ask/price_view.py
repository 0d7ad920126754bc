"""All that the price panel shows, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.console.ask.option_fields import list_option_fields
from adomnia.errors import Refusal
from adomnia.options import CONFIDENCE
from adomnia.pricing.notes import FREE_RELEASE
from adomnia.privacy.amounts import EPSILON_UNIT, show_down, show_up
from adomnia.session.digits import show_sure

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from adomnia.console.ask.expectations import ErrorLine, SizeTable
    from adomnia.console.ask.fixes import SuggestedFix
    from adomnia.console.ask.form import AskForm
    from adomnia.console.ask.funnel import Funnel
    from adomnia.console.ask.option_fields import OptionField
    from adomnia.console.ask.refusals import RefusalView
    from adomnia.explaining.plan_sentences import Piece
    from adomnia.messages.texts import Note
    from adomnia.privacy.events import Event
    from adomnia.privacy.filters import Filter


@dataclass(frozen=True)
class Coming:
    """What would come back: how many rows, and how the error of the roughest column depends on the size of groups."""

    rows: str
    grouped: bool
    sizes: SizeTable | None = None
    counted: str = ""  # the column that will tell how large the groups are


@dataclass(frozen=True)
class BudgetBar:
    """The parts of a budget as shares of it and in words."""

    sign: str
    word: str
    whole: str
    spent: str
    now: str
    left: str
    spent_share: float
    now_share: float

    @property
    def says(self) -> str:
        """The bar for those who do not see it."""
        if not self.now:
            return f"Spent {self.spent}, left {self.left}, of {self.whole}"
        return f"Spent {self.spent}, this question {self.now}, left after it {self.left}, of {self.whole}"


def build_bar(account: Filter, event: Event | None = None) -> BudgetBar:
    """The bar of an account, with what an event would cost it; without the event where the account cannot pay it."""
    after = account if event is None else _pay(account, event)
    in_epsilon = after.branches().epsilon or not after.budget.rho
    whole = after.budget.epsilon if in_epsilon else after.budget.rho
    before, now = _spent(account, in_epsilon=in_epsilon), _spent(after, in_epsilon=in_epsilon)
    left = after.left().epsilon if in_epsilon else after.left().rho
    return BudgetBar(
        "ε" if in_epsilon else "ρ",
        "epsilon" if in_epsilon else "rho",
        show_down(whole),
        show_up(min(before, whole)),
        show_up(now - before) if now > before else "",
        show_down(left),
        _share(before, whole),
        _share(now - before, whole),
    )


def _pay(account: Filter, event: Event) -> Filter:
    try:
        return account.after(event)
    except Refusal:
        return account


def _spent(account: Filter, *, in_epsilon: bool) -> Fraction:
    spent = account.spent
    return (spent.epsilon_units if in_epsilon else spent.rho_units) * EPSILON_UNIT


def _share(part: Fraction, whole: Fraction) -> float:
    return min(float(part / whole), 1.0) if whole else 1.0


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
    """The price panel. `state` is pending, empty, free, refused or priced."""

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
    sure: str = show_sure(CONFIDENCE)  # how surely errors are kept
    without: frozenset[str] = frozenset()  # options that the form has no fields for

    @property
    def more(self) -> tuple[OptionField, ...]:
        """The fields of options that stand nowhere else on the panel: boxes stand beside what they are good for."""
        elsewhere = {"allow_uninformative", *self.without}
        elsewhere |= {"from_release"} if self.release or self.form.is_from_release else set()
        elsewhere |= {"rows"} if self.form.pay == "error" else set()
        return tuple(field for field in list_option_fields(self.form.options) if field.name not in elsewhere)

    @property
    def names_more(self) -> bool:
        """Whether one of them is named."""
        return any(field.is_named for field in self.more)

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
