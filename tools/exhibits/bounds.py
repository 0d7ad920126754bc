"""What epsilon allows the probability of a set of answers to become, without one person: figure 1."""

from math import exp, log

import numpy as np

from adomnia.accounting.meaning import detection
from adomnia.figures.style import LIGHT
from exhibits.contract import Exhibit, Page, Results, Row
from exhibits.drawing import HEIGHT, Axis, Picture, draw_rule, rounded

_WITH = 0.25  # the probability with the person, as the figure has it


def allow(epsilon: float) -> tuple[float, float]:
    """The least and the greatest probability without the person: the same for the set and for its complement."""
    return 1 - detection(1 - _WITH, epsilon), detection(_WITH, epsilon)


def build(_kept: Results) -> Page:
    """The bounds of the paper beside those that follow from all sets."""
    rows = []
    for epsilon in (0.1, 0.5, 1.0, 1.5, 2.0):
        (lower, upper), printed = allow(epsilon), (_WITH * exp(-epsilon), _WITH * exp(epsilon))
        rows.append(Row.compare(f"ε = {epsilon}: least", printed[0], lower, ".4f"))
        rows.append(Row.compare(f"ε = {epsilon}: greatest", printed[1], upper, ".4f"))
    return Page(
        shows="A set of answers has probability 0.25 when a person is in the data. Figure 1 shades what "
        "ε-differential privacy allows this to become without the person: 0.25 e^-ε to 0.25 e^ε.",
        rows=tuple(rows),
        why="The same promise holds for all other answers, the complement, which has probability 0.75. What leaves "
        "the set must enter the complement, so the probability is also at most 1 - 0.75 e^-ε. For small ε that says "
        f"nothing new. From ε = ln 3 = {log(3):.4f} on it is the smaller bound, and from ln 4 on the printed one is "
        "no probability any more: it is above 1.",
        how="`detection` of [`accounting/meaning.py`](../../src/adomnia/accounting/meaning.py): the same bound read as "
        "a test, the chance to name a person who is there at a given rate of false alarms.",
        picture=_draw(),
        beyond="Nothing smaller would be true of every mechanism. At the corner, ε = ln 3, randomised response tells "
        "the truth with probability 3/4: who has the property says no with probability 0.25, who has it not with 0.75.",
    )


def _draw() -> Picture:
    grid = np.linspace(0.01, 2, 100)
    rows = [
        {"epsilon": each, "lower": allow(each)[0], "upper": allow(each)[1], "printed": _WITH * exp(each)}
        for each in grid
    ]
    x = Axis("epsilon", "ε", domain=(0, 2)).encoding
    y = Axis("lower", "probability without the person", domain=(0, 1.2)).encoding
    blue, orange = LIGHT.colours[0], LIGHT.colours[1]
    one = {"values": [{}]}
    beyond = {"filter": f"datum.epsilon >= {log(3):.4f}"}
    text = {"type": "text", "align": "left", "fontSize": 11}
    body = {
        "data": {"values": rounded(rows)},
        "width": LIGHT.wide,
        "height": HEIGHT,
        "layer": [
            {
                "mark": {"type": "area", "color": blue, "opacity": 0.25},
                "encoding": {"x": x, "y": y, "y2": {"field": "upper"}},
            },
            {"mark": {"type": "line", "color": blue}, "encoding": {"x": x, "y": y}},
            {"mark": {"type": "line", "color": blue}, "encoding": {"x": x, "y": {**y, "field": "upper"}}},
            {
                "transform": [beyond],
                "mark": {"type": "line", "color": orange, "strokeDash": [7, 3], "clip": True},
                "encoding": {"x": x, "y": {**y, "field": "printed"}},
            },
            draw_rule(_WITH, "y", "with the person: 0.25", ("x", 330)),
            {
                "data": one,
                "mark": {**text, "text": "as printed: 0.25 e^ε", "color": orange, "align": "right"},
                "encoding": {"x": {"datum": 1.38}, "y": {"datum": 1.05}},
            },
            {
                "data": one,
                "mark": {**text, "text": "what is possible", "color": blue},
                "encoding": {"x": {"datum": 1.3}, "y": {"datum": 0.45}},
            },
        ],
    }
    words = (
        "The region that epsilon allows, from 0 to 2. Its upper edge leaves the printed bound at ln 3 and "
        "stays below 1."
    )
    return Picture(
        "What ε allows", "Probability of a set of answers without a person; with the person it is 0.25", words, body
    )


EXHIBIT = Exhibit("probability-bounds", "What ε allows a probability to become", "strengths", "figure 1", build)
