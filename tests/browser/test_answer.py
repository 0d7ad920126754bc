"""Reading an answer: table and chart, other intervals, files, texts to copy; by keyboard, on phones, in the dark."""

from __future__ import annotations

import pytest

from adomnia.api.access import Access
from adomnia.session.curator import STATE
from kit.browsing import PATIENCE, find_barriers, wait_for

AGES = (
    "SELECT FLOOR(age / 10) * 10 AS age_from, COUNT(*) AS people, AVG(salary) AS salary FROM people GROUP BY age_from"
)
MANY = "SELECT city, sex, COUNT(*) AS n FROM people GROUP BY city, sex"


@pytest.fixture(scope="module")
def token(console):
    with Access.open(console.folder / STATE) as access:
        return access.create_token("alice", "browser tests", 1)[0]


@pytest.fixture(scope="module")
def ask(console, token):
    """Pay for a question, and find the page of its answer."""

    def pay(sql, epsilon=0.1):
        context = console.browser.new_context()
        reply = context.request.post(
            f"{console.address}/api/v1/datasets/hospital/query",
            headers={"Authorization": f"Bearer {token}"},
            data={"sql": sql, "epsilon": epsilon, "allow_uninformative": True},
            timeout=PATIENCE,
        )
        assert reply.ok, reply.text()
        request_id = reply.json()["receipt"]["request_id"]
        context.close()
        return f"/answers/{request_id}"

    return pay


@pytest.fixture(scope="module")
def ages(ask):
    return ask(AGES, 0.25)


@pytest.mark.parametrize("dark", [False, True])
def test_an_answer_can_be_read_by_everybody(console, ages, dark):
    with console.visit("alice", ages, dark=dark) as page:
        drawn = page.locator("img.chart")
        wait_for(page, "document.querySelector('img.chart').complete")
        assert drawn.evaluate("image => image.naturalWidth") > 200
        assert f"theme={'dark' if dark else 'light'}" in drawn.evaluate("image => image.currentSrc")
        assert page.locator("#answer tbody tr").count() == 13
        assert find_barriers(page) == []


def test_table_chart_or_both_are_chosen_by_button_and_by_key(console, ages):
    with console.visit("alice", ages) as page:
        chart, table = page.locator(".chart-part"), page.locator(".table-part")
        page.click("[data-show=table]")
        assert (chart.is_visible(), table.is_visible()) == (False, True)
        page.keyboard.press("Alt+t")
        assert (chart.is_visible(), table.is_visible()) == (True, False)
        assert page.get_attribute("[data-show=chart]", "aria-pressed") == "true"
        page.reload()
        assert (chart.is_visible(), table.is_visible()) == (True, False)
        page.keyboard.press("Alt+t")
        assert (chart.is_visible(), table.is_visible()) == (True, True)


def test_other_intervals_come_in_place_and_are_free(console, ages):
    with console.visit("alice", ages) as page:
        left, before = page.inner_text("#purse"), page.locator("td.iv").first.inner_text()
        page.click("text=for all 13 of a column at once")
        page.wait_for_url("**simultaneous=1")
        assert page.locator("td.iv").first.inner_text() != before
        page.click("text=99%")
        page.wait_for_url("**confidence=0.99**")
        assert "99% interval" in page.inner_text("thead")
        page.click("text=Check it")
        page.wait_for_url("**checked=1**")
        assert "both are unchanged" in page.inner_text("#receipt-card")
        assert page.inner_text("#purse") == left


def test_files_and_texts_are_taken_along(console, ages):
    with console.visit("alice", ages) as page:
        page.click("summary:has-text('Export')")
        with page.expect_download() as download:
            page.click("text=CSV")
        assert download.value.suggested_filename.endswith(".csv")
        page.click("summary:has-text('Copy as')")
        assert page.locator("details.drop[open]").count() == 1
        page.click("[data-copy=copy-sql]")
        assert page.evaluate("navigator.clipboard.readText()") == AGES
        assert find_barriers(page) == []
        page.keyboard.press("Escape")
        assert page.locator("details.drop[open]").count() == 0
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_on_a_phone_intervals_stand_below_their_estimates(console, ages):
    with console.visit("alice", ages, phone=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator(".iv.narrow-only").first.is_visible()
        assert not page.locator(".pbar").first.is_visible()
        assert find_barriers(page) == []
        page.click("summary:has-text('Copy as')")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_everything_is_there_and_rows_come_by_pages(console, ask):
    with console.visit("alice", ask(MANY), scripts=False) as page:
        assert page.locator("#answer tbody tr").count() == 100
        assert page.locator("img.chart").is_visible()
        assert not page.locator("[data-show-as]").is_visible()
        page.click("text=More rows")
        assert "from=101" in page.url
        assert page.locator("#answer tbody tr").count() == 20
        page.click("summary:has-text('Groups')")  # the bill opens and closes by itself


def test_what_was_put_into_a_question_is_not_run(console, ask):
    evil = "<img src=x onerror=alert(1)>"
    sql = f"SELECT CASE WHEN sex = 'F' THEN '{evil}' ELSE 'b' END AS k, COUNT(*) AS n FROM people GROUP BY k -- {evil}"
    path = ask(sql)
    with console.visit("alice", path) as page:
        page.on("dialog", lambda _: pytest.fail("a script ran"))
        assert evil in page.inner_text("#answer tbody")
        wait_for(page, "document.querySelector('img.chart').complete")
        assert page.locator("img").count() == 1
