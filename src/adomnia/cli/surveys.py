"""`adomnia survey`: a question whose answers are randomised on the devices of those who give them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adomnia.cli.options import Format, Output, parse_number
from adomnia.cli.question_options import hide_former, refuse_if_typed
from adomnia.errors import Refusal
from adomnia.options import OPTIONS
from adomnia.typed_options import parse_share

if TYPE_CHECKING:
    from adomnia.survey.design import ResponseDesign
    from adomnia.survey.estimates import Estimates
    from adomnia.survey.survey import Survey

NEW_EXAMPLES = """Examples

adomnia survey new study --question "Did you cheat in this exam?" --answer yes --answer no --epsilon 1

adomnia survey new june --question "Used a drug last month?" --answer yes --answer no --truth 1/2 --innocuous 1/12
"""
SERVE_EXAMPLES = """Examples

adomnia survey serve study --port 9000
"""
RESULTS_EXAMPLES = """Examples

adomnia survey results study

adomnia survey results study --population --confidence 0.99 --format json
"""
INVITATIONS = "invitations.txt"
_MOST_INVITATIONS = 1_000_000

app = typer.Typer(
    no_args_is_help=True, help="Randomized response: nobody but the device of who answers knows the answer."
)

SurveyFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the survey.")]
Confidence = Annotated[str, typer.Option(metavar="SHARE", help="How often intervals hold.")]
Population = Annotated[
    bool, typer.Option("--population", help="About the population that the respondents are a random sample of.")
]
DesignName = Annotated[
    str | None, typer.Option(metavar="NAME", help="warner, unrelated, kary, subset or hadamard; default: the best.")
]


def new(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    folder: SurveyFolder,
    question: Annotated[str, typer.Option(metavar="TEXT", help="What is asked.")],
    answer: Annotated[list[str], typer.Option(metavar="TEXT", help="One of the answers; give all of them.")],
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="What a report may cost its respondent.")] = "1",
    design: DesignName = None,
    truth: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Instead of an epsilon, of two answers: how likely the truth is."),
    ] = None,
    innocuous: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="How likely the first answer is when it is not: 1/12 for June.")
    ] = None,
    invitations: Annotated[
        int, typer.Option(metavar="NUMBER", help="Take reports only with one of so many links.")
    ] = 0,
) -> None:
    """Write DIR/survey.toml: the question, its answers, and the exact probabilities that randomise them."""
    from adomnia.cli import pages
    from adomnia.privacy.amounts import show_up
    from adomnia.survey.survey import FILE, Survey, draw_token, write_survey

    if not 0 <= invitations <= _MOST_INVITATIONS:
        raise Refusal(
            f"--invitations {invitations}", f"is not from 0 to {_MOST_INVITATIONS:,}", "write --invitations 200"
        )
    answers = tuple(each.strip() for each in answer)
    if truth is None and innocuous is None:
        chosen = choose_design(len(answers), epsilon, design)
    else:
        chosen = _from_probabilities(len(answers), truth, innocuous)
    survey = Survey(draw_token(), question.strip(), answers, chosen, invitations > 0)
    write_survey(folder, survey)
    parts = [
        f"Wrote {FILE}. Each report costs its respondent a local epsilon of {show_up(chosen.epsilon)}.",
        f"Respondents are told: your device {chosen.explain(answers)}.",
    ]
    if invitations:
        _write_invitations(folder, survey, invitations)
        parts.append(
            f"{INVITATIONS} has {invitations:,} tokens: send each person the survey's address, then # and one."
        )
    pages.show(*parts, f"Serve it with: adomnia survey serve {folder}")


def serve(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    folder: SurveyFolder,
    host: Annotated[str, typer.Option(metavar="NAME", help="Where to listen; anything but this machine needs TLS.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(metavar="NUMBER", help="Where to listen; 0 is any port that is free.")] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="A name callers use for this server; may be repeated.")
    ] = None,
    rate: Annotated[str, typer.Option(metavar="NUMBER", help="Reports a second from one address.")] = "50",
    burst: Annotated[int, typer.Option(metavar="NUMBER", help="Reports at once from one address.")] = 100,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="The certificate, in PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key, in PEM.")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy speaks TLS, and nobody else reaches this server.")
    ] = False,
) -> None:
    """Serve a survey's page and take reports until it is told to stop."""
    from adomnia.api.settings import Settings
    from adomnia.survey.serve import serve_survey

    settings = Settings(
        folder=folder.resolve(),
        host=host,
        port=port,
        certificate=tls_cert and tls_cert.resolve(),
        key=tls_key and tls_key.resolve(),
        behind_proxy=behind_proxy,
        names=tuple(name or ()),
        rate=float(parse_number("rate", rate) or 0),
        burst=burst,
    )
    serve_survey(settings, _announce)


