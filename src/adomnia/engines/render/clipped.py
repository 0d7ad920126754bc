# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""Counts and sums of shortened vectors: SQL that adds up what each person has in all cells, scaled by one factor.

Innermost, the entries v of each person and cell, exact. Around that, the squares of each person's entries added up, n,
exact too. Outermost, v where the length fits, else v shortened by a factor in doubles that is surely small enough, and
rounded towards zero. Proof: docs/proofs/clipping.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import nextafter

from adomnia.engines.contract import PERSON
from adomnia.engines.dialect import Dialect
from adomnia.engines.render.constants import double
from adomnia.engines.render.relations import DERIVED, render_integers, render_person, render_source, render_where
from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.aggregates import NonNull, Rows, Total
from adomnia.privacy.queries import CLIPPED_PARTS, Query

_SHRUNK = 1 - Fraction(1, 2**40)  # more than the few roundings of the factor can add


@dataclass
class _ClippedEntries:
    """What is computed for each person and cell, by what it is: v0, v1, ...; and of which of them the length counts."""

    scalars: Scalars
    rows: int  # of one person
    entries: dict[str, int] = field(default_factory=dict)
    measured: set[int] = field(default_factory=set)

    def entry(self, aggregate: Rows | NonNull | Total) -> int:
        exact = f"CAST({render_integers(aggregate, self.rows, self.scalars)} AS {self.scalars.dialect.types.long.name})"
        return self.entries.setdefault(exact, len(self.entries))

    def shorten(self, query: Query, kind: str) -> str:
        """The sum over all people, as a type that holds it."""
        clip, aggregate, dialect = query.clip, query.aggregate, self.scalars.dialect
        assert clip is not None  # noqa: S101 - nothing else comes here
        assert isinstance(aggregate, Rows | NonNull | Total)  # noqa: S101 - as constructed
        entry = self.entry(aggregate)
        length = self.entry(Rows()) if clip.counted else entry
        self.measured.add(length)
        factor = f"{_numerator(clip.bound, dialect)} / SQRT({dialect.spell('wide as double', f'n{length}')})"
        product = f"{self.scalars.as_double(f'v{entry}')} * ({factor})"
        shorter = dialect.truncating(product, dialect.types.long.name)
        whole = f"v{entry} * {CLIPPED_PARTS}"
        shortened = f"CASE WHEN n{length} <= {clip.bound**2} THEN {whole} ELSE {shorter} END"
        if dialect.types.sum != dialect.types.wide:
            shortened = f"CAST({shortened} AS {kind})"  # of which the sum is one too
        return f"CAST(SUM({shortened}) AS {kind})"


def render_clipped(queries: dict[Query, str], keys: list[str], scalars: Scalars) -> str:
    """The statement of queries, each with the type that holds its sums, over rows grouped by rendered keys."""
    rows = next(iter(queries)).read
    vectors = _ClippedEntries(scalars, rows.rows_per_person)
    outputs = [f"{vectors.shorten(*each)} AS m{place}" for place, each in enumerate(queries.items())]
    names = [f"k{place}" for place in range(len(keys))]
    table, conditions = render_source(rows, scalars)
    inner = [f"{render_person(rows, scalars)} AS {scalars.quote(PERSON)}"]
    inner += [f"{key} AS {name}" for key, name in zip(keys, names, strict=True)]
    inner += [f"{entry} AS v{place}" for entry, place in vectors.entries.items()]
    text = f"SELECT {', '.join(inner)} FROM {table}{render_where(conditions)} GROUP BY {_numbers(1 + len(keys))}"
    cells = render_where([f"{name} IS NOT NULL" for name in names])  # what belongs to none of them shortens nothing
    squares = [_squares(place, scalars) for place in sorted(vectors.measured)]
    middle = [*names, *(f"v{place}" for place in range(len(vectors.entries))), *squares]
    text = f"SELECT {', '.join(middle)} FROM ({text}) AS {scalars.quote(DERIVED)}{cells}"
    text = f"SELECT {', '.join([*names, *outputs])} FROM ({text}) AS {scalars.quote(DERIVED)}"
    return f"{text} GROUP BY {_numbers(len(keys))}" if keys else text


def _squares(place: int, scalars: Scalars) -> str:
    wide = f"CAST(v{place} AS {scalars.dialect.types.wide.name})"
    return f"SUM({wide} * {wide}) OVER (PARTITION BY {scalars.quote(PERSON)}) AS n{place}"


def _numerator(bound: int, dialect: Dialect) -> str:
    """A double that is surely below the bound in parts, by a little more than roundings can make up for."""
    shrunk = CLIPPED_PARTS * bound * _SHRUNK
    nearest = float(shrunk)
    return double(nearest if nearest <= shrunk else nextafter(nearest, 0), dialect)


def _numbers(count: int) -> str:
    return ", ".join(str(place + 1) for place in range(count))
