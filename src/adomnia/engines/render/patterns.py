"""LIKE over declared values, decided before any row is read."""


def matches(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern: `%` stands for any characters, `_` for exactly one.

    >>> matches("Bergen", "%er_en"), matches("Bergen", "er%")
    (True, False)
    """
    return _with_any_character(text, pattern) if "_" in pattern else _by_pieces(text, *pattern.split("%"))


def _by_pieces(text: str, first: str, *others: str) -> bool:
    """Whether a text consists of pieces in their order: each is as good as any later one where it is found first."""
    if not others:
        return text == first
    *middle, last = others
    place, end = len(first), len(text) - len(last)
    if place > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in middle:
        found = text.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True


def _with_any_character(text: str, pattern: str) -> bool:
    place, read = 0, 0
    resume, consumed = -1, 0  # behind the last %, and how far the text had been read there
    while read < len(text):
        if place < len(pattern) and pattern[place] == "%":
            place, resume, consumed = place + 1, place + 1, read
        elif place < len(pattern) and pattern[place] in ("_", text[read]):
            place, read = place + 1, read + 1
        elif resume >= 0:
            consumed += 1
            place, read = resume, consumed
        else:
            return False
    return pattern[place:].strip("%") == ""
