r"""Reads regular expressions in a syntax that engines share, and writes them in one form that all of them read alike.

Characters are code points. Upper and lower case differ, `.` is any character but a newline, `\d`, `\w` and `\s` are
those of ASCII, `^` and `$` are the ends of the text and never of a line. There are no references back, no looking
around and no modes. What a pattern is made of is bounded, also where its repetitions are written out.
"""

import re
from functools import lru_cache
from typing import NamedTuple

MOST_CHARACTERS = 256
MOST_REPEATED = 255
MOST_ATOMS = 300
_OPERATIONS_OF_A_LETTER = 4  # as in a pattern of LIKE
_OPERATIONS_OF_AN_ATOM = 32  # engines may have to follow all of them at once, at every character of a text
_MOST_GROUPS = 32
_LAST = "\U0010ffff"

_SHORT = {"d": "0-9", "w": "0-9A-Z\\x5fa-z", "s": "\\x09-\\x0d "}  # as they stand in a class
_SIGNS = {"n": "\n", "t": "\t", "r": "\r"}
_ANCHORS = {"^": "\\A", "$": "\\z", "\\A": "\\A", "\\z": "\\z"}
_CODE = re.compile("x([0-7][0-9a-fA-F])", re.ASCII)
_WORDS = re.compile(r"(?:[A-Za-z0-9 |]|[^\x00-\x7f]|\\x[0-9a-f]{2}|\\[Az])+")
_SPECIAL = frozenset("\\.[](){}*+?|^$")
_COUNT = "(0|[1-9][0-9]{0,2})"  # with zeros before it, some engines read the sign itself
_COUNTS = re.compile(rf"\{{{_COUNT}(?:(,){_COUNT}?)?\}}", re.ASCII)
ANYTHING = f"[\\x00-{_LAST}]"


class PatternError(ValueError):
    """Why a pattern is not read, and at which character."""

    def __init__(self, why: str, place: int) -> None:
        super().__init__(f"{why} at its character {place + 1}")


class Pattern(NamedTuple):
    """A pattern in the one form, and how many atoms it has where repetitions are written out."""

    text: str
    atoms: int


@lru_cache(maxsize=256)
def read_pattern(written: str) -> Pattern:
    r"""Read a regular expression; a PatternError where it is none of ours.

    >>> read_pattern("^[a-f]{2}$").text
    '\\A[a-f]{2}\\z'
    """
    if len(written) > MOST_CHARACTERS:
        raise PatternError(f"has more than {MOST_CHARACTERS} characters", MOST_CHARACTERS)
    return _read(written)


@lru_cache(maxsize=256)
def count_operations(text: str) -> int:
    """How many operations a pattern in the one form takes, which is read like any other; words alone take fewer."""
    each = _OPERATIONS_OF_A_LETTER if _WORDS.fullmatch(text) else _OPERATIONS_OF_AN_ATOM
    return each * _read(text).atoms


def _read(written: str) -> Pattern:
    reader = _Reader(written)
    found = reader.alternatives(0)
    if reader.place < len(written):
        raise PatternError("closes a group that is not open", reader.place)
    return found


def match_whole(pattern: Pattern) -> Pattern:
    """The pattern of texts that are matched from their first to their last character."""
    return Pattern(f"\\A(?:{pattern.text})\\z", pattern.atoms + 2)


def read_like(written: str, escape: str) -> Pattern:
    """Read a pattern of LIKE, where what follows the escape character is meant as it stands."""
    parts, signs = [], iter(enumerate(written))
    for place, sign in signs:
        if sign == escape:
            _, following = next(signs, (place, ""))
            if following not in ("%", "_", escape):
                raise PatternError(f"has an escape that is not before %, _ or {escape}", place)
            parts.append(_literal(following))
        else:
            parts.append({"%": f"{ANYTHING}*", "_": ANYTHING}.get(sign) or _literal(sign))
    return Pattern(f"\\A{''.join(parts)}\\z", len(parts) + 2)


