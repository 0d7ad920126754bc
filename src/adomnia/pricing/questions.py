"""What is asked and what is paid for it, before and after the price is known."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from adomnia.errors import Refusal, refuse_former
from adomnia.messages.references import Option
from adomnia.messages.texts import Message, Note, write
from adomnia.options import OPTIONS
from adomnia.plans.columns import Cap
from adomnia.plans.plan import Plan
from adomnia.plans.undeclared import KeyDiscovery
from adomnia.privacy.amounts import Number
from adomnia.privacy.events import Price


class Payment(TypedDict, total=False):
    """What may be named beside the text of a question."""

    epsilon: Number | None
    rho: Number | None
    error: float | None
    weights: Mapping[str, Number] | None
    rows: int | None
    delta: Number | None
    effort: str
    interval: bool
    inference: str
    parameters: Sequence[object] | Mapping[str, object] | None
    from_release: bool | None


def check_names(named: Iterable[str], form: str = "{}=") -> None:
    """Refuse an option by a name that it had before."""
    found = set(named)
    for row in OPTIONS.values():
        if row.formerly in found:
            raise refuse_former(row, form.format(row.formerly))


def check_effort(effort: str) -> None:
    """Refuse an effort that is not known."""
    if effort not in OPTIONS["effort"].choices:
        named, fix = Message(Option("effort", str(effort))), write("write {effort=high}, or leave it out")
        raise Refusal(named, "is not known", fix, code="bad_effort")


def check_inference(inference: object) -> None:
    """Refuse an inference that is not known."""
    if inference not in OPTIONS["inference"].choices:
        fix = write("write {inference=population}, or leave it out")
        raise Refusal(Message(Option("inference", str(inference))), "is not known", fix, code="bad_inference")


@dataclass(frozen=True)
class Question:
    """A text and what to pay for it: epsilon, rho, or the error that the answer may have.

    `weights` split the price over the outputs by their names. `rows` is how many rows a group is supposed to have,
    where the error to expect depends on it. `effort="high"` takes longer, and needs less noise. `interval=False` buys
    no intervals of quantiles: all of the price goes to their values. `inference="population"`: intervals are about the
    population that the people are a sample of, and not about them alone. `parameters` are the values of ? or :name in
    the text. `from_release`: a release is to answer it, at no price, or nothing; None is what the session says.
    """

    text: str
    epsilon: Number | None = None
    rho: Number | None = None
    error: float | None = None
    weights: Mapping[str, Number] | None = field(default=None, hash=False)  # plans are kept by their questions
    rows: int | None = None
    delta: Number | None = None
    effort: str = "normal"
    interval: bool = True
    inference: str = "data"
    parameters: Sequence[object] | Mapping[str, object] | None = field(default=None, hash=False)
    from_release: bool | None = None

    @property
    def names_no_price(self) -> bool:
        """Whether nothing is said about what to pay."""
        return self.epsilon is self.rho is self.error is self.delta is None


@dataclass(frozen=True)
class PlannedQuestion:
    """A question on its way to its price: its plan so far, and how many rows of a person count in each table."""

    question: Question
    plan: Plan
    caps: tuple[Cap, ...] = ()


@dataclass(frozen=True)
class Priced:
    """A plan with its price, and how many rows of a person count in each of its tables."""

    plan: Plan
    price: Price
    caps: tuple[Cap, ...] = ()
    finding: KeyDiscovery | None = None  # of the values of keys that nobody declared, which is paid beside the price
    notes: tuple[Note, ...] = ()  # what else a reader of the answer has to know, in sentences


def list_findings(priced: Sequence[Priced]) -> tuple[KeyDiscovery, ...]:
    """How the values of open keys are found, each once."""
    return tuple(dict.fromkeys(each.finding for each in priced if each.finding is not None))
