"""How texts might be meant that cannot be read as they are declared: candidates, which the caller has to try."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDS_FOR_MISSING = "na n/a n.a. #n/a <na> null (null) nil none nan nat ? - . -- unknown missing (missing) unspecified"
MISSING = frozenset({"\\n", *_WORDS_FOR_MISSING.split(" ")})
_CURRENCIES = ("$", "€", "£", "¥", "USD", "EUR", "GBP", "CHF")
_FORMATS = (
    "%Y-%m-%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y%m%d",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%d.%m.%Y %H:%M",
    "%b %d %Y %I:%M%p",
)
_MOST_DAYS = 500  # different ones that formats are tried on
_GROUPED = r"[+-]?\d{{1,3}}({mark}\d{{3}})+({point}\d*)?"
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d*")


def find_missing(texts: Sequence[str]) -> tuple[str, ...]:
    """The words for a missing value that are among texts, as they are written there.

    >>> find_missing(["12", " NA", "?", "Unknown"])
    ('?', 'NA', 'Unknown')
    """
    return tuple(sorted({text.strip() for text in texts if text.strip().lower() in MISSING}))


def find_formats(texts: Sequence[str]) -> list[str]:
    """The formats of days that read the most of the texts.

    >>> find_formats(["4/30/1992", "12/1/1992"])
    ['%m/%d/%Y']
    """
    some = [text for text in dict.fromkeys(texts) if any(letter.isdigit() for letter in text)][:_MOST_DAYS]
    read = {each: sum(is_day(text, each) for text in some) for each in _FORMATS}
    most = max(read.values())
    return [each for each, count in read.items() if count == most] if most else []


def find_number_spelling(texts: Sequence[str]) -> dict[str, str]:
    """The signs of currency, of thousands and of decimals with which texts could be numbers; {} if there are none.

    >>> find_number_spelling(["$1,234.50", "$7"]), find_number_spelling(["1.234,5", "3,25"])
    ({'currency': '$', 'thousands': ','}, {'decimal': ',', 'thousands': '.'})
    """
    currency = next((sign for sign in _CURRENCIES if any(sign in text for text in texts)), None)
    plain = [text.replace(currency or "", "").strip() for text in texts]
    return {**({"currency": currency} if currency else {}), **_find_marks(plain)}


def may_be_decimals(texts: Sequence[str]) -> bool:
    """Whether the commas of texts may part thousands as well as decimals.

    >>> may_be_decimals(["1,234"]), may_be_decimals(["1,234.50"]), may_be_decimals(["1,23"])
    (True, False, False)
    """
    marked = [text for text in texts if "," in text]
    return bool(marked) and all(re.fullmatch(r"\D*[+-]?[1-9]\d{0,2},\d{3}\D*", text) for text in marked)


def _find_marks(texts: Sequence[str]) -> dict[str, str]:
    """The marks of thousands and decimals: 1,234 has thousands unless a text can only have a decimal comma."""
    for mark in (",", "'", " ", "_", "\N{RIGHT SINGLE QUOTATION MARK}", "\N{NO-BREAK SPACE}"):
        grouped = re.compile(_GROUPED.format(mark=re.escape(mark), point=r"\."))
        marked = [text for text in texts if mark in text]
        if marked and 2 * sum(grouped.fullmatch(text) is not None for text in marked) > len(marked):
            return {"thousands": mark}
    if any(_DECIMAL_COMMA.fullmatch(text) for text in texts):
        dotted = any(re.fullmatch(_GROUPED.format(mark=r"\.", point=","), text) for text in texts)
        return {"decimal": ",", **({"thousands": "."} if dotted else {})}
    return {}


def is_day(text: str, written: str) -> bool:
    """Whether a text is a day in a format."""
    try:
        datetime.strptime(text.strip(), written)  # noqa: DTZ007 - a day, of which no time of day is kept
    except ValueError:
        return False
    return True
