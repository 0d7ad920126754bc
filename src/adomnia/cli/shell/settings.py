r"""What `\set` remembers, as options of `adomnia sql`: the price of the next questions, and how they are answered."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from adomnia.cli.options import AnswerFormat
from adomnia.errors import Refusal, refuse_former
from adomnia.options import ASK, CURRENCIES, EXPLAIN, PRICE
from adomnia.sql.reading.parameters import list_names
from adomnia.sql.reading.statements import without_explain
from adomnia.typed_options import list_former_flags, list_typed, read_options, refuse_flag

# The shell chooses request ids itself, and shows the price of what it asks.
_ROWS = {row.typed.flag: row for row in list_typed(ASK) if row.name != "request_id"}
_FORMER = dict(list_former_flags(ASK))
_SWITCHES = {"on": True, "off": False}
_FORMATS = {each.value: each for each in AnswerFormat}
_ONE_OF_SEVERAL = re.compile(r"[^\s=]+='[^']*'(?!\S)|\S+")  # a text between quotes may have spaces
_EVERYWHERE = tuple(flag for flag, row in _ROWS.items() if EXPLAIN in row.applies)
NAMES = (*_EVERYWHERE, "format", "confirm", *(flag for flag in _ROWS if flag not in _EVERYWHERE))


@dataclass
class ShellSettings:
    """Settings by the names of options; `options` has those that were set, as typed."""

    form: AnswerFormat = AnswerFormat.TABLE
    confirm: bool = True
    options: dict[str, str] = field(default_factory=dict)

    def set(self, name: str, value: str) -> None:
        """Set one; without a value it is as it was at first. What cannot be read is refused, and changes nothing."""
        name = name.lower()
        if name == "format":
            self.form = _choose(name, value, _FORMATS) if value else AnswerFormat.TABLE
        elif name == "confirm":
            self.confirm = _choose(name, value, _SWITCHES) if value else True
        elif name in _ROWS:
            self._set_option(name, value)
        elif name in _FORMER:
            raise refuse_former(_FORMER[name], rf"\set {name}")
        else:
            raise Refusal(f"The setting {name}", "is not known", f"set one of {', '.join(NAMES)}")

    def read(self, text: str, request: str = ASK) -> dict[str, Any]:
        """What a session takes beside a text; of the values of parameters, those that it has."""
        options = _read(self.options, request)
        if "parameters" in options:
            wanted = list_names(without_explain(text))
            options["parameters"] = {k: v for k, v in options["parameters"].items() if k in wanted} or None
        return options

    def lines(self) -> list[tuple[str, str]]:
        """All settings and their values."""
        own = {"format": self.form.value, "confirm": "on" if self.confirm else "off"}
        return [(name, own.get(name, self.options.get(name, ""))) for name in NAMES]

    def _set_option(self, name: str, value: str) -> None:
        changed = {known: said for known, said in self.options.items() if known != name}
        if value:
            prices = CURRENCIES if name in CURRENCIES else ()
            changed = {known: said for known, said in changed.items() if known not in prices} | {name: value}
        for request in (ASK, PRICE, EXPLAIN):
            _read(changed, request)
        self.options = changed


def values_of(name: str) -> tuple[str, ...]:
    """What a setting may be, if that is a short list."""
    if name == "format":
        return tuple(_FORMATS)
    row = _ROWS.get(name)
    if row is None or row.typed.stands_for is not None:
        return tuple(_SWITCHES) if row is not None or name == "confirm" else ()
    return row.choices


def _read(options: dict[str, str], request: str) -> dict[str, Any]:
    return read_options({name: _as_typed(name, value) for name, value in options.items()}, request)


def _as_typed(name: str, value: str) -> Any:  # noqa: ANN401 - whatever the option takes
    if _ROWS[name].typed.stands_for is not None:
        return _choose(name, value, _SWITCHES)
    return _ONE_OF_SEVERAL.findall(value) if _ROWS[name].typed.repeats else value


def _choose(name: str, value: str, known: dict[str, Any]) -> Any:  # noqa: ANN401 - one of those
    if value.lower() not in known:
        raise refuse_flag(name, value, "is not known", " or ".join(known))
    return known[value.lower()]
