"""Releases as people see them: published by a form, listed, asked for free, taken away; with scripts and without."""

from __future__ import annotations

import pytest

from adomnia.releases.archive import unpack_archive
from kit.browsing import find_barriers, find_barriers_by_day_and_night

NARROW = "document.documentElement.scrollWidth <= innerWidth"


def fill(page, name, how="publish"):
    """A small release: counts by age and sex."""
    page.fill("#where", "age >= 18")
    page.uncheck("[name='arg-columns:city']")
    page.check(f"[name=keep][value={how}]")
    page.fill("#release-name", name)


@pytest.fixture(scope="module")
def published(console):
    with console.visit("alice", "/methods/marginals") as page:
        purse = page.inner_text("#purse")
        page.check("[name=keep][value=publish]")
        page.wait_for_selector("#release-name-problem p")
        assert page.is_disabled("#pay")
        assert find_barriers_by_day_and_night(page) == []
        fill(page, "grown_up")
        page.wait_for_selector("#pay:enabled:has-text('and publish')")
        assert "The dataset's budget" in page.inner_text("#price")
        page.click("#pay")
        page.wait_for_url("**/releases/grown_up")
        assert page.inner_text("#purse") == purse  # the dataset paid
    return "/releases/grown_up"


def test_a_release_is_listed_looked_at_asked_and_taken_away(console, published):
    with console.visit("bob", "/releases") as page:
        assert find_barriers_by_day_and_night(page) == []
        page.click("text=releases.grown_up")
        page.wait_for_url(f"**{published}")
        assert "Hidden is the presence of one person" in page.inner_text("main")
        assert page.locator("img.chart").first.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
        assert find_barriers_by_day_and_night(page) == []
        with page.expect_download() as taken:
            page.click("text=Download >> nth=0")
        assert taken.value.suggested_filename == "grown_up.zip"
        assert unpack_archive(taken.value.path().read_bytes()).columns == ("age", "sex")
        purse = page.inner_text("#purse")
        page.click("text=Ask it, free")
        page.wait_for_selector("#pay:has-text('Ask, free')")
        page.click("#pay")
        page.wait_for_selector("#answer .answer-card")
        assert "free, from a release" in page.inner_text("#answer")
        assert "costs nothing now" in page.inner_text("#answer")
        assert page.inner_text("#purse") == purse


def test_a_question_that_a_release_answers_is_taken_from_it_by_a_tick(console, published):
    sql = "SELECT sex, COUNT(*) AS n FROM people WHERE age >= 18 GROUP BY sex"
    with console.visit("bob", "/ask") as page:
        page.goto(f"{console.address}/ask?sql={sql}")
        page.check("#from-release")
        page.wait_for_selector("#pay:has-text('Ask, free')")
        assert find_barriers(page) == []
        page.uncheck("#from-release")
        page.wait_for_selector("#pay:has-text('Pay 0.25 and ask')")
        page.check("#from-release")
        page.wait_for_selector("#pay:has-text('Ask, free')")
        page.click("#pay")
        page.wait_for_selector("#answer .answer-card")
        assert "From the release grown_up" in page.inner_text("#answer")


def test_without_scripts_a_release_is_kept_for_oneself(console):
    with console.visit("bob", "/methods/marginals", scripts=False) as page:
        fill(page, "my_own", "private")
        page.click("#price .unscripted button")
        page.click("#pay")
        page.wait_for_url("**/releases/my_own")
        assert "you alone" in page.inner_text("main")
    with console.visit("alice", "/releases") as page:
        assert "my_own" not in page.inner_text("main")


def test_columns_to_count_by_are_chosen_by_keyboard_alone(console, published):
    with console.visit("audrey", published) as page:
        page.focus("#by")
        page.keyboard.press("Tab")
        page.keyboard.type("nothing")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**by=age_bin&and=#counts")
        assert page.locator("a[href^='/ask']").count() == 0


def test_on_a_phone_only_tables_and_pictures_scroll_sideways(console, published):
    with console.visit("alice", "/releases", phone=True) as page:
        for path in ("/releases", published):
            page.goto(console.address + path)
            assert page.evaluate(NARROW), path
            assert find_barriers(page) == []
