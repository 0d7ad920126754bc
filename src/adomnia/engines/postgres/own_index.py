"""Functions of our own that only stored grids need: wide integers, which a cast of PostgreSQL's would cut."""

from adomnia.engines.postgres.own import Own, double

_PART = 2.0**62
# A double that is whole, as the decimal that it is: its parts of 62 bits are integers of 64 bits.
_WIDE = (
    f"CAST(TRUNC(a / {double(_PART)}) AS bigint)::numeric * {int(_PART)} "
    f"+ CAST(a - TRUNC(a / {double(_PART)}) * {double(_PART)} AS bigint)"
)
WIDE = Own("wide", "a float8", "numeric", _WIDE)
