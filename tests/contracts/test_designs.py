"""Every design of randomized response keeps what it promises: judged from its exact matrix of probabilities."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from adomnia.privacy.enclosures import exp_up, ln_down
from adomnia.survey.design import LARGEST_EPSILON, MOST_CATEGORIES, ResponseDesign
from adomnia.survey.hadamard import HadamardResponse
from adomnia.survey.kary import KaryResponse
from adomnia.survey.registry import DESIGNS
from adomnia.survey.subset import SubsetSelection
from adomnia.survey.unrelated import UnrelatedQuestion
from adomnia.survey.warner import Warner
from kit.bits import SeededBits
from kit.distributions import p_value_of_counts

FALSE_ALARM = 1e-6
DRAWS = 6000
EXAMPLES = [
    Warner(Fraction(2, 3)),
    Warner(Fraction(9, 10)),
    UnrelatedQuestion(Fraction(1, 2), Fraction(1, 12)),
    UnrelatedQuestion(Fraction(1, 3), Fraction(3, 4)),
    KaryResponse(2, Fraction(3)),
    KaryResponse(5, Fraction(27, 10)),
    SubsetSelection(2, Fraction(2), 1),
    SubsetSelection(5, Fraction(3, 2), 2),
    SubsetSelection(6, Fraction(4), 5),
    HadamardResponse(2, Fraction(5, 2)),
    HadamardResponse(3, Fraction(3)),
    HadamardResponse(4, Fraction(11, 10)),
]


def named(design: ResponseDesign) -> str:
    return f"{design.name}-{design.categories}"


def matrix(design: ResponseDesign) -> list[list[Fraction]]:
    """One row of probabilities for each answer."""
    reports = list(design.reports())
    return [[design.probability(report, answer) for report in reports] for answer in range(design.categories)]


every_example = pytest.mark.parametrize("design", EXAMPLES, ids=named)


def test_every_design_of_the_registry_has_an_example():
    assert {type(design) for design in EXAMPLES} == set(DESIGNS.values())
    assert [name for name, kind in DESIGNS.items() if kind.name != name] == []


@every_example
def test_every_row_of_probabilities_sums_to_one(design):
    assert [sum(row) for row in matrix(design)] == [1] * design.categories


@every_example
def test_the_cost_is_the_largest_ratio_of_the_matrix_and_no_less(design):
    ratios = [
        first / second
        for one, other in permutations(matrix(design), 2)
        for first, second in zip(one, other, strict=True)
    ]
    assert max(ratios) == design.worst_ratio
    assert ln_down(max(ratios)) <= design.epsilon
    assert exp_up(design.epsilon) >= design.worst_ratio


@every_example
def test_support_has_the_stated_distribution_under_every_answer(design):
    reports = list(design.reports())
    for answer, row in enumerate(matrix(design)):
        for other in range(design.categories):
            likely = sum(mass for report, mass in zip(reports, row, strict=True) if design.supports(report, other))
            distribution = design.support_of(other)
            assert likely == (distribution.kept if other == answer else distribution.raised)


@every_example
def test_the_estimate_is_exactly_unbiased_and_its_variance_exact(design):
    """Of one respondent, over all reports; respondents are independent, so that both add up."""
    reports, rows = list(design.reports()), matrix(design)
    for answer, row in enumerate(rows):
        found = [design.estimate({report: 1}).counts for report in reports]
        for other in range(design.categories):
            truth = 1 if other == answer else 0
            assert sum(mass * counts[other] for mass, counts in zip(row, found, strict=True)) == truth
            scattered = sum(mass * (counts[other] - truth) ** 2 for mass, counts in zip(row, found, strict=True))
            assert scattered == design.support_of(other).variance_in_data(truth, 1)


@every_example
def test_the_variance_in_a_population_is_exact(design):
    reports, rows, k = list(design.reports()), matrix(design), design.categories
    shares = [Fraction(place + 1, k * (k + 1) // 2) for place in range(k)]
    columns = zip(*rows, strict=True)
    masses = [sum(share * each for share, each in zip(shares, column, strict=True)) for column in columns]
    for other, share in enumerate(shares):
        found = [design.estimate({report: 1}).counts[other] for report in reports]
        assert sum(mass * count for mass, count in zip(masses, found, strict=True)) == share
        scattered = sum(mass * (count - share) ** 2 for mass, count in zip(masses, found, strict=True))
        assert scattered == design.support_of(other).variance_in_population(share, 1)
        assert scattered <= design.support_of(other).worst_variance("population")


@every_example
def test_draws_fit_the_distribution_of_their_answer_and_of_no_other(design):
    """A false alarm has probability 1e-6 for each answer."""
    reports, rows = list(design.reports()), matrix(design)
    for answer in {0, design.categories - 1}:
        bits = SeededBits(f"{named(design)} {answer}")
        drawn = Counter(design.randomize(answer, bits) for _ in range(DRAWS))
        counts = np.array([drawn[report] for report in reports])
        assert counts.sum() == DRAWS
        assert p_value_of_counts(counts, np.array(rows[answer], float)) > FALSE_ALARM
        if design.worst_ratio > Fraction(5, 4):
            assert p_value_of_counts(counts, np.array(rows[(answer + 1) % design.categories], float)) < FALSE_ALARM


@every_example
def test_a_file_gives_the_same_design_back(design):
    written = {name: Fraction(value) for name, value in design.parameters().items()}
    assert type(design).from_parameters(design.categories, written) == design


@every_example
def test_no_report_takes_more_digits_than_the_longest(design):
    lengths = [len(json.dumps(report)) for report in design.reports()]
    assert max(lengths) == len(json.dumps(design.longest_report))
    assert design.is_report(design.longest_report)


@every_example
def test_what_nobody_can_report_has_probability_zero(design):
    for report in [(), (-1,), (10**6,), (0, 0), (1, 0), (0, 1, 2, 3, 4, 5, 6)]:
        if report not in set(design.reports()):
            assert not design.is_report(report)
            with pytest.raises(ValueError, match="cannot have made"):
                design.estimate({report: 1})


@every_example
def test_an_answer_that_there_is_not_is_refused_without_repeating_it(design):
    for answer in (-1, design.categories, "yes", 0.0):
        with pytest.raises(ValueError, match="answer must be an integer") as refused:
            design.randomize(answer, SeededBits(1))
        assert "yes" not in str(refused.value)


@every_example
def test_the_docstring_has_its_labels(design):
    assert [
        label for label in ("Guarantee", "Conditions", "Noise", "Proof") if f"\n    {label}" not in design.__doc__
    ] == []
    assert "docs/proofs/local.md" in design.__doc__


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "0.693147", "1", "3", "8", "20"])
@pytest.mark.parametrize("kind", DESIGNS.values(), ids=DESIGNS)
def test_a_wanted_epsilon_is_never_exceeded_and_nearly_spent(kind, epsilon):
    wanted = Fraction(epsilon)
    for categories in (2, 3, 10, 50):
        if kind.accepts(categories):
            spent = kind.for_epsilon(categories, wanted).epsilon
            assert wanted - Fraction(2, 10**6) <= spent <= wanted


@pytest.mark.parametrize("kind", DESIGNS.values(), ids=DESIGNS)
def test_epsilons_out_of_range_are_refused(kind):
    for epsilon in (0, -1, 0.0001, LARGEST_EPSILON + 1):
        with pytest.raises(ValueError, match="epsilon must be"):
            kind.for_epsilon(2, epsilon)


@pytest.mark.parametrize("kind", [KaryResponse, SubsetSelection, HadamardResponse])
def test_large_designs_are_drawn_quickly(kind):
    design = kind.for_epsilon(MOST_CATEGORIES, 1)
    bits = SeededBits("large")
    assert all(design.is_report(design.randomize(MOST_CATEGORIES - 1, bits)) for _ in range(5))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Warner(Fraction(1, 2)),
        lambda: Warner(Fraction(1)),
        lambda: Warner(float("nan")),
        lambda: UnrelatedQuestion(Fraction(0), Fraction(1, 2)),
        lambda: UnrelatedQuestion(Fraction(1, 2), Fraction(1)),
        lambda: KaryResponse(1, Fraction(2)),
        lambda: KaryResponse(3, Fraction(1)),
        lambda: HadamardResponse(MOST_CATEGORIES + 1, Fraction(2)),
        lambda: SubsetSelection(3, Fraction(2), 3),
        lambda: SubsetSelection(3, Fraction(2), 0),
        lambda: SubsetSelection.from_parameters(3, {"odds": Fraction(2), "size": Fraction(3, 2)}),
    ],
)
def test_a_design_that_says_nothing_or_hides_nothing_is_refused(make):
    with pytest.raises(ValueError, match="must be"):
        make()
