"""A small release that was made by nobody, and the hospital's people to make real ones of."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa

from adomnia.messages.texts import Note, note_record
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.releases.facts import ReleaseFacts
from adomnia.releases.model import Release
from adomnia.statistics.products import Attribute, Product
from kit.hospital import CATALOG, CITIES, person

PUBLISHING = CATALOG.replace("[analysts.alice]\n", "[analysts.alice]\npublish = true\n")
QUESTION = "SELECT * FROM marginals((SELECT sex, member FROM people), ways => 2)"
OTHER = "SELECT * FROM marginals((SELECT sex, city FROM people), ways => 1)"
PEOPLE = [
    person(k, name=f"n{k}", age=30.0 + k % 50, sex="FMX"[k % 3], city=CITIES[k % 4], member=k % 2 == 0)
    for k in range(60)
]

SEX = Attribute("sex", ("F", "M", None))
AGE = Attribute("age", ("0 to 9", "10 to 19"), "integer", (-0.5, 9.5, 19.5))
DAY = Attribute("day", (date(2024, 1, 1), date(2024, 1, 2)), "date")
COUNTS = np.array([[7, -2], [3, 11], [0, 1]])


NOTE = Note("A note.", "a_note", rows=5, columns=["sex", "age"], share=0.5, known=None)


def make_release(name: str = "ages", **about: object) -> Release:
    """Counts by sex and age, with what they follow from, and rows."""
    estimates = Residuals.from_measured((3, 2, 2), [NoisyMarginal((0, 1), COUNTS, 4.0)])
    rows = np.array([[0, 1, 0], [2, 0, 1]], dtype=np.int16)
    product = Product((SEX, AGE, DAY), estimates, "gaussian", rows, {(0, 1): np.maximum(COUNTS, 0)}, {"ways": 2})
    fields = [
        pa.field("sex", pa.string(), metadata={"kind": "key"}),
        pa.field("count", pa.float64(), metadata={"kind": "value", "method": "noise"}),
        pa.field("count_lower", pa.float64(), metadata={"kind": "lower", "method": "noise"}),
    ]
    table = pa.table([["F", None], [5.0, 14.0], [1.0, 10.0]], schema=pa.schema(fields))
    told = {"mechanism": "marginals", "guarantee": "Hidden is one person.", "confidence": 0.95, "receipt": "abc"}
    measured = (COUNTS, np.array([2**70, -1], dtype=object))
    return Release(name, product, QUESTION, ReleaseFacts.from_record(told | about), (NOTE,), table, measured)


def is_same(one: Release, other: Release) -> bool:
    """Whether two releases say the same."""
    return (
        (one.name, one.question, dict(one.about)) == (other.name, other.question, other.about)
        and list(map(note_record, one.notes)) == list(map(note_record, other.notes))
        and one.table.equals(other.table)
        and one.product.attributes == other.product.attributes
        and all(map(np.array_equal, one.measurements, other.measurements))
    )
