"""`adomnia serve`: opens the port, creates the first owner, and runs workers until it is told to stop."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.api.access import Role, open_access
from adomnia.api.running.logs import Logs
from adomnia.api.running.run_folder import open_run_folder
from adomnia.errors import Refusal
from adomnia.serving.listener import check_certificate, open_listener
from adomnia.serving.supervisor import StartCallbacks, Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from adomnia.api.settings import Settings

STATE = ".adomnia"  # where the curator keeps index and ledger; importing the curator would slow the start
OWNER = "owner"
RUN = "run"  # the parent of run folders, beside index and ledger


@dataclass(frozen=True)
class Started:
    """A server that is ready: its dataset and address, and the link for the first sign-in of its owner."""

    dataset: str
    address: str
    link: str | None
    workers: int


def serve(settings: Settings, progress: Callable[[str, float], None], announce: Callable[[Started], None]) -> int:
    """Serve until a signal, and return the exit code.

    All workers open the dataset. If it has no index yet, one of them builds it while the others wait.
    """
    check_certificate(settings)
    with open_listener(settings) as listener:
        settings = replace(settings, port=listener.getsockname()[1])
        state = settings.folder / STATE
        run_folder, lock = open_run_folder(state / RUN, os.getpid())

        def ready(name: str) -> None:
            link = create_first_link(settings.folder, settings.address)
            announce(Started(name, settings.address, link, settings.workers))

        with lock:
            return Supervisor(settings, listener, run_folder, Logs(settings)).run(StartCallbacks(progress, ready))


def create_first_link(folder: Path, address: str) -> str | None:
    """Create a sign-in link for the owner, who is created if missing; None once an owner has a password."""
    with open_access(folder) as access:
        owners = [user for user in access.users() if user.role is Role.OWNER]
    if any(owner.has_password for owner in owners):
        return None
    return create_link(folder, address, owners[0].name if owners else OWNER, Role.OWNER)


def create_link(folder: Path, address: str, name: str, role: Role) -> str:
    """Create a sign-in link for somebody, who is added in that role if missing."""
    with open_access(folder) as access:
        try:
            access.add_user(name, role)
        except Refusal as refusal:
            if refusal.code != "user_exists":  # perhaps since just now: hosts may start at the same moment
                raise
        return f"{address}/sign-in?code={access.create_link(name)}"
