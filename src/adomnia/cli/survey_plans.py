"""`adomnia survey plan` and `adomnia survey simulate`: what a survey will be worth, before anybody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Format, Output, parse_number
from adomnia.cli.surveys import Confidence, DesignName, Population, choose_design, refuse_value
from adomnia.errors import Refusal
from adomnia.typed_options import parse_share

if TYPE_CHECKING:
    from adomnia.survey.planning import SurveyPlan
    from adomnia.survey.simulation import Simulation

PLAN_EXAMPLES = """Examples

adomnia survey plan --categories 5 --people 10000 --error 0.02

adomnia survey plan --categories 2 --people 1000 --epsilon 1 --population
"""
SIMULATE_EXAMPLES = """Examples

adomnia survey simulate --share 0.4 --share 0.6 --people 1000 --epsilon 0.7
"""

People = Annotated[int, typer.Option(metavar="NUMBER", help="How many people answer.")]


def plan(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    people: People,
    categories: Annotated[int, typer.Option(metavar="NUMBER", help="How many answers there are.")] = 2,
    error: Annotated[
        str | None, typer.Option(metavar="SHARE", help="How far off a share may be: 0.02 is two points in 100.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Instead: what a report may cost.")] = None,
    confidence: Confidence = "0.95",
    population: Population = False,
    form: Output = Format.TABLE,
) -> None:
    """Find the least epsilon for an error, or the error for an epsilon, and the best design."""
    from adomnia.cli import pages
    from adomnia.survey.planning import plan as find_plan

    if (error is None) == (epsilon is None):
        raise Refusal("A plan", "needs either --error or --epsilon", "write --error 0.02")
    try:
        found = find_plan(
            categories,
            people,
            error=None if error is None else parse_share("error", error),
            epsilon=parse_number("epsilon", epsilon),
            confidence=parse_share("confidence", confidence),
            inference="population" if population else "data",
        )
    except ValueError as fault:
        raise refuse_value(fault) from None
    if form is Format.JSON:
        pages.show_json(_record(found))
    else:
        _show(found)


def simulate(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    share: Annotated[list[str], typer.Option(metavar="SHARE", help="How many give an answer; one for each answer.")],
    people: People,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="What a report may cost its respondent.")] = "1",
    design: DesignName = None,
    repeats: Annotated[int, typer.Option(metavar="NUMBER", help="How often the same people are asked.")] = 1000,
    form: Output = Format.TABLE,
) -> None:
    """Ask made-up people many times, and compare with a count in a database that is trusted."""
    from adomnia.cli import pages
    from adomnia.survey.simulation import simulate as ask

    shares = [float(parse_number("share", each) or 0) for each in share]
    chosen = choose_design(len(shares), epsilon, design)
    try:
        found = ask(chosen, shares, people, repeats)
    except ValueError as fault:
        raise refuse_value(fault) from None
    if form is Format.JSON:
        pages.show_json(_record_simulation(found))
    else:
        _show_simulation(found)


def _record(found: SurveyPlan) -> dict[str, object]:
    return {
        "people": found.people,
        "local_epsilon": str(found.epsilon),
        "error": found.error,
        "confidence": found.confidence,
        "inference": found.inference,
        "design": {"name": found.design.name, **found.design.parameters()},
        "others": [{"design": design.name, "error": error} for design, error in found.others],
    }


def _show(found: SurveyPlan) -> None:
    from adomnia.cli import pages
    from adomnia.privacy.amounts import show_up

    table = pages.table(("design", "error of a share"), {1})
    for design, error in found.others:
        table.add_row(design.name, f"± {100 * error:.2f} points")
    about = "the population they are a random sample of" if found.inference == "population" else "those who answer"
    pages.show(
        f"With {found.people:,} people and a local epsilon of {show_up(found.epsilon)}, each respondent, "
        f"{found.design.name} gives each share of {about} within {100 * found.error:.2f} points of 100, in about "
        f"{pages.percent(found.confidence)} of surveys or more.",
        "",
        table,
    )


def _record_simulation(found: Simulation) -> dict[str, object]:
    return {
        "design": {"name": found.design.name, **found.design.parameters()},
        "local_epsilon": str(found.design.epsilon),
        "people": found.people,
        "counts": list(found.counts),
        "errors": list(found.errors),
        "expected": list(found.expected),
        "covered": list(found.covered),
        "central_error": found.central,
        "price": found.price,
    }


def _show_simulation(found: Simulation) -> None:
    from adomnia.cli import pages
    from adomnia.privacy.amounts import show_up

    table = pages.table(("people who gave it", "error", "expected error", "intervals that held"), {0, 1, 2, 3})
    for count, error, expected, covered in zip(found.counts, found.errors, found.expected, found.covered, strict=True):
        table.add_row(f"{count:,}", f"{error:,.1f}", f"{expected:,.1f}", f"{covered:.0%}")
    pages.show(
        f"{found.people:,} made-up people, {found.design.name}, local epsilon {show_up(found.design.epsilon)} each. "
        "Errors are in people, root mean square.",
        "",
        table,
        "",
        f"A trusted database counts within {found.central:.1f} people at the same epsilon, whatever their number: "
        f"trusting nobody costs {found.price:,.0f} times the error here.",
    )
