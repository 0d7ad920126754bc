"""A function is swapped only where that is the same as importing the changed module."""

from __future__ import annotations

import sys
from textwrap import dedent
from types import ModuleType

import pytest

from mutants import swapping
from mutants.swapping import find_swap

TEXT = dedent("""
    from functools import cache
    LEAST = 1
    def double(number):
        return number * 2
    @cache
    def fourfold(number):
        return (lambda: double(double(number)))()
    class Shape:
        @property
        def area(self):
            return fourfold(LEAST)
        @staticmethod
        def name(text="shape"):
            return text.upper()
""")


@pytest.fixture
def module(monkeypatch):
    made = ModuleType("planted_module")
    made.__file__ = "planted_module.py"
    exec(compile(TEXT, made.__file__, "exec"), vars(made))
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


@pytest.mark.parametrize(
    ("before", "after", "read", "expected"),
    [
        ("number * 2", "number * 3", lambda module: module.double(1), 3),
        ("number * 2", "(\n\n  number * 3)", lambda module: module.Shape().area, 9),
        ("double(double(number))", "double(number)", lambda module: module.fourfold(1), 2),
        ("fourfold(LEAST)", "7", lambda module: module.Shape().area, 7),
        ("text.upper()", "text.lower()", lambda module: module.Shape.name(), "shape"),
    ],
)
def test_a_function_is_another_wherever_it_is_held(before, after, read, expected, module):
    function, code = find_swap(module.__name__, TEXT, TEXT.replace(before, after))
    function.__code__ = code
    assert read(module) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LEAST = 1", "LEAST = 2"),
        ("LEAST = 1", "LEAST = True"),
        ('text="shape"', 'text="area"'),
        ("@property", "@cache"),
        ("class Shape:", "class Shape(int):"),
        ("number * 2", "number * 2"),
        ("LEAST = 1\ndef double(number):\n    return number * 2", "LEAST = 3\ndef double(number):\n    return 0"),
    ],
)
def test_what_importing_runs_is_not_swapped(before, after, module):
    assert find_swap(module.__name__, TEXT, TEXT.replace(before, after)) is None


def test_what_was_called_or_never_imported_is_not_swapped(module, monkeypatch):
    changed = TEXT.replace("number * 2", "number * 3")
    assert find_swap("another_module", TEXT, changed) is None
    monkeypatch.setattr(swapping, "is_called", lambda code: code.co_name == "double")
    assert find_swap(module.__name__, TEXT, changed) is None
    assert find_swap(module.__name__, TEXT, TEXT.replace("fourfold(LEAST)", "7")) is not None
