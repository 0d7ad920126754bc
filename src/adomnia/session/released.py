"""Questions about releases: answered from what was published, at no price and without any look at the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.plans.descriptions import describe
from adomnia.plans.finish import finish
from adomnia.plans.missing import keys_without_value
from adomnia.plans.public_rows import PublicRows
from adomnia.privacy.filters import Left
from adomnia.privacy.keys import Bucket
from adomnia.releases.counting import ReleaseCounts
from adomnia.releases.tables import AttributeTable, build_catalog
from adomnia.session.answer import Answer
from adomnia.session.columns import build_columns
from adomnia.sql.lower import plan_question
from adomnia.sql.reading.released import list_released, parse_released

if TYPE_CHECKING:
    from sqlglot import exp

    from adomnia.plans.plan import Plan
