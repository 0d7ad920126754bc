"""Settings are the options of a question, remembered."""

from __future__ import annotations

from decimal import Decimal

import pytest

from adomnia.cli.options import AnswerFormat
from adomnia.cli.shell.settings import NAMES, ShellSettings, values_of
from adomnia.errors import Refusal
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show


def test_a_price_takes_the_place_of_another():
    settings = ShellSettings()
    settings.set("epsilon", "0.1")
    settings.set("RHO", "0.01")
    payment = settings.read("SELECT")
    assert ("epsilon" in payment, payment["rho"]) == (False, Decimal("0.01"))
    settings.set("rho", "")
    assert settings.options == {}


def test_all_of_them_can_be_set_and_are_listed():
    settings = ShellSettings()
    for name, value in (
        *(
            ("weight", "pay=3 n=2"),
            ("rows", "50"),
            ("no-interval", "on"),
            ("population", "on"),
            ("confidence", "0.9"),
            ("effort", "high"),
        ),
        *(("format", "CSV"), ("confirm", "off"), ("fresh", "on"), ("allow-uninformative", "on"), ("delta", "1e-9")),
    ):
        settings.set(name, value)
    payment = settings.read("SELECT")
    assert payment["weights"] == {"pay": Decimal(3), "n": Decimal(2)}
    assert (payment["rows"], payment["interval"], payment["confidence"]) == (50, False, 0.9)
    assert payment["inference"] == "population"
    assert (settings.form, settings.confirm) == (AnswerFormat.CSV, False)
    assert (payment["replay"], payment["allow_uninformative"]) == (False, True)
    assert [name for name, _ in settings.lines()] == list(NAMES)
    assert dict(settings.lines())["weight"] == "pay=3 n=2"
    for name in NAMES:
        settings.set(name, "")
    assert settings == ShellSettings()


def test_a_question_gets_the_values_of_the_parameters_that_it_has():
    settings = ShellSettings()
    settings.set("parameter", "least=18 city='New York' code='18' name=O'Brien")
    found = [settings.read(f"{word} SELECT :least, :name")["parameters"] for word in ("", "EXPLAIN")]
    assert found == [{"least": 18, "name": "O'Brien"}] * 2
    assert settings.read("SELECT :city, :code")["parameters"] == {"city": "New York", "code": "18"}
    assert settings.read("SELECT ':city'")["parameters"] is None


@pytest.mark.parametrize(("name", "value"), [("epsilon", "x"), ("rows", "0"), ("no-interval", "no"), ("place", "x")])
def test_what_cannot_be_read_changes_nothing(name, value):
    settings = ShellSettings(options={"epsilon": "0.1"})
    with pytest.raises(Refusal):
        settings.set(name, value)
    assert settings.options == {"epsilon": "0.1"}


def test_short_lists_of_values_are_known():
    assert values_of("format") == ("table", "json", "csv")
    assert values_of("no-interval") == values_of("confirm") == ("on", "off")
    assert values_of("effort") == ("normal", "high")
    assert values_of("epsilon") == ()


@pytest.mark.parametrize(("former", "now"), [("anyway", r"\set allow-uninformative on")])
def test_a_setting_by_its_former_name_is_refused_with_the_name_of_now(former, now):
    with pytest.raises(Refusal) as refused:
        ShellSettings().set(former, "on")
    assert (refused.value.what, show(refused.value.fix, Surface.SHELL)) == (rf"\set {former}", f"write {now}")
