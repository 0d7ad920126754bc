"""What a reader of an answer has to know beside its numbers: sentences that follow from question and catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.privacy.units import ROW

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.plans.plan import Plan

EACH_ROW = "Each row is protected on its own, not each person."


def list_notes(_plan: Plan, catalog: Catalog) -> tuple[str, ...]:
    """The notes of a question, in the order in which they are told."""
    return (EACH_ROW,) if catalog.unit == ROW else ()
