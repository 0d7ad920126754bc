"""What every session offers and that follows from its other calls, wherever the data is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from adomnia.options import CONFIDENCE, EXPLAIN
from adomnia.session.contract import MOST_HELD_BACK, Session
from adomnia.session.signatures import takes_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adomnia.pricing.questions import Payment
    from adomnia.releases.quality_report import Quality
    from adomnia.session.answer import Answer
    from adomnia.session.comparing import Comparison
    from adomnia.session.session_page import SessionPage


class DerivedSession(Session):
    """A session whose reports about releases are made of its own questions."""

    @takes_options(EXPLAIN)
    def quality(
        self,
        name: str,
        *,
        columns: Iterable[Sequence[str]] | None = None,
        most: int = MOST_HELD_BACK,
        confidence: float = CONFIDENCE,
        **payment: Unpack[Payment],
    ) -> Quality:
        from adomnia.session.quality import assess_held_back

        return assess_held_back(self, self.open_release(name), columns, most, confidence, payment)

    @takes_options(EXPLAIN)
    def compare(
        self, text: str, *, release: str, confidence: float = CONFIDENCE, **payment: Unpack[Payment]
    ) -> Comparison:
        from adomnia.session.comparing import compare_answers

        return compare_answers(self, text, self.open_release(release), confidence, payment)

    def __repr__(self) -> str:
        return str(self._page())

    def _repr_html_(self) -> str:
        return self._page().html()

    def _page(self) -> SessionPage:
        """What is shown of the session; it must not fail, whatever is closed or does not answer."""
        raise NotImplementedError

    def preview(self, table: str, rows: int = 20) -> Answer:
        from adomnia.session.previewing import preview_table

        return preview_table(self, table, rows)
