"""Authentication: users and their roles, passwords, one-time links, tokens of programs and sessions of browsers."""

from adomnia.server.access.model import Role, Share, Token, TokenState, User, Visitor
from adomnia.server.access.opening import find_shared, open_access
from adomnia.server.access.store import ACCESS, Access

__all__ = ["ACCESS", "Access", "Role", "Share", "Token", "TokenState", "User", "Visitor", "find_shared", "open_access"]
