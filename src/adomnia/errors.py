"""The three ways a request can end without an answer.

A Refusal explains itself, a Failure says nothing, and Unavailable asks to try again.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, TypeVar

from adomnia.messages.references import Option
from adomnia.messages.texts import Fix, Message, show

if TYPE_CHECKING:
    from adomnia.messages.surfaces import Surface
    from adomnia.options import QuestionOption

_UNAVAILABLE = "unavailable"


class AdomniaError(Exception):
    """Everything Ad Omnia raises on purpose, programmer errors (ValueError, TypeError) aside."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: where in our code it was raised helps nobody there."""
        return [f"{type(self).__name__}: {self}"]


class Refusal(AdomniaError):
    """No, and why: written from the query text and public metadata alone, before any data is read.

    >>> print(Refusal("MEDIAN(name)", "needs a number and name is a category", "take the median of a number column"))
    MEDIAN(name) needs a number and name is a category. Fix: take the median of a number column.
    """

    def __init__(  # noqa: PLR0913 - the last two are rarely told
        self,
        what: str,
        why: str,
        fix: str,
        position: tuple[int, int] | None = None,
        *,
        code: str = "refused",
        others: tuple[Refusal, ...] = (),
    ) -> None:
        super().__init__(what, why, fix, position)  # all four: exceptions are pickled and copied through `args`
        self.what = what
        self.why = why
        self.fix = fix if isinstance(fix, Fix) else Fix(fix)
        self.position = position
        self.code = code  # one stable word for programs; the sentence may change
        self.others = others  # what else is wrong with the same thing

    def __str__(self) -> str:
        more = f" (and {len(self.others)} more: adomnia check lists all)" if self.others else ""
        return f"{self.what} {self.why}. Fix: {self.fix}.{self._place()}{more}"

    def _place(self) -> str:
        return "" if self.position is None else " (line {}, column {})".format(*self.position)

    def _render_traceback_(self) -> list[str]:
        return [f"Refusal: {self.what} {self.why}.{self._place()}", f"Fix: {self.fix}.", f"Code: {self.code}"]


class Failure(AdomniaError):
    """Anything that went wrong after data could have been touched; the text is constant, because it may depend on data.

    >>> print(Failure("7f3a"))
    The request failed. Request id: 7f3a.
    """

    def __init__(self, request_id: str | None = None) -> None:
        super().__init__(request_id)
        self.request_id = request_id

    def __str__(self) -> str:
        request = "" if self.request_id is None else f" Request id: {self.request_id}."
        return f"The request failed.{request}"


class Unavailable(AdomniaError):
    """Not now, whatever was asked: the ledger, a disk or a lock is in trouble. It says nothing about the request.

    No answer was given. Under the same request id it is safe to ask again: nothing is paid twice.

    >>> print(Unavailable("The ledger", "has no room left on its disk", "free some space, then ask again"))
    The ledger has no room left on its disk. Fix: free some space, then ask again.
    """

    def __init__(self, what: str, why: str, fix: str, code: str = _UNAVAILABLE, retry_seconds: int = 1) -> None:
        super().__init__(what, why, fix, code, retry_seconds)
        self.what = what
        self.why = why
        self.fix = fix if isinstance(fix, Fix) else Fix(fix)
        self.code = code
        self.retry_seconds = retry_seconds  # when trying again may help

    def __str__(self) -> str:
        return f"{self.what} {self.why}. Fix: {self.fix}."


Explained = TypeVar("Explained", bound="Refusal | Unavailable")


def render(error: Explained, surface: Surface) -> Explained:
    """The same error in the words of a surface."""
    told = copy(error)
    told.what, told.why = show(error.what, surface), show(error.why, surface)
    told.fix = Fix(show(error.fix, surface), error.fix.action, **error.fix.facts)
    told.args = (told.what, told.why, told.fix, *error.args[3:])
    return told


def refuse_former(row: QuestionOption, written: str) -> Refusal:
    """The refusal of an option by the name that it had before."""
    fix = Message("write ", Option(row.name, row.typed.stands_for if isinstance(row.typed.stands_for, bool) else None))
    return Refusal(written, "has another name", fix, code="renamed_option")


def install_extra(name: str) -> str:
    """How messages tell to install an extra. The package is on no index: there the name may be somebody else's.

    >>> install_extra("plot")
    "pip install '.[plot]' in a checkout of Ad Omnia"
    """
    return f"pip install '.[{name}]' in a checkout of Ad Omnia"
