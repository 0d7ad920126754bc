from itertools import combinations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.methods.synthesis.graphical.trees import JunctionTree, build_tree, count_cells
from kit.effort import do_within

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)


@st.composite
def problems(draw):
    """Sizes of up to 8 columns, and cliques of up to 4 of them."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
    cliques = st.sets(st.integers(0, len(sizes) - 1), max_size=4).map(lambda columns: tuple(sorted(columns)))
    return sizes, draw(st.lists(cliques, max_size=12))


def runs_together(tree: JunctionTree) -> bool:
    """Whether a clique shares with all before it no more than with its parent: the running intersection property."""
    for parent, child in tree.edges:
        before = {column for clique in tree.cliques[:child] for column in clique}
        if not before & set(tree.cliques[child]) <= set(tree.cliques[parent]):
            return False
    return True


@given(problems())
def test_a_tree_has_all_columns_and_cliques_and_runs_together(problem):
    sizes, cliques = problem
    tree = build_tree(sizes, cliques)
    assert {column for clique in tree.cliques for column in clique} == set(range(len(sizes)))
    assert all(tree.cover(clique) is not None for clique in cliques)
    assert [child for _, child in tree.edges] == list(range(1, len(tree.cliques)))
    assert all(parent < child for parent, child in tree.edges)
    assert runs_together(tree)
    assert not any(set(one) <= set(other) for one, other in combinations(tree.cliques, 2))


@given(problems())
def test_cells_are_counted_as_the_tree_has_them(problem):
    sizes, cliques = problem
    tree = build_tree(sizes, cliques)
    assert count_cells(sizes, cliques) == tree.cells == sum(prod(sizes[c] for c in clique) for clique in tree.cliques)
    assert tree.cells <= len(tree.cliques) * prod(sizes)


@given(problems(), st.randoms())
def test_a_tree_does_not_depend_on_the_order_of_its_cliques(problem, random):
    sizes, cliques = problem
    shuffled = random.sample(cliques, len(cliques))
    assert build_tree(sizes, shuffled) == build_tree(sizes, cliques)


def test_a_broken_tree_does_not_run_together():
    chain = JunctionTree((2, 2, 2, 2), ((0, 1), (1, 2), (2, 3)), ((0, 1), (1, 2)))
    assert runs_together(chain)
    assert not runs_together(JunctionTree(chain.sizes, chain.cliques, ((0, 1), (0, 2))))


@pytest.mark.parametrize(
    ("cliques", "expected"),
    [
        ([], ((0,), (1,), (2,), (3,))),
        ([(0, 1), (1, 2), (2, 3)], ((0, 1), (1, 2), (2, 3))),
        ([(0, 1, 2, 3), (1, 2)], ((0, 1, 2, 3),)),
        # A ring of four needs a chord, and the cheapest one joins the two small columns.
        ([(0, 1), (1, 2), (2, 3), (0, 3)], ((0, 1, 2), (0, 2, 3))),
    ],
)
def test_cliques_are_the_few_that_are_needed(cliques, expected):
    assert build_tree((2, 9, 2, 9), cliques).cliques == expected


def test_parts_that_nothing_joins_share_no_column():
    tree = build_tree((2, 3, 4, 5), [(0, 1), (2, 3)])
    assert tree.edges == ((0, 1),)
    assert tree.separators == ((),)


@pytest.mark.parametrize(
    ("sizes", "cliques", "cells"),
    [
        # By the smallest clique alone 42, by the fewest joins alone 38.
        ((9, 2, 2, 2, 3), [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)], 38),
        # By the smallest clique alone 216, by the fewest joins alone 567.
        ((9, 2, 3, 2, 9), [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)], 216),
    ],
)
def test_the_better_of_two_rules_is_taken(sizes, cliques, cells):
    assert count_cells(sizes, cliques) == cells


@pytest.mark.parametrize("sizes", [(), (2, 0)])
def test_a_tree_has_columns_and_they_have_values(sizes):
    with pytest.raises(ValueError, match="at least one"):
        build_tree(sizes, [])


@pytest.mark.no_cover
def test_cells_of_all_candidates_of_a_round_are_counted_in_well_under_a_second():
    measured = [(4, 6, 8), (5, 8, 13), (1, 5), (3, 6), (3, 5), (0, 13), (11, 13), (6, 7, 8), (0, 4), (7, 12), (9, 13)]
    candidates = [c for ways in (1, 2, 3) for c in combinations(range(14), ways)]
    do_within(0.8, lambda: [count_cells(ADULT, [*measured, candidate]) for candidate in candidates])
