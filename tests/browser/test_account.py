"""Signing in, one's own account, and addresses that do not exist."""

from __future__ import annotations

import pytest

from kit.browsing import PASSWORD, find_barriers


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_keeps_anybody_from_signing_in(console, dark):
    with console.visit(None, "/sign-in", dark=dark) as page:
        assert find_barriers(page) == []


@pytest.mark.parametrize("scripts", [True, False])
def test_signing_in_leads_to_the_first_page(console, scripts):
    with console.visit(None, "/account", scripts=scripts) as page:
        assert page.url.endswith("/sign-in")
        page.fill("#name", "alice")
        page.fill("#password", PASSWORD)
        page.press("#password", "Enter")
        page.wait_for_url("**/ask")


def test_a_token_is_made_shown_once_and_revoked(console):
    with console.visit("bob", "/account") as page:
        page.fill("#label", "<b>laptop</b>")
        page.click("text=Make a token")
        assert page.locator("#secret").inner_text().startswith("ao_")
        page.click("[data-copy]")
        assert page.evaluate("navigator.clipboard.readText()").startswith("ao_")
        assert find_barriers(page) == []
        page.click("button:has-text('Revoke')")
        assert page.locator("td:has-text('revoked')").count() == 1
        assert page.locator("#secret").count() == 0


@pytest.mark.parametrize("phone", [False, True])
def test_an_address_that_does_not_exist_is_a_page(console, phone):
    with console.visit("alice", "/nowhere", phone=phone) as page:
        assert page.inner_text("h1") == "There is no such page"
        assert find_barriers(page) == []


@pytest.mark.parametrize(("name", "path"), [("alice", "/data/visits"), ("olga", "/owner")])
def test_between_a_phone_and_a_wide_screen_nothing_scrolls_sideways(console, name, path):
    """A tablet, and a wide screen at which letters are twice as large."""
    with console.visit(name, path) as page:
        for width in (320, 645, 720, 960, 1024, 1180):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            across = page.evaluate("document.querySelector('main .card:not(.menu)').offsetWidth / innerWidth")
            assert across > 0.5, width
