from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.console.methods.page import PICTURES, describe_picture
from adomnia.methods.registry import METHODS
from adomnia.pricing.findings import with_delta
from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from kit.methods import hospital_catalog, tables_of

__all__ = ["hospital_catalog"]


@pytest.mark.parametrize("name", METHODS)
def test_the_picture_that_is_promised_is_the_one_that_is_drawn(hospital_catalog, name):
    method = METHODS[name]
    plan = with_delta(lower(method.example, hospital_catalog), Fraction(1, 10**6))
    table = next(tables_of(plan, Pure(Fraction(1, 3))))
    promised = [kind for columns, kind, _ in PICTURES if columns <= method.returns.keys()][:1]
    assert promised == [table.figure["kind"]] if table.figure else describe_picture(method.returns) == ""


def test_of_other_tables_nothing_is_said():
    assert describe_picture({"zebra": "stripes"}) == ""
