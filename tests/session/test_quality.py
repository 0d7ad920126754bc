"""Tables that a release did not measure are estimated privately: paid as one batch, and refused before if unfit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.errors import Refusal
from adomnia.session.quality import assess_held_back
from kit.hospital import CATALOG, CITIES, curated, declare, person

PEOPLE = [
    person(k, name=f"n{k}", age=20.0 + k % 60, sex="FM"[k % 2], city=CITIES[k % 2 if k % 5 else 3], member=k % 3 == 0)
    for k in range(3000)
]
MADE = "SELECT * FROM mwem((SELECT sex, member, city FROM people), ways => 2, rounds => 1, missing => 'left_out')"
COUNTED = "SELECT * FROM marginals((SELECT sex, city FROM people), ways => 1)"


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    with curated(declare(tmp_path_factory.mktemp("quality") / "hospital", CATALOG), PEOPLE, []) as opened:
        opened.release("rows", MADE, epsilon=1)
        opened.release("counts", COUNTED, epsilon=1)
        yield opened


@pytest.fixture
def alice(curator):
    return curator.session("alice")


@pytest.mark.parametrize(("analyst", "unit"), [("alice", "epsilon"), ("bob", "rho")])
def test_all_tables_that_are_held_back_have_one_price(curator, analyst, unit):
    session = curator.session(analyst)
    before = session.budget().personal.spent
    quality = session.quality("rows", most=2, **{unit: 0.5})
    assert len(quality.held_back) == 2
    assert all(0 <= each.lower <= each.upper <= 1 for each in quality.held_back)
    assert f"{unit} 0.5" in quality.notes[0]
    assert session.budget().personal.spent != before
    assert session.quality("rows", most=2, **{unit: 0.5}) == quality


def test_what_is_measured_without_noise_is_as_far_off_as_it_is(alice):
    (found,) = alice.quality("rows", columns=[("sex", "city")], epsilon=100).held_back
    rows = alice.open_release("rows").to_pandas()
    published = rows.groupby(["sex", "city"]).size() / len(rows)
    truth = {}
    for each in PEOPLE:
        cell = (each["sex"], each["city"])
        truth[cell] = truth.get(cell, 0) + 1 / len(PEOPLE)
    cells = {*truth, *published.index}
    true = sum(abs(truth.get(cell, 0) - published.get(cell, 0)) for cell in cells) / 2
    assert found.distance == pytest.approx(true, abs=0.005)
    assert found.lower <= true <= found.upper


def test_the_report_has_all_that_is_free_too(alice):
    free = alice.open_release("rows").quality()
    paid = alice.quality("rows", columns=[("sex", "city")], epsilon=1)
    assert paid.tables == free.tables
    assert paid.limits == free.limits
    assert "held back" in repr(paid)
    assert "held back" in paid._repr_html_()


def test_a_release_without_rows_says_nothing_of_what_it_did_not_measure(alice):
    with pytest.raises(Refusal, match="has no rows") as refused:
        alice.quality("counts", epsilon=1)
    assert refused.value.code == "release_without_rows"


def test_columns_that_are_not_there_are_refused(alice):
    for wrong in ([("sex", "age")], ["sex"], [()]):
        with pytest.raises(Refusal, match="name sets of its columns"):
            alice.quality("rows", columns=wrong, epsilon=1)


def test_cells_that_are_not_those_of_the_release_are_refused_before_anything_is_paid(alice):
    release = alice.open_release("rows")
    other = replace(release, question=release.question.replace("'left_out'", "'kept'"))
    before = alice.budget().personal.spent
    with pytest.raises(Refusal, match="has other values"):
        assess_held_back(alice, other, [("sex", "city")], 1, 0.95, {"epsilon": 1})
    assert alice.budget().personal.spent == before


def test_prices_are_as_of_any_question(alice):
    with pytest.raises(Refusal):
        alice.quality("rows", columns=[("sex", "city")])
