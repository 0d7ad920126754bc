"""GROUP BY BLOCK(k): how many blocks there are is one whole number, and anything else is refused in words."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.keys import MOST_BLOCKS, Blocks
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL


def grouped(count):
    text = f"SELECT AVG(z) FROM (SELECT AVG(age) AS z FROM people GROUP BY BLOCK({count}))"
    return lower(text, HOSPITAL).relation


@pytest.mark.parametrize("count", ["2", "0200", "0" * 5000 + "7", str(MOST_BLOCKS)])
def test_blocks_are_as_many_as_is_written(count):
    assert grouped(count).blocks == Blocks(int(count.lstrip("0")))


@pytest.mark.parametrize(
    "count", ["", "0", "1", str(MOST_BLOCKS + 1), "9" * 5000, "2.0", "1e3", "-5", "'9'", "age", "2, 3"]
)
def test_any_other_number_of_blocks_is_refused(count):
    with pytest.raises(Refusal, match="BLOCK takes one whole number, from 2 to 131,072") as refused:
        grouped(count)
    assert refused.value.code == "blocks"
