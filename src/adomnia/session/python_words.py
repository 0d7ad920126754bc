"""Refusals in the words of `protect`: what an owner would write into a catalog, its caller passes as an argument."""

from __future__ import annotations

import re

from adomnia.errors import Refusal

_DELTA = "pass delta=1e-6 to adomnia.protect"
# What is said to somebody who has a catalog, and what instead; {what} is the column that was refused.
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (
            r"or the owner can declare (?P<name>.+?) = \{ type = .* \}",
            r'or pass bounds={{"{name}": (lower, upper)}} to adomnia.protect',
        ),
        (
            r"the owner can declare lower = \S+, upper = \S+",
            r'pass bounds={{"{what}": (date(2020, 1, 1), date(2029, 12, 31))}} to adomnia.protect',
        ),
        (
            r"^group by a declared category, or name the groups",
            r'pass categories={{"{what}": ["a", "b"]}} to adomnia.protect, or name the groups',
        ),
        (r"with approximate = true in \[budget\], which is the owner's to set, add", f"{_DELTA}, and add"),
        (r"have the owner set approximate = true in \[budget\]", _DELTA),
        (
            r"raise `version` in catalog.toml, or declare it as before",
            "pass unit= and links= as before, or another ledger=",
        ),
        (r"name a table of the catalog", r"name a table that was passed to adomnia.protect"),
    )
)


def in_python_words(refusal: Refusal) -> Refusal:
    """The same refusal, with a fix for somebody who calls `protect`."""
    fix: str = refusal.fix
    for pattern, words in _WORDS:
        found = pattern.search(fix)
        if found is not None:
            names = {name: word.strip('"') for name, word in {"what": refusal.what, **found.groupdict()}.items()}
            fix = f"{fix[: found.start()]}{words.format(**names)}{fix[found.end() :]}"
    return Refusal(refusal.what, refusal.why, fix, refusal.position, code=refusal.code)
