"""Bases: what their matrices do to exact counts is undone exactly, and moves as their facts say."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from adomnia.methods.synthesis.attributes import ReleaseColumn
from adomnia.methods.synthesis.bases import BASES, ask, find_contrasts, subtract_means, suits
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from adomnia.privacy.relations import Private
from adomnia.statistics.products import Attribute


def columns_of(sizes):
    levels = [tuple(f"v{place}" for place in range(size)) for size in sizes]
    keys = [Column(f"c{place}", Text(each)) for place, each in enumerate(levels)]
    relation = Private("people", 1, tuple(keys))
    attributes = [Attribute(key.name, each) for key, each in zip(keys, levels, strict=True)]
    return relation, [ReleaseColumn(*pair) for pair in zip(attributes, keys, strict=True)]


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("sizes", [(), (2,), (4,), (2, 4), (8, 2, 4)], ids=str)
def test_contrasts_of_exact_counts_come_back(basis, sizes):
    relation, columns = columns_of(sizes)
    query = ask(relation, columns, basis)
    counts = np.random.default_rng(1).integers(0, 50, size=sizes)
    found = find_contrasts(query.apply([counts]), sizes, basis)
    assert found == pytest.approx(subtract_means(counts.astype(float)))


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("sizes", [(2,), (4,), (2, 4), (8, 2, 4)], ids=str)
def test_one_row_moves_them_as_their_facts_say(basis, sizes):
    relation, columns = columns_of(sizes)
    moved = ask(relation, columns, basis).sensitivity()
    facts = BASES[basis]
    assert moved.l1 == prod(map(facts.l1, sizes))
    assert moved.l2_squared == prod(map(facts.l2_squared, sizes))


@pytest.mark.parametrize("basis", BASES)
def test_noise_is_kept_as_their_facts_say(basis):
    """The covariance of contrasts is a multiple of I - J / n: the noise of every unit measured, added up."""
    sizes = (4, 2)
    shape = [BASES[basis].results(size) for size in sizes]
    units = [find_contrasts(unit, sizes, basis).ravel() for unit in np.eye(prod(shape))]
    covariance = np.array(units).T @ np.array(units)
    projection = np.kron(np.eye(4) - 1 / 4, np.eye(2) - 1 / 2)
    assert covariance == pytest.approx(prod(map(BASES[basis].kept, sizes)) * projection)


def test_matrices_have_an_end():
    assert suits("counts", (1000, 1000))
    assert suits("contrasts", (100, 100))
    assert not suits("contrasts", (200,))
    assert not suits("contrasts", (100, 100, 100))
    assert suits("fourier", (2, 64))
    assert not suits("fourier", (2, 3))
