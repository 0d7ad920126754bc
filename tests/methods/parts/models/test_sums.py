"""Sums of products: exact without noise, their noise known, and least squares between measurements that overlap."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.methods.contract import BadArgument
from adomnia.methods.parts.models.blocks import Corners, ProductSum, cover_pairs
from adomnia.methods.parts.models.design import build_design
from adomnia.methods.parts.models.sums import SumsOfProducts
from adomnia.privacy.events import Pure
from adomnia.statistics.contract import Measure, Measured
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.products import Simulation

FRAME = frame({"y": (-5, 20), "x": (0, 10), "z": (1, 5)}, {"a": ("p", "q", "r"), "b": ("u", "v")})
FORMULAS = ["y ~ x + z", "y ~ x*a", "y ~ x + a + b", "y ~ poly(x, 2) + a:b", "y ~ x:z - 1", "y ~ log(z)*b", "y ~ 1"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    n = 400
    found = {"x": rng.uniform(0, 10, n), "z": rng.uniform(1, 5, n), "y": rng.uniform(-5, 20, n)}
    texts = {"a": rng.choice(list("pqr"), n), "b": rng.choice(list("uv"), n)}
    return {**found, **{name: each.astype(object) for name, each in texts.items()}}


def exact_products(plan, data):
    """From the exact answers to its queries."""
    arms = Arms(data, SeededBits("none"))
    measures = [Measure(query, Pure(1) * part) for query, part in plan.shares(FRAME.relation, ())]
    return plan.read(*(Measured(arms.exact(each.query), each.mechanism) for each in measures))


@pytest.mark.parametrize("laplace", [True, False])
@pytest.mark.parametrize("formula", FORMULAS)
def test_without_noise_the_sums_are_exact(formula, laplace, data):
    plan = SumsOfProducts(build_design(formula, FRAME), laplace)
    codes = {
        name: np.array([levels.index(each) for each in data[name]]) for name, levels in (("a", "pqr"), ("b", "uv"))
    }
    simulation = Simulation.of(formula, FRAME, Pure(1))
    numbers = {**data, **codes, "log(z)": np.log(data["z"])}
    sums = simulation.exact(numbers)[simulation.plan.places]
    expected = np.where(simulation.plan.places >= 0, sums, 0)
    assert np.allclose(exact_products(plan, data).matrix, expected, atol=0.05)  # 400 values on a grid


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_parts_of_the_price_are_one(formula):
    for laplace in (True, False):
        plan = SumsOfProducts(build_design(formula, FRAME), laplace)
        shares = plan.shares(FRAME.relation, ())
        assert sum(part for _, part in shares) == 1
        assert all(query.aggregate.magnitude < 2**78 for query, _ in shares if hasattr(query.aggregate, "magnitude"))


def test_levels_of_a_factor_cost_one_sum():
    few, many = (frame({"y": (0, 1)}, {"c": tuple(f"c{k}" for k in range(levels))}) for levels in (2, 50))
    plans = [SumsOfProducts(build_design("y ~ c", each), laplace=True) for each in (few, many)]
    assert len(plans[0].blocks) == len(plans[1].blocks)


def test_overlapping_measurements_are_reconciled(data):
    """The cells of two factors tell the same total, and least squares has less noise than either."""
    simulation = Simulation.of("y ~ a + b", FRAME, Pure(1))
    noise = simulation.without_rows.maps.covariance
    sizes = [simulation.plan.count_cells(cells) for cells, _ in simulation.plan.sums]
    starts = dict(zip(simulation.plan.sums, np.cumsum([0, *sizes]), strict=False))
    response = (1,)
    total, by_a, by_b = starts[(), response], starts[(0,), response], starts[(1,), response]
    rng = np.random.default_rng(1)
    moved = simulation.without_rows.maps.noises @ rng.normal(size=simulation.without_rows.maps.noises.shape[1])
    assert moved[total] == pytest.approx(moved[by_a : by_a + 3].sum())
    assert moved[total] == pytest.approx(moved[by_b : by_b + 2].sum())
    assert noise[total, total] < 3 * noise[by_a, by_a]
    assert noise[total, total] < 2 * noise[by_b, by_b] * 1.5


def test_the_noise_of_the_sums_is_the_one_that_is_drawn(data):
    """Their empirical covariance over 4,000 draws."""
    plan = SumsOfProducts(build_design("y ~ x + a", FRAME), laplace=True)
    arms = Arms(data, SeededBits("sums"))
    measures = [Measure(query, Pure(1) * part) for query, part in plan.shares(FRAME.relation, ())]
    exact = [arms.exact(each.query) for each in measures]
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(4000):
        noisy = [
            value + np.rint(rng.laplace(0, float(each.mechanism.scale), value.shape))
            for value, each in zip(exact, measures, strict=True)
        ]
        drawn.append(plan.read(*(Measured(v, each.mechanism) for v, each in zip(noisy, measures, strict=True))).sums)
    known = plan.read(*(Measured(v, each.mechanism) for v, each in zip(exact, measures, strict=True))).maps.covariance
    found = np.cov(np.array(drawn).T)
    deviations = np.sqrt(np.outer(np.diagonal(known), np.diagonal(known)))
    # The error of a variance of 4000 draws of excess kurtosis 3 is 3.5%; six times that has a chance below 1e-8.
    assert np.max(np.abs(found - known) / deviations) < 0.21
    assert np.max(np.abs(found - 1.3 * known) / deviations) > 0.21


def test_boxes_hold_all_products_of_two():
    numbers = 7
    wanted = [tuple(int(k in (i, j)) for k in range(numbers)) for i in range(numbers) for j in range(i + 1)]
    boxes = cover_pairs(wanted)
    assert all(len(box) <= 4 for box in boxes)
    assert all(any({i, j} <= set(box) for box in boxes) for i in range(numbers) for j in range(i))


def test_corners_cost_as_much_as_one_sum():
    from adomnia.privacy.vectors import largest_move

    widths = [100, 7, 30]
    corners = Corners((), (0, 1, 2), 1)
    assert largest_move(corners.entries(widths), widths).l1 == corners.size(widths) == 100 * 7 * 30
    single = ProductSum((), (1, 2, 0), 1)
    assert largest_move(single.entries([100, 7]), [100, 7]).l1 == single.size(widths) == 100 * 49


def test_too_many_cells_are_refused():
    many = frame({"y": (0, 1)}, {name: tuple(f"{name}{k}" for k in range(30)) for name in "ab"})
    with pytest.raises(BadArgument, match="900 combinations of a and b"):
        SumsOfProducts(build_design("y ~ a + b", many), laplace=True).shares(many.relation, ())
