"""Errors in the words of the surface that shows them: `epsilon=` in Python is `--epsilon` on the command line.

Errors are written in Python's words. What they call an option is found by its form, `name=` or `name=value`, and
written as the surface writes it. JSON's form stands between backticks, so that a client can read it back.
"""

import re
from collections.abc import Callable, Iterable
from copy import copy

from adomnia.errors import Refusal, Unavailable
from adomnia.explaining.tree import Node
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import Fix
from adomnia.options import OPTIONS

_NAMES = tuple(OPTIONS)
_FLAGS = {  # by the option and its value, in Python's words
    (row.name, f'"{value}"' if isinstance(value, str) else str(value)): f"--{row.typed.flag}"
    for row in OPTIONS.values()
    if (value := row.typed.stands_for) is not None
}
_REPEATED = {row.name: row.typed.flag for row in OPTIONS.values() if row.typed.repeats}  # once for each name
_CALLS = {  # what a session does, in Python, on the command line, in the shell, over HTTP and on a page
    "sql()": ("`adomnia sql`", "no command before it", "`POST query`", "Ask"),
    "answers()": ("`adomnia answers`", r"\a", "`GET answers`", "your history"),
}
_NAME = "|".join(_NAMES)
_VALUE = r"""\{[^{}]*\}|"[^"]*"|'[^']*'|[\w+\-][\w+\-./]*(?<![./])"""
_QUOTED = r"""(?P<quoted>(?<!\w)'(?:[^']|'')*'|"(?:[^"]|"")*")"""  # of a question, which is left alone
_PYTHON = re.compile(rf"{_QUOTED}|(?<![\w-])(?P<name>{_NAME})=(?P<value>{_VALUE})?(?!=)")
_JSON = re.compile(rf"`(?:(?P<bare>{_NAME})|\"(?P<name>{_NAME})\": (?P<value>[^`]*))`|{_QUOTED}")
_OPTION = re.compile(r"--(?P<name>[a-z]+(?:-[a-z]+)*)")
_AGAIN = re.compile(r"with --request-id \S+(?=:)")
_EARLIER = re.compile(r"your answer [\w.:-]+(?=[),])")  # by its request id
_WORDS_OF_JSON = {"True": "true", "False": "false", "None": "null"}


def reword(error: Refusal | Unavailable, surface: Surface) -> Refusal | Unavailable:
    """The same error in the words of a surface; what it quotes of a question, which has a place, is left alone."""

    def change(text: str) -> str:
        return _CHANGES[surface](_rename_calls(text, surface))

    reworded = copy(error)
    reworded.fix = Fix(change(error.fix), error.fix.action, **error.fix.facts)
    if not isinstance(error, Refusal) or error.position is None:
        reworded.what, reworded.why = change(error.what), change(error.why)
    reworded.args = (reworded.what, reworded.why, reworded.fix, *error.args[3:])
    return reworded


def reword_lines(lines: Iterable[str], surface: Surface) -> tuple[str, ...]:
    """Sentences of an answer or a quote in the words of a surface."""
    return tuple(_CHANGES[surface](line) for line in lines)


def _rename_calls(text: str, surface: Surface) -> str:
    for python, (command, shell, http, page) in _CALLS.items():
        words = {
            Surface.COMMAND_LINE: command,
            Surface.SHELL: shell,
            Surface.SCRIPT: shell,
            Surface.JSON: http,
            Surface.PAGE: page,
        }
        text = text.replace(python, words[surface]) if surface in words else text.replace(http, python)
    return text


def reword_tree(tree: Node, surface: Surface) -> Node:
    """An explanation in the words of a surface."""
    return Node(_CHANGES[surface](tree.text), tuple(reword_tree(part, surface) for part in tree.parts))


def _to_option(text: str) -> str:
    return _replace(_PYTHON, lambda found: _write_option(found["name"], found["value"]), text)


def _replace(pattern: re.Pattern[str], write: Callable[[re.Match[str]], str], text: str) -> str:
    return pattern.sub(lambda found: found["quoted"] or write(found), text)


def _write_option(name: str, value: str | None) -> str:
    if (name, value) in _FLAGS:
        return _FLAGS[name, value]  # type: ignore[index]  # no flag is without its value
    option = f"--{_REPEATED.get(name, name).replace('_', '-')}"
    if value is None:
        return option
    if name in _REPEATED:
        return " ".join(f"{option} {part.replace(': ', '=')}" for part in _bare(value).split(", "))
    return f"{option} {_bare(value)}"


def _bare(value: str) -> str:
    """A value as it is typed on a command line."""
    return value.strip("{}").replace('"', "").replace("'", "")


def _to_setting(text: str) -> str:
    """Settings have the names of options; what was asked last is asked again under its request id by a command."""
    return _to_script(_AGAIN.sub(r"with \\again", _to_option(text)))


def _to_script(text: str) -> str:
    """Settings too; but where an error ends everything, what was lost is asked for by another command."""
    return _OPTION.sub(_write_setting, _to_option(text)).replace("pay \\set ", "\\set ")


def _write_setting(option: re.Match[str]) -> str:
    if option["name"] == "request-id":
        return f"`adomnia sql` and {option[0]}"
    return rf"\set {option['name']}{' on' if option[0] in _FLAGS.values() else ''}"


def _to_page(text: str) -> str:
    """Pages have fields that are called what options are: an option and its value are two words.

    They have a button in the place of a flag, and a history in the place of ids.
    """
    plain = text.replace(": anyway=True", "").replace("with rows=", "in More choices")
    plain = _EARLIER.sub("an earlier answer of yours", plain)
    return _replace(_PYTHON, lambda found: _write_plainly(found["name"], found["value"]), plain)


def _write_plainly(name: str, value: str | None) -> str:
    word = name.replace("_", " ")
    return word if value in {None, "True"} else f"{word} {_bare(value or '')}"


def _to_json(text: str) -> str:
    return _replace(_PYTHON, lambda found: _write_json(found["name"], found["value"]), text)


def _write_json(name: str, value: str | None) -> str:
    return f"`{name}`" if value is None else f'`"{name}": {_WORDS_OF_JSON.get(value, value)}`'


def _from_json(text: str) -> str:
    return _replace(_JSON, lambda found: f"{found['bare'] or found['name']}={_read_json(found['value'] or '')}", text)


def _read_json(value: str) -> str:
    return next((python for python, word in _WORDS_OF_JSON.items() if word == value), value)


_CHANGES: dict[Surface, Callable[[str], str]] = {
    Surface.COMMAND_LINE: _to_option,
    Surface.NOTEBOOK: _to_option,
    Surface.SHELL: _to_setting,
    Surface.SCRIPT: _to_script,
    Surface.JSON: _to_json,
    Surface.PYTHON: _from_json,
    Surface.PAGE: _to_page,
}
