"""Making a release: its question is paid for and measured once, and what came of it is kept under a name.

The ledger is what counts: a folder that is missing or broken is built again from what was recorded there.
Whatever is published is paid by the dataset before data is read: docs/proofs/releases.md.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from adomnia.asking.arrow import build_table
from adomnia.asking.batch import Batch
from adomnia.asking.purchase import buy, give, pay_once, show_again
from adomnia.asking.sizes import check_size, measure_size
from adomnia.catalog.model import is_name
from adomnia.curator.measurements import Record
from adomnia.curator.paying import PaymentRequest, prove
from adomnia.engines.contract import silent
from adomnia.errors import AdomniaError, Failure, Refusal
from adomnia.explaining.balances import warn_account
from adomnia.messages.texts import NoteTemplate, define_note
from adomnia.plans.plan import canonical
from adomnia.pricing.bills import format_cost
from adomnia.pricing.parts import cost
from adomnia.pricing.policies import check_ceiling, sets_price
from adomnia.pricing.quotes import quote_questions
from adomnia.releases.checks import MOST_RELEASES, PREFIX, check_maker, check_release, check_release_name, taken_name
from adomnia.releases.covering import hash_meaning
from adomnia.releases.facts import ReleaseFacts, describe_guarantee, describe_making, hash_catalog, name_method
from adomnia.releases.model import Release
from adomnia.releases.store import ReleaseEntry
from adomnia.work import allow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.asking.asker import Asker, Dataset
    from adomnia.asking.purchase import Outcome
    from adomnia.catalog.model import Analyst, Catalog
    from adomnia.engines.contract import Progress
    from adomnia.ledger.requests import Receipt
    from adomnia.plans.plan import Plan
    from adomnia.pricing.bills import Quote
    from adomnia.pricing.questions import Priced

OWNER = "the owner"
OWN_PREFIX = "release:"  # of those of what an analyst bought
MOST_OWN = 100  # that are kept for one analyst: a folder may be far larger than what the ledger keeps of it
_log = logging.getLogger("adomnia.releases")


_DATASET_PAYS = define_note(
    "dataset_pays_release", "The dataset alone pays for a release, because everybody may read it."
)
_REFUSED = NoteTemplate("release_would_be_refused", "It would be refused: {refusal}")


@dataclass(frozen=True)
class _Making:
    """A release that is being made: of which dataset, called what, and what it asks."""

    dataset: Dataset
    name: str
    batch: Batch

    @property
    def request(self) -> str:
        return f"{PREFIX}{self.name.lower()}"

    @property
    def catalog(self) -> Catalog:
        return self.dataset.catalog

    def identity(self, priced: Sequence[Priced]) -> bytes:
        """What it is stored under. With the name in it: whatever is published has a debit of its own."""
        return _identify(self.name, self.batch, priced)


def publish(dataset: Dataset, name: str, batch: Batch, maker: Analyst | None, progress: Progress = silent) -> Release:
    """A release for everybody, paid by the dataset alone; by the owner (None), or by an analyst who may."""
    check_release_name(name)
    check_release(batch.questions[0].text)
    check_maker(maker)
    plans = batch.plans(dataset.catalog)
    priced = batch.price(plans, dataset.catalog)
    check_limits(maker, priced)
    making = _Making(dataset, name, batch)
    with dataset.ledger.lock("release", name.lower()):
        if maker is not None and _find_own(dataset, name, maker.name) is not None:
            raise taken_name(name)
        receipt = _find_made(making, priced)
        if receipt is not None:
            return _open_published(dataset, receipt)
        _refuse_countless(dataset)
        return _pay_and_keep(making, priced, OWNER if maker is None else maker.name, progress)


def price_release(
    dataset: Dataset, batch: Batch, maker: Analyst | None, *, simultaneous: bool = False
) -> tuple[Priced, Quote]:
    """What a release for everybody would cost, how far off it may be, and who pays; nothing is read or spent."""
    check_release(batch.questions[0].text)
    priced = batch.price(batch.plans(dataset.catalog), dataset.catalog)
    prove(dataset.kernel, priced)
    quote = quote_questions(priced, batch.confidence, simultaneous, batch.questions[0].rows)
    said = [_DATASET_PAYS]
    try:
        check_maker(maker)
        check_limits(maker, priced)
    except Refusal as refused:
        said.append(_REFUSED(refusal=str(refused)))
    warnings = (*said, *warn_account(dataset.ledger.account(), "the dataset's budget", quote.event))
    return priced[0], replace(quote, warnings=warnings)


def buy_release(asker: Asker, name: str, batch: Batch, progress: Progress) -> Release:
    """A release that an analyst buys as any question, and that is kept for them."""
    check_release_name(name)
    check_release(batch.questions[0].text)
    dataset, analyst = asker.dataset, asker.name
    plans = batch.plans(dataset.catalog)
    with dataset.ledger.lock("release", name.lower(), analyst):
        earlier = _find_own(dataset, name, analyst)
        if earlier is None and dataset.ledger.dataset_request(f"{PREFIX}{name.lower()}") is not None:
            raise taken_name(name)
        plan = _identify_own(asker, batch, plans).hex()
        if earlier is not None and earlier.facts.plan != plan:
            raise taken_name(name)
        if earlier is not None:
            return earlier
        _refuse_more(dataset, analyst, plan)
        progress(f"measuring {name}", 0.1)
        outcome = buy(asker, batch, plans, f"{OWN_PREFIX}{name.lower()}", allow_uninformative=True)
        with allow():  # it is paid for
            return keep_release(dataset, name, batch, outcome, progress, made_by=analyst, private=True)


def _identify_own(asker: Asker, batch: Batch, plans: Sequence[Plan]) -> bytes:
    """What the answer is stored under that an analyst would buy."""
    asker.check_named(batch)
    return asker.identify(batch, plans, [] if sets_price(asker.policy) else asker.price(batch, plans))


def check_limits(maker: Analyst | None, priced: Sequence[Priced]) -> None:
    if maker is not None:
        check_ceiling(maker.policy, cost(priced))
        check_size(maker, measure_size(priced))


def keep_release(  # noqa: PLR0913 - what is told of a release
    dataset: Dataset,
    name: str,
    batch: Batch,
    outcome: Outcome,
    progress: Progress,
    *,
    made_by: str,
    private: bool,
    catalog: str | None = None,
) -> Release:
    """Make the release of an answer, and keep it."""
    (answer,), receipt = outcome.drafts, outcome.receipt
    assert receipt is not None  # noqa: S101 - a release is paid for
    product = answer.product
    if product is None:  # every method of the chapter has one, but a stored answer has none
        why = "was measured by another version of this program, and this one would make another release of it"
        fix = "put back its folder from a backup, or name another price, which is paid for anew"
        raise Refusal(f"Release {name}", why, fix, code="other_version")
    stored = dataset.ledger.answer(receipt.analyst, receipt.request_id)
    payload = b"[]" if stored is None else stored.payload
    (question,) = batch.questions
    facts = ReleaseFacts(
        dataset=dataset.catalog.name,
        mechanism=name_method(question.text),
        price=format_cost(receipt.event),
        paid_by=f"{made_by} and the dataset" if private else "the dataset",
        guarantee=describe_guarantee(receipt.event, dataset.catalog),
        made_with=describe_making(receipt.event, dataset.catalog),
        version=batch.version,
        catalog=hash_catalog(dataset.catalog) if catalog is None else catalog,
        made_by=made_by,
        made_at=receipt.at,
        request_id=receipt.request_id,
        receipt=receipt.hash,
        plan=receipt.plan.hex(),
        meaning=hash_meaning(question.text.strip(), dataset.catalog),
        confidence=batch.confidence,
        private=private,
        randomness=f"follows from the measurements, whose record has the SHA-256 {sha256(payload).hexdigest()}",
    )
    measurements = tuple(Record.from_bytes(payload).values)
    release = Release(
        name,
        product,
        question.text.strip(),
        facts,
        answer.notes,
        build_table(answer.columns, answer.rows, answer.confidence),
        measurements,
    )
    dataset.releases.keep(release, progress)
    return release


def find_receipt(dataset: Dataset, name: str) -> Receipt | None:
    """The debit of a published release that was made; None where there is none."""
    return dataset.ledger.receipt(None, f"{PREFIX}{name.lower()}") if is_name(name) else None


def find_release(dataset: Dataset, name: str, analyst: str | None) -> Release:
    """A release that this analyst may ask, or the owner (None); a Refusal where there is none of that name.

    What the analyst bought comes first: whatever is published later changes nothing about it.
    """
    own = None if analyst is None else _find_own(dataset, name, analyst)
    if own is not None:
        return own
    receipt = find_receipt(dataset, name)
    if receipt is not None:
        kept = dataset.releases.find(name)
        if kept is not None and kept.facts.receipt == receipt.hash:
            return kept
        with dataset.ledger.lock("release", name.lower()):
            return _open_published(dataset, receipt)
    known = ", ".join(each.name for each in list_releases(dataset, analyst))
    fix = f"name one of them: {known}" if known else "make one: CREATE TABLE releases.NAME AS SELECT * FROM ..."
    raise Refusal(f"Release {name[:63]}", "is not among the releases", fix, code="unknown_release")


def list_releases(dataset: Dataset, analyst: str | None) -> list[ReleaseEntry]:
    """What an analyst may ask: all that is published, oldest first, then what is their own."""
    published = [_describe_receipt(dataset, each) for each in _list_receipts(dataset)]
    own = [] if analyst is None else _list_own(dataset, analyst)
    names = {each.name.lower() for each in own}
    return [*(each for each in published if each.name.lower() not in names), *own]


def restore_releases(dataset: Dataset, progress: Progress) -> None:
    """Build the folders again that are missing or broken: of a crash between payment and folder, or a backup."""
    dataset.releases.separate()
    for receipt in _list_receipts(dataset):
        name = _read_label(receipt)["name"]
        entry = dataset.releases.describe(name)
        if entry is not None and entry.facts.receipt == receipt.hash:
            continue
        progress(f"building release {name} again", 1.0)
        try:
            with dataset.ledger.lock("release", name.lower()):
                _open_published(dataset, receipt)
        except Exception as fault:  # noqa: BLE001 - one release must not keep a dataset from being opened
            told = str(fault) if isinstance(fault, AdomniaError) else type(fault).__name__
            _log.warning("Release %s cannot be built again: %s", name, told)


def _find_made(making: _Making, priced: Sequence[Priced]) -> Receipt | None:
    """The debit of the same release, if it was made before; a Refusal if its name stands for another, or it failed."""
    ledger = making.dataset.ledger
    receipt = ledger.dataset_request(making.request)
    if receipt is None:
        return None
    if ledger.receipt(None, making.request) is None:
        why = "was paid for and failed, which is never paid back"
        raise Refusal(f"Release {making.name}", why, "choose another name", code="release_failed")
    if receipt.plan != making.identity(priced) and not _is_same(making, receipt):
        raise taken_name(making.name)
    return receipt


def _is_same(making: _Making, receipt: Receipt) -> bool:
    """Whether the rules of an earlier version of this program make the same of it."""
    try:
        _price_as_before(making, receipt)
    except Refusal:
        return False
    return True


def _pay_and_keep(making: _Making, priced: Sequence[Priced], made_by: str, progress: Progress) -> Release:
    dataset, batch = making.dataset, making.batch
    label = {"name": making.name, "made_by": made_by, "catalog": hash_catalog(making.catalog)}
    asked = json.dumps(json.loads(batch.to_text()) | {"release": label}, separators=(",", ":"))
    progress(f"measuring {making.name}", 0.1)
    request = PaymentRequest(None, making.request, making.identity(priced), asked)
    outcome = give(dataset, pay_once(dataset, None, request, priced), priced, batch.confidence)
    with allow():  # it is paid for
        return keep_release(dataset, making.name, batch, outcome, progress, made_by=made_by, private=False)


def _open_published(dataset: Dataset, receipt: Receipt) -> Release:
    """What a debit paid for: as it is kept, or built again. Whoever calls has locked the name."""
    label, batch = _read_label(receipt), Batch.from_text(receipt.asked)
    name = label["name"]
    kept = dataset.releases.find(name)
    if kept is not None and kept.facts.receipt == receipt.hash:
        return kept
    making = _Making(dataset, name, batch)
    stored = dataset.ledger.answer(None, making.request)
    if stored is None:
        raise Failure(making.request)
    with allow():  # it is paid for
        try:
            priced = _price_as_before(making, receipt)
        except Refusal:
            why = "cannot be built again: the catalog means something else by its question now"
            fix = "put back its folder from a backup"
            raise Refusal(f"Release {name}", why, fix, code="catalog_changed") from None
        made = {"made_by": label["made_by"], "catalog": label["catalog"], "private": False}
        return keep_release(dataset, name, batch, show_again(priced, stored, batch.confidence), silent, **made)


def _identify(name: str, batch: Batch, priced: Sequence[Priced]) -> bytes:
    return sha256(canonical(("release", name.lower(), batch.identity(priced, "").hex()))).digest()


def _price_as_before(making: _Making, receipt: Receipt) -> list[Priced]:
    """The question as it was measured, by whichever rules, if the catalog still means the same by it."""
    catalog = replace(making.catalog, version=making.batch.version)
    return making.batch.price_as_before(catalog, receipt, lambda _plans, priced, _rules: making.identity(priced))


def _read_label(receipt: Receipt) -> dict[str, Any]:
    label: dict[str, Any] = json.loads(receipt.asked)["release"]
    return label


def _list_receipts(dataset: Dataset) -> list[Receipt]:
    """The debits of what is published, but for what failed."""
    paid = dataset.ledger.dataset_requests(PREFIX, MOST_RELEASES)
    return [each for each in paid if dataset.ledger.receipt(None, each.request_id) is not None]


def _describe_receipt(dataset: Dataset, receipt: Receipt) -> ReleaseEntry:
    """What is told of a published release; without its columns, where its folder is not whole."""
    label, batch = _read_label(receipt), Batch.from_text(receipt.asked)
    entry = dataset.releases.describe(label["name"])
    if entry is not None and entry.facts.receipt == receipt.hash:
        return entry
    (question,) = batch.questions
    facts = ReleaseFacts(
        mechanism=name_method(question.text),
        price=format_cost(receipt.event),
        guarantee=describe_guarantee(receipt.event, dataset.catalog),
        made_with=describe_making(receipt.event, dataset.catalog),
        version=batch.version,
        made_by=label["made_by"],
    )
    return ReleaseEntry(label["name"], question.text, facts, (), ())


def _find_own(dataset: Dataset, name: str, analyst: str) -> Release | None:
    """What an analyst bought under a name."""
    entry = dataset.releases.describe(name, analyst)
    return dataset.releases.find(name, analyst) if entry is not None and _is_own(dataset, entry, analyst) else None


def _list_own(dataset: Dataset, analyst: str) -> list[ReleaseEntry]:
    """All that an analyst bought."""
    entries = [dataset.releases.describe(name, analyst) for name in dataset.releases.names(analyst)]
    return [each for each in entries if each is not None and _is_own(dataset, each, analyst)]


def _is_own(dataset: Dataset, entry: ReleaseEntry, analyst: str) -> bool:
    """Whether an analyst bought it, as the ledger says."""
    if not entry.private or entry.facts.made_by != analyst:
        return False
    receipt = dataset.ledger.receipt(analyst, str(entry.facts.request_id))
    return receipt is not None and receipt.hash == entry.facts.receipt


def _refuse_countless(dataset: Dataset) -> None:
    """Refuse to publish more than are ever listed: each of them counts for everybody."""
    if len(dataset.ledger.dataset_requests(PREFIX, MOST_RELEASES)) >= MOST_RELEASES:
        why, fix = (
            f"would be one more than {MOST_RELEASES:,}, which are all that are listed",
            "ask those that there are",
        )
        raise Refusal("This release", why, fix, code="too_many_releases")


def _refuse_more(dataset: Dataset, analyst: str, plan: str) -> None:
    """Refuse to keep one purchase under two names, or more folders than an analyst may fill the disk with."""
    own = {str(each.facts.plan): each.name for each in _list_own(dataset, analyst)}
    if plan in own:
        raise Refusal(
            "This release", f"is kept as {own[plan]} already", f"ask releases.{own[plan]}", code="release_taken"
        )
    if len(own) >= MOST_OWN:
        why = f"would be one more of {analyst} than {MOST_OWN}, which are all that are kept for one analyst"
        fix = "ask the question without keeping it, or have the owner remove folders that are not needed any more"
        raise Refusal("This release", why, fix, code="too_many_releases")
