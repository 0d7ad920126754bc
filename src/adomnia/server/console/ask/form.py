"""What the form of a question holds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from adomnia.wire.asking import Ask, AskPrice

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class AskForm:
    """The fields of a question."""

    sql: str = ""
    pay: str = "epsilon"
    amount: str = "0.25"
    rows: str = ""
    inference: str = "data"
    effort: str = "normal"
    anyway: bool = False
    request_id: str = ""

    @classmethod
    def from_fields(cls, sent: Mapping[str, str]) -> AskForm:
        """The form that was sent."""
        known: dict[str, Any] = {each.name: sent[each.name] for each in fields(cls) if each.name in sent}
        return cls(**known)

    def asked(self) -> Ask:
        """The question to pay for."""
        return Ask(**self._named(), request_id=self.request_id or None, anyway=bool(self.anyway))

    def priced(self) -> AskPrice:
        """The question whose price is wanted."""
        return AskPrice(**self._named())

    def _named(self) -> dict[str, Any]:
        return {"sql": self.sql, self.pay: self.amount}
