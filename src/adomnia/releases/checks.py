"""What is refused before a release is made: names, questions that make none, who may not publish, and its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.catalog.model import is_name
from adomnia.errors import Refusal
from adomnia.ledger.history import list_requests
from adomnia.messages.texts import write
from adomnia.methods.registry import METHODS, find_method
from adomnia.pricing.policies import sets_price
from adomnia.sql.methods.calls import name_of
from adomnia.sql.reading.parse import parse
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.scope import find_call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.catalog.model import Analyst
    from adomnia.ledger import Ledger
    from adomnia.ledger.records import Records
    from adomnia.ledger.requests import Receipt
    from adomnia.privacy.events import Event

PREFIX = "dataset:release:"  # of the request ids of what is published
MOST_RELEASES = 10_000


def check_release_name(name: str) -> None:
    """Refuse what no release can be called."""
    if not isinstance(name, str):
        raise TypeError(f"Release name must be text, got {type(name).__name__}.")
    if not is_name(name):
        fix = "use a letter or _, then at most 62 letters, digits or _"
        raise Refusal(f"Release {name[:63]!r}", "cannot be called that", fix, code="release_name")


def check_release(question: str) -> None:
    """Refuse a question that makes no release: only all of what a method for it gives can be kept."""
    tree = parse(question)
    call = find_call(tree)
    method = None if call is None else find_method(name_of(call))
    if call is None or method is None or method.chapter != "releases":
        known = ", ".join(each.name for each in METHODS.values() if each.chapter == "releases")
        fix = f"ask for all that a method which makes one gives: {known}"
        raise refusal("no_release", tree, "makes no release, and nothing else may be created", fix, "The question")
    extra = {name for name, value in tree.args.items() if value} - {"expressions", "from_", "with_", "kind"}
    if extra or len(tree.expressions) != 1 or not isinstance(tree.expressions[0], exp.Star):
        fix = f"ask for all of {method.name}(...) with a star, and nothing more: what is published is filtered for free"
        raise refusal("no_release", tree, "changes what the method gives", fix, "The question")


def check_maker(maker: Analyst | None) -> None:
    if maker is None:
        return
    if not maker.publish:
        why = f"may not be published by {maker.name}: what everybody reads is paid from the dataset's budget"
        publish = f"have the owner write publish = true under [analysts.{maker.name}]"
        fix = write("buy it for yourself ({private=True}), or {publish}", publish=publish)
        raise Refusal("A release", why, fix, code="may_not_publish")
    if sets_price(maker.policy):
        why = f"cannot be priced by the policy {maker.policy.name}, which is about the budget of {maker.name} alone"
        fix = write("buy it for yourself ({private=True}), or have the owner publish it")
        raise Refusal("A release for everybody", why, fix, code="policy_price")


def taken_name(name: str) -> Refusal:
    why = "stands for another question, price or version of the data already"
    return Refusal(f"Release {name}", why, "choose another name: a name is given once", code="release_taken")


def list_charges(ledger: Ledger) -> dict[str, Event]:
    """What each release cost the dataset, those that failed too."""
    return _by_name(ledger.dataset_requests(PREFIX, MOST_RELEASES))


def read_charges(records: Records) -> dict[str, Event]:
    """The same from a snapshot of a ledger that nobody opens."""
    return _by_name(list_requests(records, PREFIX, MOST_RELEASES))


def _by_name(receipts: Iterable[Receipt]) -> dict[str, Event]:
    return {each.request_id.removeprefix(PREFIX): each.event for each in receipts}
