import pytest

from adomnia.errors import Refusal
from adomnia.methods.contract import BadArgument
from adomnia.methods.parts.testing.report import demand_two_levels
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
