"""How often methods simulate: less where a price is quoted, because rows that are only supposed are a guess anyway."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_FEWER = 8  # times
_LEAST = 60  # of which a standard deviation is known to a tenth

_IS_QUOTED: ContextVar[bool] = ContextVar("is_quoted", default=False)


@contextmanager
def simulate_less() -> Iterator[None]:
    """Within it, errors to expect are computed, and nothing that anybody is told as a result."""
    before = _IS_QUOTED.set(True)
    try:
        yield
    finally:
        _IS_QUOTED.reset(before)


def count_simulations(usual: int, least: int = _LEAST) -> int:
    """How many simulations are made of what is usually simulated so often.

    >>> with simulate_less():
    ...     count_simulations(1000), count_simulations(1000, least=400)
    (125, 400)
    >>> count_simulations(1000)
    1000
    """
    return max(min(usual, least), usual // _FEWER) if _IS_QUOTED.get() else usual
