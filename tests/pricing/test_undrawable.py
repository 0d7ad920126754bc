"""Prices for which no noise can be drawn: refused for every method, in whichever round they would be met."""

from __future__ import annotations

from contextlib import suppress
from re import sub

import pytest

from adomnia.errors import Refusal
from adomnia.methods.registry import METHODS
from adomnia.session.curator import open_folder
from kit.example import write_example


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """An analyst with more than anybody needs."""
    folder = write_example(tmp_path_factory.mktemp("rich") / "hospital", people=200)
    catalog = folder / "catalog.toml"
    text = catalog.read_text().replace("epsilon = 2.0", "epsilon = 1e9").replace("epsilon = 10.0", "epsilon = 1e10")
    catalog.write_text(text)
    with open_folder(folder) as curator:
        yield curator.session("bob")


@pytest.mark.parametrize("price", [{"epsilon": 1e6}, {"rho": 1e8}, {"epsilon": 1e-30}], ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_no_price_makes_a_method_fail(rich, name, price):
    with suppress(Refusal):  # and nothing else: large sums have noise that can be drawn at any of them
        rich.price(METHODS[name].example, **price)


@pytest.mark.parametrize("name", ["iqr", "mad", "trimmed_mean", "winsorized_mean"])
def test_what_a_later_round_cannot_draw_is_refused_before_it_is_paid(rich, name):
    with pytest.raises(Refusal, match="too small or too large to draw") as refused:
        rich.price(METHODS[name].example, epsilon=1e6)
    assert refused.value.code == "bad_price"


@pytest.mark.parametrize("name", METHODS)
def test_a_column_of_too_many_values_is_refused_by_every_method(vast, name):
    """Whatever chooses values by rank; others have their answer, or a refusal of their own."""
    with suppress(Refusal):
        vast.price(METHODS[name].example, epsilon=1)


@pytest.mark.parametrize("name", ["quantiles", "iqr", "mad", "summary", "trimmed_mean", "winsorized_mean"])
def test_too_many_values_are_refused_for_the_column_and_not_for_the_price(vast, name):
    with pytest.raises(Refusal, match="too many to choose from") as refused:
        vast.price(METHODS[name].example, epsilon=1)
    assert refused.value.code != "bad_price"


@pytest.fixture(scope="module")
def vast(tmp_path_factory):
    """Every whole number may be as large as a trillion and more."""
    folder = write_example(tmp_path_factory.mktemp("vast") / "hospital", people=200)
    catalog = folder / "catalog.toml"
    many = 'type = "integer", lower = 0, upper = 4_000_000_000_000'
    catalog.write_text(sub(r'type = "(?:integer|number)", lower = 0, upper = [\d_]+', many, catalog.read_text()))
    with open_folder(folder) as curator:
        yield curator.session("bob")
