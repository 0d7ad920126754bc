"""Plans as bytes: equal only where plans are equal, and the same however a class is called."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import walk_packages
from typing import ClassVar

import pytest

import adomnia
from adomnia.plans.canonical import canonical
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Text
from adomnia.privacy.scans import NonNull

PACKAGES = ("privacy", "catalog", "statistics", "plans")


def tagged_classes():
    names = [
        module.name for module in walk_packages(adomnia.__path__, "adomnia.") if module.name.split(".")[1] in PACKAGES
    ]
    found = {each for name in names for _, each in getmembers(import_module(name), isclass)}
    return {each for each in found if isinstance(vars(each).get("tag"), str)}


def test_a_class_that_is_renamed_is_encoded_as_before():
    @dataclass(frozen=True)
    class Renamed:
        tag: ClassVar[str] = "Present"
        value: Column

    column = Column("member", Boolean())
    assert canonical(Renamed(column)) == canonical(NonNull(column))


def test_a_class_without_a_tag_of_its_own_has_no_encoding():
    @dataclass(frozen=True)
    class Untagged:
        value: int

    class Inherited(NonNull):
        pass

    for value in (Untagged(1), Inherited(Column("member", Boolean()))):
        with pytest.raises(TypeError, match="must have a tag of its own"):
            canonical(value)


def test_no_tag_stands_for_two_classes_that_can_stand_in_the_same_place():
    counts = Counter((each.tag, getattr(each, "rules", 1)) for each in tagged_classes())
    assert len(counts) > 40
    # One is an aggregate of a query and the other a statistic: their places in a plan tell them apart.
    assert {tag for (tag, _), count in counts.items() if count > 1} == {"Extreme"}


def test_rules_tell_classes_of_one_tag_apart():
    """A way to measure that is only read keeps its tag; what is measured now has other rules."""

    @dataclass(frozen=True)
    class Then:
        tag: ClassVar[str] = "Way"

    @dataclass(frozen=True)
    class Now:
        tag: ClassVar[str] = "Way"
        rules: ClassVar[int] = 2

    assert canonical((Then(),)) != canonical((Now(),))


def test_a_field_that_came_later_changes_nothing_as_long_as_nobody_uses_it():
    """Answers are stored under the hashes of categories that had no others yet."""

    @dataclass(frozen=True)
    class Before:
        tag: ClassVar[str] = "Text"
        values: tuple[str, ...] | None = None

    assert canonical((Before(("a", "b")),)) == canonical((Text(("a", "b")),))
    assert canonical(Text(("a", "b"), others=True)) != canonical(Text(("a", "b")))
