from __future__ import annotations

import re
from html import unescape

import pytest

from adomnia.api.actions.releases import list_keys
from adomnia.console.releases.handlers import assess, count_by, draw_pairs, read_keys, write_count
from adomnia.console.releases.release_lines import open_for
from adomnia.methods.registry import METHODS
from adomnia.releases.archive import unpack_archive
from console.ask.visiting import read_text, sign_in, visiting


@pytest.fixture
def alice(publisher):
    return sign_in(publisher)


def test_the_download_is_the_release_itself(alice):
    reply = alice.get("/releases/SEXES/archive")
    assert reply.headers["content-type"] == "application/zip"
    assert reply.headers["content-disposition"] == 'attachment; filename="sexes.zip"'
    taken = unpack_archive(reply.content)
    assert (taken.name, taken.columns, taken.table.num_rows) == ("sexes", ("sex", "city", "member"), 60)


def test_every_look_of_a_picture_is_drawn_and_kept(alice):
    page = alice.get("/releases/sexes?by=sex").text
    addresses = {unescape(each) for each in re.findall(r'(?:srcset|src)="(/releases[^"]*)"', page)}
    assert len(addresses) == 8  # of counts and of quality
    for address in addresses:
        first, again = alice.get(address), alice.get(address)
        assert first.headers["content-type"] == "image/svg+xml"
        assert first.content == again.content
        assert b"<svg" in first.content


@pytest.mark.parametrize("query", ["theme=pink", "size=huge"])
def test_other_looks_are_refused(alice, query):
    assert alice.get(f"/releases/sexes/figure.svg?{query}").status_code == 422


@pytest.mark.parametrize("part", ["", "/archive", "/figure.svg"])
def test_what_another_analyst_keeps_is_not_there(alice, publisher, part):
    assert alice.get(f"/releases/mine{part}").status_code == 404
    assert sign_in(publisher, "bob").get(f"/releases/mine{part}").status_code == 200


def test_who_is_not_signed_in_sees_none(publisher):
    assert publisher.ask(None, "GET", "/releases").headers["location"].startswith("/sign-in")


def test_every_pair_has_a_cell_and_the_title_fits_above_few(publisher):
    with visiting(publisher) as visit:
        drawable = draw_pairs(open_for(visit, "sexes").quality())
    assert drawable.rows == 9
    assert drawable.figure["kind"] == "heat"
    assert len(drawable.figure["title"]) < 30


def test_a_release_is_looked_at_once_and_each_has_a_report_of_its_own(publisher):
    with visiting(publisher) as visit:
        first, again, other = (assess(open_for(visit, name)) for name in ("sexes", "SEXES", "apart"))
    assert first is again
    assert (first.release, other.release) == ("sexes", "apart")


def test_the_list_has_every_release_and_every_way_to_make_one(alice):
    page = alice.get("/releases")
    shown = read_text(page)
    for name in ("sexes", "years", "nobody"):
        assert f'href="/releases/{name}"' in page.text
    assert "releases.mine" not in shown
    for method in METHODS.values():
        assert (f'href="/methods/{method.name}"' in page.text) == (method.chapter == "releases")
    assert "What everybody reads is paid by the dataset alone" in shown


def test_who_may_not_publish_is_told_who_can_change_that(publisher):
    assert "publish = true" in read_text(sign_in(publisher, "bob").get("/releases"))


def test_a_page_tells_the_guarantee_the_notes_the_columns_and_the_question(alice):
    shown = read_text(alice.get("/releases/sexes"))
    for said in (
        "It was made with epsilon 1. Hidden is the presence of one person",
        "epsilon 1, paid by the dataset",
        "whole_count has whole numbers that are not negative",
        "SELECT * FROM marginals((SELECT sex, city, member FROM people), ways => 2)",
        "BergenHamarOsloTromsomissing",
        "the first 10 of 60 rows",
        "95% interval of n",
    ):
        assert said in shown, said


