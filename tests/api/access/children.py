"""What tests run in a process of its own: somebody who opens the same folder and says who enters."""

from __future__ import annotations

import sys
from pathlib import Path

from adomnia.api.access import Access
from api.access.trials import DATASET


def say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def identify(folder: str, url: str) -> None:
    """For each secret that arrives, whose it is."""
    with Access.open_shared(url, DATASET) if url else Access.open(Path(folder)) as access:
        say("opened")
        for line in sys.stdin:
            secret = line.strip()
            visitor = access.identify_token(secret) or access.identify_browser(secret)
            say(visitor.name if visitor else None)


if __name__ == "__main__":
    identify(*sys.argv[1:])
