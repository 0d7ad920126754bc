"""Examples of methods in Python mean what their examples in SQL mean."""

from __future__ import annotations

import inspect

import pytest

from adomnia.methods.registry import METHODS
from adomnia.session.curator import read_catalog
from adomnia.session.method_examples import write_example
from adomnia.session.table import PrivateTable, open_table
from adomnia.sql.lower import lower
from kit.example import write_example as write_hospital

BY_BLOCKS = {"sample_and_aggregate", "center_of_attention"}


class Writing:
    """A session that says which question it was asked."""

    def __init__(self, catalog):
        self._catalog = catalog

    def catalog(self):
        return self._catalog

    def table(self, name):
        return open_table(self, name)

    def sql(self, text, **options):
        assert options == {"epsilon": 1}
        return text


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    return read_catalog(write_hospital(tmp_path_factory.mktemp("examples") / "hospital", people=10))


@pytest.mark.parametrize("name", sorted(METHODS.keys() - BY_BLOCKS))
def test_both_have_one_plan(hospital, name):
    call = write_example(METHODS[name])
    asked = eval(call, {"session": Writing(hospital)})
    assert lower(asked, hospital) == lower(METHODS[name].example, hospital)
    assert f"In Python: {call}" in inspect.getdoc(getattr(PrivateTable, name))


@pytest.mark.parametrize("name", sorted(BY_BLOCKS))
def test_what_steps_cannot_say_has_none(name):
    assert write_example(METHODS[name]) is None
    assert "In Python" not in inspect.getdoc(getattr(PrivateTable, name))
