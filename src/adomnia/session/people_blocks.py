"""A table of your own cut into blocks of people, each person with all their rows in one of them."""

from __future__ import annotations

import re
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from adomnia.noise import Bits

_WHOLE = re.compile(r"^(-?[0-9]+)[.]0+$")


def cut_into_blocks(frame: pa.Table, person: str | None, blocks: int, bits: Bits) -> list[pa.Table]:
    """One table for each block: every person is in one by a draw of their own, and rows of nobody in none.

    Without a column of persons every row is one. A table tells nothing of the rows of other blocks: neither how many
    there are, nor the values that a column of categories has there. Proof: docs/proofs/block_programs.md.
    """
    import pyarrow as pa

    plain = _forget_others(frame)
    persons = np.arange(len(plain)) if person is None else _number_persons(plain.column(person).to_pylist())
    # Independent draws: those of all others have the same law, whoever comes or goes.
    drawn = (bits.words(int(persons.max(initial=-1)) + 1) % np.uint64(blocks)).astype(np.int64)
    placed = np.where(persons < 0, blocks, np.append(drawn, blocks)[persons])
    order = np.argsort(placed, kind="stable")
    ends = np.searchsorted(placed[order], np.arange(blocks + 1))
    return [plain.take(pa.array(order[ends[block] : ends[block + 1]])) for block in range(blocks)]


def _number_persons(keys: list[Any]) -> NDArray[np.int64]:
    """A number for each different person, and -1 for nobody."""
    known: dict[str, int] = {}
    spelled = [_spell_key(key) for key in keys]
    return np.array([-1 if key is None else known.setdefault(key, len(known)) for key in spelled], dtype=np.int64)


def _spell_key(key: Any) -> str | None:  # noqa: ANN401 - of any type
    """A key as text: where the index sees one person there must be one here, while two seen as one harm nobody."""
    if key is None or (isinstance(key, float) and isnan(key)):
        return None
    return _WHOLE.sub(r"\1", str(key + 0.0 if isinstance(key, float) else key).strip())


def _forget_others(frame: pa.Table) -> pa.Table:
    """The same rows, without what a table keeps beside them: the list of all categories, and what pandas noted."""
    import pyarrow as pa

    fields = [
        pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in frame.schema
    ]
    return frame.replace_schema_metadata(None).cast(pa.schema(fields))
