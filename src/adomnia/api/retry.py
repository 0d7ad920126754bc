"""A refusal that says when to try again."""

from adomnia.errors import Refusal


class RetryLater(Refusal):
    """The request cannot be served at this moment; try again after `seconds`."""

    def __init__(self, what: str, why: str, seconds: int, *, code: str) -> None:
        super().__init__(what, why, f"try again in {seconds} s", code=code)
        self.seconds = seconds

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.what, self.why, self.seconds, self.code)


def _rebuild(what: str, why: str, seconds: int, code: str) -> RetryLater:
    return RetryLater(what, why, seconds, code=code)
