"""Colours that can be told from paper, dark or white, and from each other by who does not see all of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from adomnia.figures.columns import MOST_COLOURS
from adomnia.figures.style import DARK, DASHES, LIGHT, SHAPES

STYLES = {"light": LIGHT, "dark": DARK}
COLOURS = LIGHT.colours

# Machado, Oliveira & Fernandes 2009, table 1, severity 1: what who lacks a kind of cones sees, of linear RGB.
SIGHTS = {
    "all": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}


def linear(colour):
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    light = sorted(float(linear(each) @ [0.2126, 0.7152, 0.0722]) + 0.05 for each in (one, other))
    return light[1] / light[0]


def lab(rgb):
    """CIELAB of linear RGB, D65."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(matrix @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("colour", COLOURS)
def test_marks_can_be_told_from_white_and_from_dark_paper(colour):
    assert contrast(colour, "#FFFFFF") >= 3
    assert contrast(colour, "#121212") >= 3


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_texts_and_marks_can_be_read_on_their_paper(style):
    paper = style.paper.replace("white", "#FFFFFF")
    assert contrast(style.ink, paper) >= 7
    assert min(contrast(text, paper) for text in (style.soft, style.grey)) >= 4.5
    assert min(contrast(colour, paper) for colour in (*style.colours, style.lines)) >= 3
    assert contrast(style.faint, paper) < 2  # lines that only help the eye stay behind what was measured


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_the_first_colours_can_be_told_apart_by_everybody(sight, style):
    """By a distance of 10 at least in CIELAB; all of them have shapes and dashes of their own beside."""
    seen = [lab(SIGHTS[sight] @ linear(colour)) for colour in style.colours[:3]]
    assert min(float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)) >= 10


def test_every_group_has_a_colour_a_shape_and_a_dash():
    assert (
        len(set(COLOURS)) == len(set(DARK.colours)) == len(set(SHAPES)) == len(set(map(tuple, DASHES))) == MOST_COLOURS
    )
