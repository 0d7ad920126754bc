"""A release prints as what it is, and markup in it is no markup."""

from __future__ import annotations

from dataclasses import replace

from adomnia.releases.model import describe_levels
from adomnia.statistics.products import Attribute, Product
from kit.released import make_release


def test_a_release_prints_its_columns_guarantee_and_notes():
    text = repr(make_release())
    assert "Release ages: 2 rows, made by marginals" in text
    assert "F, M, missing" in text
    assert text.endswith("Hidden is one person.\nA note.")


def test_in_a_notebook_nothing_is_taken_for_markup():
    product = Product((Attribute("<b>", ("<script>",)),))
    page = replace(make_release(), product=product)._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script>" not in page


def test_long_lists_of_values_show_the_first_and_the_last():
    assert describe_levels(Attribute("n", tuple(range(10)))) == "0, 1, 2, 3, 4, ..., 9"
