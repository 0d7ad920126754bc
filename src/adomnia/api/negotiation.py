"""Which form of an answer a request accepts: JSON unless it prefers Arrow or CSV."""

from __future__ import annotations

from adomnia.wire.tables import ARROW, CSV

__all__ = ["JSON", "choose_form"]

JSON = "application/json"
_FORMS = (JSON, ARROW, CSV)
_MOST_PARTS = 20  # of a header that are read


def choose_form(accept: str | None) -> str:
    """The media type that an Accept header names with the greatest weight; JSON where it names none of ours.

    >>> choose_form("text/csv;q=0.5, application/vnd.apache.arrow.stream")
    'application/vnd.apache.arrow.stream'
    >>> choose_form("*/*")
    'application/json'
    """
    weights: dict[str, float] = {}
    for part in (accept or "").split(",")[:_MOST_PARTS]:
        form, *parameters = (each.strip().lower() for each in part.split(";"))
        if form in _FORMS:
            weights[form] = _read_weight(parameters)
    best = max(weights, key=lambda form: weights[form], default=JSON)
    return best if weights.get(best) else JSON


def _read_weight(parameters: list[str]) -> float:
    written = next((each[2:] for each in parameters if each.startswith("q=")), "1")
    try:
        weight = float(written)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0
