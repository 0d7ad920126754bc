"""The pages of the data, as somebody sees and uses them."""

from __future__ import annotations

import pytest

from kit.browsing import find_barriers_by_day_and_night

PATHS = ("/data", "/data/visits", "/data/cities", "/data/adults")


def test_nothing_keeps_anybody_from_reading_about_the_data(console):
    with console.visit("alice", "/data") as page:
        for path in PATHS:
            page.goto(console.address + path)
            assert find_barriers_by_day_and_night(page) == [], path


def test_on_a_phone_only_tables_and_drawings_scroll_sideways(console):
    with console.visit("alice", "/data", phone=True) as page:
        for path in PATHS:
            page.goto(console.address + path)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_a_box_of_the_drawing_leads_to_its_table_by_keyboard_alone(console):
    with console.visit("audrey", "/data") as page:
        box = page.locator("svg a[href='/data/items']")
        box.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/data/items")
        assert page.locator("h1").inner_text() == "items"
        assert page.locator("a[href^='/ask']").count() == 0


def test_no_two_boxes_overlap_and_no_text_leaves_its_box(console):
    with console.visit("alice", "/data") as page:
        outside = page.evaluate("""() => [...document.querySelectorAll('.map-room a')].flatMap((box) => {
            const edge = box.querySelector('rect').getBoundingClientRect();
            return [...box.querySelectorAll('text')].filter((text) => text.getBoundingClientRect().right > edge.right);
        }).map((text) => text.textContent)""")
        assert outside == []


@pytest.mark.parametrize("scripts", [True, False])
def test_more_values_and_the_list_of_links_open_without_scripts_too(console, scripts):
    with console.visit("alice", "/data/people", scripts=scripts) as page:
        page.click("summary:has-text('and 28 more')")
        assert page.locator("details.more[open] code").count() == 28
        page.goto(f"{console.address}/data")
        page.click("summary:has-text('The same as a list')")
        assert page.locator("text=visits.person_id").first.is_visible()
