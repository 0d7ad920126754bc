"""A survey in a real browser: the answer is randomised there once, and nothing else leaves."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest

from adomnia.survey.hadamard import HadamardResponse
from adomnia.survey.kary import KaryResponse
from adomnia.survey.registry import DESIGNS
from adomnia.survey.store import STORE, ReportStore, read_reports
from adomnia.survey.subset import SubsetSelection
from adomnia.survey.survey import Survey, draw_token, write_survey
from adomnia.survey.unrelated import UnrelatedQuestion
from adomnia.survey.warner import Warner
from kit.browsing import Console, find_barriers_by_day_and_night
from kit.distributions import p_value_of_counts
from kit.surveys import served_survey

FALSE_ALARM = 1e-6
DRAWS = 4000
ANSWERS = ("I did", "I did not")
# What the browser says about a reply that is a refusal, which some tests are about.
REFUSED = ("Failed to load resource: the server responded with a status of",)
EXAMPLES = [
    Warner(Fraction(2, 3)),
    UnrelatedQuestion(Fraction(1, 2), Fraction(1, 12)),
    KaryResponse(3, Fraction(27, 10)),
    SubsetSelection(4, Fraction(5, 2), 2),
    HadamardResponse(3, Fraction(3)),
]


@contextmanager
def asked(console: Console, folder, design=None, invited: bool = False):
    """A survey that runs as its owner would run it, seen by the browser."""
    design = design or Warner(Fraction(11, 20))
    answers = ANSWERS if design.categories == 2 else tuple(f"answer {place}" for place in range(design.categories))
    survey = Survey(draw_token(), "Did you <i>really</i>?", answers, design, invited)
    write_survey(folder, survey)
    with served_survey(folder) as address:
        yield survey, Console(address, folder, console.browser)


@pytest.fixture(scope="module")
def survey_and_visits(console, tmp_path_factory):
    with asked(console, tmp_path_factory.mktemp("survey")) as opened:
        yield opened


def listen(page) -> list:
    posted = []
    page.on("request", lambda request: posted.append(request) if request.method == "POST" else None)
    return posted


def answer(page, words: str) -> None:
    page.get_by_label(words, exact=True).check()
    page.get_by_role("button", name="Randomise my answer and send the result").click()


def test_answered_twice_there_is_one_report_and_it_is_the_first(survey_and_visits):
    survey, visits = survey_and_visits
    before = read_reports(visits.folder, survey).total()
    with visits.visit(None) as page:
        posted = listen(page)
        answer(page, "I did")
        page.get_by_text("Sent. Thank you.").wait_for()
        page.get_by_role("button", name="Send the same result again").click()
        page.get_by_text("nothing was counted twice").wait_for()
        page.reload()
        page.get_by_text("This browser has answered this survey.").wait_for()
        assert page.get_by_label("I did not", exact=True).is_disabled()
        page.get_by_role("button", name="Send the same result again").click()
        page.get_by_text("nothing was counted twice").wait_for()
        assert len(posted) == 3
        assert len({request.post_data for request in posted}) == 1
    assert read_reports(visits.folder, survey).total() == before + 1


def test_over_many_tries_only_randomised_answers_leave(survey_and_visits):
    """All 24 reports are alike with probability 6e-7, whatever was answered."""
    _, visits = survey_and_visits
    with visits.visit(None) as page:
        requests = []
        page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 - a method has no room for its mark
        for _ in range(24):
            answer(page, "I did")
            page.get_by_text("Sent. Thank you.").wait_for()
            page.evaluate("localStorage.clear()")
            page.reload()
        bodies = [json.loads(request.post_data) for request in requests if request.method == "POST"]
    assert {request.url.removeprefix(visits.address) for request in requests} <= {
        *("/", "/survey.json", "/reports"),
        *(f"/static/{name}" for name in ("console.css", "survey.css", "survey.js", "randomize.js", "mark.svg")),
    }
    assert [set(body) for body in bodies] == [{"survey", "token", "report"}] * 24
    assert {tuple(body["report"]) for body in bodies} == {(0,), (1,)}
    assert len({body["token"] for body in bodies}) == 24


def test_the_true_answer_is_kept_nowhere_in_the_browser(survey_and_visits):
    _, visits = survey_and_visits
    with visits.visit(None) as page:
        answer(page, "I did")
        page.get_by_text("Sent. Thank you.").wait_for()
        kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, history.state])")
        [[written]] = [list(json.loads(kept)[0].values())]
        assert set(json.loads(written)) == {"token", "report"}
        assert json.loads(kept)[1:] == [{}, "", None]
        assert page.locator("input:checked").count() == 0


@pytest.mark.parametrize("design", EXAMPLES, ids=lambda design: design.name)
def test_the_page_draws_the_distribution_of_its_design_and_no_other(survey_and_visits, design):
    """A false alarm has probability 1e-6 for each answer."""
    assert {type(each) for each in EXAMPLES} == set(DESIGNS.values())
    _, visits = survey_and_visits
    record = {"name": design.name, **design.parameters()}
    draw = """async ([design, categories, answer, draws]) => {
        const { randomize } = await import("/static/randomize.js");
        return Array.from({ length: draws }, () => randomize(design, categories, answer));
    }"""
    reports = list(design.reports())
    distributions = [
        np.array([design.probability(report, each) for report in reports], float) for each in range(design.categories)
    ]
    with visits.visit(None) as page:
        for given in (0, design.categories - 1):
            drawn = Counter(map(tuple, page.evaluate(draw, [record, design.categories, given, DRAWS])))
            counts = np.array([drawn[report] for report in reports])
            assert counts.sum() == DRAWS
            assert p_value_of_counts(counts, distributions[given]) > FALSE_ALARM
            assert p_value_of_counts(counts, distributions[(given + 1) % design.categories]) < FALSE_ALARM


def test_the_page_and_python_agree_which_answers_a_report_stands_for(survey_and_visits):
    _, visits = survey_and_visits
    stood = """async ([design, answers, reports]) => {
        const { listSupported } = await import("/static/randomize.js");
        return reports.map((report) => listSupported(design, answers, report));
    }"""
    with visits.visit(None) as page:
        for design in EXAMPLES:
            answers, reports = list(range(design.categories)), list(design.reports())
            record = {"name": design.name, **design.parameters()}
            expected = [[each for each in answers if design.supports(report, each)] for report in reports]
            assert page.evaluate(stood, [record, answers, [list(report) for report in reports]]) == expected


def test_the_page_sends_as_many_bytes_whatever_it_reports(survey_and_visits):
    _, visits = survey_and_visits
    longest = """async ([design, categories]) => {
        const { findLongest } = await import("/static/randomize.js");
        return findLongest(design, categories);
    }"""
    large = [KaryResponse(30, Fraction(3)), SubsetSelection(30, Fraction(3), 7), HadamardResponse(30, Fraction(3))]
    with visits.visit(None) as page:
        for design in (*EXAMPLES, *large):
            record = {"name": design.name, **design.parameters()}
            assert tuple(page.evaluate(longest, [record, design.categories])) == design.longest_report


def test_the_script_uses_the_browser_s_own_random_bits_and_no_floats(survey_and_visits):
    _, visits = survey_and_visits
    with visits.visit(None) as page:
        script = page.evaluate("fetch('/static/randomize.js').then((reply) => reply.text())")
        assert "Math.random" not in script
        assert "crypto.getRandomValues" in script
        largest = page.evaluate(
            """async () => {
                const { drawBelow, readNumber } = await import("/static/randomize.js");
                const limit = 10n ** 30n;
                const drawn = Array.from({ length: 200 }, () => drawBelow(limit));
                return [drawn.every((each) => each >= 0n && each < limit), new Set(drawn).size,
                        readNumber("2.718281").map(String), readNumber("1/12").map(String)];
            }"""
        )
    assert largest == [True, 200, ["2718281", "1000000"], ["1", "12"]]


@pytest.mark.parametrize("phone", [False, True])
def test_the_page_keeps_nobody_from_using_it(survey_and_visits, phone):
    _, visits = survey_and_visits
    with visits.visit(None, phone=phone) as page:
        assert page.get_by_role("heading", level=1).inner_text() == "Did you <i>really</i>?"
        assert find_barriers_by_day_and_night(page) == []
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert page.get_by_label("I did", exact=True).is_checked()
        answer(page, "I did not")
        page.get_by_role("status").get_by_text("Sent.").wait_for()
        assert find_barriers_by_day_and_night(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_nothing_can_be_sent(survey_and_visits):
    _, visits = survey_and_visits
    with visits.visit(None, scripts=False) as page:
        assert page.get_by_text("This page needs JavaScript").is_visible()
        assert page.get_by_role("button").is_disabled()
        assert page.locator("form").count() == 0


def test_a_browser_that_cannot_remember_sends_nothing(survey_and_visits):
    _, visits = survey_and_visits
    with visits.visit(None) as page:
        posted = listen(page)
        page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
        answer(page, "I did")
        page.get_by_text("This browser cannot keep the randomised answer").wait_for()
        assert posted == []


def test_a_store_that_is_gone_is_told_and_the_same_answer_is_sent_later(console, tmp_path):
    with asked(console, tmp_path) as (survey, visits):
        with visits.visit(None, expected=REFUSED) as page:
            posted = listen(page)
            (tmp_path / STORE).rename(tmp_path / "away")
            answer(page, "I did")
            page.get_by_text("was moved, removed or replaced").wait_for()
            (tmp_path / "away").rename(tmp_path / STORE)
            page.get_by_role("button", name="Try again to send the same result").click()
            page.get_by_text("Sent. Thank you.").wait_for()
            assert len({request.post_data for request in posted}) == 1
        assert read_reports(tmp_path, survey).total() == 1


def test_an_invitation_is_the_token_and_a_lost_memory_is_not_answered_twice(console, tmp_path):
    with asked(console, tmp_path, KaryResponse(20, Fraction(2)), invited=True) as (survey, visits):
        token = draw_token()
        with ReportStore.open(tmp_path, survey) as store:
            store.invite([token])
        with visits.visit(None) as page:
            page.get_by_text("for people who were invited").wait_for()
            assert page.get_by_role("button").is_disabled()
        with visits.visit(None, f"/#{token}", expected=REFUSED) as page:
            posted = listen(page)
            for _ in range(7):  # all are alike with probability (2 / 21)^6 at most, below 1e-6
                answer(page, "answer 7")
                page.get_by_role("status").locator("p").first.wait_for()
                page.evaluate("localStorage.clear()")
                page.reload()
            page.goto("about:blank")
        assert {json.loads(request.post_data)["token"] for request in posted} == {token}
        assert len({request.post_data for request in posted}) > 1
        assert read_reports(tmp_path, survey).total() == 1
