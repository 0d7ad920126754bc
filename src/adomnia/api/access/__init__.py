"""Authentication: users and their roles, passwords, one-time links, tokens of programs and sessions of browsers."""

from adomnia.api.access.model import Role, Share, Token, TokenState, User, Visitor
from adomnia.api.access.opening import find_shared, open_access
from adomnia.api.access.store import ACCESS, Access

__all__ = ["ACCESS", "Access", "Role", "Share", "Token", "TokenState", "User", "Visitor", "find_shared", "open_access"]
