"""The names of requests: whoever knows one can ask again what became of it, and does not pay twice."""

from adomnia.noise import SystemBits


def choose_request_id(named: str | None) -> str:
    """The request id that was named, or a fresh one that nobody can guess."""
    return SystemBits().words(2).tobytes().hex() if named is None else named
