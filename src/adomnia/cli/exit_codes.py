"""What a command ends with."""

from adomnia.errors import AdomniaError, Refusal, Unavailable

REFUSED, FAILED, UNAVAILABLE = 2, 1, 3


def exit_code(error: AdomniaError) -> int:
    """The exit code of an error."""
    if isinstance(error, Unavailable):
        return UNAVAILABLE
    return REFUSED if isinstance(error, Refusal) else FAILED
