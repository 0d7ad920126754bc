"""What owners and auditors do with a dataset over HTTP: budgets, and the text of its catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from adomnia.client.connection import Connection, check_address
from adomnia.client.session import TIMEOUT, find_dataset, path_part, read_reply, take_reply
from adomnia.privacy.amounts import exact
from adomnia.wire.amounts import text_of
from adomnia.wire.budgets import AccountReply, AccountsReply
from adomnia.wire.catalog_texts import CatalogIdentityReply, CatalogPreviewReply, CatalogTextReply, OlderTextReply
from adomnia.wire.models import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.privacy.amounts import Number
    from adomnia.privacy.filters import Filter

_Told = TypeVar("_Told", bound=Reply)
_Read = TypeVar("_Read")


class RemoteOwner:
    """A dataset of a server, as its owner has it. Auditors read what owners read, and change nothing.

    What changes it asks for the owner's password once more: whoever finds a token must not be able to.
    """

    def __init__(self, connection: Connection, dataset: str, name: str) -> None:
        self._connection, self.dataset, self.name = connection, dataset, name

    def accounts(self) -> dict[str | None, Filter]:
        """All budgets and what was spent of them, by the names of analysts; None is the dataset's."""
        return self._read(AccountsReply, _list_accounts, self._connection.get(self._path("accounts")))

    def top_up(
        self, analyst: str | None, reason: str, epsilon: Number = 0, delta: Number = 0, *, password: str
    ) -> Filter:
        """Add to the budget of an analyst, or of the dataset (None), for good; the account afterwards.

        It is added to the budget as it is now. Where that changes in the meantime, or the reply was lost and the
        request is sent again, it is refused: nothing is added twice.
        """
        seen = self.accounts().get(analyst)
        body = {
            "analyst": analyst,
            "reason": reason,
            "epsilon": _write(epsilon, "epsilon"),
            "delta": _write(delta, "delta"),
            "seen_epsilon": "0" if seen is None else text_of(seen.budget.epsilon),
            "seen_delta": "0" if seen is None else text_of(seen.budget.delta),
            "password": password,
        }
        told = self._connection.post(self._path("accounts/top-up"), body)
        return self._read(AccountReply, AccountReply.account, told)

    def catalog_text(self) -> CatalogTextReply:
        """The text of catalog.toml, what is wrong with it, whether it is served, and the texts that it replaced."""
        return self._read(CatalogTextReply, take_reply, self._connection.get(self._path("catalog/text")))

    def older_text(self, name: str) -> str:
        """A text that was replaced, by its name in `catalog_text().kept`."""
        told = self._connection.get(self._path(f"catalog/text/{path_part(name)}"))
        return self._read(OlderTextReply, lambda reply: reply.text, told)

    def check_catalog(self, text: str) -> CatalogPreviewReply:
        """What is wrong with a text, or what would follow from it; nothing is saved."""
        told = self._connection.post(self._path("catalog/check"), {"text": text})
        return self._read(CatalogPreviewReply, take_reply, told)

    def save_catalog(self, text: str, identity: str, *, password: str) -> str:
        """Save a text with which nothing is wrong, if the one on disk still has this identity; gives the new one."""
        body = {"text": text, "identity": identity, "password": password}
        told = self._connection.put(self._path("catalog/text"), body)
        return self._read(CatalogIdentityReply, lambda reply: reply.identity, told)

    def close(self) -> None:
        """Close the connection to the server."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteOwner({self.name} looks after {self.dataset} at {self._connection.address.url})"

    def _path(self, path: str) -> str:
        return f"/datasets/{path_part(self.dataset)}/{path}"

    def _read(self, model: type[_Told], read: Callable[[_Told], _Read], record: Any) -> _Read:  # noqa: ANN401 - JSON
        return read_reply(self._connection, model, read, record)


def connect_owner(
    url: str, token: str, dataset: str | None = None, *, timeout: float = TIMEOUT, insecure: bool = False
) -> RemoteOwner:
    """A dataset of a server, for its owner or an auditor; the arguments are those of `connect`."""
    connection = Connection(check_address(url, insecure=insecure), token, timeout)
    try:
        return RemoteOwner(connection, *find_dataset(connection, dataset))
    except BaseException:
        connection.close()
        raise


def _list_accounts(told: AccountsReply) -> dict[str | None, Filter]:
    return {None: told.dataset.account()} | {each.analyst: each.account() for each in told.analysts}


def _write(amount: Number, name: str) -> str:
    return text_of(exact(amount, "RemoteOwner", name))
