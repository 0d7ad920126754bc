"""Signatures that list every option of a question."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Unpack

from adomnia.options import ASK, list_options
from adomnia.session.signatures import TYPES, list_parameters, takes_options

if TYPE_CHECKING:
    from adomnia.pricing.questions import Payment

ROWS = list_options(ASK)


@takes_options(ASK)
def passing_on(text: str, *, by: str = "", replay: bool = True, **payment: Unpack[Payment]) -> None:
    """Whatever is asked."""


@takes_options(ASK)
def naming_outputs(**named: Any) -> None:
    """Whatever is named."""


def test_options_stand_in_the_order_of_their_table_after_what_a_method_takes_itself():
    assert list(signature(passing_on).parameters) == ["text", "by", *(each.name for each in list_parameters(ASK))]


def test_what_takes_any_name_still_says_so():
    assert list(signature(naming_outputs).parameters)[-1] == "named"


def test_an_answer_that_is_there_is_asked_for_simultaneous_intervals():
    assert {row.name for row in ROWS} - {each.name for each in list_parameters(ASK)} == {"simultaneous"}


def test_every_kind_of_option_has_a_type():
    assert {row.kind for row in ROWS} <= TYPES.keys()
