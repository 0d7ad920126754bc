"""`adomnia serve`: prepares a dataset, makes its owner known, and runs workers until it is told to stop."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.server.access import Access, Role
from adomnia.server.running.listening import bound, check_certificate
from adomnia.server.running.logs import Logs
from adomnia.server.running.run_folder import open_run_folder
from adomnia.server.running.supervisor import Heard, Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from adomnia.server.settings import Settings

__all__ = ["Started", "serve"]

STATE = ".adomnia"  # where the curator keeps index and ledger; this process does without the curator
OWNER = "owner"
RUN = "run"  # the folder of numbers that processes share, beside index and ledger


@dataclass(frozen=True)
class Started:
    """A server that takes requests: what it serves and where, and the link for the first sign-in of its owner."""

    dataset: str
    address: str
    link: str | None
    workers: int


def serve(settings: Settings, progress: Callable[[str, float], None], announce: Callable[[Started], None]) -> int:
    """Serve until a signal; the exit code.

    The workers open the dataset at once. One of them builds its index, if there is none yet, while the others wait.
    """
    check_certificate(settings)
    with bound(settings) as listener:
        settings = replace(settings, port=listener.getsockname()[1])
        state = settings.folder / STATE
        folder, lock = open_run_folder(state / RUN, os.getpid())

        def ready(name: str) -> None:
            link = first_link(state, settings.address)
            announce(Started(name, settings.address, link, settings.workers))

        with lock:
            return Supervisor(settings, listener, folder, Logs(settings)).run(Heard(progress, ready))


def first_link(state: Path, address: str) -> str | None:
    """A link to sign in by, as long as no owner has a password; there is an owner from the first start on."""
    access = Access.open(state)
    try:
        owners = [user for user in access.users() if user.role is Role.OWNER]
        if any(owner.has_password for owner in owners):
            return None
        if not owners:
            access.add_user(OWNER, Role.OWNER)
        code = access.create_link(owners[0].name if owners else OWNER)
    finally:
        access.close()
    return f"{address}/sign-in?code={code}"
