"""Not now: a refusal that says when to come back."""

from __future__ import annotations

from adomnia.errors import Refusal


class Later(Refusal):
    """The request is welcome, but not at this moment; `seconds` is how long to wait before the next try."""

    def __init__(self, what: str, why: str, seconds: int, *, code: str) -> None:
        super().__init__(what, why, f"try again in {seconds} s", code=code)
        self.seconds = seconds

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.what, self.why, self.seconds, self.code)


def _rebuilt(what: str, why: str, seconds: int, code: str) -> Later:
    return Later(what, why, seconds, code=code)
