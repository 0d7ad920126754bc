"""A session to build an index with, and what the tables were like that only Spark reads."""

from typing import TYPE_CHECKING, Self

from adomnia.catalog.model import Catalog
from adomnia.engines.limits import Limits
from adomnia.engines.spark.elsewhere import fingerprint
from adomnia.engines.spark.session import PinnedSession, open_session
from adomnia.errors import Unavailable

if TYPE_CHECKING:
    from adomnia.engines.spark.session import Session


class Looking:
    """A session to build with, opened when it is first needed; it knows what tables elsewhere were like."""

    def __init__(self, catalog: Catalog, limits: Limits) -> None:
        self._catalog, self._limits = catalog, limits
        self._own: PinnedSession | None = None
        self._seen: dict[tuple[str, str], str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        if self._own is not None:
            self._own.close()

    @property
    def session(self) -> "Session":
        if self._own is None:
            self._own = open_session(self._catalog.engine.url, self._limits)
        return self._own.session

    def fingerprint(self, url: str, name: str) -> str:
        self._seen[url, name] = fingerprint(self.session, url, name or None)
        return self._seen[url, name]

    def check_again(self) -> None:
        """Refuse an index of rows that changed while it was built: parents and children could be of two moments."""
        for (url, name), before in self._seen.items():
            if fingerprint(self.session, url, name or None) != before:
                why = "changed while the index was built from it"
                raise Unavailable(f"Source {name or url}", why, "open the dataset again when nobody writes it")
