from __future__ import annotations

from adomnia.console.problems import render_problem_page
from adomnia.errors import Failure, Refusal
from adomnia.messages.texts import write


def test_who_is_not_signed_in_is_led_to_where_they_can():
    response = render_problem_page(Refusal("You", "are nobody", "sign in", code="signed_out"))
    assert (response.status_code, response.headers["location"]) == (303, "/sign-in")


def test_a_link_that_somebody_gave_is_not_lost_on_the_way():
    for path, to in (("/shared/ab-_9", "?to=/shared/ab-_9"), ("/shared//evil.org", ""), ("//evil.org", "")):
        response = render_problem_page(Refusal("You", "are nobody", "sign in", code="signed_out"), path)
        assert response.headers["location"] == f"/sign-in{to}"


def test_refusals_and_failures_are_pages():
    refused = render_problem_page(Refusal("The form", "is <b>old</b>", "send it again", code="csrf"))
    assert refused.status_code == 403
    assert b"The form is &lt;b&gt;old&lt;/b&gt;. Send it again." in refused.body
    failed = render_problem_page(Failure())
    assert failed.status_code == 424
    assert b"The request failed." in failed.body


def test_a_page_speaks_of_pages_and_not_of_calls():
    refused = render_problem_page(
        Refusal("It", "is not there", write("take one that {answers()} lists"), code="unknown_answer")
    )
    assert b"It is not there. Take one that your history lists." in refused.body
