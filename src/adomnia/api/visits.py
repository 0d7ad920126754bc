"""Somebody who is signed in, at the dataset that is served: what routes and pages act by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.api.access import Role

if TYPE_CHECKING:
    from adomnia.api.access import Visitor
    from adomnia.api.running.served_dataset import Edition
    from adomnia.api.services import Services
    from adomnia.catalog.model import Catalog
    from adomnia.session.contract import Session
    from adomnia.session.curator import Curator


@dataclass(frozen=True)
class Visit:
    """Who asks, of which edition of the dataset. The curator is for the actions of this package: pages have none."""

    services: Services
    visitor: Visitor
    edition: Edition

    @property
    def curator(self) -> Curator:
        return self.edition.curator

    @property
    def catalog(self) -> Catalog:
        """What is declared: all of it is public."""
        return self.edition.curator.catalog

    @property
    def session(self) -> Session:
        """What an analyst may do; only for analysts."""
        return self.edition.curator.session(self.visitor.name)

    @property
    def is_analyst(self) -> bool:
        """Whether they ask questions, and so have a budget."""
        return self.visitor.role is Role.ANALYST
