"""Failpoints: places where a test can end the process at once, as kill -9 or a power cut would."""

import os

VARIABLE = "ADOMNIA_FAILPOINT"
KILLED = 137  # what a shell reports for kill -9

FAILPOINTS = (
    *("anchor-created", "schema-created"),  # when a ledger is made
    *("before-begin", "reserve-written", "answer-written", "before-commit", "after-commit", "after-anchor"),
    *("reserve-durable", "answer-durable"),  # back in the caller's thread
    *("old-moved", "draft-moved"),  # when a backup is put in place
    "release-drafted",  # when the folder of a release is written
)


def failpoint(name: str) -> None:
    """End the process here if the environment names this failpoint, without running any handler or clean-up."""
    if os.environ.get(VARIABLE) == name:
        os._exit(KILLED)
