from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from adomnia.errors import Refusal
from adomnia.methods.contract import BadArgument
from adomnia.methods.parts.testing.report import ADJUST, NONE, P_VALUE, adjust_p_values, adjust_table, demand_two_levels
from adomnia.methods.registry import METHODS
from adomnia.statistics.contract import ResultTable
from adomnia.statistics.p_values import bound_p_values, find_floor
from kit.analyses import frame
from kit.trials import build

SEVERAL = frame({"x": (0, 1), "y": (0, 1)}, {"g": ("A", "B"), "f": ("A", "B"), "h": ("a", "b", "c")}, rows_per_person=3)
ONE = frame({"x": (0, 1), "y": (0, 1), "c": (5, 5)}, {"g": ("A", "B"), "h": ("a", "b", "c")}, whole=("c",))
CALLS = {
    "t_test": {"column": SEVERAL.numbers["x"]},
    "proportion_test": {"column": SEVERAL.factors["g"]},
    "chi_square_test": {"column": SEVERAL.factors["g"], "other": SEVERAL.factors["h"]},
    "goodness_of_fit": {"column": SEVERAL.factors["h"]},
    "ks_test": {"column": SEVERAL.numbers["x"], "group": SEVERAL.factors["g"]},
    "mann_whitney": {"column": SEVERAL.numbers["x"], "group": SEVERAL.factors["g"]},
    "correlation_test": {"column": SEVERAL.numbers["x"], "other": SEVERAL.numbers["y"]},
    "kruskal_wallis": {"column": SEVERAL.numbers["x"], "group": SEVERAL.factors["h"]},
    "signed_rank": {"column": SEVERAL.numbers["x"], "other": SEVERAL.numbers["y"]},
    "spearman": {"column": SEVERAL.numbers["x"], "other": SEVERAL.numbers["y"]},
    "kendall": {"column": SEVERAL.numbers["x"], "other": SEVERAL.numbers["y"]},
    "mcnemar": {"column": SEVERAL.factors["g"], "other": SEVERAL.factors["f"]},
    "oneway_anova": {"column": SEVERAL.numbers["x"], "group": SEVERAL.factors["h"]},
}
THEIRS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}


@pytest.mark.parametrize("method", CALLS)
def test_rows_of_one_person_are_not_independent_so_that_several_are_refused_with_the_fix(method):
    with pytest.raises(Refusal, match="one row a person in the bracketed SELECT") as refused:
        build(method, SEVERAL, **CALLS[method])
    assert refused.value.code == "rows_per_person"
    assert build(method, ONE, **CALLS[method])


@pytest.mark.parametrize("method", ["t_test", "ks_test", "mann_whitney"])
def test_two_groups_are_two(method):
    with pytest.raises(BadArgument, match="h has 3"):
        build(method, ONE, column=ONE.numbers["x"], group=ONE.factors["h"])


@pytest.mark.parametrize("method", ["t_test", "ks_test", "mann_whitney", "kruskal_wallis", "oneway_anova"])
def test_a_column_that_cannot_vary_is_refused(method):
    with pytest.raises(BadArgument, match="one value alone"):
        build(method, ONE, column=ONE.numbers["c"], group=ONE.factors["g"])


def test_a_factor_of_three_values_is_refused_in_the_words_of_its_argument():
    three = frame({}, {"h": ("a", "b", "c")}).factors["h"]
    with pytest.raises(BadArgument, match=r"such as other => city = 'Oslo'\.$"):
        demand_two_levels(three, "other")
    with pytest.raises(BadArgument, match="such as group => city = 'Oslo', or compare all groups"):
        demand_two_levels(three)


@pytest.mark.parametrize("way", THEIRS)
@pytest.mark.parametrize("seed", range(5))
def test_they_are_those_of_statsmodels(way, seed):
    rng = np.random.default_rng(seed)
    p_values = np.round(rng.beta(0.5, 2, rng.integers(1, 40)), 2)  # with ties
    expected = multipletests(p_values, method=THEIRS[way])[1]
    assert adjust_p_values(p_values.tolist(), way) == pytest.approx(expected)


@pytest.mark.parametrize("way", THEIRS)
def test_what_is_not_told_is_not_counted(way):
    told = adjust_p_values([0.01, 0.2], way)
    assert adjust_p_values([0.01, None, 0.2, None], way) == (told[0], None, told[1], None)
    assert adjust_p_values([None], way) == (None,)
    assert adjust_p_values([], way) == ()


def test_a_table_says_that_its_p_values_are_adjusted():
    table = ResultTable({"g": ("a", "b", "c")}, {}, ("first",), facts={"p_value": lambda: (0.01, 0.5, None)})
    found = adjust_table(table, "bonferroni")
    assert found.facts["p_value"]() == (0.02, 1.0, None)
    assert found.notes == ("first", "p-values are adjusted for 2 tests by Bonferroni's method.")
    assert adjust_table(table, NONE) is table
    assert table.facts["p_value"]() == (0.01, 0.5, None)


def test_every_method_with_several_p_values_offers_it_and_no_other():
    several = {
        name
        for name, method in METHODS.items()
        if P_VALUE in method.returns and (method.chapter == "models" or method.parameter("by"))
    }
    assert {name for name, method in METHODS.items() if ADJUST in method.parameters} == several


@pytest.mark.parametrize(("way", "floor"), [("holm", 0.0004), ("bonferroni", 0.0004), ("bh", 0.0002)])
def test_a_p_value_at_its_floor_stays_a_bound(way, floor):
    """It was shown as a number far below what any distribution of noise is trusted to."""
    first, second, third, fourth = adjust_p_values(bound_p_values([1e-17, 0.3, 2e-9, 0.04]), way)
    assert [getattr(each, "floor", None) for each in (first, second, third, fourth)] == [floor, None, floor, None]
    assert find_floor((first, second, third, fourth)) == floor
