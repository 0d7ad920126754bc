"""A slice of a dot, as a path of SVG: a part of one chance in a hundred."""

from math import cos, pi, sin

RADIUS = 7  # of the dots


def cut_slice(x: int, y: int, part: float) -> str:
    """The part of the dot at this place, clockwise from its top.

    >>> cut_slice(10, 10, 0.25)
    'M10 10V3A7 7 0 0 1 17.00 10.00Z'
    """
    end_x, end_y = x + RADIUS * sin(2 * pi * part), y - RADIUS * cos(2 * pi * part)
    return f"M{x} {y}V{y - RADIUS}A{RADIUS} {RADIUS} 0 {int(part > 1 / 2)} 1 {end_x:.2f} {end_y:.2f}Z"
