"""The same question asked of the data and of a release: side by side, and refused before it is paid if it cannot be."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from kit.hospital import CATALOG, CITIES, curated, declare, person

PEOPLE = [
    person(k, name=f"n{k}", age=20.0 + k % 60, sex="FM"[k % 2], city=CITIES[k % 4], salary=1000.0 * (20 + k % 60))
    for k in range(3000)
]
ROWS = "SELECT * FROM mwem((SELECT sex, age, salary FROM people), bins => 6, rounds => 1)"
SOME = "SELECT * FROM mwem((SELECT sex, city FROM people WHERE age >= 30), rounds => 1)"
COUNTS = "SELECT * FROM marginals((SELECT sex, city FROM people), ways => 2)"


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    with curated(declare(tmp_path_factory.mktemp("comparing") / "hospital", CATALOG), PEOPLE, []) as opened:
        for name, text in {"rows": ROWS, "some": SOME, "counts": COUNTS}.items():
            opened.release(name, text, epsilon=1)
        yield opened


@pytest.fixture
def alice(curator):
    return curator.session("alice")


def test_a_question_is_answered_by_both_and_rows_are_put_side_by_side(alice):
    found = alice.compare("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", release="rows", epsilon=1)
    values = {each["row"]: each for each in found.records()}
    assert values["F"]["private"] == pytest.approx(1500, abs=30)
    rows = alice.open_release("rows").to_pandas()
    assert values["F"]["release"] == (rows["sex"] == "F").sum()
    assert values["F"]["inside"] is (values["F"]["lower"] <= values["F"]["release"] <= values["F"]["upper"])
    assert "cost epsilon 1 now" in repr(found)
    assert "<td" in found._repr_html_()


def test_methods_are_compared_too_and_by_the_names_of_their_rows(alice):
    text = "SELECT * FROM lm((SELECT age, salary FROM people), formula => 'salary ~ age')"
    found = alice.compare(text, release="rows", epsilon=2).to_pandas()
    assert found["row"].tolist() == ["(Intercept)", "age"]
    assert found["release"].notna().all()


def test_a_release_of_some_rows_stands_for_these_rows(alice):
    text = "SELECT COUNT(*) AS n FROM {}"
    with pytest.raises(Refusal, match=r"write releases\.some in place"):
        alice.compare(text.format("people"), release="some", epsilon=1)
    (found,) = alice.compare(text.format("releases.some"), release="some", epsilon=1).values
    assert found.private == pytest.approx(2500, abs=30)
    assert found.release == len(alice.open_release("some").to_pandas())


def test_counts_of_a_release_without_rows_are_its_own(alice):
    found = alice.compare("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", release="counts", epsilon=1)
    asked = alice.sql("SELECT sex, COUNT(*) AS n FROM releases.counts GROUP BY sex")
    assert [each.release for each in found.values] == asked["n"]


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("SELECT AVG(salary) FROM people", "counts"),
        ("SELECT COUNT(*) FROM people WHERE city = 'Oslo'", "rows"),
        ("SELECT COUNT(*) FROM visits", "rows"),
        ("SELECT COUNT(*) FROM people", "nothing"),
    ],
)
def test_what_the_release_cannot_answer_is_refused_before_it_is_paid(alice, text, release):
    before = alice.budget().personal.spent
    with pytest.raises(Refusal):
        alice.compare(text, release=release, epsilon=1)
    assert alice.budget().personal.spent == before


def test_a_release_is_never_compared_with_itself(alice):
    alice.from_release = True
    text = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    assert alice.compare(text, release="counts", epsilon=1.5).private.receipt is not None
    assert alice.compare(text, release="counts", epsilon=1.5, from_release=True).private.receipt is not None


def test_the_private_answer_is_private_whatever_the_session_says(alice):
    alice.from_release = True
    found = alice.compare("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", release="counts", epsilon=3)
    assert found.private.cost is not None
