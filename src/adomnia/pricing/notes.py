"""What a reader of an answer has to know beside its numbers: sentences that follow from question and catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.plans.descriptions import describe
from adomnia.plans.missing import keys_without_value, reads_undeclared
from adomnia.privacy.keys import Bucket
from adomnia.privacy.units import ROW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog
    from adomnia.plans.plan import Plan
    from adomnia.privacy.keys import Key

EACH_ROW = "Each row is protected on its own, not each person."


def list_notes(plan: Plan, catalog: Catalog) -> tuple[str, ...]:
    """The notes of a question, in the order in which they are told."""
    return (*((EACH_ROW,) if catalog.unit == ROW else ()), *_tell_missing(plan))


def _tell_missing(plan: Plan) -> Iterator[str]:
    """Which rows are in no group; whether there are any is private."""
    found = keys_without_value(plan)
    for undeclared, fate in ((True, "missing or not declared"), (False, "missing")):
        names = [_name(key) for key in found if reads_undeclared(key) == undeclared]
        if names:
            yield f"Rows whose {' or '.join(names)} is {fate} are in no group."


def _name(key: Key) -> str:
    return describe(key.written if isinstance(key, Bucket) else key)
