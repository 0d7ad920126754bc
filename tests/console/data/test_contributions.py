from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp

from adomnia.catalog.model import Profile
from adomnia.console.data.contributions import describe_moves, view_profile
from adomnia.privacy.units import ROW, Unit
from kit.catalogs import belongings, people

PERSON = Unit("people", "person_id")


def test_one_person_counts_at_most_as_often_as_is_declared():
    assert describe_moves(people(), PERSON) == "One person counts at most once: they move COUNT(*) by at most 1."
    assert describe_moves(belongings("visits"), PERSON).startswith("One person counts at most 10 times")
    chosen = replace(belongings("visits"), profile_epsilon=Fraction(1, 10))
    assert describe_moves(chosen, PERSON).endswith("Each question takes the number that suits its price.")


def test_where_the_unit_is_a_row_no_person_is_spoken_of():
    assert describe_moves(people(), ROW) == "One row counts once: it moves COUNT(*) by at most 1."


def test_a_profile_is_bars_with_a_margin():
    found = view_profile(Profile((0, 1, 3, 8), (1000, 500, -4), Fraction(1, 10)))
    assert [(bar.rows, bar.people, bar.share) for bar in found.bars] == [("1", 1000, 1.0), ("2 to 3", 500, 0.5)]
    assert found.epsilon == "0.1"
    assert exp(-found.margin / 10) <= 1 / 20 < exp(-(found.margin - 1) / 10)


def test_a_profile_of_noise_alone_has_one_bar():
    found = view_profile(Profile((0, 1, 3), (-7, 2), Fraction(1, 10)))
    assert [(bar.people, bar.share) for bar in found.bars] == [(0, 0.0)]


def test_without_a_profile_there_is_nothing_to_draw():
    assert view_profile(None) is None
