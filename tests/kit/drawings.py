"""Answers to draw, made up: labels, values with intervals, and one of every kind of picture."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from math import exp

from adomnia.figures.columns import Drawable, DrawnColumn, find_kind, show_label
from adomnia.messages.texts import Note
from adomnia.tables import TextTable

CITIES = ("Oslo", "Bergen", "Narvik")


def label(name, values):
    """A public column."""
    return DrawnColumn(name, tuple(values), find_kind(values))


def value(name, values, half_width=1.0, **changes):
    """A measured column; intervals as wide on both sides, and none around what is missing."""
    lower = tuple(None if each is None else each - half_width for each in values)
    upper = tuple(None if each is None else each + half_width for each in values)
    return DrawnColumn(name, tuple(values), "number", "value", **{"lower": lower, "upper": upper, **changes})


def count(name, values, half_width=1.0):
    return value(name, values, half_width, whole=True)


def drawable(*columns, figure=None, notes=(), confidence=0.95):
    """An answer of these columns; its table has their plain texts."""
    rows = zip(*(map(show_label, column.values) for column in columns), strict=True)
    table = TextTable(tuple(column.name for column in columns), tuple(map(tuple, rows)))
    return Drawable(columns, confidence, table, figure or {}, notes)


def days(number):
    return [date(2024, 1, 1) + timedelta(days=day) for day in range(number)]


def with_labels(kind, *labels, **parts):
    """A figure's description."""
    return {"kind": kind, "labels": list(labels), **parts}


@cache
def gallery():
    """One answer for every kind of picture, and odd ones."""
    grid = [each / 2 for each in range(21)]
    names = ("age", "pay", "height")
    return {
        "bars": drawable(label("city", CITIES), count("n", [520, 310, 40], 20)),
        "points": drawable(label("city", CITIES), value("pay", [5.2, 3.1, 4.0])),
        "two values": drawable(label("city", CITIES), count("n", [520, 310, 40]), value("pay", [5.2, 3.1, 4.0])),
        "one number": drawable(count("n", [7])),
        "two keys": drawable(label("city", CITIES * 2), label("sex", "FFFMMM"), count("n", range(6))),
        "three keys": drawable(
            label("a", "xxxxyyyy"), label("b", "uuvv" * 2), label("c", "pq" * 4), value("n", range(8))
        ),
        "numbers": drawable(label("year", range(2000, 2010)), count("n", range(10))),
        "many numbers": drawable(label("age", range(100)), value("pay", range(100))),
        "times": drawable(label("day", days(12)), value("n", range(12))),
        "times of groups": drawable(label("day", days(9) * 2), label("sex", "F" * 9 + "M" * 9), value("n", range(18))),
        "panels": drawable(
            label("k", [f"k{i}" for i in range(12)] * 8),
            label("g", "".join(c * 12 for c in "abcdefgh")),
            count("n", range(96)),
        ),
        "bins": drawable(
            label("low", range(0, 50, 10)),
            label("high", range(10, 60, 10)),
            count("n", [4, 9, 12, 3, -1]),
            figure=with_labels("bars", "low", "high", x_from="low", x_to="high", y="n"),
        ),
        "coefficients": drawable(
            label("term", ["(Intercept)", "age", "city[Oslo]"]),
            value("estimate", [50_000.0, 300.0, -200.0], 250),
            figure=with_labels("points", "term", x="term", y="estimate"),
        ),
        "steps": drawable(
            label("arm", "A" * 21 + "B" * 21),
            label("time", grid * 2),
            value("survival", [exp(-t / r) for r in (3, 8) for t in grid], 0.05),
            figure=with_labels("steps", "arm", "time", x="time", y="survival", title="Survival"),
        ),
        "line": drawable(
            label("from", grid[:-1]),
            label("to", grid[1:]),
            value("density", [exp(-((t - 5) ** 2)) for t in grid[:-1]], 0.02),
            figure=with_labels("line", "from", "to", x_from="from", x_to="to", y="density"),
        ),
        "heat": drawable(
            label("a", [a for a in names for _ in names]),
            label("b", names * 3),
            value("r", [1, 0.2, -0.7, 0.2, 1, 0, -0.7, None, 1], 0.1),
            figure=with_labels("heat", "a", "b", x="a", y="b", value="r"),
        ),
        "large heat": drawable(
            label("a", [a for a in range(50) for _ in range(50)]),
            label("b", list(range(50)) * 50),
            count("n", range(2500)),
            figure=with_labels("heat", "a", "b", x="a", y="b", value="n"),
        ),
        "no rows": drawable(DrawnColumn("city", (), "text"), DrawnColumn("n", (), "number", "value", whole=True)),
        "unbounded": drawable(
            label("city", (*CITIES, None)),
            value("x", [1.0, 2.0, None, -3.0], lower=(0.0, None, None, None), upper=(2.0, 3.0, None, None)),
        ),
        "unbounded band": drawable(label("x", range(60)), value("y", range(60), lower=(None,) * 60)),
        "all missing": drawable(label("city", CITIES), value("x", [None] * 3)),
        "huge": drawable(label("k", "abc"), value("x", [1e308, -1e308, 3e200], 1e300)),
        "tiny": drawable(label("k", "abc"), value("x", [1e-300, 2e-300, 5e-324], 1e-310)),
        "equal": drawable(label("k", "abc"), value("x", [7.0] * 3, 0.0)),
        "markup": drawable(
            label("<b>k</b>", ["</text><script>alert(1)</script>", 'it\'s "q" & 😀', "a\nb", "]]>", "\x00", ""]),
            count("n.x[0]'\x00\n", range(6)),
        ),
        "long texts": drawable(
            label("k" * 5000, [c * 5000 for c in "abc"]),
            count("n" * 5000, range(3)),
            notes=(Note("x says almost nothing " * 9, "says_nothing"),),
        ),
        "names of JavaScript": drawable(
            label("a", ["__proto__", "constructor", "toString", "null", "NaN", "undefined", "valueOf"] * 7),
            label(
                "b",
                [
                    each
                    for each in ("__proto__", "constructor", "toString", "null", "", "0", "length")
                    for _ in range(7)
                ],
            ),
            count("n", range(49)),
        ),
        "many groups": drawable(label("id", [f"g{i}" for i in range(10_000)]), count("n", range(10_000))),
        "many days": drawable(label("day", days(10_000)), count("n", range(10_000))),
        "equal places": drawable(label("sex", "FFMM"), count("n", range(4))),
        "public": drawable(label("city", CITIES), DrawnColumn("people", (700, 280, 20), "number", whole=True)),
        "dates as values": drawable(
            label("city", CITIES),
            DrawnColumn("day", tuple(days(3)), "time", "value", tuple(days(3)), (*days(2), None)),
        ),
    }
