"""From an answer to a release: what its readers are told of it, and where it is kept."""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

from adomnia.curator.measurements import Record
from adomnia.errors import Refusal
from adomnia.plans.canonical import canonical
from adomnia.pricing.bills import format_cost
from adomnia.privacy.amounts import show_up
from adomnia.privacy.conversions import epsilon_of
from adomnia.privacy.losses import loss
from adomnia.releases.model import Release
from adomnia.session.covering import hash_meaning
from adomnia.sql.methods.calls import find_call, name_of
from adomnia.sql.reading.parse import parse

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.engines.contract import Progress
    from adomnia.privacy.events import Event
    from adomnia.session.answer import Answer
    from adomnia.session.batch import Batch
    from adomnia.session.dataset import Dataset

__all__ = ["describe_guarantee", "hash_catalog", "keep_release", "name_method"]

_USUAL_DELTA = Fraction(1, 10**9)  # where the dataset has none to tell a guarantee at


def keep_release(  # noqa: PLR0913 - what is told of a release
    dataset: Dataset,
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
    if receipt is None:
        raise TypeError("Release answer must have a receipt: a release is paid for.")
    if product is None:  # every method of the chapter has one, but a stored answer has none
        why = "was measured by another version of this program, and this one would make another release of it"
        fix = "put back its folder from a backup, or name another price, which is paid for anew"
        raise Refusal(f"Release {name}", why, fix, code="other_version")
    stored = dataset.ledger.answer(receipt.analyst, receipt.request_id)
    payload = b"[]" if stored is None else stored.payload
    (question,) = batch.questions
    about = {
        "dataset": dataset.catalog.name,
        "mechanism": name_method(batch),
        "price": format_cost(receipt.event),
        "paid_by": f"{made_by} and the dataset" if private else "the dataset",
        "guarantee": describe_guarantee(receipt.event, dataset.catalog),
        "version": batch.version,
        "catalog": hash_catalog(dataset.catalog) if catalog is None else catalog,
        "made_by": made_by,
        "made_at": receipt.at,
        "request_id": receipt.request_id,
        "receipt": receipt.hash,
        "plan": receipt.plan.hex(),
        "meaning": hash_meaning(question.text.strip(), dataset.catalog),
        "confidence": batch.confidence,
        "private": private,
        "randomness": f"follows from the measurements, whose record has the SHA-256 {sha256(payload).hexdigest()}",
    }
    measurements = tuple(Record.from_bytes(payload).values)
    release = Release(name, product, question.text.strip(), about, answer.notes, answer.to_arrow(), measurements)
    dataset.releases.keep(release, progress)
    return release


def name_method(batch: Batch) -> str:
    call = find_call(parse(batch.questions[0].text))
    return "" if call is None else name_of(call).lower()


def describe_guarantee(event: Event, catalog: Catalog) -> str:
    spent = loss(event)
    said = f"It was made with {format_cost(event)}"
    if spent.epsilon is None:
        delta = catalog.budget.delta or _USUAL_DELTA
        pure = show_up(epsilon_of(spent.rho, delta))
        said += f" (zero-concentrated differential privacy; epsilon {pure} at delta {show_up(spent.delta + delta)})"
    return f"{said}. {catalog.unit.promise()}"


def hash_catalog(catalog: Catalog) -> str:
    """The hash of what the question was about: tables, views and people, whatever the budgets."""
    tables = tuple(
        (table.name, table.public, table.rows_per_person, "" if table.link is None else str(table.link), table.columns)
        for table in catalog.tables
    )
    views = tuple((view.name, view.sql) for view in catalog.views)
    about = (catalog.name, catalog.version, str(catalog.unit), tables, views)
    return sha256(canonical(about)).hexdigest()
