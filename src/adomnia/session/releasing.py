"""Making a release: its question is paid for and measured once, and what came of it is kept under a name.

The ledger is what counts: a folder that is missing or broken is built again from what was recorded there.
Whatever is published is paid by the dataset before data is read: docs/proofs/releases.md.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from adomnia.catalog.model import is_name
from adomnia.curator.measurements import Record
from adomnia.curator.paying import PaymentRequest, Reservation, measure, pay, prove, replay
from adomnia.engines.contract import silent
from adomnia.errors import AdomniaError, Failure, Refusal
from adomnia.explaining.balances import warn_account
from adomnia.methods.registry import METHODS, find_method
from adomnia.plans.canonical import canonical
from adomnia.pricing.bills import format_cost
from adomnia.pricing.findings import cost
from adomnia.pricing.policies import check_ceiling, sets_price
from adomnia.pricing.quotes import quote_questions
from adomnia.pricing.rules import VERSIONS
from adomnia.privacy.amounts import show_up
from adomnia.privacy.conversions import epsilon_of
from adomnia.privacy.losses import loss
from adomnia.releases.model import Release
from adomnia.session.answering import Outcome, build_answers
from adomnia.session.batch import Batch
from adomnia.session.release_charges import MOST_RELEASES, PREFIX
from adomnia.session.release_store import ReleaseEntry
from adomnia.session.sizes import check_size, measure_size
from adomnia.sql.methods.calls import find_call, name_of
from adomnia.sql.reading.parse import parse
from adomnia.sql.reading.refusals import refusal
from adomnia.work import allow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.catalog.model import Analyst, Catalog
    from adomnia.engines.contract import Progress
    from adomnia.ledger.requests import Receipt, StoredAnswer
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Priced
    from adomnia.pricing.quotes import Quote
    from adomnia.privacy.events import Event
    from adomnia.session.answer import Answer
    from adomnia.session.curator import Curator
    from adomnia.session.session import LocalSession

__all__ = [
    "OWNER",
    "check_release",
    "check_release_name",
    "find_receipt",
    "find_release",
    "keep_private",
    "list_releases",
    "price_release",
    "publish",
    "restore_releases",
]

OWNER = "the owner"
OWN_PREFIX = "release:"  # of those of what an analyst bought
_TAKEN = "release_taken"
_USUAL_DELTA = Fraction(1, 10**9)  # where the dataset has none to tell a guarantee at
_log = logging.getLogger("adomnia.releases")


@dataclass(frozen=True)
class _Making:
    """A release that is being made: of which dataset, called what, and what it asks."""

    curator: Curator
    name: str
    batch: Batch

    @property
    def request(self) -> str:
        return f"{PREFIX}{self.name.lower()}"

    @property
    def catalog(self) -> Catalog:
        return self.curator.catalog

    def identity(self, priced: Sequence[Priced]) -> bytes:
        """What it is stored under. With the name in it: whatever is published has a debit of its own."""
        return _identify(self.name, self.batch, priced)


def check_release_name(name: str) -> None:
    """Refuse what no release can be called."""
    if not isinstance(name, str):
        raise TypeError(f"Release name must be text, got {type(name).__name__}.")
    if not is_name(name):
        fix = "use a letter or _, then at most 62 letters, digits or _"
        raise Refusal(f"Release {name[:63]!r}", "cannot be called that", fix, code="release_name")


def check_release(batch: Batch) -> None:
    """Refuse a question that makes no release: only all of what a method for it gives can be kept."""
    (question,) = batch.questions
    tree = parse(question.text)
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


def publish(curator: Curator, name: str, batch: Batch, maker: Analyst | None, progress: Progress = silent) -> Release:
    """A release for everybody, paid by the dataset alone; by the owner (None), or by an analyst who may."""
    check_release_name(name)
    check_release(batch)
    _check_maker(maker)
    plans = batch.plans(curator.catalog)
    priced = batch.price(plans, curator.catalog)
    _check_limits(maker, priced)
    making = _Making(curator, name, batch)
    with curator.ledger.lock("release", name.lower()):
        _refuse_private(curator, name)
        receipt = _find_made(making, priced)
        if receipt is not None:
            return _open_published(curator, receipt)
        return _pay_and_keep(making, priced, OWNER if maker is None else maker.name, progress)


def price_release(
    curator: Curator, batch: Batch, maker: Analyst | None, *, together: bool = False
) -> tuple[Priced, Quote]:
    """What a release for everybody would cost, how far off it may be, and who pays; nothing is read or spent."""
    check_release(batch)
    priced = batch.price(batch.plans(curator.catalog), curator.catalog)
    prove(curator.kernel, priced)
    quote = quote_questions(priced, batch.confidence, together, batch.questions[0].rows)
    said = ["The dataset alone pays for a release, because everybody may read it."]
    try:
        _check_maker(maker)
        _check_limits(maker, priced)
    except Refusal as refused:
        said.append(f"It would be refused: {refused}")
    warnings = (*said, *warn_account(curator.ledger.account(), "the dataset's budget", quote.event))
    return priced[0], replace(quote, warnings=warnings)


def keep_private(session: LocalSession, curator: Curator, name: str, batch: Batch, progress: Progress) -> Release:
    """A release that an analyst buys as any question, and that is kept for them."""
    check_release_name(name)
    check_release(batch)
    plans = batch.plans(curator.catalog)
    with curator.ledger.lock("release", name.lower()):
        if curator.ledger.dataset_request(f"{PREFIX}{name.lower()}") is not None:
            raise _taken(name)
        earlier = curator.releases.find(name)
        own = earlier is not None and _is_own(curator, ReleaseEntry.of(earlier), session.analyst)
        if earlier is not None and own:
            if earlier.about.get("plan") == session.identify(batch, plans).hex():
                return earlier
            raise _taken(name)
        _refuse_private(curator, name)
        progress(f"measuring {name}", 0.1)
        (answer,) = session.answer_batch(batch, plans, f"{OWN_PREFIX}{name.lower()}")
        with allow():  # it is paid for
            return _keep(curator, name, batch, answer, progress, made_by=session.analyst, private=True)


def find_receipt(curator: Curator, name: str) -> Receipt | None:
    """The debit of a published release that was made; None where there is none."""
    return curator.ledger.receipt(None, f"{PREFIX}{name.lower()}") if is_name(name) else None


def find_release(curator: Curator, name: str, analyst: str | None) -> Release:
    """A release that this analyst may ask, or the owner (None); a Refusal where there is none of that name."""
    receipt = find_receipt(curator, name)
    if receipt is not None:
        kept = curator.releases.find(name)
        if kept is not None and kept.about.get("receipt") == receipt.hash:
            return kept
        with curator.ledger.lock("release", name.lower()):
            return _open_published(curator, receipt)
    entry = curator.releases.describe(name) if is_name(name) else None
    if entry is not None and _is_own(curator, entry, analyst):
        found = curator.releases.find(name)
        if found is not None:
            return found
    known = ", ".join(each.name for each in list_releases(curator, analyst))
    fix = f"name one of them: {known}" if known else "make one: CREATE TABLE releases.NAME AS SELECT * FROM ..."
    raise Refusal(f"Release {name[:63]}", "is not among the releases", fix, code="unknown_release")


def list_releases(curator: Curator, analyst: str | None) -> list[ReleaseEntry]:
    """What an analyst may ask: all that is published, oldest first, then what is their own."""
    published = [_describe_receipt(curator, each) for each in _list_receipts(curator)]
    names = {each.name.lower() for each in published}
    entries = [curator.releases.describe(name) for name in curator.releases.names() if name not in names]
    own = [each for each in entries if each is not None and _is_own(curator, each, analyst)]
    return [*published, *own]


def restore_releases(curator: Curator, progress: Progress) -> None:
    """Build the folders again that are missing or broken: of a crash between payment and folder, or a backup."""
    for receipt in _list_receipts(curator):
        name = _read_label(receipt)["name"]
        entry = curator.releases.describe(name)
        if entry is not None and entry.about.get("receipt") == receipt.hash:
            continue
        progress(f"building release {name} again", 1.0)
        try:
            with curator.ledger.lock("release", name.lower()):
                _open_published(curator, receipt)
        except Exception as fault:  # noqa: BLE001 - one release must not keep a dataset from being opened
            told = str(fault) if isinstance(fault, AdomniaError) else type(fault).__name__
            _log.warning("Release %s cannot be built again: %s", name, told)


def _check_maker(maker: Analyst | None) -> None:
    if maker is None:
        return
    if not maker.publish:
        why = f"may not be published by {maker.name}: what everybody reads is paid from the dataset's budget"
        fix = (
            f"buy it for yourself (private=True), or have the owner write publish = true under [analysts.{maker.name}]"
        )
        raise Refusal("A release", why, fix, code="may_not_publish")
    if sets_price(maker.policy):
        why = f"cannot be priced by the policy {maker.policy.name}, which is about the budget of {maker.name} alone"
        fix = "buy it for yourself (private=True), or have the owner publish it"
        raise Refusal("A release for everybody", why, fix, code="policy_price")


def _check_limits(maker: Analyst | None, priced: Sequence[Priced]) -> None:
    if maker is not None:
        check_ceiling(maker.policy, cost(priced))
        check_size(maker, measure_size(priced))


def _find_made(making: _Making, priced: Sequence[Priced]) -> Receipt | None:
    """The debit of the same release, if it was made before; a Refusal if its name stands for another, or it failed."""
    ledger = making.curator.ledger
    receipt = ledger.dataset_request(making.request)
    if receipt is None:
        return None
    if ledger.receipt(None, making.request) is None:
        why = "was paid for and failed, which is never paid back"
        raise Refusal(f"Release {making.name}", why, "choose another name", code="release_failed")
    if receipt.plan != making.identity(priced) and not _is_same(making, receipt):
        raise _taken(making.name)
    return receipt


def _is_same(making: _Making, receipt: Receipt) -> bool:
    """Whether the rules of an earlier version of this program make the same of it."""
    try:
        _price_as_before(making, receipt)
    except Refusal:
        return False
    return True


def _pay_and_keep(making: _Making, priced: Sequence[Priced], made_by: str, progress: Progress) -> Release:
    curator = making.curator
    curator.admit(measure_size(priced))
    label = {"name": making.name, "made_by": made_by, "catalog": _hash_catalog(making.catalog)}
    asked = json.dumps(json.loads(making.batch.to_text()) | {"release": label}, separators=(",", ":"))
    progress(f"measuring {making.name}", 0.1)
    paid = pay(curator.kernel, PaymentRequest(None, making.request, making.identity(priced), asked), priced)
    with allow():  # it is paid for
        if isinstance(paid, Reservation):
            evaluated, receipt = measure(curator.kernel, paid)
            outcome = Outcome(evaluated, receipt, replayed=False, left=curator.ledger.left(None))
        else:
            outcome = _replay(curator, priced, paid)
        (answer,) = build_answers(outcome, making.batch.confidence)
        return _keep(curator, making.name, making.batch, answer, progress, made_by=made_by, private=False)


def _open_published(curator: Curator, receipt: Receipt) -> Release:
    """What a debit paid for: as it is kept, or built again. Whoever calls has locked the name."""
    label, batch = _read_label(receipt), Batch.from_text(receipt.asked)
    name = label["name"]
    kept = curator.releases.find(name)
    if kept is not None and kept.about.get("receipt") == receipt.hash:
        return kept
    making = _Making(curator, name, batch)
    stored = curator.ledger.answer(None, making.request)
    if stored is None:
        raise Failure(making.request)
    with allow():  # it is paid for
        try:
            priced = _price_as_before(making, receipt)
        except Refusal:
            why = "cannot be built again: the catalog means something else by its question now"
            fix = "put back its folder from a backup"
            raise Refusal(f"Release {name}", why, fix, code="catalog_changed") from None
        (answer,) = build_answers(_replay(curator, priced, stored), batch.confidence)
        made = {"made_by": label["made_by"], "catalog": label["catalog"], "private": False}
        return _keep(curator, name, batch, answer, silent, **made)


def _replay(curator: Curator, priced: Sequence[Priced], stored: StoredAnswer) -> Outcome:
    return Outcome(replay(priced, stored), stored.receipt, replayed=True, left=curator.ledger.left(None))


def _keep(  # noqa: PLR0913 - what is told of a release
    curator: Curator,
    name: str,
    batch: Batch,
    answer: Answer,
    progress: Progress,
    *,
    made_by: str,
    private: bool,
    catalog: str | None = None,
) -> Release:
    """Make the release of an answer, and keep it."""
    receipt, product = answer.receipt, answer.product
    if receipt is None or product is None:
        raise TypeError("Release answer must have a receipt and a product: every method of the chapter has one.")
    stored = curator.ledger.answer(receipt.analyst, receipt.request_id)
    payload = b"[]" if stored is None else stored.payload
    about = {
        "dataset": curator.catalog.name,
        "mechanism": _name_method(batch),
        "price": format_cost(receipt.event),
        "paid_by": f"{made_by} and the dataset" if private else "the dataset",
        "guarantee": _describe_guarantee(receipt.event, curator.catalog),
        "version": batch.version,
        "catalog": _hash_catalog(curator.catalog) if catalog is None else catalog,
        "made_by": made_by,
        "made_at": receipt.at,
        "request_id": receipt.request_id,
        "receipt": receipt.hash,
        "plan": receipt.plan.hex(),
        "confidence": batch.confidence,
        "private": private,
        "randomness": f"follows from the measurements, whose record has the SHA-256 {sha256(payload).hexdigest()}",
    }
    measurements = tuple(Record.from_bytes(payload).values)
    (question,) = batch.questions
    release = Release(name, product, question.text.strip(), about, answer.notes, answer.to_arrow(), measurements)
    curator.releases.keep(release, progress)
    return release


def _name_method(batch: Batch) -> str:
    call = find_call(parse(batch.questions[0].text))
    return "" if call is None else name_of(call).lower()


def _describe_guarantee(event: Event, catalog: Catalog) -> str:
    spent = loss(event)
    said = f"It was made with {format_cost(event)}"
    if spent.epsilon is None:
        delta = catalog.budget.delta or _USUAL_DELTA
        pure = show_up(epsilon_of(spent.rho, delta))
        said += f" (zero-concentrated differential privacy; epsilon {pure} at delta {show_up(spent.delta + delta)})"
    return f"{said}. {catalog.unit.promise()}"


def _hash_catalog(catalog: Catalog) -> str:
    """The hash of what the question was about: tables, views and people, whatever the budgets."""
    tables = tuple(
        (table.name, table.public, table.rows_per_person, "" if table.link is None else str(table.link), table.columns)
        for table in catalog.tables
    )
    views = tuple((view.name, view.sql) for view in catalog.views)
    about = (catalog.name, catalog.version, str(catalog.unit), tables, views)
    return sha256(canonical(about)).hexdigest()


def _identify(name: str, batch: Batch, priced: Sequence[Priced]) -> bytes:
    return sha256(canonical(("release", name.lower(), batch.identity(priced, "").hex()))).digest()


def _price_as_before(making: _Making, receipt: Receipt) -> list[Priced]:
    """The question as it was measured, by whichever rules, if the catalog still means the same by it."""
    catalog = replace(making.catalog, version=making.batch.version)
    plans: list[Plan] = making.batch.plans(catalog)
    for rules in VERSIONS:
        priced = making.batch.price(plans, catalog, rules=rules)
        if making.identity(priced) == receipt.plan:
            return priced
    raise Refusal("The catalog", "means something else by it", "ask again", code="catalog_changed")


def _read_label(receipt: Receipt) -> dict[str, Any]:
    label: dict[str, Any] = json.loads(receipt.asked)["release"]
    return label


def _list_receipts(curator: Curator) -> list[Receipt]:
    """The debits of what is published, but for what failed."""
    paid = curator.ledger.dataset_requests(PREFIX, MOST_RELEASES)
    return [each for each in paid if curator.ledger.receipt(None, each.request_id) is not None]


def _describe_receipt(curator: Curator, receipt: Receipt) -> ReleaseEntry:
    """What is told of a published release; without its columns, where its folder is not whole."""
    label, batch = _read_label(receipt), Batch.from_text(receipt.asked)
    entry = curator.releases.describe(label["name"])
    if entry is not None and entry.about.get("receipt") == receipt.hash:
        return entry
    about = {"mechanism": _name_method(batch), "price": format_cost(receipt.event), "version": batch.version}
    about |= {"guarantee": _describe_guarantee(receipt.event, curator.catalog), "made_by": label["made_by"]}
    return ReleaseEntry(label["name"], batch.questions[0].text, about, (), ())


def _is_own(curator: Curator, entry: ReleaseEntry, analyst: str | None) -> bool:
    """Whether an analyst bought it, as the ledger says."""
    if not entry.private or analyst is None or entry.about.get("made_by") != analyst:
        return False
    receipt = curator.ledger.receipt(analyst, str(entry.about.get("request_id")))
    return receipt is not None and receipt.hash == entry.about.get("receipt")


def _refuse_private(curator: Curator, name: str) -> None:
    """Refuse a name under which somebody keeps what they bought."""
    entry = curator.releases.describe(name)
    if entry is not None and _is_own(curator, entry, str(entry.about.get("made_by"))):
        raise _taken(name)


def _taken(name: str) -> Refusal:
    why = "stands for another question, price or version of the data already, or is somebody's own"
    return Refusal(f"Release {name}", why, "choose another name: a name is given once", code=_TAKEN)
