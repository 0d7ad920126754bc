"""Private questions that a release answers too, if the asker allows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import adomnia
from adomnia.errors import Refusal
from adomnia.pricing.bills import format_cost
from adomnia.pricing.questions import Question
from kit.altering import alter
from kit.hospital import curated, declare, write
from kit.released import PEOPLE, PUBLISHING

QUESTION = "SELECT * FROM marginals((SELECT age, sex, city, member FROM people WHERE age >= 8), ways => 2)"


@pytest.fixture
def released(curator):
    curator.release("ages", QUESTION, rho=0.5)
    curator.engine.ran.clear()
    return curator


@pytest.fixture
def asking(released):
    return released.session("alice")


@pytest.mark.parametrize(
    ("private", "public"),
    [
        (
            "SELECT sex, COUNT(*) AS n FROM people WHERE age >= 8 GROUP BY sex",
            "SELECT sex, COUNT(*) AS n FROM releases.ages GROUP BY sex",
        ),
        (
            "SELECT COUNT(*) AS n FROM people WHERE city = 'Oslo' AND age >= 8 AND member",
            "SELECT COUNT(*) AS n FROM releases.ages WHERE city = 'Oslo' AND member",
        ),
        (
            "SELECT COUNT(DISTINCT person_id) AS n FROM people WHERE age >= 8 AND age < 24",
            "SELECT COUNT(*) AS n FROM releases.ages WHERE age < 24",
        ),
        (
            "SELECT sex = 'F' AS woman, COUNTIF(member) / COUNT(*) AS n FROM people WHERE age >= 8 GROUP BY 1",
            "SELECT sex = 'F' AS woman, COUNTIF(member) / COUNT(*) AS n FROM releases.ages GROUP BY 1",
        ),
        (
            "SELECT c, COUNT(*) AS n FROM (SELECT city AS c, age FROM people WHERE age >= 8) WHERE age < 16 GROUP BY c",
            "SELECT city, COUNT(*) AS n FROM releases.ages WHERE age < 16 GROUP BY city",
        ),
        (
            "SELECT FLOOR(age / 8) AS part, COUNT(*) AS n FROM people WHERE age >= 8 GROUP BY 1 HAVING COUNT(*) > 1",
            (
                "SELECT FLOOR(age / 8) AS part, COUNT(*) AS n FROM releases.ages WHERE age >= 8 GROUP BY 1 "
                "HAVING COUNT(*) > 1"
            ),
        ),
    ],
)
def test_a_question_that_a_release_covers_is_the_same_about_the_release(asking, released, private, public):
    free, direct = asking.sql(private, from_release=True), asking.sql(public)
    assert free["n"] == pytest.approx(direct["n"])
    assert free.interval("n") == direct.interval("n")
    assert free.receipt is None
    assert released.engine.ran == []
    assert asking.answers() == []


def test_beside_it_stands_what_a_fresh_answer_of_the_same_error_would_cost(asking):
    text = "SELECT sex, COUNT(*) AS n FROM people WHERE age >= 8 GROUP BY sex"
    answer = asking.sql(text, from_release=True)
    told = next(note for note in answer.notes if "would cost epsilon" in note)
    error = max(upper - lower for lower, upper in answer.interval("n")) / 2
    assert format_cost(asking.price(text, error=error).event) in told


def test_the_price_says_that_a_release_answers_it_for_nothing(asking):
    told = asking.price("SELECT COUNT(*) FROM people WHERE age >= 8", epsilon=1).notes
    assert any("release ages answers it for nothing" in note and "from_release=True" in note for note in told)
    assert not any("release" in note for note in asking.price("SELECT AVG(salary) FROM people", epsilon=1).notes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SELECT COUNT(*) FROM people", "counts only rows with"),
        ("SELECT COUNT(*) FROM people WHERE age >= 9", "counts only rows with"),
        ("SELECT COUNT(*) FROM people WHERE age >= 8 AND salary > 1", "no column salary"),
        ("SELECT AVG(salary) FROM people WHERE age >= 8", "no column salary"),
        ("SELECT AVG(age) FROM people WHERE age >= 8", "bins alone"),
        ("SELECT COUNT(*) FROM people WHERE age >= 8 AND age > 30", "cut bins"),
        ("SELECT MEDIAN(age) FROM people WHERE age >= 8", "does not follow"),
        ("SELECT sex, city, member, COUNT(*) FROM people WHERE age >= 8 GROUP BY 1, 2, 3", "not measured together"),
        ("SELECT COUNT(*) FROM visits", "other rows"),
        ("SELECT * FROM summary((SELECT age FROM people WHERE age >= 8))", "no method"),
        ("SELECT COUNT(DISTINCT CASE WHEN member THEN person_id END) FROM people WHERE age >= 8", "people are counted"),
    ],
)
def test_what_no_release_covers_is_refused_with_the_reason(asking, released, text, says):
    with pytest.raises(Refusal, match=says) as refused:
        asking.sql(text, from_release=True, epsilon=1)
    assert refused.value.code == "not_covered"
    assert "without from_release" in refused.value.fix
    assert released.engine.ran == []
    assert asking.answers() == []


def test_a_session_may_ask_for_it_once_and_for_all_and_a_question_overrules_it(asking):
    text = "SELECT COUNT(*) AS n FROM people WHERE age >= 8"
    assert asking.sql(text, epsilon=1).receipt is not None  # never without being asked
    asking.from_release = True
    assert asking.sql(text).receipt is None
    assert asking.sql(text, epsilon=1, from_release=False).receipt is not None


def test_without_any_release_it_is_refused(alice):
    with pytest.raises(Refusal, match="finds none"):
        alice.sql("SELECT COUNT(*) FROM people", from_release=True)


def test_a_release_of_another_version_of_the_data_answers_nothing(released, asking):
    alter(released, catalog=replace(released.catalog, version=2))
    with pytest.raises(Refusal, match="of version 1 of the data"):
        asking.sql("SELECT COUNT(*) FROM people WHERE age >= 8", from_release=True)


def test_of_several_releases_the_most_exact_one_answers(released, asking):
    released.release("finer", QUESTION, rho=5)
    answer = asking.sql("SELECT COUNT(*) AS n FROM people WHERE age >= 8", from_release=True)
    assert "release finer" in answer.notes[0]


def test_rows_that_a_release_leaves_out_are_not_counted_as_if_it_had_them(curator, asking):
    curator.release("known", "SELECT * FROM marginals((SELECT sex, city FROM people), missing => 'left_out')", rho=1)
    with pytest.raises(Refusal, match="known counts only rows with"):
        asking.sql("SELECT COUNT(*) FROM people", from_release=True)
    covered = "SELECT COUNT(*) AS n FROM people WHERE sex IS NOT NULL AND city IS NOT NULL"
    assert "release known" in asking.sql(covered, from_release=True).notes[0]


def test_a_batch_is_paid_for_and_not_from_a_release(asking):
    text = "SELECT COUNT(*) FROM people WHERE age >= 8"
    with pytest.raises(Refusal, match="not for a batch"):
        asking.batch([Question(text, epsilon=1, from_release=True)])


def test_a_person_of_several_rows_is_told_how_many_count(curator, alice):
    curator.release("visits", "SELECT * FROM marginals((SELECT urgent FROM visits))", rho=1)
    answer = alice.sql("SELECT COUNT(*) AS n FROM visits WHERE urgent", from_release=True)
    assert any("of a person" in note for note in answer.notes)


VIEW = """
[views.grown]
sql = "SELECT person_id, sex, {} AS old FROM people WHERE age >= {}"
"""


@pytest.mark.parametrize(("old", "age"), [("age >= 50", 60), ("age >= 70", 18)], ids=["rows", "column"])
def test_a_release_of_a_view_that_is_another_one_by_now_answers_nothing(tmp_path, old, age):
    place = write(tmp_path / "hospital", PEOPLE, [], PUBLISHING + VIEW.format("age >= 50", 18))
    text = "SELECT COUNT(*) AS n FROM grown WHERE old"
    with adomnia.open(place) as curator:
        curator.release("old", "SELECT * FROM marginals((SELECT sex, old FROM grown))", rho=1)
        assert curator.session("alice").sql(text, from_release=True).receipt is None
    (place / "catalog.toml").write_text(PUBLISHING + VIEW.format(old, age))
    with adomnia.open(place) as curator, pytest.raises(Refusal, match="meant something else by its question"):
        curator.session("alice").sql(text, from_release=True)


def test_spaces_in_constants_and_comments_are_kept_in_the_question_of_a_release(curator, alice):
    made = "SELECT * FROM -- of those\nmarginals((SELECT sex FROM people WHERE name <> 'a  b' -- with two spaces\n))"
    assert curator.release("spaced", f"\n {made} \n", rho=1).question == made
    assert alice.sql("SELECT COUNT(*) FROM people WHERE name <> 'a  b'", from_release=True).receipt is None
    with pytest.raises(Refusal, match="counts only rows with"):
        alice.sql("SELECT COUNT(*) FROM people WHERE name <> 'a b'", from_release=True)


@pytest.mark.parametrize("size", [20, 5_000])
def test_rows_of_any_number_stand_for_as_many_people_as_there_are(tmp_path, size):
    """Whoever asks how many people there are is not told how many rows somebody wanted to have drawn."""
    with curated(declare(tmp_path / "hospital", PUBLISHING), PEOPLE, []) as curator:
        curator.release("drawn", f"SELECT * FROM mst((SELECT sex, member FROM people), size => {size})", rho=500)
        for table, options in (("people", {"from_release": True}), ("releases.drawn", {})):
            answer = curator.session("alice").sql(f"SELECT COUNT(*) AS n FROM {table}", **options)
            assert answer["n"] == pytest.approx([len(PEOPLE)], abs=2)
            ((lower, upper),) = answer.interval("n")
            assert upper - lower < 5
