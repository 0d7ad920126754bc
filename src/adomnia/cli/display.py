"""How `adomnia demo` is shown: a page for people, JSON for programs."""

from __future__ import annotations

import json
from math import ceil
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from adomnia.accounting import meaning
from adomnia.cli.demonstration import BUDGET
from adomnia.options import CONFIDENCE
from adomnia.privacy.amounts import show_down, show_up
from adomnia.privacy.events import Pure, to_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from adomnia.cli.demonstration import Demonstration, NoisyCount

WIDTH = 80
PLOT_WIDTH = 61
PLOT_HEIGHT = 4
BLOCKS = " ▁▂▃▄▅▆▇█"
SHOWN_ROWS = 6
PRIOR = 0.01


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
    yield Padding(law(shown), (1, 0, 1, 9))
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


def law(shown: Demonstration) -> Text:
    """The law of the noise as bars, with the interval marked under it."""
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
