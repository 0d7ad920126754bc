"""Questions about releases: answered for nothing, from nothing but what was published."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.statistics.products import Attribute
from kit.asked_releases import NoisyTable, ask, make_release

QUESTION = "SELECT * FROM marginals((SELECT age, sex, city, member FROM people), ways => 2)"


@pytest.fixture
def released(curator):
    curator.release("Ages", QUESTION, rho=0.5)
    curator.engine.ran.clear()
    curator.dataset.kernel.bits.requests.clear()
    return curator


@pytest.fixture
def asking(released):
    return released.session("alice")


def test_an_answer_touches_neither_budget_nor_data_nor_noise(asking, released):
    before = released.ledger.account(), released.ledger.account("alice")
    answer = asking.sql("SELECT sex, COUNT(*) AS n FROM releases.ages GROUP BY sex")
    assert answer["sex"] == ["F", "M", "X"]
    assert answer.receipt is None
    assert answer.cost is None
    assert (released.ledger.account(), released.ledger.account("alice")) == before
    assert asking.answers() == []
    assert released.engine.ran == []
    assert released.dataset.kernel.bits.requests == []


def test_an_answer_says_where_it_is_from_and_what_its_interval_holds(asking):
    answer = asking.sql("SELECT sex, COUNT(*) AS n FROM releases.ages GROUP BY sex")
    said = str(answer)
    for part in (
        "Nothing was paid",
        "release Ages",
        "version 1 of the data",
        "rho 0.5",
        QUESTION,
        "The interval holds",
    ):
        assert part in said
    assert "Rows whose sex is missing are in no group." in answer.notes
    assert all(lower < upper for lower, upper in answer.interval("n"))
    narrow, wide = answer.interval("n", 0.5)[0], answer.interval("n", 0.5, simultaneous=True)[0]
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_everybody_may_ask_and_the_same_is_said_to_all(released):
    text = "SELECT COUNT(*) AS n FROM releases.AGES WHERE member"
    assert released.session("alice").sql(text)["n"] == released.session("carol").sql(text)["n"]


def test_what_one_analyst_bought_is_for_nobody_else(curator):
    curator.session("alice").release(
        "own", "SELECT * FROM marginals((SELECT sex FROM people))", epsilon=1, private=True
    )
    assert len(curator.session("alice").sql("SELECT sex, COUNT(*) FROM releases.own GROUP BY sex")) == 3
    with pytest.raises(Refusal, match="not among the releases"):
        curator.session("bob").sql("SELECT sex, COUNT(*) FROM releases.own GROUP BY sex")


def test_two_answers_of_one_release_agree(asking):
    groups = asking.sql("SELECT city, member, COUNT(*) AS n FROM releases.ages GROUP BY city, member")
    total = asking.sql("SELECT COUNT(*) AS n FROM releases.ages WHERE city IS NOT NULL AND member IS NOT NULL")
    assert sum(groups["n"]) == pytest.approx(total["n"][0], abs=1e-9)


def test_answers_are_computed_with_like_any_other(asking):
    groups = asking.sql("SELECT sex, COUNT(*) AS n FROM releases.ages GROUP BY sex")
    mean = asking.sql("SELECT AVG(n) AS n FROM (SELECT sex, COUNT(*) AS n FROM releases.ages GROUP BY sex)")
    assert mean["n"] == [pytest.approx(sum(groups["n"]) / 3)]


def test_parameters_are_constants_and_with_names_subqueries(asking):
    text = "WITH f AS (SELECT city FROM releases.ages WHERE sex = ?) SELECT COUNT(*) AS n FROM f WHERE city = ?"
    plain = "SELECT COUNT(*) AS n FROM releases.ages AS r WHERE r.sex = 'F' AND r.city = 'Oslo'"
    assert asking.sql(text, parameters=["F", "Oslo"])["n"] == asking.sql(plain)["n"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SELECT COUNT(*) FROM releases.ages JOIN people ON people.sex = ages.sex", "stands beside"),
        ("SELECT COUNT(*) FROM people WHERE sex IN (SELECT sex FROM releases.ages)", "stands beside"),
        ("SELECT COUNT(*) FROM releases.ages WHERE sex IN (SELECT sex FROM people)", "stands beside"),
        ("SELECT COUNT(*) FROM releases.ages WHERE (SELECT COUNT(*) FROM people) > 1", "stands beside"),
        ("WITH x AS (SELECT sex FROM people) SELECT COUNT(*) FROM releases.ages, x", "stands beside"),
        ("SELECT COUNT(*) FROM releases.ages, cities", "stands beside"),
        ("SELECT COUNT(*) FROM releases.ages AS a JOIN releases.ages AS b ON a.sex = b.sex", "joined or united"),
        ("SELECT COUNT(*) FROM (SELECT sex FROM releases.ages UNION ALL SELECT sex FROM releases.ages)", "united"),
        ("SELECT COUNT(*) FROM releases.ages WHERE sex IN (SELECT sex FROM releases.ages)", "joined or united"),
        ("SELECT * FROM summary((SELECT age FROM releases.ages))", "The method"),
        ("SELECT * FROM releases.ages", "single rows"),
        ("SELECT COUNT(*) FROM releases.other", "not among the releases"),
        ("SELECT COUNT(*) FROM releases.people", "not among the releases"),
        ("SELECT COUNT(*) FROM other.releases.ages", "."),
        ("SELECT COUNT(*) FROM releases.ages TABLESAMPLE (10 PERCENT)", "."),
        ("SELECT person_id FROM releases.ages", "."),
        ("SELECT COUNT(*) FROM ages", "."),
    ],
)
def test_what_mixes_a_release_with_anything_is_refused_before_anything_is_read(asking, released, text, says):
    with pytest.raises(Refusal, match=says):
        asking.sql(text, epsilon=1)
    assert released.engine.ran == []
    assert asking.answers() == []


def test_a_question_about_a_release_has_no_price_and_is_in_no_batch(asking):
    text = "SELECT COUNT(*) FROM releases.ages"
    for quote in (asking.price, asking.explain, lambda text, epsilon: asking.batch([text], epsilon=epsilon)):
        with pytest.raises(Refusal, match=r"releases\.ages is a release, which costs nothing"):
            quote(text, epsilon=1)


def test_the_release_itself_can_be_asked_and_so_can_its_folder(asking, tmp_path):
    import adomnia

    release = asking.open_release("ages")
    text = "SELECT member, COUNT(*) AS n FROM releases.ages WHERE sex = 'M' GROUP BY member"
    opened = adomnia.open_release(release.save(tmp_path / "elsewhere"))
    assert asking.sql(text)["n"] == release.sql(text)["n"] == opened.sql(text)["n"]
    assert opened.sql(text).interval("n") == asking.sql(text).interval("n")
    assert opened.sql("SELECT COUNT(*) AS n FROM releases.ages WHERE sex = :sex", parameters={"sex": "M"})["n"]
    for wrong in ("SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM releases.other"):
        with pytest.raises(Refusal, match=r"FROM releases\.Ages"):
            opened.sql(wrong)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("SELECT weight, COUNT(*) AS n FROM releases.people GROUP BY weight", "group by weight_bin"),
        ("SELECT * FROM releases.people", r"open_release\('people'\)\.to_pandas\(\)"),
        ("SELECT COUNT(DISTINCT sex) AS n FROM releases.people", r"COUNT\(DISTINCT \.\.\.\) does not follow"),
    ],
)
def test_refusals_about_a_release_name_what_a_release_has(text, fix):
    weight = Attribute("weight", ("40 to 80", "80 to 120"), "number", (40.0, 80.0, 120.0))
    attributes = (Attribute("sex", ("f", "m")), weight)
    with pytest.raises(Refusal, match=fix):
        ask(text, make_release(NoisyTable(np.ones((2, 2)), 1.0), attributes))
