"""How each surface writes what a text names: `epsilon=0.5` in Python is `--epsilon 0.5` on the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from adomnia.messages.references import Button, EarlierAnswer, Flag, Option, Pay, SessionCall, Setting, WithOption
from adomnia.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adomnia.messages.references import Reference


class Surface(Enum):
    """Where a text is shown."""

    PYTHON = "Python"
    COMMAND_LINE = "command line"
    SHELL = "shell"
    SCRIPT = "statements from a file"
    NOTEBOOK = "cell of a notebook"
    JSON = "JSON"
    PAGE = "page of the console"


_WORDS = {row.name for row in OPTIONS.values() if row.kind in {"choice", "text"}}  # whose value is a word: quoted
_FREE = {row.name for row in OPTIONS.values() if row.kind == "text"}  # whose value may be any text
_SWITCHES = {
    (row.name, row.typed.stands_for): row.typed.flag for row in OPTIONS.values() if row.typed.stands_for is not None
}
_REPEATED = {row.name: row.typed.flag for row in OPTIONS.values() if row.typed.repeats}  # given once for each name
CALLS = ("sql", "answers")

SETTINGS = {  # in the catalog, and as an argument of `protect`
    "approximate": ("have the owner set approximate = true in [budget]", "pass delta=1e-6 to adomnia.protect"),
    "approximate_first": (
        "with approximate = true in [budget], which is the owner's to set,",
        "pass delta=1e-6 to adomnia.protect, and",
    ),
    "bounds": (
        'the owner can declare {column} = {{ type = "{kind}", lower = ..., upper = ... }}',
        'pass bounds={{"{name}": (lower, upper)}} to adomnia.protect',
    ),
    "days": (
        "the owner can declare lower = 2020-01-01, upper = 2029-12-31",
        'pass bounds={{"{name}": (date(2020, 1, 1), date(2029, 12, 31))}} to adomnia.protect',
    ),
    "categories": ("group by a declared category", 'pass categories={{"{name}": ["a", "b"]}} to adomnia.protect'),
    "people": (
        "raise `version` in catalog.toml, or declare it as before",
        "pass unit= and links= as before, or another ledger=",
    ),
    "table": ("name a table of the catalog", "name a table that was passed to adomnia.protect"),
}


@dataclass(frozen=True)
class _Words:
    """How one surface writes options, calls, and the rest of what it names otherwise than Python."""

    option: Callable[[Option], str]
    calls: Mapping[str, str]
    pay: str = "pay {}"
    given: str = "with {}"
    button: str = "{says}: {option}"
    flag: str = "--{} {}"
    earlier: str = "your answer {}"


def _write_python(option: Option) -> str:
    if option.name in _FREE and option.value is not None:
        return f"{option.name}={option.value!r}"
    return f"{option.name}={'' if option.value is None else _write_value(option, str)}"


def _write_json(option: Option) -> str:
    if option.value is None:
        return f"`{option.name}`"
    return f'`"{option.name}": {_write_value(option, lambda value: str(value).lower())}`'


def _write_value(option: Option, write_bool: Callable[[bool], str]) -> str:
    match option.value:
        case bool(value):
            return write_bool(value)
        case tuple(pairs):
            return "{" + ", ".join(f'"{name}": {value}' for name, value in pairs) + "}"
        case value:
            return json.dumps(value, ensure_ascii=False) if option.name in _WORDS else str(value)


def _write_flag(option: Option) -> str:
    """An option as it is typed on a command line."""
    return " ".join(f"--{each}" for each in _list_flags(option))


def _list_flags(option: Option) -> list[str]:
    """The flags of an option: one for each name of those that are given once for each."""
    if isinstance(option.value, bool | str) and (option.name, option.value) in _SWITCHES:
        return [_SWITCHES[option.name, option.value]]
    flag = _REPEATED.get(option.name, option.name).replace("_", "-")
    return [f"{flag} {value}" for value in _list_values(option)] or [flag]


def _list_values(option: Option) -> list[str]:
    """The values of an option as they are typed."""
    match option.value:
        case None:
            return []
        case tuple(pairs):
            return [f"{name}={value}" for name, value in pairs]
        case value:
            return [str(value).strip("{}[]")]


def _write_setting(option: Option) -> str:
    r"""A setting of the shell, where a question is asked again by `\again`."""
    if option.name == "request_id":
        return r"\again"
    return " ".join(rf"\set {each}{' on' if each in _SWITCHES.values() else ''}" for each in _list_flags(option))


def _write_script(option: Option) -> str:
    """As in the shell; but an error ends a script, and what was lost is asked for by another command."""
    return f"`adomnia sql` and {_write_flag(option)}" if option.name == "request_id" else _write_setting(option)


def _write_field(option: Option) -> str:
    """The field of a page: an option and its value are two words."""
    values = [] if option.value is True else _list_values(option)
    return " ".join([option.name.replace("_", " "), *values])


_IN_SHELL = {"sql": "no command before it", "answers": r"\a"}
_ON_SURFACES = {
    Surface.PYTHON: _Words(_write_python, {"sql": "sql()", "answers": "answers()"}),
    Surface.COMMAND_LINE: _Words(_write_flag, {"sql": "`adomnia sql`", "answers": "`adomnia answers`"}),
    Surface.SHELL: _Words(_write_setting, _IN_SHELL, pay="{}", flag=r"\set {} {}"),
    Surface.SCRIPT: _Words(_write_script, _IN_SHELL, pay="{}", flag=r"\set {} {}"),
    Surface.NOTEBOOK: _Words(_write_flag, {"sql": "`%%private`", "answers": "answers()"}),
    Surface.JSON: _Words(_write_json, {"sql": "`POST query`", "answers": "`GET answers`"}),
    Surface.PAGE: _Words(
        _write_field,
        {"sql": "Ask", "answers": "your history"},
        given="in More options",
        button="{says}",
        earlier="an earlier answer of yours",
    ),
}


def write_reference(reference: Reference, surface: Surface) -> str:  # noqa: PLR0911 - one for each kind
    """What a text names, in the words of a surface."""
    words = _ON_SURFACES[surface]
    match reference:
        case Option():
            return words.option(reference)
        case Flag(name, value):
            return words.flag.format(name, value).strip()
        case SessionCall(name):
            return words.calls[name]
        case Pay(currency, amount):
            return words.pay.format(words.option(Option(currency, amount)))
        case WithOption(name):
            return words.given.format(words.option(Option(name)))
        case Button(says, option):
            return words.button.format(says=says, option=words.option(option))
        case EarlierAnswer(request_id):
            return words.earlier.format(request_id)
        case Setting(name, facts, in_catalog):
            return SETTINGS[name][0 if in_catalog else 1].format(**dict(facts))
