"""Authentication: users and their roles, passwords, one-time links, tokens of programs and sessions of browsers."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from adomnia.api.access.database import run_now
from adomnia.api.access.model import Role, Share, Token, TokenState, User, Visitor
from adomnia.api.access.store import ACCESS, Access
from adomnia.errors import Refusal
from adomnia.postgres import check_url

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

__all__ = ["ACCESS", "Access", "Role", "Share", "Token", "TokenState", "User", "Visitor", "find_shared", "open_access"]
_CATALOG, _STATE = "catalog.toml", ".adomnia"  # as in catalog and curator, whose import would slow the start


def open_access(folder: Path, defer: Callable[[Callable[[], None]], object] = run_now) -> Access:
    """Open the users of the dataset in a folder, or refuse."""
    url, name = find_shared(folder)
    if url is None:
        return Access.open(folder / _STATE, defer=defer)
    return Access.open_shared(url, name, defer=defer)


def find_shared(folder: Path) -> tuple[str | None, str]:
    """The URL of the ledger that hosts share, and the name of the dataset; neither, if the catalog has no URL."""
    try:
        catalog: dict[str, Any] = tomllib.loads((folder / _CATALOG).read_text())
        url, name = catalog.get("ledger", {}).get("url"), str(catalog.get("dataset", {}).get("name", ""))
    except FileNotFoundError:
        return None, ""
    except (OSError, ValueError, AttributeError):
        fix = "correct it: adomnia check says where it is wrong"
        raise Refusal(_CATALOG, "cannot be read, so that nobody knows where its users are", fix) from None
    if url is None:
        return None, ""
    check_url(str(url), f"url in [ledger] of {_CATALOG}")
    return str(url), name
