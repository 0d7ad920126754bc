from __future__ import annotations

import pytest

from adomnia.engines.registry import ENGINES, load_engine
from adomnia.errors import Refusal


def test_an_engine_is_found_by_its_name():
    assert load_engine() is load_engine("duckdb")


def test_an_engine_that_is_not_installed_is_refused_with_the_names_of_those_that_are():
    with pytest.raises(Refusal, match="The engine dbase is not an engine of this installation") as caught:
        load_engine("dbase")
    assert all(name in caught.value.fix for name in ENGINES)
