from __future__ import annotations

from adomnia.console.catalog.overview import mark_lines
from adomnia.errors import Refusal


def test_problems_stand_at_their_lines():
    first, second, nowhere = (
        Refusal("a", "is wrong", "mend it", (2, 5)),
        Refusal("b", "is wrong too", "mend it", (2, 1)),
        Refusal("c", "is missing", "add it"),
    )
    lines = mark_lines("x = 1\ny = 2\nz = 3", [first, second, nowhere])
    assert [(line.number, line.text, line.problems) for line in lines] == [
        (1, "x = 1", (nowhere,)),
        (2, "y = 2", (first, second)),
        (3, "z = 3", ()),
    ]
