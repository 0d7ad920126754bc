"""LIKE over declared values, decided before any row is read."""


def matches(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern: `%` stands for any characters, `_` for exactly one.

    >>> matches("Bergen", "%er_en"), matches("Bergen", "er%")
    (True, False)
    """
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
