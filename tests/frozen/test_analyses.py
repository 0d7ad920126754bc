"""What people and programs see stays as it is: the things that the part `analyses` looks at."""

from __future__ import annotations

import pytest

from kit.frozen.records import load, tell_differences
from kit.frozen.registry import THINGS, find


@pytest.mark.parametrize("name", THINGS["analyses"])
def test_it_is_what_it_was(name):
    if told := tell_differences(name, load(name), find(name)):
        pytest.fail(told, pytrace=False)
