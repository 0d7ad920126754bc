"""History, shared answers and the budget in a real browser."""

from __future__ import annotations

import httpx
import pytest

from adomnia.api.access import Access
from adomnia.session.curator import STATE
from kit.browsing import find_barriers
from kit.waiting import HANG_SECONDS

QUESTIONS = {
    "past-1": "SELECT sex, COUNT(*) AS people FROM people GROUP BY sex",
    "past-2": "SELECT city, AVG(salary) AS salary_of_towns FROM people GROUP BY city",
}


@pytest.fixture(scope="module")
def asked(console):
    """The console, where alice has asked two questions."""
    with Access.open(console.folder / STATE) as access:
        token, _ = access.create_token("alice", "browser", 1)
    for request_id in ("past-1", "past-2"):
        body = {"sql": QUESTIONS[request_id], "epsilon": 0.05, "request_id": request_id}
        address = f"{console.address}/api/v1/datasets/hospital/query"
        reply = httpx.post(address, json=body, headers={"Authorization": f"Bearer {token}"}, timeout=HANG_SECONDS)
        assert reply.status_code == 200, reply.text
    return console


def test_history_is_searched_as_one_types(asked):
    with asked.visit("alice", "/answers") as page:
        page.keyboard.press("/")
        page.keyboard.type("salary_of TOWNS")
        page.wait_for_selector(".pasts .q >> nth=1", state="detached")
        assert page.inner_text(".pasts .q") == QUESTIONS["past-2"]
        assert page.url.endswith("/answers?q=salary_of+TOWNS")
        page.fill("input[type=search]", "<b>nothing")
        page.wait_for_selector("text=None of your questions")
        assert find_barriers(page) == []


def test_history_is_searched_without_scripts(asked):
    with asked.visit("alice", "/answers", scripts=False) as page:
        page.fill("input[type=search]", "salary_of")
        page.press("input[type=search]", "Enter")
        assert page.locator("#found .q").all_inner_texts() == [QUESTIONS["past-2"]]


def test_a_link_is_made_copied_opened_and_paid_for(asked):
    with asked.visit("alice", "/answers?q=salary_of") as page:
        page.click("button:has-text('Share')")
        page.click("[data-copy=link]")
        link = page.evaluate("navigator.clipboard.readText()")
        assert find_barriers(page) == []
    with asked.visit("bob", link.removeprefix(asked.address), scripts=False) as page:
        assert page.inner_text("h1") == "alice shares an answer with you"
        assert QUESTIONS["past-2"] in page.inner_text("main")
        page.click("button:has-text('Pay epsilon 0.05')")
        page.wait_for_url("**/answers/*")
        page.goto(link)
        assert page.inner_text("main h2 >> nth=1") == "You have this answer already"


@pytest.mark.parametrize("path", ["/answers", "/budget"])
@pytest.mark.parametrize("look", [{}, {"dark": True}, {"phone": True}])
def test_nothing_keeps_anybody_from_history_and_budget(asked, path, look):
    with asked.visit("alice", path, **look) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert find_barriers(page) == []


def test_the_belief_of_before_is_chosen_by_keyboard_and_without_scripts(asked):
    with asked.visit("alice", "/budget", scripts=False) as page:
        page.fill("#prior", "50")
        page.press("#prior", "Enter")
        assert page.inner_text(".mean .big >> nth=0") == "50 in 100"
        assert page.locator(".people .before").count() == 4 * 50
