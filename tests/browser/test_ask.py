"""Asking in a real browser: the price follows what is typed, refusals have ways out, and nothing is paid unseen."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest

from kit.browsing import find_barriers, intercept

MEANS = "SELECT sex, COUNT(*) AS people, AVG(salary) AS salary FROM people GROUP BY sex"
WRONG = "SELECT AVG(salery) AS salary FROM people"


def address(sql, **fields):
    return f"/ask?{urlencode({'sql': sql, **fields})}"


def write(page, sql):
    """Write a question as whoever types it, in the editor if there is one."""
    page.evaluate(
        """(sql) => {
            const field = document.getElementById("sql"), editor = field.closest("sql-editor");
            if (editor && "value" in editor) editor.value = sql;
            field.value = sql;
            field.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        sql,
    )


@pytest.mark.parametrize(("dark", "sql"), [(False, ""), (True, MEANS), (False, WRONG)])
def test_nothing_keeps_anybody_from_asking(console, dark, sql):
    with console.visit("alice", address(sql), dark=dark) as page:
        assert find_barriers(page) == []


def test_the_price_follows_what_is_typed(console):
    with console.visit("alice", "/ask") as page:
        assert page.is_disabled("#pay")
        write(page, MEANS)
        page.wait_for_selector("#pay:has-text('Pay 0.25 and ask')")
        assert "the mean of salary" in page.inner_text("#told")
        page.fill("#amount", "0.5")
        page.wait_for_selector("#pay:has-text('Pay 0.5 and ask')")
        assert page.evaluate("document.activeElement.id") == "amount"


def test_a_fix_is_taken_by_a_key_and_by_a_click(console):
    for take in (lambda page: page.keyboard.press("Alt+f"), lambda page: page.click("button.fix")):
        with console.visit("alice", "/ask") as page:
            write(page, WRONG)
            page.wait_for_selector("#told .refusal")
            assert page.is_disabled("#pay")
            take(page)
            page.wait_for_selector("#pay:has-text('Pay')")
            page.wait_for_selector("#told .refusal", state="detached")
            assert page.input_value("#sql") == WRONG.replace("salery", "salary")
            assert page.evaluate("document.activeElement.localName") == "sql-editor"  # and one can go on typing


def test_the_slider_moves_price_and_error_together_by_keys(console):
    with console.visit("alice", address(MEANS)) as page:
        error = page.inner_text(".expect tr:nth-child(2) b")
        page.keyboard.press("Alt+p")
        assert page.evaluate("document.activeElement.id") == "slider"
        page.keyboard.press("PageUp")
        assert page.input_value("#amount") == "0.5"
        page.wait_for_selector("#pay:has-text('Pay 0.5 and ask')")
        assert page.inner_text(".expect tr:nth-child(2) b") != error
        page.keyboard.press("PageDown")
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("#pay:has-text('Pay 0.26 and ask')")
        assert "Price 0.26: salary within" in page.get_attribute("#slider", "aria-valuetext")
        assert page.evaluate("document.activeElement.id") == "slider"
        page.wait_for_selector("#said:has-text('Price 0.26: salary within')", state="attached")


def test_an_error_instead_of_a_price(console):
    with console.visit("alice", address("SELECT COUNT(*) AS n FROM people")) as page:
        page.click("text=Name an error instead")
        page.wait_for_selector("label:has-text('Every column within')")
        page.fill("#amount", "50")
        page.wait_for_selector(".expect b:has-text('± 50')")
        page.click("text=Name a price instead")
        page.wait_for_selector(".price-field #amount")


def test_what_is_typed_is_not_paid_before_its_price_was_seen(console):
    with console.visit("alice", address(MEANS)) as page:
        asked = []
        page.on("request", lambda sent: asked.append(sent.url) if sent.url.endswith("/ask") else None)
        page.fill("#amount", "0.75")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#pay:has-text('Pay 0.75 and ask')")
        page.wait_for_selector("#said:has-text('Look at the price first')", state="attached")
        assert asked == []


def test_the_way_back_from_an_answer_leads_to_its_question(console):
    asked = "SELECT COUNT(*) AS back FROM people"
    with console.visit("bob", "/ask") as page:
        write(page, asked)
        page.fill("#amount", "0.05")
        page.wait_for_selector("#pay:has-text('Pay 0.05 and ask')")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/answers/*")
        assert page.title() == "Answer - Ad Omnia"
        page.go_back()
        page.wait_for_selector("#pay:has-text('See it again, free')")
        assert (page.title(), page.input_value("#sql").strip()) == ("Ask - Ad Omnia", asked)


def test_stopping_to_wait_says_where_the_answer_will_be(console):
    with console.visit(
        "alice", address("SELECT COUNT(*) AS stopped FROM people", amount="0.01", allow_uninformative="1")
    ) as page:
        intercept(page, "**/ask", lambda route: None if route.request.method == "POST" else route.continue_())
        page.keyboard.press("Control+Enter")
        page.click("[data-stop]")
        page.wait_for_selector("text=You stopped waiting")
        assert re.search(r"/answers/[0-9a-f]+$", page.get_attribute("[data-place]", "href"))
        page.unroute_all()


def test_on_a_phone_the_price_stays_in_sight_and_nothing_scrolls_sideways(console):
    with console.visit("alice", address(MEANS), phone=True) as page:
        assert page.is_visible(".paybar")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert find_barriers(page) == []
        write(page, WRONG)
        page.wait_for_selector("#told .refusal")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_the_price_comes_from_a_button_and_fixes_are_buttons(console):
    with console.visit("alice", "/ask", scripts=False) as page:
        page.fill("#sql", WRONG)
        page.click("text=Show the price >> nth=-1")
        assert page.is_disabled("#pay")
        assert "Not answered: salery is not among the columns of people" in page.inner_text("#told")
        page.click("button.fix")
        assert page.input_value("#sql").strip() == WRONG.replace("salery", "salary")
        page.fill("#amount", "0.5")
        page.press("#amount", "Enter")
        assert "Pay 0.5 and ask" in page.inner_text("#pay")
        assert page.url.endswith("/ask/price")


def test_without_scripts_a_question_is_paid_once_and_leads_to_its_answer(console):
    with console.visit("bob", address("SELECT COUNT(*) AS n FROM people", amount="0.1"), scripts=False) as page:
        page.click("#pay")
        page.wait_for_url("**/answers/*")
        page.goto(f"{console.address}{address('SELECT COUNT(*) AS m FROM people', amount='0.1')}")
        assert "See it again, free" in page.inner_text("#pay")


def test_the_note_of_a_word_opens_with_a_tap_and_closes_with_the_next(console):
    with console.visit("alice", address(MEANS), phone=True) as page:
        page.wait_for_selector("sql-editor[ready]")
        word = page.locator(".term").first
        word.dispatch_event("click")
        assert "open" in word.get_attribute("class").split()
        word.dispatch_event("click")
        assert "open" not in word.get_attribute("class").split()
