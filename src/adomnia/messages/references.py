"""What a text names and every surface writes its own way: options, calls, prices, settings of a dataset."""

from dataclasses import dataclass
from typing import Literal

Value = str | bool | tuple[tuple[str, str], ...] | None
"""Of an option, as text: numbers are not quoted, words are where the surface quotes them; pairs are a dictionary."""


@dataclass(frozen=True)
class Option:
    """An option of a question, alone or with a value: `epsilon=`, `epsilon=0.5` in Python."""

    name: str
    value: Value = None
    kind: Literal["option"] = "option"


@dataclass(frozen=True)
class Flag:
    """What is typed on a command line alone: `--format table`, which is a setting of the shell."""

    name: str
    value: str = ""
    kind: Literal["flag"] = "flag"


@dataclass(frozen=True)
class SessionCall:
    """What a session does: `sql()` in Python."""

    name: str
    kind: Literal["session_call"] = "session_call"


@dataclass(frozen=True)
class Pay:
    """The advice to pay an amount: `pay epsilon=2` in Python."""

    currency: str
    amount: str
    kind: Literal["pay"] = "pay"


@dataclass(frozen=True)
class WithOption:
    """That an option is given: `with rows=` in Python, in a field of its own on pages."""

    name: str
    kind: Literal["with_option"] = "with_option"


@dataclass(frozen=True)
class Button:
    """What an option does, which is a button on pages: `take it all the same: allow_uninformative=True` in Python."""

    says: str
    option: Option
    kind: Literal["button"] = "button"


@dataclass(frozen=True)
class EarlierAnswer:
    """An answer that whoever asks has: by its request id, but on pages."""

    request_id: str
    kind: Literal["earlier_answer"] = "earlier_answer"


@dataclass(frozen=True)
class Setting:
    """What an owner declares, by the name of its words and what they are about.

    It stands in the catalog, or is an argument of `protect` where there is none.
    """

    name: str
    facts: tuple[tuple[str, str], ...] = ()
    in_catalog: bool = True
    kind: Literal["setting"] = "setting"


Reference = Option | Flag | SessionCall | Pay | WithOption | Button | EarlierAnswer | Setting
