r"""What `\set` remembers, as options of `adomnia sql`: the price of the next questions, and how they are answered."""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from adomnia.cli.options import AnswerFormat, refuse_flag
from adomnia.cli.question_options import QuestionOptions
from adomnia.errors import Refusal
from adomnia.explaining.explanations import without_explain
from adomnia.sql.reading.parameters import list_names

_ELSEWHERE = ("place", "text", "analyst", "token_file")  # of the options: what the shell itself was started with
_FIELDS = {each.name.replace("_", "-"): each for each in fields(QuestionOptions) if each.name not in _ELSEWHERE}
_PRICES = ("epsilon", "rho", "error")  # of which a question names one
_SWITCHES = {"on": True, "off": False}
_OWN = ("format", "confirm", "fresh", "anyway")
_ONE_OF_SEVERAL = re.compile(r"[^\s=]+='[^']*'(?!\S)|\S+")  # a text between quotes may have spaces
NAMES = (*_FIELDS, *_OWN)


@dataclass
class ShellSettings:
    """Settings by the names of options; `options` has those that were set, as typed."""

    form: AnswerFormat = AnswerFormat.TABLE
    confirm: bool = True
    fresh: bool = False
    anyway: bool = False
    options: dict[str, str] = field(default_factory=dict)

    def set(self, name: str, value: str) -> None:
        """Set one; without a value it is as it was at first. What cannot be read is refused, and changes nothing."""
        name = name.lower()
        if name == "format":
            self.form = (
                _choose(name, value, {each.value: each for each in AnswerFormat}) if value else AnswerFormat.TABLE
            )
        elif name == "confirm":
            self.confirm = _choose(name, value, _SWITCHES) if value else True
        elif name == "fresh":
            self.fresh = _choose(name, value, _SWITCHES) if value else False
        elif name == "anyway":
            self.anyway = _choose(name, value, _SWITCHES) if value else False
        elif name in _FIELDS:
            self._set_option(name, value)
        else:
            raise Refusal(f"The setting {name}", "is not known", f"set one of {', '.join(NAMES)}")

    def payment(self, text: str) -> dict[str, Any]:
        """What a session takes beside a text; of the values of parameters, those that it has."""
        payment = _read(self.options)
        if payment["parameters"]:
            wanted = list_names(without_explain(text))
            payment["parameters"] = {k: v for k, v in payment["parameters"].items() if k in wanted} or None
        return payment

    def lines(self) -> list[tuple[str, str]]:
        """All settings and their values."""
        switches = {name: _say(getattr(self, name)) for name in ("confirm", "fresh", "anyway")}
        own = {"format": self.form.value, **switches}
        return [(name, own.get(name, self.options.get(name, ""))) for name in NAMES]

    def _set_option(self, name: str, value: str) -> None:
        changed = {known: said for known, said in self.options.items() if known != name}
        if value:
            prices = _PRICES if name in _PRICES else ()
            changed = {known: said for known, said in changed.items() if known not in prices} | {name: value}
        _read(changed)
        self.options = changed


def values_of(name: str) -> tuple[str, ...]:
    """What a setting may be, if that is a short list."""
    if name == "format":
        return tuple(AnswerFormat)
    switch = name in _OWN or (name in _FIELDS and _is_switch(name))
    return tuple(_SWITCHES) if switch else ("normal", "high") if name == "effort" else ()


def _read(options: dict[str, str]) -> dict[str, Any]:
    typed = {_FIELDS[name].name: _as_option(name, value) for name, value in options.items()}
    return QuestionOptions("", "", **typed).payment()


def _as_option(name: str, value: str) -> Any:  # noqa: ANN401 - whatever the option takes
    if _is_switch(name):
        return _choose(name, value, _SWITCHES)
    return _ONE_OF_SEVERAL.findall(value) if _is_repeated(name) else value


def _is_switch(name: str) -> bool:
    return isinstance(_FIELDS[name].default, bool)


def _is_repeated(name: str) -> bool:
    return _FIELDS[name].default is not MISSING and "list[" in str(_FIELDS[name].type)


def _choose(name: str, value: str, known: dict[str, Any]) -> Any:  # noqa: ANN401 - one of those
    if value.lower() not in known:
        raise refuse_flag(name, value, "is not known", " or ".join(known))
    return known[value.lower()]


def _say(switch: bool) -> str:
    return "on" if switch else "off"