def test_made_up_rows_are_said_to_be_of_nobody(alice):
    shown = read_text(alice.get("/releases/nobody"))
    assert "50 made-up rows" in shown
    assert "No row is a person" in shown
    assert "single rows mean nothing" in shown
    assert "made-up rows" not in read_text(alice.get("/releases/sexes"))


def test_asking_begins_with_the_counts_that_are_shown(alice):
    page = alice.get("/releases/sexes?by=city")
    (address,) = set(re.findall(r'href="(/ask\?[^"]*)"', page.text))
    asked = read_text(alice.get(unescape(address)))
    assert "SELECT city, COUNT(*) AS n FROM releases.sexes GROUP BY city" in asked
    assert "Ask, free" in asked


def test_an_owner_reads_what_is_published_and_is_led_to_no_page_of_analysts(publisher):
    olga = sign_in(publisher, "olga")
    for path in ("/releases", "/releases/sexes"):
        page = olga.get(path)
        assert page.status_code == 200
        assert "/ask" not in page.text
        assert 'href="/methods' not in page.text
    assert olga.get("/releases/mine").status_code == 404


def test_counts_that_cannot_be_had_are_explained_on_the_page(alice):
    page = alice.get("/releases/apart?by=sex&and=city")
    assert page.status_code == 200
    assert "were not measured together" in read_text(page)
    assert 'role="alert"' in page.text
    assert 'role="alert"' not in alice.get("/releases/apart").text


def test_nothing_that_is_shown_costs_anything(alice):
    before = alice.spent()
    for path in ("/releases", "/releases/sexes", "/releases/years", "/releases/nobody?by=city"):
        assert alice.get(path).status_code == 200
    assert alice.spent() == before


def test_the_quality_of_every_pair_is_told_and_what_it_is_not_good_for(alice):
    shown = read_text(alice.get("/releases/sexes"))
    assert "sex \u00d7 city" in shown
    assert "Rough cells have an error above half their count" in shown
    assert "What it is not good for" in shown
    assert "quality.svg" not in alice.get("/releases/years").text  # one column has no pairs


@pytest.fixture
def release(publisher):
    def open_named(name):
        with visiting(publisher) as visit:
            return open_for(visit, name)

    return open_named


def test_numbers_in_ranges_are_counted_by_their_ranges(release):
    assert list_keys(release("years")) == ("age_bin",)
    assert list_keys(release("sexes")) == ("sex", "city", "member")


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ({}, ()),
        ({"by": "CITY"}, ("city",)),
        ({"by": "city", "and": "sex"}, ("city", "sex")),
        ({"by": "sex", "and": "sex"}, ("sex",)),
        ({"by": "salary", "and": "sex"}, ("sex",)),
        ({"by": "sex; DROP TABLE people"}, ()),
    ],
)
def test_only_columns_of_the_release_are_read_from_an_address(release, asked, keys):
    assert read_keys(release("sexes"), asked) == keys


def test_the_first_two_columns_are_counted_where_nothing_is_named(release):
    both = count_by(release("sexes"), ())
    assert both.keys == ("sex", "city")
    assert both.drawable.figure == {"kind": "heat", "x": "city", "y": "sex", "value": "n"}
    one = count_by(release("years"), ())
    assert one.drawable.figure == {"kind": "bars", "x": "age_bin", "y": "n"}


def test_columns_that_were_not_measured_together_are_a_problem_and_no_error(release):
    apart = release("apart")
    wrong = count_by(apart, ("sex", "city"))
    assert wrong.answer is None
    assert wrong.drawable is None
    assert "not measured together" in str(wrong.problem)
    assert count_by(apart, ()).keys == ("sex",)  # the first alone, where nothing is named


def test_the_question_is_one_that_the_release_answers(release):
    sexes = release("sexes")
    assert write_count(sexes, ("sex",)) == "SELECT sex, COUNT(*) AS n\nFROM releases.sexes\nGROUP BY sex"
    assert len(sexes.sql(write_count(sexes, ("sex", "city")))) == 12
