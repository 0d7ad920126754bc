"""Noisy sums of products of arrays, for simulations of regressions: thousands of data sets, no engine, no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adomnia.methods.parts.models.design import build_design, evaluate_basis
from adomnia.methods.parts.models.least_squares import LeastSquares
from adomnia.methods.parts.models.sums import NoisyProducts, SumsOfProducts
from adomnia.privacy.events import Pure
from adomnia.statistics.contract import Measure, Measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.methods.contract import Frame
    from adomnia.privacy.events import Price


@dataclass(frozen=True)
class Simulation:
    """The sums of a formula at a price, with noise of NumPy's where the real one would be drawn."""

    plan: SumsOfProducts
    without_rows: NoisyProducts
    laplace: bool

    @classmethod
    def of(cls, formula: str, frame: Frame, price: Price) -> Simulation:
        design = build_design(formula, frame)
        plan = SumsOfProducts(design, laplace=isinstance(price, Pure))
        measures = [Measure(query, price * part) for query, part in plan.shares(frame.relation, ())]
        nothing = [Measured(np.zeros(each.mechanism.shape(each.query)), each.mechanism) for each in measures]
        return cls(plan, plan.read(*nothing), isinstance(price, Pure))

    @property
    def columns(self) -> int:
        return len(self.plan.design.columns)

    def exact(self, data: Mapping[str, np.ndarray]) -> np.ndarray:
        """The sums without noise: numbers as they are, factors as the places of their levels."""
        plan, design = self.plan, self.plan.design
        columns = (*design.numbers, design.response)
        numbers = [(data[c.name] - m) / h for c, m, h in zip(columns, plan.middles, plan.halves, strict=True)]
        codes = [data[factor.name] for factor in design.factors]
        basis = evaluate_basis(plan.basis, numbers, codes, len(numbers[0]))
        found, there = np.zeros(len(self.without_rows.sums)), plan.places >= 0
        found[plan.places[there]] = (basis.T @ basis)[there]
        return found

    def products(self, data: Mapping[str, np.ndarray], rng: np.random.Generator | None) -> NoisyProducts:
        """The sums with noise; without a generator, without it."""
        maps, kurtosis = self.without_rows.maps, self.without_rows.kurtosis
        shape = maps.noises.shape[1]
        if rng is None:
            noise = np.zeros(shape)
        else:
            noise = rng.laplace(0, 0.5**0.5, shape) if self.laplace else rng.normal(0, 1, shape)
        return NoisyProducts(self.plan, self.exact(data) + maps.noises @ noise, maps, kurtosis)

    def fit(self, data: Mapping[str, np.ndarray], rng: np.random.Generator | None) -> LeastSquares:
        return LeastSquares(self.products(data, rng), self.columns)
