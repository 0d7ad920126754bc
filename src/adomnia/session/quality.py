"""How good a release is where it did not measure: tables that were held back, estimated by fresh private questions."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.distributions.margins import margin
from adomnia.errors import Refusal
from adomnia.messages.notes import Note, NoteTemplate
from adomnia.methods.synthesis.cubes import list_labels
from adomnia.methods.synthesis.planning import list_closure
from adomnia.pricing.bills import format_cost
from adomnia.pricing.questions import Question
from adomnia.privacy.losses import loss
from adomnia.releases.held_back import CellNoise, choose_held_back, compare_table
from adomnia.releases.quality import count_published
from adomnia.sql.methods.call_texts import split_call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from adomnia.releases.model import Release
    from adomnia.releases.quality_report import HeldBackTable, Quality
    from adomnia.session.answer import Answer
    from adomnia.session.queries import Queries

_COUNT = "count"
_STEP = 0.5  # by which intervals of whole counts are longer than their law says
_VARIATION = NoteTemplate(
    "total_variation",
    "{paid}The total variation of each is between at least and at most in {times:g} of 100 such reports. Noise makes "
    "the first number larger than it is.",
)
_VERSIONS = NoteTemplate(
    "versions_differ",
    "The release is of version {version} of the data, which has version {now} now: both make it differ.",
)
_SAME = ("bins", "missing")  # arguments that say what the cells of a table are


def assess_held_back(  # noqa: PLR0913, PLR0917 - what is asked has to be said
    session: Queries,
    release: Release,
    columns: Iterable[Sequence[str]] | None,
    most: int,
    confidence: float,
    payment: Mapping[str, Any],
) -> Quality:
    """The quality of a release with private estimates of tables that it did not measure, at one price for all."""
    if release.product.rows is None:
        why, fix = "has no rows, so that it says nothing of what it did not measure", "release.quality() is free"
        raise Refusal(f"Release {release.name}", why, fix, code="release_without_rows")
    chosen = _choose(release, columns, most)
    questions = [Question(_write_question(release, each)) for each in chosen]
    # On made-up rows first: what does not fit is refused before it is paid for.
    trial = session.mock().batch(questions, confidence=confidence, allow_uninformative=True, **payment)
    for places, answer in zip(chosen, trial, strict=True):
        _check_cells(release, places, answer)
    answers = session.batch(questions, confidence=confidence, allow_uninformative=True, **payment)
    found = tuple(_compare(release, *pair, confidence) for pair in zip(chosen, answers, strict=True))
    notes = tuple(_list_notes(session, release, answers[0], confidence))
    return replace(release.quality(), held_back=found, notes=notes)


def _choose(release: Release, columns: Iterable[Sequence[str]] | None, most: int) -> list[tuple[int, ...]]:
    if columns is None:
        found = choose_held_back(release.product, most)
        if not found:
            why, fix = "has no table of two or three columns that it did not measure", "release.quality() says all"
            raise Refusal(f"Release {release.name}", why, fix, code="nothing_held_back")
        return found
    known = {each.name.lower(): place for place, each in enumerate(release.product.attributes)}
    return [tuple(sorted(_find_places(release, each, known))) for each in columns]


def _find_places(release: Release, names: Sequence[str], known: Mapping[str, int]) -> set[int]:
    unknown = [name for name in names if name.lower() not in known]
    if unknown or isinstance(names, str) or not names:
        fix = f"name sets of its columns: {', '.join(release.columns)}"
        raise Refusal(
            f"Columns {', '.join(names)}", f"are not all in release {release.name}", fix, code="unknown_column"
        )
    return {known[name.lower()] for name in names}


def _write_question(release: Release, places: tuple[int, ...]) -> str:
    """The same rows, in one table of these columns, of which every cell has noise of its own."""
    call = split_call(release.question, str(release.facts.mechanism))
    if call is None:
        why, fix = "does not say of which rows it was made", "make it again with this version"
        raise Refusal(f"Release {release.name}", why, fix, code="no_release")
    names = ", ".join('"' + release.columns[place].replace('"', '""') + '"' for place in places)
    same = {name: value for name, value in call.arguments.items() if name in _SAME}
    return call.call("marginals", {"columns": f"({names})", "ways": str(len(places)), **same, "how": "'largest'"})


def _list_sizes(release: Release, places: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(len(release.product.attributes[place]) for place in places)


def _check_cells(release: Release, places: tuple[int, ...], answer: Answer) -> None:
    """Refuse to compare tables that do not have the same cells."""
    attributes = [release.product.attributes[place] for place in places]
    labels = list_labels(attributes, list_closure(_list_sizes(release, places), len(places)))
    if any(tuple(answer[name]) != values for name, values in labels.items()):
        why = "has other values in its columns than the same question finds now"
        raise Refusal(f"Release {release.name}", why, "make a new release", code="catalog_changed")


def _compare(release: Release, places: tuple[int, ...], answer: Answer, confidence: float) -> HeldBackTable:
    sizes = _list_sizes(release, places)
    cells = prod(sizes)
    noisy = np.array(answer[_COUNT][-cells:], dtype=np.float64)
    published = count_published(release.product, places)
    assert published is not None  # noqa: S101 - there are rows
    names = tuple(release.columns[place] for place in places)
    noise = _read_noise(answer, noisy, confidence)
    return compare_table(names, noisy, published.ravel(), noise, 1 - confidence)


def _read_noise(answer: Answer, noisy: np.ndarray, confidence: float) -> CellNoise:
    """The law of the noise in a cell, from how far its interval reaches; ends at 0 reach further."""
    tails = "gaussian" if answer.cost is not None and loss(answer.cost).epsilon is None else "laplace"
    ends = answer.interval(_COUNT, confidence)[-len(noisy) :]
    reach = min(upper - value for (_, upper), value in zip(ends, noisy.tolist(), strict=True))
    return CellNoise(max(0.0, reach - _STEP) / margin(tails, 1 - confidence), tails, len(noisy))  # type: ignore[arg-type]


def _list_notes(session: Queries, release: Release, answer: Answer, confidence: float) -> Iterator[Note]:
    paid = "" if answer.cost is None else f"The tables that were held back were paid with {format_cost(answer.cost)}. "
    yield _VARIATION(paid=paid, times=100 * confidence)
    version, now = release.facts.version, session.catalog().version
    if version != now:
        yield _VERSIONS(version=version, now=now)
