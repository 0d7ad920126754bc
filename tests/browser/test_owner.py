"""The owner's pages in a browser: use, phone, dark, keyboard, without scripts."""

from __future__ import annotations

import httpx
import pytest

from adomnia.api.access import Access
from adomnia.session.curator import STATE
from kit.browsing import PASSWORD, find_barriers, find_barriers_by_day_and_night
from kit.waiting import HANG_SECONDS

PAGES = ["/owner", "/owner/ledger", "/owner/budgets", "/owner/people"]
LOOK_NOW = "document.dispatchEvent(new Event('visibilitychange'))"


@pytest.fixture(scope="module")
def pay(console):
    """Ask a question as alice: the ledger has an entry more for the payment, and one for the answer."""
    with Access.open(console.folder / STATE) as access:
        token, _ = access.create_token("alice", "<b>a program</b>", 1)

    def ask(age):
        body = {"sql": f"SELECT COUNT(*) AS n FROM people WHERE age > {age}", "epsilon": 0.01}
        headers = {"Authorization": f"Bearer {token}"}
        address = f"{console.address}/api/v1/datasets/hospital/query"
        httpx.post(address, json=body, headers=headers, timeout=HANG_SECONDS).raise_for_status()

    return ask


@pytest.mark.usefixtures("pay")
@pytest.mark.parametrize("phone", [False, True])
def test_nothing_keeps_anybody_from_using_a_page_and_none_scrolls_sideways(console, phone):
    find = find_barriers if phone else find_barriers_by_day_and_night
    with console.visit("olga", PAGES[0], phone=phone) as page:
        for path in PAGES:
            page.goto(console.address + path)
            assert find(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scripts", [True, False])
def test_the_ledger_is_verified_on_a_click(console, scripts):
    with console.visit("audrey", "/owner", scripts=scripts) as page:
        page.click("text=Verify now")
        page.wait_for_selector("dd:has-text('Sound,')")


def test_the_ledger_shows_what_is_new_while_somebody_looks_unless_it_is_paused(console, pay):
    with console.visit("audrey", "/owner/ledger") as page:
        newest = int(page.locator("[data-newest]").get_attribute("data-newest"))
        pay(20)
        page.evaluate(LOOK_NOW)
        page.wait_for_selector(f"[data-newest='{newest + 2}']")
        assert page.locator("tr.new").count() == 2
        assert page.inner_text("#news") == "2 new entries."
        page.click("text=Pause")
        pay(21)
        asked = []
        page.on("request", lambda sent: asked.append(sent.url))
        page.evaluate(LOOK_NOW)
        page.wait_for_timeout(200)
        assert asked == []
        page.click("text=Go on")
        page.evaluate(LOOK_NOW)
        page.wait_for_selector(f"[data-newest='{newest + 4}']")


def test_the_ledger_is_searched_as_one_types_with_the_keyboard_alone(console, pay):
    pay(30)
    with console.visit("olga", "/owner/ledger") as page:
        page.keyboard.press("/")
        page.keyboard.type("no such thing")
        page.wait_for_selector("text=No entry is like that.")
        assert "q=no+such+thing" in page.url
        assert page.evaluate("document.activeElement.id") == "q"
        page.fill("#q", "")
        page.select_option("#kind", "open")
        page.wait_for_selector("td:has-text('budgets declared')")
        with page.expect_download() as download:
            page.click("text=Export CSV")
        assert download.value.path().read_text().count("\n") == 2


@pytest.mark.parametrize("scripts", [True, False])
def test_a_budget_is_raised_with_a_second_step_and_the_password(console, scripts):
    with console.visit("olga", "/owner/budgets", scripts=scripts) as page:
        page.click("text=Raise the budget of bob")
        assert page.input_value("#account") == "analyst:bob"
        page.fill("#epsilon", "0.25")
        page.fill("#reason", "<i>more</i>")
        page.click("text=See what it would change")
        assert "epsilon" in page.inner_text(".side-box >> nth=1")
        if scripts:  # what looks for barriers is one
            assert find_barriers(page) == []
        page.fill("#password", PASSWORD)
        page.press("#password", "Enter")
        page.wait_for_selector("text=The budget is raised")


def test_somebody_is_added_let_in_and_removed_without_scripts(console):
    with console.visit("olga", "/owner/people", scripts=False) as page:
        page.fill("#name", "<b>dora</b>")
        page.click("button:has-text('Add, and show the sign-in link')")
        link = page.inner_text("#link")
        assert link.startswith(f"{console.address}/sign-in?code=link_")
        page.click("button:has-text('Remove <b>dora</b>')")
        assert page.inner_text("#sure") == "Remove <b>dora</b>?"
        page.click("button.danger")
        page.wait_for_selector("text=They are removed")
        assert page.locator("th:has-text('dora')").count() == 0
