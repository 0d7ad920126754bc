"""Regular expressions that the second look believes: a few signs, in a size that compiles on every engine.

A pattern that an engine refuses would be refused only where there is a row to match, and so tell of that row.
"""

import re
from dataclasses import dataclass

from adomnia.engines.check.nodes import not_proved, require

MOST_ATOMS = 300  # with those that are repeated, as often as they are
_MOST_REPEATED = 255

_CHARACTER = r"(?:[A-Za-z0-9 ]|[^\x00-\x7f]|\\x[0-9a-f]{2})"
_NUMBER = "(?:0|[1-9][0-9]{0,2})"  # with zeros before it, engines read the sign itself
_CLASS = rf"\[\^?(?:{_CHARACTER}(?:-{_CHARACTER})?)+\]"
_TOKEN = re.compile(
    rf"(?P<atom>{_CHARACTER}|{_CLASS})|(?P<end>\\A|\\z)|(?P<open>\(\?:)|(?P<close>\))|(?P<or>\|)"
    rf"|(?P<repeat>[*+?]|\{{{_NUMBER}(?:,(?:{_NUMBER})?)?\}})"
)
_RANGE = re.compile(rf"({_CHARACTER})-({_CHARACTER})")
_MEMBER = re.compile(rf"{_CHARACTER}(?:-{_CHARACTER})?")
_BEYOND = re.compile(r"[^\x00-\x7f]|\\x[89a-f]")  # of ASCII: engines tell each range of such characters by its bytes


@dataclass
class _Group:
    """What was read of a group: how many atoms, those of the last part if it may be repeated, if there is any part."""

    atoms: int = 0
    last: int = 0
    complete: bool = False

    def add(self, atoms: int, *, repeatable: bool = True) -> None:
        self.atoms, self.last, self.complete = self.atoms + atoms, atoms * repeatable, True


def check_pattern(pattern: str) -> None:
    """Require a pattern of known signs, in order, that stays small where its repetitions are written out."""
    groups, place = [_Group()], 0
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None:
            raise not_proved("a pattern of known signs")
        _read(token, groups)
        require(sum(group.atoms for group in groups) <= MOST_ATOMS, "a pattern that stays small")
        place = token.end()
    require(len(groups) == 1 and groups[0].complete, "a pattern that is complete")


def _read(token: re.Match[str], groups: list[_Group]) -> None:
    group = groups[-1]
    match token.lastgroup:
        case "atom":
            require(all(_code(low) <= _code(high) for low, high in _RANGE.findall(token.group())), "ranges that rise")
            group.add(max(1, sum(_BEYOND.search(each) is not None for each in _MEMBER.findall(token.group()))))
        case "end":
            group.add(1, repeatable=False)
        case "open":
            groups.append(_Group())
        case "close":
            require(group.complete and len(groups) > 1, "a group that was opened and is not empty")
            groups.pop()
            groups[-1].add(group.atoms)
        case "or":
            require(group.complete, "an alternative that is not empty")
            group.last, group.complete = 0, False
        case _:
            require(group.last > 0, "something to repeat")
            group.add(group.last * (_count_repeats(token.group()) - 1), repeatable=False)


def _count_repeats(sign: str) -> int:
    """How often a part is written out, at most; of an open end, once more than it must stand there."""
    if not sign.startswith("{"):
        return 1
    least, comma, most = sign[1:-1].partition(",")
    counts = int(least), int(most or least) + (comma != "" and most == "")
    require(counts[0] <= counts[1] <= _MOST_REPEATED, "a number of repetitions")
    return counts[1]


def _code(character: str) -> int:
    return int(character.removeprefix("\\x"), 16) if len(character) > 1 else ord(character)
