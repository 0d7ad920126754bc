from __future__ import annotations

from adomnia.console.answers.notes import count_caveats, find_held, list_caveats
from adomnia.console.answers.table import build_table
from adomnia.messages.texts import Note
from adomnia.plans.columns import Cap
from kit.answers import key, make_answer, measured

POPULATION = "Intervals are about the population that these people are a sample of, drawn from it independently."
FULL = (0.0, 50.0, 100.0)


def things(*ends, keys=(), about="data", **facts):
    column = measured("m", *ends, limits=(0.0, 100.0), about=about)
    answer = make_answer(*([key("k", *keys)] if keys else ()), column, **facts)
    return list_caveats(answer, build_table(answer))


def test_rows_that_say_nothing_come_first():
    leads = [
        things(FULL, (1, 2, 3), FULL, keys=("a", "b", "c"))[0].lead,
        things(FULL, (1, 2, 3), keys=("a", "b"))[0].lead,
        things(FULL)[0].lead,
        things(*[FULL] * 6, (1, 2, 3), keys=tuple("abcdefg"))[0].lead,
    ]
    assert leads == [
        *("a and c are uninformative.", "a is uninformative.", "It is uninformative."),
        "6 of 7 rows are uninformative.",
    ]


def test_the_reader_is_told_whom_intervals_are_about():
    (about,) = things((1, 2, 3))
    assert about.lead == "The interval is about the noise."
    (about,) = things((1, 2, 3), about="population")
    assert about.lead == "The interval is about the population."
    column, sampled = measured("m", (1, 2, 3)), measured("s", (1, 2, 3), about="population")
    held = [
        find_held(make_answer(column)),
        find_held(make_answer(sampled)),
        find_held(make_answer(column, sampled, figure={"kind": "points"})),
        find_held(make_answer(column, figure={"kind": "points"})),
    ]
    assert held[:2] == ["where the exact answer lies", "where the population's value lies"]
    assert held[2:] == ["where it lies, as the notes say,"] * 2
    told = things((1, 2, 3), notes=(Note("A method says it itself."),), figure={"kind": "points"})
    assert [each.says for each in told] == ["A method says it itself."]


def test_caps_and_notes_are_told():
    told = things((1, 2, 3), caps=(Cap("visits", 10),), notes=(Note("Rows whose city is missing are in no group."),))
    assert [each.lead for each in told] == ["The interval is about the noise.", "Not all rows may count.", ""]
    assert "at most 10 rows of a person count" in told[1].says
    assert count_caveats(told) == "Three things to know"
    assert count_caveats(told[:1]) == "One thing to know"


def test_of_public_rows_there_is_nothing_to_know():
    answer = make_answer(key("city", "Oslo"), receipt=None)
    assert list_caveats(answer, build_table(answer)) == ()
