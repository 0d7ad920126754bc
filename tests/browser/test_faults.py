"""A server that is away, or cannot answer now: pages say so, keep what they show, and go on by themselves."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from browser.test_ask import MEANS, address, write
from kit.browsing import intercept

COUNT = "SELECT COUNT(*) AS n FROM people"
BUSY = """<main data-problem><h1>Not possible</h1><div role="alert"><p>The server is busy.</p></div></main>"""
AGAIN = 3000  # milliseconds after which a page tries once more by itself
BALANCER = "<html><body><h1>503 Service Unavailable</h1>No server is available to handle this request.</body></html>"


def break_off(page, path, reply):
    """From now on, requests to a path are lost, or answered with an error page."""
    if reply is None:
        intercept(page, path, lambda route: route.abort())
    else:
        intercept(page, path, lambda route: route.fulfill(status=503, body=reply, content_type="text/html"))


@pytest.fixture
def broken(console):
    """A page on which requests may fail: the browser says so, and nothing else may be wrong."""

    def visit(name, path):
        return console.visit(name, path, expected=("Failed to load resource",))

    return visit


@pytest.mark.parametrize(
    ("reply", "words"), [(None, "cannot be reached"), (BUSY, "is busy"), (BALANCER, "cannot be reached")]
)
def test_a_price_that_does_not_come_is_not_paid_and_comes_later(broken, reply, words):
    with broken("alice", address(COUNT)) as page:
        page.wait_for_selector("sql-editor[ready]")
        page.clock.install()
        break_off(page, "**/ask/price", reply)
        write(page, MEANS)
        expect(page.locator("#price [data-lost]")).to_contain_text(words)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#answer")).to_be_empty()
        page.unroute("**/ask/price")
        page.clock.fast_forward(AGAIN)
        expect(page.locator("#price [data-lost]")).to_have_count(0)  # without a hand on it
        expect(page.locator("#told")).to_contain_text("the mean of")
        expect(page.locator("#pay")).to_be_enabled()


def test_an_answer_stays_where_what_comes_after_it_is_lost(broken):
    with broken("alice", address(COUNT, amount="0.01")) as page:
        intercept(page, "**/ask", lambda route: route.abort() if route.request.method == "GET" else route.fallback())
        break_off(page, "**/ask/price", None)
        page.click("#pay")
        expect(page.locator("#answer [data-answer-card]")).to_be_visible()
        expect(page.locator("#price [data-lost]")).to_be_visible()
        expect(page.locator("#answer [data-answer-card]")).to_be_visible()


def test_the_page_of_a_balancer_is_no_answer(broken):
    """Whether it was paid is not known: asking again under the same id finds out, and pays for nothing twice."""
    with broken("alice", address("SELECT COUNT(*) AS lost FROM people", amount="0.01")) as page:
        break_off(page, "**/ask", BALANCER)
        page.click("#pay")
        expect(page.locator("#answer [role=alert]")).to_be_visible()
        expect(page.locator("#answer")).not_to_contain_text("Service Unavailable")
        expect(page.locator("#pay")).to_be_visible()


@pytest.mark.parametrize(("reply", "words"), [(BUSY, "is busy"), (BALANCER, "cannot be reached")])
def test_the_ledger_says_that_it_is_not_live_and_is_again(console, broken, reply, words):
    with broken("olga", "/owner") as page:
        page.clock.install()
        page.goto(f"{console.address}/owner/ledger")
        break_off(page, re.compile(r"/owner/ledger\?seen="), reply)
        page.clock.fast_forward(AGAIN)
        expect(page.locator("#entries [data-lost]")).to_contain_text(words)
        expect(page.locator("#entries table")).to_be_visible()
        page.unroute(re.compile(r"/owner/ledger\?seen="))
        page.clock.fast_forward(AGAIN)
        expect(page.locator("#entries [data-lost]")).to_have_count(0)


def test_a_search_that_is_lost_says_so(broken):
    with broken("alice", "/answers") as page:
        break_off(page, "**/answers?q=*", None)
        page.fill("input[name=q]", "salary")
        expect(page.locator("#found [data-lost]")).to_contain_text("cannot be reached")
