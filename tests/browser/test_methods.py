"""Methods: found as one types, filled in, priced, refused at a field, and asked; with scripts and without."""

from __future__ import annotations

import pytest

from adomnia.methods.registry import METHODS
from kit.browsing import find_barriers, intercept, wait_for
from kit.waiting import wait_until

SQL = "#written code"
# Where the parts of the price panel stand, and what comes after it.
PLACES = """() => [...document.querySelectorAll("#price > section, .late")].map(
    (each) => each.getBoundingClientRect().top + scrollY)"""
NARROW = "document.documentElement.scrollWidth <= innerWidth"


@pytest.mark.parametrize(("path", "options"), [("/methods", {}), ("/methods/t_test", {"dark": True})])
def test_nothing_keeps_anybody_from_using_the_pages(console, path, options):
    with console.visit("alice", path, **options) as page:
        assert find_barriers(page) == []


@pytest.mark.parametrize("path", ["/methods", "/methods/lm"])
def test_on_a_phone_nothing_is_wider_than_the_page(console, path):
    with console.visit("alice", path, phone=True) as page:
        assert page.evaluate(NARROW)
        assert find_barriers(page) == []


def test_a_method_is_found_as_one_types(console):
    with console.visit("alice", "/methods") as page:
        page.keyboard.press("/")
        page.keyboard.type("glm bin")
        assert page.locator(".method-list li:visible a").all_inner_texts() == ["logit"]
        assert page.inner_text("[data-filter-count]") == f"1 of {len(METHODS)} methods"
        page.fill("#q", "zebra")
        assert page.is_visible("[data-filter-none]")
        page.fill("#q", "glm bin")
        page.click("text=logit")
        page.wait_for_url("**/methods/logit")


@pytest.mark.parametrize("phone", [False, True])
def test_the_price_comes_after_the_page_and_moves_nothing(console, phone):
    with console.visit("alice", "/methods", phone=phone) as page:
        held = []
        intercept(page, "**/methods/lm/price", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks what it calls
        page.goto(f"{console.address}/methods/lm")
        page.wait_for_selector("text=The price is being computed.")
        wait_until(lambda: held)
        assert page.is_disabled("#pay")
        assert find_barriers(page) == []
        before = page.evaluate(PLACES)
        held.pop().continue_()
        page.wait_for_selector("#pay:enabled")
        assert page.inner_text("#pay").startswith("Pay 0.25 and ask")
        assert [abs(was - now) <= 1 for was, now in zip(before, page.evaluate(PLACES), strict=True)] == [True] * 6
        wait_for(page, "() => document.getElementById('said')?.textContent.startsWith('Price 0.25: estimate within')")


def test_a_price_that_does_not_come_is_asked_for_again(console):
    with console.visit("alice", "/methods", expected=("Failed to load resource",)) as page:
        lost = []

        def lose_once(route):
            if lost:
                return route.continue_()
            lost.append(route)
            return route.abort()

        intercept(page, "**/methods/iqr/price", lose_once)
        page.goto(f"{console.address}/methods/iqr")
        page.wait_for_selector("#price [data-lost]")
        page.wait_for_selector("#pay:enabled")


def test_without_scripts_a_button_shows_the_price(console):
    with console.visit("alice", "/methods/lm", scripts=False) as page:
        assert page.is_disabled("#pay")
        assert not page.is_visible("text=The price is being computed.")
        page.click("#price >> text=Show the price")
        assert page.inner_text("#pay").startswith("Pay 0.25 and ask")


def test_the_form_says_what_it_means_and_what_is_wrong_where(console):
    with console.visit("alice", "/methods/lm") as page:
        page.fill("#arg-formula", "salary ~ agee")
        page.wait_for_selector("#arg-formula-problem p")
        assert "agee" in page.inner_text("#arg-formula-problem")
        assert page.get_attribute("#arg-formula", "aria-invalid") == "true"
        assert page.is_disabled("#pay")
        assert find_barriers(page) == []
        page.fill("#arg-formula", "salary ~ ")
        page.click("[data-insert='age']")
        page.click("[data-insert='C(sex)']")
        assert page.input_value("#arg-formula") == "salary ~ age + C(sex)"
        page.wait_for_selector("#pay:enabled")
        assert page.inner_text("#arg-formula-problem") == ""
        page.fill("#where", "age >= 18")
        page.wait_for_selector(f"{SQL}:has-text('WHERE (age >= 18)')")


def test_another_table_brings_its_columns(console):
    with console.visit("alice", "/methods/histogram") as page:
        page.select_option("#table", "visits")
        page.wait_for_selector(f"{SQL}:has-text('column => cost')")
        assert page.input_value("#arg-column") == "=cost"
        page.check("[name=source][value=select]")
        assert page.is_visible("#select")
        assert not page.is_visible("#table")


def test_a_form_is_asked_by_keyboard_and_paid(console):
    with console.visit("bob", "/methods/t_test") as page:
        page.wait_for_selector("#pay:enabled")  # whose price is not seen yet is not paid
        before = page.inner_text("#purse")
        page.wait_for_selector("#pay:enabled")  # what is asked before its price is shown is not paid
        page.focus("#where")
        page.keyboard.press("Control+Enter")
        wait_for(page, "before => document.getElementById('purse').innerText !== before", before)
        assert page.inner_text("#answer") != ""


def test_without_scripts_a_form_is_filled_priced_and_asked(console):
    with console.visit("alice", "/methods?q=glm", scripts=False) as page:
        page.click("text=lm >> nth=0")
        page.select_option("#table", "visits")
        page.click("text=Use this table")
        assert page.input_value("#arg-formula") == "cost ~ C(hospital)"
        page.fill("#where", "cost >")
        page.press("#where", "Enter")  # which shows the price, and pays nothing
        assert "/price" in page.url
        assert page.inner_text("#where-problem") != ""
        page.fill("#where", "cost > 10")
        page.press("#where", "Enter")
        assert "WHERE (cost > 10)" in page.inner_text(SQL)
        page.click("#pay")
        page.wait_for_url("**/answers/*")
