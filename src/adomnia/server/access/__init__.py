"""Who may enter: people and their roles, passwords, one-time links, tokens for programs and visits of browsers."""

from adomnia.server.access.model import Role, Token, User, Visitor
from adomnia.server.access.store import ACCESS, Access

__all__ = ["ACCESS", "Access", "Role", "Token", "User", "Visitor"]
