"""How a question would say that rows are of one person, in the names that it has: for advice."""

from collections.abc import Iterable, Iterator

from adomnia.privacy.kinds import Identity
from adomnia.sql.values.scope import ScopeTable


def equate_ids(left: Iterable[ScopeTable], right: Iterable[ScopeTable]) -> str | None:
    """The equality by which rows of two sides are of one person, `v.person_id = p.person_id`; None if there is none.

    The id of the person goes before ids of declared links.
    """
    pairs = (
        f"{one} = {other}"
        for one, kind in _list_ids(left)
        for other, same in _list_ids(right)
        if kind == same and one != other
    )
    return next(pairs, None)


def name_person(sources: Iterable[ScopeTable]) -> str | None:
    """The column that is the person's own id, as a question may call it."""
    return next((name.rpartition(".")[2] for name, kind in _list_ids(sources) if kind.person), None)


def _list_ids(sources: Iterable[ScopeTable]) -> Iterator[tuple[str, Identity]]:
    """Ids that rows may be joined by: as they are written, and what they are the ids of; those of people first."""
    ids = [
        (f"{source.name}.{name}", meaning.kind)
        for source in sources
        for name, meaning in source.columns.items()
        if isinstance(meaning.kind, Identity) and (meaning.kind.person or meaning.kind.linked)
    ]
    yield from sorted(ids, key=lambda each: not each[1].person)
