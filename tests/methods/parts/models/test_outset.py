"""What the first round tells: a start near the truth for normal columns, ranges in which the columns lie."""

import numpy as np
import pytest

from adomnia.methods.models.logit import Logit
from adomnia.methods.parts.models.design import build_design
from adomnia.methods.parts.models.evidence import Coordinates, Evidence, Span
from adomnia.methods.parts.models.outset import Outset
from adomnia.methods.parts.models.weighted_sums import NoisySums
from kit.analyses import frame

FRAME = frame({"y": (0, 1), "a": (-10, 10), "b": (0, 4)}, whole=("y",))
DESIGN = build_design("y ~ a + b", FRAME)
MODEL = Logit(FRAME.relation, DESIGN, "population")
TRUTH = np.array([-2.0, 1.5, 0.5])
WIDE = Coordinates(DESIGN, tuple(map(Span.of, DESIGN.numbers)))


def look(rows, noise=0.0, point=(0.0, 0.0, 0.0), coordinates=WIDE, truth=TRUTH):
    """The evidence of so many rows with normal columns, whose responses are their chances."""
    rng = np.random.default_rng(1)
    columns = np.stack([np.ones(rows), rng.normal(0.4, 0.6, rows), rng.normal(2, 0.5, rows)], axis=1)
    scaled = [(columns[:, k + 1] - float(r.middle)) / float(r.half) for k, r in enumerate(coordinates.ranges)]
    basis = np.stack([np.ones(rows), *(np.clip(each, -1, 1) for each in scaled)], axis=1)
    chance = 1 / (1 + np.exp(-columns @ truth))
    mean = 1 / (1 + np.exp(-columns @ np.array(point)))
    products = (basis * (mean * (1 - mean))[:, None]).T @ basis
    values = np.zeros(len(coordinates.pairs) + 1)
    values[coordinates.places] = products
    sums = NoisySums((chance - mean) @ basis, noise * np.eye(3))
    return Evidence(coordinates, sums, NoisySums(values[:-1], noise * np.eye(len(coordinates.pairs))))


def test_normal_columns_have_a_start_near_the_truth():
    scene = Outset(MODEL, look(20_000)).scene
    assert scene.coordinates.to_columns @ scene.point == pytest.approx(TRUTH, abs=0.1)


def test_a_start_that_may_be_all_noise_is_where_nothing_is_explained():
    scene = Outset(MODEL, look(300, noise=2000.0)).scene
    assert (scene.coordinates.to_columns @ scene.point)[1:] == pytest.approx([0, 0], abs=1e-3)


def test_later_rounds_look_where_the_columns_lie_as_far_as_noise_lets_one_see():
    def half_widths(noise):
        return [float(each.half) for each in Outset(MODEL, look(20_000, noise)).scene.coordinates.ranges]

    assert half_widths(0.0) == pytest.approx([3.5 * 0.6, 2], rel=0.02)  # of the second, the bounds
    assert half_widths(1e5) == [10, 2]


def test_what_is_known_is_the_same_in_both_coordinates():
    scene = Outset(MODEL, look(20_000)).scene
    step = np.array([0.1, -0.2, 0.3])
    exact = look(20_000).information * 4 / 20_000
    seen = scene.coordinates.from_columns @ step
    held = WIDE.from_columns @ step
    assert scene.length(seen) == pytest.approx(float(held @ exact @ held) ** 0.5, rel=1e-6)


def test_a_step_that_went_much_too_far_is_taken_back_in_part():
    outset = Outset(MODEL, look(20_000))
    scene = outset.scene
    far = scene.start + 3 * (scene.point - scene.start)
    found = look(20_000, point=scene.coordinates.to_columns @ far, coordinates=scene.coordinates)
    step = scene.step(found, far - scene.start, scene.score)
    assert scene.length(far + step - scene.point) < scene.length(far - scene.point)
    ratio = step / (far - scene.start)
    assert ratio == pytest.approx(np.full(3, ratio[0]))
    assert -1 < ratio[0] < 0


def test_bends_are_corrected_towards_where_the_score_is_zero():
    scene, rare = Outset(MODEL, look(20_000)).scene, np.array([-6.0, 0.5, 0.5])
    near = scene.coordinates.from_columns @ (rare - np.array([0.3, 0.1, 0.0]))
    found = look(20_000, 0.0, scene.coordinates.to_columns @ near, scene.coordinates, rare)
    away = near + found.newton() - scene.coordinates.from_columns @ rare
    curved = scene.curve(found, found.newton(), MODEL.bend(float(scene.means @ near)))
    assert scene.length(away + curved) < 0.7 * scene.length(away)
    assert scene.length(away - curved) > 1.3 * scene.length(away)
