"""Questions about a population: what they are planned as, and what is refused from the text alone."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.plans.plan import Plan
from adomnia.pricing.notes import OF_POPULATION, SPREAD_EVENLY, list_notes
from adomnia.pricing.questions import check_inference
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Pure
from adomnia.sql.lower import plan_question
from adomnia.sql.reading.parse import parse
from adomnia.statistics.count import Count
from adomnia.statistics.population.mean import PopulationMean
from adomnia.statistics.population.quantile import PopulationQuantile
from adomnia.statistics.population.share import PopulationShare
from adomnia.statistics.population.variance import PopulationVariance
from sql.hospital import HOSPITAL


def planned(text, inference="population", **options):
    plan = plan_question(parse(text), HOSPITAL, inference=inference, **options)
    assert isinstance(plan, Plan)
    return plan


def kinds(outputs):
    return {type(each) for each in planned(f"SELECT {outputs} FROM people").statistics}


@pytest.mark.parametrize(
    ("outputs", "kind"),
    [
        ("AVG(salary)", PopulationMean),
        ("AVG(active)", PopulationShare),
        ("AVG(CASE WHEN age > 60 THEN 1 ELSE 0 END)", PopulationShare),
        ("COUNT(CASE WHEN age > 60 THEN 1 END) / COUNT(*)", PopulationShare),
        ("100.0 * COUNT(*) FILTER (WHERE active) / COUNT(*)", PopulationShare),
        ("COUNT(age) * 1.0 / NULLIF(COUNT(*), 0)", PopulationShare),
        ("STDDEV(salary)", PopulationVariance),
        ("VAR_POP(age)", PopulationVariance),
        ("MEDIAN(age)", PopulationQuantile),
        ("AVG(salary) / 1000 + SQRT(AVG(salary))", PopulationMean),
    ],
)
def test_each_is_a_statistic_of_its_own(outputs, kind):
    assert kinds(outputs) == {kind}


def test_a_question_about_the_data_is_what_it_was():
    text = "SELECT AVG(salary), STDDEV(salary) FROM people"
    assert planned(text, "data") == plan_question(parse(text), HOSPITAL)
    same, other = planned(text, "data"), planned(text)
    assert same.identity(Pure(1), 1) != other.identity(Pure(1), 1)


def test_a_multiple_of_a_share_keeps_its_factor():
    (output,) = planned("SELECT COUNT(*) FILTER (WHERE active) * 100 * 2 / COUNT(*) AS share FROM people").outputs
    assert output.source.terms[0] == 200


def test_a_mean_beside_a_spread_of_the_same_values_is_one_measurement_with_it():
    both = planned("SELECT AVG(salary), STDDEV(salary), VAR(salary) FROM people")
    assert len(list_measures(both, Pure(1))) == 1
    assert len(list_measures(planned("SELECT AVG(age), STDDEV(salary) FROM people"), Pure(1))) == 2


def test_all_quantiles_of_one_value_are_one_measurement():
    assert len(list_measures(planned("SELECT MEDIAN(age), QUANTILE(age, 0.9) FROM people"), Pure(1))) == 1


def test_what_only_chooses_or_sorts_rows_may_count():
    text = (
        "SELECT sex, AVG(age) AS a FROM people GROUP BY sex HAVING COUNT(*) > 9 AND AVG(age) > 3 ORDER BY COUNT(*), a"
    )
    assert {type(each) for each in planned(text).statistics} == {Count, PopulationMean}
    shares = "SELECT sex, COUNT(age) / COUNT(*) FROM people GROUP BY sex ORDER BY COUNT(age) / COUNT(*)"
    assert {type(each) for each in planned(shares).statistics} == {PopulationShare}


@pytest.mark.parametrize(
    ("outputs", "why"),
    [
        ("COUNT(*)", "COUNT is not offered: the population has no size here"),
        ("AVG(age), SUM(age)", "SUM is not offered: the population has no size here"),
        ("COUNT(DISTINCT person_id)", "COUNT is not offered"),
        ("COUNT(age) / COUNT(salary)", "COUNT is not offered"),
        ("SUM(COUNT(*)) OVER ()", "COUNT is not offered"),
        ("MAX(age)", "MAX is not offered: a sample does not tell"),
        ("CORR(age, salary)", "CORR is not offered: how far sampling moves it"),
        ("COVAR_POP(age, salary)", "COVAR_POP is not offered"),
    ],
)
def test_what_a_population_has_not_is_refused_from_the_text(outputs, why):
    with pytest.raises(Refusal, match=why) as refusal:
        planned(f"SELECT {outputs} FROM people")
    assert refusal.value.code == "population"
    assert 'leave inference="population" out' in refusal.value.fix
    assert refusal.value.position is not None


def test_rows_of_blocks_are_no_people():
    with pytest.raises(Refusal, match="these are of blocks") as refusal:
        planned("SELECT AVG(z) FROM (SELECT AVG(cost) AS z FROM visits GROUP BY BLOCK(9))")
    assert "sample_and_aggregate" in refusal.value.fix


def test_rows_of_one_person_are_not_independent():
    with pytest.raises(Refusal, match="one row a person first: SELECT AVG") as refusal:
        planned("SELECT AVG(cost) FROM visits")
    assert "a person has up to 10 of them here" in refusal.value.why
    first = "SELECT AVG(x) FROM (SELECT person_id, AVG(cost) AS x FROM visits GROUP BY person_id)"
    assert isinstance(planned(first).statistics[0], PopulationMean)
    with pytest.raises(Refusal, match="one row a person first"):
        planned("SELECT AVG(p.age) FROM people AS p JOIN visits AS v ON v.person_id = p.person_id")


def test_a_quantile_without_an_interval_says_nothing_about_a_population():
    with pytest.raises(Refusal, match="none is bought"):
        planned("SELECT MEDIAN(age) FROM people", interval=False)


def test_quantiles_do_not_add_up_over_groups():
    with pytest.raises(Refusal, match="does not add up"):
        planned("SELECT sex, MEDIAN(age) FROM people GROUP BY ROLLUP (sex)")
    assert planned("SELECT sex, AVG(age) FROM people GROUP BY ROLLUP (sex)").rows == 4


@pytest.mark.parametrize("inference", ["sample", "", None, True, 1])
def test_another_inference_is_refused(inference):
    with pytest.raises(Refusal, match="is not known"):
        check_inference(inference)


def test_a_plan_says_what_its_intervals_are_about():
    notes = list_notes(planned("SELECT AVG(age) FROM people"), HOSPITAL)
    assert [note for note in notes if note.code == OF_POPULATION.code]
    assert not list_notes(planned("SELECT AVG(age) FROM people", "data"), HOSPITAL)
    assert "evenly" in SPREAD_EVENLY
