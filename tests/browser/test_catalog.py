"""The owner's catalog in a browser: read, edited with a preview that follows typing, saved, and served."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.browsing import PASSWORD, find_barriers, find_barriers_by_day_and_night

PAGE = "/owner/catalog"
EDIT = f"{PAGE}/edit?part=tables/people"
UPPER = """input[name='["tables", "people", "columns", "salary", "upper"]']"""
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"


@pytest.fixture
def catalog(console):
    """The file, which is put back; the server is waited for, so that others find what they expect."""
    file = Path(console.folder) / "catalog.toml"
    text = file.read_text()
    yield file
    file.write_text(text)
    with console.visit("olga", PAGE) as page:
        page.wait_for_selector("#status:has-text('Served.')")


@pytest.mark.parametrize("path", [PAGE, EDIT])
def test_nothing_keeps_anybody_from_the_catalog(console, path):
    with console.visit("olga", path) as page:
        assert find_barriers_by_day_and_night(page) == []


@pytest.mark.parametrize("path", [PAGE, EDIT])
def test_the_page_does_not_scroll_sideways_on_a_phone(console, path):
    with console.visit("olga", path, phone=True) as page:
        assert not page.evaluate(SIDEWAYS)


def test_the_preview_follows_typing_and_the_saved_catalog_is_served(console, catalog):
    with console.visit("olga", EDIT) as page:
        page.fill(UPPER, "200,000")
        page.wait_for_selector(".effects")
        effects = page.inner_text(".effects")
        assert "SELECT SUM(salary) FROM people" in effects
        assert "± 2,400,000" in effects
        assert page.input_value(UPPER) == "200,000"
        assert find_barriers(page) == []
        assert not page.evaluate(SIDEWAYS)
        page.fill("#password", PASSWORD)
        page.press("#password", "Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("#status:has-text('Served.')")
        assert "0 to 200,000" in page.inner_text("main")
        assert "upper = 200_000" in catalog.read_text()
        page.click("text=Compare")
        page.wait_for_selector(".diff")
        assert "upper = 500_000" in page.inner_text(".diff .plus")


def test_a_catalog_that_cannot_be_opened_says_why_and_offers_the_text_from_before(console, catalog):
    with console.visit("olga", f"{PAGE}/edit?part=text") as page:
        page.fill("#text", page.input_value("#text").replace("eye_color", "shoe_size"))
        page.fill("#password", PASSWORD)
        page.click("text=Save the catalog")
        page.wait_for_selector("#status:has-text('Not served.')")
        assert "shoe_size" in page.inner_text("#status")
        page.click("text=Take the text from before")
        page.fill("#password", PASSWORD)
        page.click("text=Save the catalog")
        page.wait_for_selector("#status:has-text('Served.')")
    assert "eye_color" in catalog.read_text()


def test_all_of_it_works_without_scripts(console, catalog):
    with console.visit("olga", f"{PAGE}/edit?part=analysts/", scripts=False) as page:
        page.fill("""input[name='["analysts", "", "name"]']""", "dora")
        page.fill("""input[name='["analysts", "", "epsilon"]']""", "many")
        page.press("""input[name='["analysts", "", "epsilon"]']""", "Enter")
        assert "Cannot be saved like this" in page.inner_text("#preview")
        assert page.locator("[aria-invalid=true]").count() == 1
        page.fill("[aria-invalid=true]", "0.5")
        page.click(".card-head button:has-text('Preview')")
        assert "May spend epsilon 0.5" in page.inner_text("#preview")
        page.click("text=All of the text")
        assert page.input_value("#text").endswith("\n")
        assert "[analysts.dora]\nepsilon = 0.5\n" in page.input_value("#text")
        page.fill("#password", "not the password")
        page.click("text=Save the catalog")
        assert "The password is not yours" in page.inner_text("[role=alert]")
        page.fill("#password", PASSWORD)
        page.click("text=Save the catalog")
        assert page.url.endswith("?saved=yes")
    assert "[analysts.dora]" in catalog.read_text()
