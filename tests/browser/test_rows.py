"""The table of all rows of a large answer: few elements, all numbers, and smooth scrolling."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from adomnia.console.answers.table import build_table
from adomnia.wire.answers import answer_record
from kit.answers import make_answer
from kit.answers import measured as estimated
from kit.browsing import find_barriers
from kit.own_pages import shown

ROWS = 100_000
ANSWER = "/api/v1/datasets/hospital/answers/large"
BODY = f'<div class="card"><answer-rows src="{ANSWER}"><p>The first rows</p></answer-rows></div>'
MOST_CHANGES = 400  # of elements in a frame, whose rows are written into those that there are; 191 today
FRAMES = 120
SCROLL = """async (rows, steps) => {
  let changed = 0;
  const watch = new MutationObserver((changes) => (changed += changes.length));
  watch.observe(rows.shadowRoot, { attributes: true, characterData: true, childList: true, subtree: true });
  const table = rows.shadowRoot.querySelector(".table");
  const way = table.scrollHeight - table.clientHeight;
  for (let step = 1; step <= steps; step += 1) {
    table.scrollTop = way * step / steps;
    await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
  return changed / steps;
}"""


def measured(name: str, kind: str, values: list, half: float) -> dict:
    ends = {
        end: [None if value is None else value + sign * half for value in values]
        for end, sign in (("lower", -1), ("upper", 1))
    }
    return {"name": name, "kind": "value", "type": kind, "values": values, **ends, "method": "noise", "cells": ROWS}


def answer(rows: int = ROWS, key: str = "place {}", *, measures: bool = True) -> str:
    keys = {"name": "place", "kind": "key", "type": "text", "values": [key.format(row) for row in range(rows)]}
    noisy = measures and [
        measured("people", "integer", [row * 7919 % 100_003 for row in range(rows)], 33),
        measured("pay", "number", [None if row == 1 else row * 104_729 % 100_003 + 0.25 for row in range(rows)], 2600),
    ]
    return json.dumps({"columns": [keys, *(noisy or [])], "rows": rows, "confidence": 0.95})


@contextmanager
def table_of(console, body, **options):
    with shown(console, "rows.js", BODY, answers={ANSWER: body}, **options) as page:
        page.wait_for_selector("answer-rows[ready]")
        yield page


def row(page, index):
    """The texts of the row of an index, which the head begins."""
    return page.locator(f"answer-rows [aria-rowindex='{index}'] [role=cell]").all_inner_texts()


def test_a_large_answer_scrolls_smoothly_with_few_elements(console):
    with table_of(console, answer()) as page:
        changed = page.locator("answer-rows").evaluate(SCROLL, FRAMES)
        assert 0 < changed < MOST_CHANGES
        assert page.locator("answer-rows [role=row]").count() < 60
        assert row(page, ROWS + 1)[0] == f"place {ROWS - 1}"


@pytest.mark.parametrize("options", [{}, {"dark": True}, {"phone": True}], ids=["light", "dark", "phone"])
def test_nothing_keeps_anybody_from_reading_it(console, options):
    with table_of(console, answer(1000), **options) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert find_barriers(page) == []


def test_numbers_have_the_digits_that_their_intervals_are_worth(console):
    with table_of(console, answer(3)) as page:
        assert row(page, 2) == ["place 0", "0\n-33 to 33", "0\n-2,600 to 2,700"]
        assert row(page, 3) == ["place 1", "7,919\n7,886 to 7,952", "not estimable"]
        assert row(page, 4) == ["place 2", "15,838\n15,805 to 15,871", "9,500\n6,800 to 12,100"]
        page.hover("answer-rows [aria-rowindex='4'] [role=cell]:last-child")
        assert page.get_by_title("9452.25, 6852.25 to 12052.25").count() == 1


def test_words_stand_where_a_number_would_say_nothing(console):
    counts = measured("n", "integer", [-20, 5, 1e15, 7], 33) | {"possible": [0, None]}
    shares = measured("share", "number", [None, 0.12345, 0.3, 0.6], 0.02) | {"possible": [0, 1]}
    shares["lower"][0], shares["upper"][0], shares["upper"][2], shares["lower"][3] = 0, 1, None, None
    shares["missing"] = ["uninformative", None, None, None]
    facts = {
        "name": "p_value",
        "kind": "fact",
        "type": "number",
        "values": [None, 0.0001, 0.012345, 12345.6],
        "floor": 0.0001,
    }
    keys = {"name": "key", "kind": "key", "type": "text", "values": [None, "", "a", "b"]}
    columns = [keys, counts, shares, facts]
    with table_of(console, json.dumps({"columns": columns, "rows": 4, "confidence": 0.9})) as page:
        assert row(page, 2) == ["NULL", "0\n0 to 13", "uninformative\n0.00 to 1.00", ""]
        assert row(page, 3) == ["empty text", "5\n0 to 38", "0.123\n0.103 to 0.144", "< 0.0001"]
        assert row(page, 4)[2:] == ["0.300\nfrom 0.279 on", "0.01235"]
        assert row(page, 5)[1:] == ["7\n0 to 40", "0.60\n0.00 to 0.62", "12,346"]


def test_numbers_are_those_of_the_servers_own_table(console):
    values = [25.0, 35.0, -25.0, 1.23456789e15, -1.23456789e15, 2e20, 1e-20, -0.0, 12_345.678]
    halves = [150.0, 150.0, 150.0, 1e13, 1e13, 1.0, 1e-21, 0.25, 0.004]
    ends = [(value - half, value, value + half) for value, half in zip(values, halves, strict=True)]
    found = make_answer(estimated("v", *ends, limits=(-1e300, 1e300)), estimated("n", *ends, limits=(0.0, 1e300)))
    with table_of(console, json.dumps(answer_record(found))) as page:
        for place, cells in enumerate(build_table(found).rows):
            assert row(page, place + 2) == [f"{cell.shown.text}\n{cell.shown.interval}" for cell in cells]


def test_a_head_sorts_by_noisy_values_and_says_so(console):
    with table_of(console, answer(1000)) as page:
        head, said = page.get_by_role("button", name="people"), page.locator("answer-rows [role=status]")
        head.click()
        assert "noisy values" in said.inner_text()
        assert row(page, 2)[1].startswith("0\n")
        head.click()
        assert page.get_by_role("columnheader", name="people").get_attribute("aria-sort") == "descending"
        assert row(page, 2)[1].startswith("99,")
        page.get_by_role("button", name="pay").click()
        page.locator("answer-rows [role=table]").press("End")
        page.wait_for_selector("answer-rows [aria-rowindex='1001']:has-text('not estimable')")
        page.get_by_role("button", name="pay").click()
        page.get_by_role("button", name="pay").click()
        assert (row(page, 2)[0], said.inner_text()) == ("place 0", "1,000 rows")


def test_keys_alone_reach_the_last_row(console):
    with table_of(console, answer(1000)) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.shadowRoot.activeElement.getAttribute('role')") == "table"
        page.keyboard.press("End")
        page.wait_for_selector("answer-rows [aria-rowindex='1001']")
        page.keyboard.press("Home")
        page.wait_for_selector("answer-rows [aria-rowindex='2']")


def test_more_rows_than_a_browser_is_tall_are_all_reached(console):
    with table_of(console, answer(250_000, measures=False)) as page:
        page.locator("answer-rows").evaluate(SCROLL, 10)
        assert row(page, 250_001) == ["place 249999"]
        seen = "rows => rows.shadowRoot.elementsFromPoint(200, 500).find((each) => each.role === 'row').ariaRowIndex"
        assert int(page.locator("answer-rows").evaluate(seen)) > 249_980


def test_keys_of_groups_are_shown_as_text(console):
    with table_of(console, answer(2, "<img src=x onerror=alert({})>")) as page:
        assert row(page, 2)[0] == "<img src=x onerror=alert(0)>"
        assert page.locator("answer-rows img").count() == 0


def test_what_the_server_wrote_stays_where_the_answer_cannot_be_had(console):
    with shown(console, "rows.js", BODY) as page:
        with page.expect_response(f"**{ANSWER}") as reply:
            page.reload()
        assert not reply.value.ok
        assert page.get_by_text("The first rows").is_visible()
