"""`adomnia demo`: made-up people, a private count, and a budget that runs out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from adomnia.accounting import meaning
from adomnia.errors import Refusal
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.mechanisms.secret import Secret
from adomnia.options import CONFIDENCE
from adomnia.privacy.amounts import show_down, show_up
from adomnia.privacy.events import Pure, to_record
from adomnia.privacy.filters import Budget, Filter
from adomnia.privacy.sensitivity import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import NDArray
    from rich.console import RenderableType

    from adomnia.noise.bits import Bits

BUDGET = Budget(epsilon=2)
LEAST_EPSILON = Decimal("0.02")  # a hundred questions empty the budget: enough to see it, and never a long wait
MOST_EPSILON = Decimal(2)
ONE_PERSON = Sensitivity(l1=1, monotone=True)  # a person is one row, and a row is counted or not
WIDTH = 80
PLOT_WIDTH = 61
PLOT_HEIGHT = 4
BLOCKS = " ▁▂▃▄▅▆▇█"
SHOWN_ROWS = 6
PRIOR = 0.01


@dataclass(frozen=True)
class Town:
    """People from a fixed rule: anyone can compute the truth, so showing it hurts nobody."""

    size: int = 10_000

    @property
    def ages(self) -> NDArray[np.int64]:
        person = np.arange(self.size, dtype=np.int64)
        return 61 * person % 97

    @property
    def diabetic(self) -> NDArray[np.bool_]:
        """More likely with age, from nobody under 8 to about one in six of the oldest."""
        person = np.arange(self.size, dtype=np.int64)
        return person * person % 89 < self.ages // 8

    def exact_diabetics(self, at_least: int = 0) -> int:
        return int(np.count_nonzero(self.diabetic & (self.ages >= at_least)))


@dataclass(frozen=True)
class AgeQuestion:
    """How many people with diabetes are at least this old."""

    at_least: int = 0

    def __str__(self) -> str:
        return f"People with diabetes aged {self.at_least} or more" if self.at_least else "People with diabetes"


@dataclass(frozen=True)
class NoisyCount:
    """A question that was paid for. The truth is shown only because the town is made up."""

    question: str
    noisy: int
    exact: int
    epsilon_left: Fraction


@dataclass(frozen=True)
class Demonstration:
    """Everything the demonstration has to show, in the order in which it happened."""

    people: int
    sensitivity: Sensitivity
    price: Pure
    noise: DiscreteLaplace
    half_width: int
    answers: tuple[NoisyCount, ...]
    refused: str
    refusal: Refusal


def price_of(text: str) -> Pure:
    """The price a person typed, read as the decimal number it is."""
    try:
        epsilon = Decimal(text)
        within = LEAST_EPSILON <= epsilon <= MOST_EPSILON  # a NaN is refused by comparing it
    except InvalidOperation:
        within = False
    if not within:
        raise Refusal(
            f"A price of epsilon {text!r}",
            "is outside what the demonstration can show",
            f"choose a number from {LEAST_EPSILON} to {MOST_EPSILON}",
        )
    return Pure(epsilon)


def ask_by_age() -> Iterator[AgeQuestion]:
    """Overlapping ones, so that no partition makes them cheaper together: everyone, then 10 or more, 20 or more, ..."""
    yield AgeQuestion()
    for years in range(10, 20):
        for age in range(years, 110, 10):
            yield AgeQuestion(age)


def demonstrate(price: Pure, bits: Bits) -> Demonstration:
    """Ask at this price until the filter refuses."""
    town = Town()
    noise = DiscreteLaplace.calibrated(ONE_PERSON, price)
    half_width = noise.interval(CONFIDENCE).half_width
    budget = Filter(BUDGET)
    answers: list[NoisyCount] = []
    for question in ask_by_age():
        event = noise.event(ONE_PERSON)
        try:
            budget = budget.after(event)  # pay first; only then may the people be counted
        except Refusal as refusal:
            return Demonstration(
                town.size, ONE_PERSON, price, noise, half_width, tuple(answers), str(question), refusal
            )
        exact = town.exact_diabetics(question.at_least)
        noisy = noise.release(Secret(np.array([exact]), ONE_PERSON, event), bits)
        answers.append(NoisyCount(str(question), int(noisy[0]), exact, budget.left().epsilon))
    raise AssertionError("The demonstration has more questions than its budget can pay for.")


def print_json(shown: Demonstration) -> None:
    """One object with everything the page says."""
    print(json.dumps(as_record(shown), indent=2))  # noqa: T201 - standard output is the interface


def as_record(shown: Demonstration) -> dict[str, object]:
    """The demonstration as plain data; amounts are exact texts."""
    return {
        "people": shown.people,
        "sensitivity": str(shown.sensitivity.l1),
        "price": to_record(shown.price),
        "budget": {"epsilon": str(BUDGET.epsilon), "delta": str(BUDGET.delta)},
        "mechanism": {"name": type(shown.noise).__name__, "scale": str(shown.noise.scale)},
        "expected_error": {"half_width": shown.half_width, "confidence": CONFIDENCE},
        "answers": [
            {
                "question": answer.question,
                "noisy": answer.noisy,
                "interval": list(interval(answer, shown.half_width)),
                "exact": answer.exact,
                "epsilon_left": str(answer.epsilon_left),
            }
            for answer in shown.answers
        ],
        "refused": {"question": shown.refused, "reason": str(shown.refusal)},
        "meaning": meaning.explain_guarantee(Pure(BUDGET.epsilon), PRIOR),
    }


def print_table(shown: Demonstration) -> None:
    """One page of 80 columns, in colour where the terminal has it."""
    console = Console(width=WIDTH, highlight=False, markup=False)
    for part in page(shown):
        console.print(part)


def page(shown: Demonstration) -> Iterator[RenderableType]:
    """The parts of the page, from the question to the meaning of its price."""
    yield heading("A private count")
    yield from before_paying(shown)
    yield heading("The answer")
    yield first_answer(shown)
    yield heading("Asking on, until the budget is spent")
    yield receipts(shown)
    refused = Panel(str(shown.refusal), title="Refused", title_align="left", border_style="red", box=box.ROUNDED)
    yield Padding(refused, (1, 0, 0, 1))
    yield heading("What these prices mean")
    yield meanings(shown)


def before_paying(shown: Demonstration) -> Iterator[RenderableType]:
    """All that is known without touching the data."""
    yield facts(
        ("The data", f"{shown.people:,} made-up people: an age each, and who has diabetes"),
        ("The question", "How many of them have diabetes?"),
        ("One person", f"moves this count by at most {shown.sensitivity.l1}: that is its sensitivity"),
        ("The price", f"epsilon {show_up(shown.price.epsilon)}, out of a budget of {show_down(BUDGET.epsilon)}"),
        ("The noise", f"an integer k, drawn exactly: P[k] ~ exp(-|k| / {show_up(shown.noise.scale)})"),
    )
    yield Padding(draw_noise(shown), (1, 0, 1, 9))
    expected = f"an error of at most {shown.half_width}, {CONFIDENCE:.0%} of the time; known before paying"
    yield facts(("To expect", expected))


def first_answer(shown: Demonstration) -> Table:
    """The noisy count, and beside it what a real curator would never say."""
    first = shown.answers[0]
    low, high = interval(first, shown.half_width)
    error = first.noisy - first.exact
    return facts(
        (
            "Noisy count",
            Text.assemble((f"{first.noisy}", "bold green"), f"   {CONFIDENCE:.0%} interval {low} to {high}"),
        ),
        ("The truth", f"{first.exact}, so the noise was {error:+}; shown because these people are made up"),
        ("What is left", f"epsilon {show_down(first.epsilon_left)}"),
    )


def meanings(shown: Demonstration) -> Table:
    """What one answer and the whole budget let anybody learn."""
    before, after = 100 * PRIOR, 100 * meaning.posterior(PRIOR, shown.price.epsilon)
    rise = f"A guess of {before:.3g} in 100 becomes at most {after:.3g} in 100."
    return facts(
        ("One answer", f"Epsilon {show_up(shown.price.epsilon)}. {rise}"),
        (
            "The budget",
            f"Epsilon {show_down(BUDGET.epsilon)}. {meaning.explain_guarantee(Pure(BUDGET.epsilon), PRIOR)}",
        ),
    )


def heading(words: str) -> RenderableType:
    return Group("", Rule(Text(words, "bold cyan"), align="left", style="cyan"))


def facts(*rows: tuple[str, str | Text]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", width=13)
    table.add_column()
    for name, value in rows:
        table.add_row(f" {name}", value)
    return table


def draw_noise(shown: Demonstration) -> Text:
    """The distribution of the noise as bars, with the interval marked under it."""
    reach = ceil(1.5 * shown.half_width)
    step = ceil((2 * reach + 1) / PLOT_WIDTH)
    most = reach // step * step
    values = range(-most, most + 1, step)
    bar = min(5, PLOT_WIDTH // len(values))
    heights = [round(8 * PLOT_HEIGHT * shown.noise.probability(k) / shown.noise.probability(0)) for k in values]
    inside = [abs(k) <= shown.half_width for k in values]
    plot = Text()
    for row in reversed(range(PLOT_HEIGHT)):
        for height, within in zip(heights, inside, strict=True):
            plot.append(BLOCKS[max(0, min(8, height - 8 * row))] * bar, "cyan" if within else "dim")
        plot.append("\n")
    span = bar * sum(inside)
    plot.append(" " * (bar * inside.index(True)))
    return plot.append("└" + f" {CONFIDENCE:.0%}: ±{shown.half_width} ".center(span - 2, "─") + "┘", "cyan")


def receipts(shown: Demonstration) -> RenderableType:
    """What was asked, answered and left, and at the end what was refused; a long middle is left out."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("Question", style="")
    for name in ("Answer", f"{CONFIDENCE:.0%} interval", "Truth", "Left"):
        table.add_column(name, justify="right")
    hidden = len(shown.answers) - SHOWN_ROWS
    for place, answer in enumerate(shown.answers):
        if hidden <= 0 or not SHOWN_ROWS // 2 <= place < len(shown.answers) - SHOWN_ROWS // 2:
            low, high = interval(answer, shown.half_width)
            table.add_row(
                answer.question,
                str(answer.noisy),
                f"{low} to {high}",
                str(answer.exact),
                show_down(answer.epsilon_left),
            )
        elif place == SHOWN_ROWS // 2:
            table.add_row(Text(f"... {hidden} more ...", "dim"))
    table.add_row(shown.refused, Text("refused", "bold red"))
    return table


def interval(answer: NoisyCount, half_width: int) -> tuple[int, int]:
    """Where the exact count lies at the stated confidence; a count is never negative, and saying so is free."""
    return max(0, answer.noisy - half_width), max(0, answer.noisy + half_width)