def results(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    folder: SurveyFolder,
    confidence: Confidence = "0.95",
    population: Population = False,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="All intervals hold at once, not each one.")
    ] = False,
    together: Annotated[bool, hide_former(OPTIONS["simultaneous"])] = False,
    form: Output = Format.TABLE,
) -> None:
    """Estimate from the reports so far how many gave each answer."""
    from adomnia.cli import pages
    from adomnia.survey.store import read_reports
    from adomnia.survey.survey import read_survey

    refuse_if_typed(together, OPTIONS["simultaneous"])
    survey, share = read_survey(folder), parse_share("confidence", confidence)
    counts = read_reports(folder, survey)
    if not counts:
        raise Refusal("The survey", "has no reports yet", "wait until somebody has answered")
    found = survey.design.estimate(counts)
    intervals = found.intervals(share, "population" if population else "data", simultaneous=simultaneous)
    if form is Format.JSON:
        pages.show_json(_record(survey, found, intervals, share, population))
    else:
        _show(survey, found, intervals, share, population)


def choose_design(categories: int, epsilon: str, name: str | None) -> ResponseDesign:
    """The design of that name, or the one of least worst-case variance, at an epsilon that was typed."""
    from adomnia.survey.planning import plan
    from adomnia.survey.registry import DESIGNS

    amount = parse_number("epsilon", epsilon) or 0
    try:
        if name is None:
            return plan(categories, 1, epsilon=amount).design
        kind = DESIGNS[name]
        if not kind.accepts(categories):
            raise Refusal(f"--design {name}", f"is not for {categories} answers", "leave it out")
        return kind.for_epsilon(categories, amount)
    except KeyError:
        raise Refusal(f"--design {name}", "is none that there is", f"choose one of {', '.join(DESIGNS)}") from None
    except ValueError as error:
        raise refuse_value(error) from None


def refuse_value(error: ValueError) -> Refusal:
    """A refusal of what was typed, in the words of the check that found it."""
    what, _, why = str(error).rstrip(".").partition(" must ")
    return Refusal(f"What was given as {what.split()[-1]}", f"must {why}", "give another value")


def _from_probabilities(categories: int, truth: str | None, innocuous: str | None) -> ResponseDesign:
    from adomnia.survey.unrelated import UnrelatedQuestion
    from adomnia.survey.warner import Warner

    if truth is None or categories != 2:
        raise Refusal("--innocuous and --truth", "are of designs with two answers", "give --epsilon instead")
    try:
        if innocuous is None:
            return Warner(_probability("truth", truth))
        return UnrelatedQuestion(_probability("truth", truth), _probability("innocuous", innocuous))
    except ValueError as error:
        raise refuse_value(error) from None


def _probability(option: str, written: str) -> Fraction:
    import re

    if not re.fullmatch(r"\d{1,20}(\.\d{1,20}|/[1-9]\d{0,19})?", written):
        raise Refusal(f"--{option} {written!r}", "is not a number", f"write --{option} 1/2")
    return Fraction(written)


def _write_invitations(folder: Path, survey: Survey, number: int) -> None:
    import os

    from adomnia.survey.store import ReportStore
    from adomnia.survey.survey import draw_token

    tokens = [draw_token() for _ in range(number)]
    descriptor = os.open(folder / INVITATIONS, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write("".join(f"{token}\n" for token in tokens))
    with ReportStore.open(folder, survey) as store:
        store.invite(tokens)


def _announce(survey: Survey, address: str) -> None:
    from adomnia.privacy.amounts import show_up
    from adomnia.tables import printable

    cost = show_up(survey.design.epsilon)
    typer.echo(
        printable(f"Asking “{survey.question}” at {address}, for a local epsilon of {cost}. Stop it with Ctrl-C.")
    )


def _record(
    survey: Survey, found: Estimates, intervals: tuple[tuple[float, float], ...], confidence: float, population: bool
) -> dict[str, Any]:
    rows = zip(survey.answers, found.shares, found.counts, intervals, found.project(), strict=True)
    return {
        "question": survey.question,
        "reports": found.people,
        "design": survey.record()["design"],
        "local_epsilon": str(survey.design.epsilon),
        "confidence": confidence,
        "inference": "population" if population else "data",
        "answers": [
            {
                "answer": answer,
                "share": float(share),
                "people": float(count),
                "interval": list(interval),
                "projected_share": projected,
            }
            for answer, share, count, interval, projected in rows
        ],
    }


def _show(
    survey: Survey, found: Estimates, intervals: tuple[tuple[float, float], ...], confidence: float, population: bool
) -> None:
    from adomnia.cli import pages
    from adomnia.privacy.amounts import show_up

    table = pages.table(
        ("answer", "share", f"{pages.percent(confidence)} interval", "people", "projected"), {1, 2, 3, 4}
    )
    rows = zip(survey.answers, found.shares, found.counts, intervals, found.project(), strict=True)
    for answer, share, count, (low, high), projected in rows:
        between = f"{low:.1%} to {high:.1%}" if (low, high) != (0.0, 1.0) else "anything"
        table.add_row(answer, f"{float(share):.1%}", between, f"{float(count):,.0f}", f"{projected:.1%}")
    cost = f"Local epsilon {show_up(survey.design.epsilon)}, each respondent; no ledger counts it."
    about = (
        "the population that the respondents are a random sample of, if they are one"
        if population
        else "those who answered"
    )
    pages.show(
        survey.question,
        f"{found.people:,} randomised reports. {cost}",
        "",
        table,
        "",
        f"Intervals are about {about}. Nothing here speaks of people who did not answer.",
        "Shares are unbiased, so noise may take one below 0 or above 100%. Projected ones are moved until they add up.",
    )
