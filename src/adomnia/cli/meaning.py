"""`adomnia meaning`: what an epsilon means to a person and to a household, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Format, Output, parse_number
from adomnia.errors import Refusal
from adomnia.typed_options import parse_share

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from adomnia.privacy.events import Approximate

MEANING_EXAMPLES = """Examples

adomnia meaning 1

adomnia meaning 0.5 --delta 1e-6 --household 3 --prior 0.2
"""
LIMITS = "All this bounds what somebody's own rows reveal, not what can be learned about them from everybody else's."
_PRIORS = ("0.01", "0.5")
_LARGEST_HOUSEHOLD = 1_000_000


@dataclass(frozen=True)
class Meaning:
    """What a guarantee says about so many people at once.

    `beliefs` are probabilities that they are in the data, before and at most after: whatever is seen if there is no
    delta, else when a test names them that names 1 in 100 of the people who are not in it.
    `found` is which part of those who are in it such a test names at most.
    """

    people: int
    epsilon: Fraction
    delta: Fraction
    odds: float
    found: float
    beliefs: tuple[tuple[float, float], ...]

    def record(self) -> dict[str, object]:
        """As plain data; amounts are exact texts, and odds that no float can hold are null."""
        return {
            "people": self.people,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "odds": self.odds if isfinite(self.odds) else None,
            "found": self.found,
            "beliefs": [{"before": before, "after": after} for before, after in self.beliefs],
        }


def meaning(
    epsilon: Annotated[str, typer.Argument(metavar="EPSILON", help="The epsilon of a price or a budget.")],
    delta: Annotated[str, typer.Option(metavar="NUMBER", help="The delta beside it.")] = "0",
    household: Annotated[str, typer.Option(metavar="PEOPLE", help="How many people live together.")] = "4",
    prior: Annotated[
        list[str] | None, typer.Option(metavar="SHARE", help="How sure somebody is beforehand; repeatable.")
    ] = None,
    form: Output = Format.TABLE,
) -> None:
    """Say what an epsilon means: how far it can move beliefs about a person, and about a household."""
    from adomnia.cli import pages

    priors = [parse_share("prior", written) for written in prior or _PRIORS]
    one, people = _guarantee(epsilon, delta), _people(household)
    group = _for_group(one, people)
    alone, together = _about(one, 1, priors), None if group is None else _about(group, people, priors)
    if form is Format.JSON:
        pages.show_json({"person": alone.record(), "household": None if together is None else together.record()})
    else:
        _show(alone, together, people)


def _guarantee(epsilon: str, delta: str) -> Approximate:
    from adomnia.privacy.events import Approximate

    try:
        return Approximate(parse_number("epsilon", epsilon) or 0, parse_number("delta", delta) or 0)
    except ValueError as error:
        why = str(error).removeprefix("Approximate ").rstrip(".")
        raise Refusal("The guarantee's", why, "write for example adomnia meaning 1 --delta 1e-6") from None


def _people(written: str) -> int:
    size = parse_number("household", written)
    # The range first: the integer of a short text such as 1e999999999 has no end.
    if size is None or not size.is_finite() or not 1 <= size <= _LARGEST_HOUSEHOLD or size != int(size):
        why = f"is not a whole number from 1 to {_LARGEST_HOUSEHOLD:,}"
        raise Refusal(f"--household {written!r}", why, "write --household 4")
    return int(size)


def _for_group(one: Approximate, people: int) -> Approximate | None:
    """None where the guarantee says nothing any more about so many people."""
    from adomnia.accounting.groups import group_privacy
    from adomnia.privacy.events import Approximate

    try:
        group = group_privacy(one, people)
    except ValueError:
        return None
    assert isinstance(group, Approximate)  # noqa: S101 - as docs/proofs/groups.md says of such guarantees
    return group


def _about(guarantee: Approximate, people: int, priors: Sequence[float]) -> Meaning:
    from adomnia.accounting.meaning import FALSE_ALARMS, detection, odds_factor, posterior

    epsilon, delta = guarantee.epsilon, guarantee.delta
    found = detection(FALSE_ALARMS, epsilon, delta)

    def after(before: float) -> float:
        named = before * found
        return named / (named + (1 - before) * FALSE_ALARMS) if delta else posterior(before, epsilon)

    beliefs = tuple((before, after(before)) for before in priors)
    return Meaning(people, epsilon, delta, odds_factor(epsilon), found, beliefs)


def _show(alone: Meaning, together: Meaning | None, people: int) -> None:
    from adomnia.cli import pages
    from adomnia.explaining.promises import format_probability

    household = f"a household of {people:,}"
    table = pages.table(("A guess of", "can become at most", f"about {household}"), {0, 1, 2})
    for place, (before, after) in enumerate(alone.beliefs):
        whole = "anything" if together is None else format_probability(together.beliefs[place][1])
        table.add_row(format_probability(before), format_probability(after), whole)
    seen = "once that test has named you" if alone.delta else "after all answers that it pays for"
    pages.show(
        f"What is {_amounts(alone)} for one person is {_amounts(together)} for {household}.",
        "A test that names 1 in 100 of the people who are not in the data names at most "
        f"{format_probability(alone.found)} of those who are.",
        f"How sure somebody can become that you are in the data, {seen}:",
        "",
        table,
        "",
        *([] if alone.delta else [_odds(alone, together, household)]),
        LIMITS,
    )


def _amounts(found: Meaning | None) -> str:
    from adomnia.privacy.amounts import show_up

    if found is None:
        return "no promise at all"
    delta = f" and delta {show_up(found.delta)}" if found.delta else ""
    return f"epsilon {show_up(found.epsilon)}{delta}"


def _odds(alone: Meaning, together: Meaning | None, household: str) -> str:
    from adomnia.explaining.promises import format_factor

    whole = "" if together is None else f", about {household} at most {format_factor(together.odds)}"
    return f"The odds of anything about one person grow at most {format_factor(alone.odds)}{whole}."
