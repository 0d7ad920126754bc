"""A release that can be asked wherever its folder is: no curator, no ledger and no private data are needed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.asking.batch import bind_question
from adomnia.asking.purchase import Outcome
from adomnia.errors import Refusal
from adomnia.options import CONFIDENCE
from adomnia.pricing.payment import check_confidence
from adomnia.pricing.questions import Question
from adomnia.privacy.filters import Left
from adomnia.releases.answering import answer_released
from adomnia.releases.folder import read_folder, save_folder
from adomnia.releases.model import Release
from adomnia.session.building import build_answers
from adomnia.sql.reading.parameters import translate_places
from adomnia.sql.reading.released import parse_released
from adomnia.work import limit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adomnia.session.answer import Answer


_NOTHING = Left(Fraction(0), Fraction(0), Fraction(0))  # there is no budget to spend


@dataclass(frozen=True, eq=False, repr=False)
class AskableRelease(Release):
    """A release, and answers from it: `release.sql("SELECT sex, COUNT(*) FROM releases.ages GROUP BY sex")`."""

    def sql(
        self,
        text: str,
        *,
        confidence: float = CONFIDENCE,
        parameters: Sequence[object] | Mapping[str, object] | None = None,
    ) -> Answer:
        """The answer to a question about this release, which stands in FROM as releases.NAME: it costs nothing.

        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> made.sql("SELECT sex, COUNT(*) AS n FROM releases.towns GROUP BY sex").cost is None
        True
        """
        question = bind_question(Question(text, parameters=parameters))
        check_confidence(confidence)
        with limit(), translate_places(question.text):
            select = parse_released(question.text)
            if select is None:
                what, why = "The question", "is about no release, and here is nothing else"
                raise Refusal(what, why, f"write FROM releases.{self.name}", (1, 1), code="unknown_release")
            draft = answer_released(select, self._find, confidence)
            return build_answers(Outcome([draft], None, replayed=False, left=_NOTHING))[0]

    def save(self, folder: str | Path) -> Path:
        """Write it as a folder that `adomnia.open_release` opens anywhere; what is there already is left alone.

        >>> from tempfile import TemporaryDirectory
        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> with TemporaryDirectory() as folder:
        ...     open_release(made.save(f"{folder}/towns")).columns
        ('sex', 'city')
        """
        return save_folder(self, folder)

    def _remarks(self) -> list[str]:
        first = next(iter(self.columns))
        asked = f"SELECT {first}, COUNT(*) AS n FROM releases.{self.name} GROUP BY {first}"  # noqa: S608 - an example
        calls = [f'release.sql("{asked}")', "release.quality()", "release.to_pandas()"]
        return [*super()._remarks(), "To begin with, all of it free:", *(f"  {call}" for call in calls)]

    def _find(self, name: str) -> Release:
        if name.lower() == self.name.lower():
            return self
        fix = f"write FROM releases.{self.name}"
        raise Refusal(f"Release {name[:63]}", "is not this one", fix, code="unknown_release")


def open_release(folder: str | Path) -> AskableRelease:
    """The release of a folder, wherever it was made; a Refusal that says what is wrong with it.

    >>> from tempfile import TemporaryDirectory
    >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
    >>> with TemporaryDirectory() as folder:
    ...     open_release(made.save(f"{folder}/towns")).columns
    ('sex', 'city')
    """
    return make_askable(read_folder(folder))


def make_askable(release: Release) -> AskableRelease:
    """The same release, which can be asked."""
    return AskableRelease(**{field.name: getattr(release, field.name) for field in fields(Release)})
