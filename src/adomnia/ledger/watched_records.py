"""Records whose own errors are noticed: whoever reads them may meet errors of other files, which have other causes."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, cast

from adomnia.ledger.records import Records

__all__ = ["watch_records"]

_OF_A_COPY = "save"  # its errors may be those of another disk: whoever asks for a copy explains them


def watch_records(records: Records, notice: Callable[[], AbstractContextManager[None]]) -> Records:
    """The same records; what goes wrong while they are read goes wrong within `notice`."""
    return cast("Records", _WatchedRecords(records, notice))


class _WatchedRecords:
    def __init__(self, records: Records, notice: Callable[[], AbstractContextManager[None]]) -> None:
        self._records, self._notice = records, notice

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._records, name)
        return method if name == _OF_A_COPY else partial(self._call, method)

    def _call(self, method: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - whatever the records give
        with self._notice():
            found = method(*arguments)
        return self._read_on(found) if isinstance(found, Iterator) else found

    def _read_on(self, rows: Iterator[Any]) -> Iterator[Any]:
        with self._notice():
            yield from rows