def _literal(character: str) -> str:
    plain = character == " " or (character.isascii() and character.isalnum()) or not character.isascii()
    return character if plain else f"\\x{ord(character):02x}"


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, written: str) -> None:
        self.written, self.place = written, 0

    def alternatives(self, depth: int) -> Pattern:
        if depth > _MOST_GROUPS:
            raise PatternError(f"has more than {_MOST_GROUPS} groups in each other", self.place)
        found = [self._sequence(depth)]
        while self._peek() == "|":
            self.place += 1
            found.append(self._sequence(depth))
        return Pattern("|".join(each.text for each in found), sum(each.atoms for each in found))

    def _sequence(self, depth: int) -> Pattern:
        begin, parts = self.place, []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated(depth))
        if not parts:
            raise PatternError("has nothing to match", begin)
        atoms = sum(part.atoms for part in parts)
        if atoms > MOST_ATOMS:
            raise PatternError(f"repeats more than {MOST_ATOMS:,} characters", begin)
        return Pattern("".join(part.text for part in parts), atoms)

    def _repeated(self, depth: int) -> Pattern:
        begin, anchor = self.place, self._anchor()
        part = self._atom(depth) if anchor is None else Pattern(anchor, 1)
        counts = self._counts()
        if counts is None:
            return part
        if anchor is not None or self._counts() is not None:
            raise PatternError("repeats what cannot be repeated", begin)
        atoms = part.atoms * counts.atoms
        if atoms > MOST_ATOMS:
            raise PatternError(f"repeats more than {MOST_ATOMS:,} characters", begin)
        return Pattern(part.text + counts.text, atoms)

    def _anchor(self) -> str | None:
        """An end of the text, if one stands here."""
        for sign, end in _ANCHORS.items():
            if self.written.startswith(sign, self.place):
                self.place += len(sign)
                return end
        return None

    def _counts(self) -> Pattern | None:
        """How often what stands before is repeated, if it is."""
        sign = self._peek()
        if sign and sign in "*+?":
            self.place += 1
            return Pattern(sign, 1)
        if sign != "{":
            return None
        found = _COUNTS.match(self.written, self.place)
        if found is None:
            raise PatternError("has a { that is no number of repetitions", self.place)
        least, comma, most = found.groups()
        counted = max(int(least), int(most or least) + (comma is not None and most is None))
        if counted > MOST_REPEATED or int(most or least) < int(least) or counted == 0:
            raise PatternError(f"repeats from 0 to {MOST_REPEATED} times, the smaller number first,", self.place)
        self.place = found.end()
        return Pattern(found.group(), counted)

    def _atom(self, depth: int) -> Pattern:
        begin, sign = self.place, self._next()
        if sign == "(":
            return self._group(depth, begin)
        if sign == "[":
            return self._class(begin)
        if sign == ".":
            return Pattern("[^\\x0a]", 1)
        if sign == "\\":
            short = self._peek().lower()
            if short and short in _SHORT:
                negated = "^" if self._next().isupper() else ""
                return Pattern(f"[{negated}{_SHORT[short]}]", 1)
            return Pattern(_literal(self._escaped(begin)), 1)
        if sign in _SPECIAL:
            raise PatternError(f"has {sign} where it has no meaning, which is written as \\{sign},", begin)
        return Pattern(_literal(sign), 1)

    def _group(self, depth: int, begin: int) -> Pattern:
        if self.written.startswith("?:", self.place):
            self.place += 2
        elif self._peek() == "?":
            raise PatternError("has a group of a kind that is not answered", begin)
        inner = self.alternatives(depth + 1)
        if self._next() != ")":
            raise PatternError("opens a group that is not closed", begin)
        return Pattern(f"(?:{inner.text})", inner.atoms)

    def _class(self, begin: int) -> Pattern:
        negated = "^" if self._peek() == "^" else ""
        self.place += len(negated)
        parts: list[str] = []
        while self._peek() != "]":
            parts.append(self._member(begin, first=not parts))
        if not parts:
            raise PatternError("has a class of no characters", begin)
        self.place += 1
        # Engines tell characters beyond ASCII by several bytes: each range of them is followed by itself.
        beyond = sum(not part.isascii() for part in parts)
        return Pattern(f"[{negated}{''.join(parts)}]", max(1, beyond))

    def _member(self, begin: int, *, first: bool) -> str:
        """A character of a class, a range of them, or a short form."""
        if self._peek() == "\\" and self.written[self.place + 1 : self.place + 2] in tuple(_SHORT):
            self.place += 2
            return _SHORT[self.written[self.place - 1]]
        low = self._character(begin, first=first)
        if self._peek() != "-" or self.written[self.place + 1 : self.place + 2] in ("]", ""):
            return _literal(low)
        self.place += 1
        high = self._character(begin, first=False)
        if high < low:
            raise PatternError("has a range that begins behind its end", begin)
        return f"{_literal(low)}-{_literal(high)}"

    def _character(self, begin: int, *, first: bool) -> str:
        sign = self._next()
        if sign == "\\":
            return self._escaped(begin)
        last = self._peek() == "]"
        if sign in ("", "[") or (sign == "-" and not first and not last):
            raise PatternError("has a class that is not closed, or has [ or - where they mean nothing,", begin)
        return sign

    def _escaped(self, begin: int) -> str:
        """What a backslash makes of what follows: the sign itself, a newline or tab, or the character of a number."""
        code = _CODE.match(self.written, self.place)
        if code is not None:
            self.place = code.end()
            return chr(int(code.group(1), 16))
        sign = self._next()
        if sign in _SIGNS:
            return _SIGNS[sign]
        if not sign or not sign.isascii() or sign.isalnum() or sign.isspace():
            raise PatternError(f"has \\{sign}, which is not answered,", begin)
        return sign

    def _peek(self) -> str:
        return self.written[self.place : self.place + 1]

    def _next(self) -> str:
        sign = self._peek()
        self.place += 1
        return sign
