"""How long a regular expression may keep an engine busy that tries one way after the other, as Java does.

On such an engine a row can take as long as there are ways to read it, and nested repetitions have more of them than
there is time: a question could find out by a timeout whether there is such a row. So the ways are counted beforehand,
from the pattern alone, for texts of the greatest length.
"""

import re
from dataclasses import dataclass
from math import inf

from adomnia.privacy.kinds import LONGEST_TEXT

_CHARACTER = r"(?:[A-Za-z0-9 ]|[^\x00-\x7f]|\\x[0-9a-f]{2})"
_TOKEN = re.compile(
    rf"(?P<atom>{_CHARACTER}|\[\^?(?:{_CHARACTER}(?:-{_CHARACTER})?)+\])|(?P<end>\\A|\\z)|(?P<open>\(\?:)|(?P<close>\))"
    r"|(?P<or>\|)|(?P<repeat>[*+?]|\{[0-9]+(?:,[0-9]*)?\})"
)
_MEMBER = re.compile(rf"({_CHARACTER})(?:-({_CHARACTER}))?")
_SHORT = {"*": (0, LONGEST_TEXT), "+": (1, LONGEST_TEXT), "?": (0, 1)}
_FIRST, _LAST = "\\A", "\\z"


@dataclass(frozen=True)
class _Part:
    """A part of a pattern: the ways to read it, and how often it stands there, at least and at most.

    An atom has its text, a group has its alternatives, each with its parts.
    """

    atom: str = ""
    alternatives: tuple[tuple["_Part", ...], ...] = ()
    least: int = 1
    most: int = 1


def count_ways(pattern: str) -> float:
    """How many ways there are to read a text by a pattern of ours, at most, times the places where it may begin."""
    alternatives = _parse(pattern)
    begins = sum(1 if parts[0].atom == _FIRST else LONGEST_TEXT + 1 for parts in alternatives)
    return begins * _of_alternatives(alternatives, last=True)


def _of_alternatives(alternatives: tuple[tuple[_Part, ...], ...], *, last: bool) -> float:
    return sum(_of_sequence(parts, last=last) for parts in alternatives)


def _of_sequence(parts: tuple[_Part, ...], *, last: bool) -> float:
    found = 1.0
    for place, part in enumerate(parts):
        following = parts[place + 1] if place + 1 < len(parts) else None
        found = min(inf, found * _of_part(part, following, last=last and following is None))
    return found


def _of_part(part: _Part, following: _Part | None, *, last: bool) -> float:
    """Each number of repetitions is a way of its own, unless what follows can stand behind the last of them alone."""
    if part.atom:
        settled = part.least == part.most or last or (following is not None and _differs(part, following))
        return 1 if settled else part.most - part.least + 1
    inner = _of_alternatives(part.alternatives, last=False)
    if part.least == part.most:
        return inner**part.most if inner == 1 or part.most < 64 else inf
    if inner == 1:
        return part.most - part.least + 1
    return sum(inner**times for times in range(part.least, part.most + 1)) if part.most < 64 else inf


def _differs(part: _Part, following: _Part) -> bool:
    """Whether what follows an atom begins with none of its characters, or is the end of the text."""
    if following.atom == _LAST:
        return True
    if not following.atom or following.atom == _FIRST or following.least == 0:
        return False
    return not any(
        low <= other_high and other_low <= high
        for low, high in _ranges(part.atom)
        for other_low, other_high in _ranges(following.atom)
    )


def _ranges(atom: str) -> list[tuple[int, int]]:
    """The characters of an atom as ranges of their numbers."""
    inside = atom.removeprefix("[^").removeprefix("[").removesuffix("]") if atom.startswith("[") else atom
    found = sorted((_code(low), _code(high or low)) for low, high in _MEMBER.findall(inside))
    if not atom.startswith("[^"):
        return found
    others, begin = [], 0
    for low, high in found:
        others.append((begin, low - 1))
        begin = max(begin, high + 1)
    return [(low, high) for low, high in (*others, (begin, 0x10FFFF)) if low <= high]


def _code(character: str) -> int:
    return int(character.removeprefix("\\x"), 16) if len(character) > 1 else ord(character)


def _parse(pattern: str) -> tuple[tuple[_Part, ...], ...]:
    """The alternatives of a pattern that is known to be one of ours."""
    open_groups: list[list[list[_Part]]] = [[[]]]
    for token in _TOKEN.finditer(pattern):
        current = open_groups[-1][-1]
        match token.lastgroup:
            case "atom" | "end":
                current.append(_Part(atom=token.group()))
            case "open":
                open_groups.append([[]])
            case "close":
                inner = tuple(map(tuple, open_groups.pop()))
                open_groups[-1][-1].append(_Part(alternatives=inner))
            case "or":
                open_groups[-1].append([])
            case _:
                least, most = _SHORT.get(token.group()) or _counts(token.group())
                part = current.pop()
                current.append(_Part(part.atom, part.alternatives, least, most))
    return tuple(map(tuple, open_groups[0]))


def _counts(sign: str) -> tuple[int, int]:
    least, comma, most = sign[1:-1].partition(",")
    return int(least), int(most) if most else LONGEST_TEXT if comma else int(least)
