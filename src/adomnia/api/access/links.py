"""The table of one-time links, by which a user chooses a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.api.access import credentials, users
from adomnia.api.access.credentials import CredentialKind
from adomnia.api.access.login_attempts import login_refusal

if TYPE_CHECKING:
    from adomnia.api.access.credentials import Credential
    from adomnia.api.access.database import AccessTransaction

VALID_SECONDS = 24 * 60 * 60
SELECT_BY_ID = 'SELECT "user", digest FROM links WHERE id = ?'


def create(transaction: AccessTransaction, name: str) -> str:
    """Create the code of a link, which replaces an older one of the same user."""
    users.find(transaction, name)
    code, credential = credentials.draw(CredentialKind.LINK)
    transaction.run('DELETE FROM links WHERE "user" = ?', name)
    sql = 'INSERT INTO links ("user", id, digest, expires) VALUES (?, ?, ?, ?)'
    transaction.run(sql, name, credential.id, credential.digest, transaction.now + VALID_SECONDS)
    return code


def use(transaction: AccessTransaction, link: Credential) -> None:
    """Use up a link; of several uses at once one succeeds, and the others are refused like a wrong link."""
    if not transaction.run("DELETE FROM links WHERE id = ? AND expires > ?", link.id, transaction.now):
        raise login_refusal()
