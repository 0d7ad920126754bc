"""Pages as text that is the same every time, without tokens, digests and versions; and what somebody reads of them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from adomnia import __version__
from kit.frozen.numbers import write_number

_CHANGING = (
    (re.compile(r"(?<=\?v=)[0-9a-f]+"), "DIGEST"),
    (re.compile(r'(?<=name="csrf" value=")[^"]+'), "CSRF"),
    (re.compile(r"\bao_[0-9a-f]{16}_[0-9a-f]{64}\b"), "TOKEN"),
    (re.compile(r"(?<![\w.])[0-9a-f]{16,}\b"), "HEX"),
    (re.compile(r"(?<=>)[0-9a-f]{12}(?=<)"), "HEX"),  # a digest that is cut; elsewhere it may be a number
    (re.compile(rf"(?<![\d.]){re.escape(__version__)}(?!\.?\d)"), "VERSION"),
)
_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{6,}(?:e[+-]?\d+)?(?![\w.])")
_SPACE = re.compile(r"\s+")
# Elements that stand on lines of their own.
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "button", "dd", "details", "dialog", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "header", "hr", "label"),
        *("legend", "li", "main", "nav", "ol", "option", "p", "pre", "section", "select", "summary", "table"),
        *("tbody", "tfoot", "thead", "title", "tr", "ul"),
    )
)
_SILENT = frozenset(("script", "style", "template"))


def normalise(text: str) -> str:
    """The text without what is other every time, and numbers with the digits that every machine agrees on."""
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    return _LONG_NUMBER.sub(lambda found: write_number(float(found[0])), text)


def normalise_page(html: str) -> str:
    """A page with one element a line, spaces aside."""
    lines = re.sub(r"\s*(<[^>]+>)\s*", r"\n\1\n", normalise(html)).splitlines()
    return "\n".join(_SPACE.sub(" ", line).strip() for line in lines if line.strip())


def read_text(html: str) -> str:
    """What somebody reads of a page, one block a line."""
    reader = _Reader()
    reader.feed(normalise(html))
    lines = (_SPACE.sub(" ", line).strip() for line in "".join(reader.parts).splitlines())
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        self.parts += ["\n"] if tag in _BLOCKS else [" | "] if tag in {"td", "th"} else []

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT
        self.parts += ["\n"] if tag in _BLOCKS else []

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(_SPACE.sub(" ", data))
