"""How good a release is where it did not measure: tables that were held back, estimated by fresh private questions.

Noise makes distances look larger. Its distribution is known, so that an interval of the true distance follows:
docs/proofs/quality.md has the three bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import log, prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_ndtr

from adomnia.distributions.margins import margin
from adomnia.errors import Refusal
from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.synthesis.cubes import list_labels
from adomnia.methods.synthesis.planning import list_closure
from adomnia.pricing.bills import format_cost
from adomnia.pricing.questions import Question
from adomnia.privacy.losses import loss
from adomnia.releases.quality import count_published
from adomnia.releases.quality_report import HeldBackTable
from adomnia.sql.methods.call_texts import split_call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from adomnia.mechanisms.contract import Tails
    from adomnia.releases.model import Release
    from adomnia.releases.quality_report import Quality
    from adomnia.session.answer import Answer
    from adomnia.session.queries import Queries
    from adomnia.statistics.contract import Floats
    from adomnia.statistics.products import Product

_COUNT = "count"
_STEP = 0.5  # by which intervals of whole counts are longer than those of their distribution
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
_MOST_LOOKED = 100_000  # sets of columns that are looked at
_MOST_CELLS = 100_000  # of a table that is held back
_FOR_TOTAL = 0.1  # of what may be missed, for the number of rows
_SLOPES = np.geomspace(1e-6, 40.0, 4000)  # where Chernoff's bound is looked for, in standard deviations


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


def choose_held_back(product: Product, most: int) -> list[tuple[int, ...]]:
    """Sets of two columns that were not measured together, then of three; those of the fewest cells first."""
    found: list[tuple[int, ...]] = []
    for many in (2, 3):
        sets = islice(combinations(range(len(product.attributes)), many), _MOST_LOOKED)
        apart = [each for each in sets if not _covers(product, each) and count_cells(product, each) <= _MOST_CELLS]
        found += sorted(apart, key=lambda each: (count_cells(product, each), each))[: most - len(found)]
    return found


def count_cells(product: Product, columns: tuple[int, ...]) -> int:
    """How many combinations of values some columns have."""
    return prod(len(product.attributes[column]) for column in columns)


def _covers(product: Product, columns: tuple[int, ...]) -> bool:
    return product.estimates is not None and product.estimates.covers(columns)


@dataclass(frozen=True)
class CellNoise:
    """Independent noise of one distribution on each of so many cells."""

    deviation: float
    tails: Tails
    cells: int

    def bound_sum(self, missed: float) -> float:
        """What the absolute values of all noises add up to at most, but for that probability."""
        return self._bound(self._log_moments_of_absolute(), self.cells, missed)

    def bound_total(self, missed: float) -> float:
        """How far all noises together are from 0 at most, but for that probability."""
        return self._bound(self._log_moments(), self.cells, missed / 2)

    def bound_drop(self, missed: float) -> float:
        """How far a sum over cells of functions that change by at most the noise is below its mean at most.

        The exponential moment of such a function around its mean is at most the square of that of the noise, by an
        independent copy.
        """
        return self._bound(self._log_moments(), 2 * self.cells, missed)

    def _bound(self, log_moments: Floats, times: int, missed: float) -> float:
        """Chernoff's: the least over all slopes."""
        return self.deviation * float(np.min((times * log_moments + log(1 / missed)) / self._slopes()))

    def _slopes(self) -> Floats:
        """Laplace noise has exponential moments up to sqrt(2) standard deviations."""
        return _SLOPES if self.tails == "gaussian" else _SLOPES * (sqrt(2) * 0.9999 / _SLOPES[-1])

    def _log_moments(self) -> Floats:
        slopes = self._slopes()
        return slopes**2 / 2 if self.tails == "gaussian" else -np.log1p(-(slopes**2) / 2)

    def _log_moments_of_absolute(self) -> Floats:
        slopes = self._slopes()
        if self.tails == "gaussian":
            return np.asarray(slopes**2 / 2 + log(2) + log_ndtr(slopes))
        return -np.log1p(-slopes / sqrt(2))


def compare_table(
    columns: tuple[str, ...], noisy: Floats, published: Floats, noise: CellNoise, missed: float
) -> HeldBackTable:
    """How far off a published table is by a noisy one of the same cells; its interval misses with that probability.

    What is published is scaled to the noisy total, which is as far from the true one as `beside` says.
    """
    for_total, for_cells = _FOR_TOTAL * missed, (1 - _FOR_TOTAL) * missed / 2
    total, beside = float(noisy.sum()), noise.bound_total(for_total)
    scaled = published * (total / published.sum()) if total > 0 and published.sum() > 0 else published * 0.0
    gaps = noisy - scaled
    apart = float(np.abs(gaps).sum())
    surplus = noise.bound_sum(for_cells)
    least = apart - surplus - beside
    most = apart + min(surplus, noise.bound_drop(for_cells)) + beside
    squared = float((gaps**2).mean()) - noise.deviation**2
    return HeldBackTable(
        columns,
        noise.cells,
        min(1.0, apart / (2 * total)) if total > 0 else 1.0,
        min(1.0, max(0.0, least) / (2 * (total + beside))) if total + beside > 0 else 0.0,
        min(1.0, most / (2 * (total - beside))) if total > beside else 1.0,
        sqrt(max(0.0, squared)),
    )


def _read_noise(answer: Answer, noisy: np.ndarray, confidence: float) -> CellNoise:
    """The distribution of the noise in a cell, from how far its interval reaches; ends at 0 reach further."""
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
