"""What can be asked of private rows in Python: every aggregate by itself, or several in one question."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast

from adomnia.errors import Refusal
from adomnia.messages.texts import write
from adomnia.options import ASK
from adomnia.pricing.questions import Payment
from adomnia.session.signatures import takes_options
from adomnia.sql.reading.refusals import shorten
from adomnia.sql.reading.select_builder import bracket, require_column, require_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from adomnia.session.answer import Answer

Wanted: TypeAlias = "str | tuple[Any, ...]"  # "count", ("mean", "salary"), ("quantile", "salary", 0.9)

# The SQL of each aggregate, and how many arguments it takes. Deviations are those of samples, as in pandas.
_AGGREGATES = {
    "count": ("COUNT{}", 1),
    "count_distinct": ("COUNT(DISTINCT {})", 1),
    "sum": ("SUM{}", 1),
    "mean": ("AVG{}", 1),
    "median": ("MEDIAN{}", 1),
    "quantile": ("QUANTILE({}, {})", 2),
    "min": ("MIN{}", 1),
    "max": ("MAX{}", 1),
    "std": ("STDDEV_SAMP{}", 1),
    "var": ("VAR_SAMP{}", 1),
    "corr": ("CORR({}, {})", 2),
}


class SqlOptions(Payment, total=False):
    """What `Session.sql` takes beside the text: a price, and how to answer."""

    confidence: float
    request_id: str
    replay: bool
    allow_uninformative: bool


class Aggregates:
    """Aggregates of rows, in all or for each value of keys `by`. All of them spend."""

    @takes_options(ASK)
    def count(self, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """How many rows, in all or for each value of the keys.

        >>> session.table("people").count(by="sex", epsilon=0.1)["sex"]
        ['F', 'M', 'X']
        """
        return self._ask({"count": "count"}, by, options)

    @takes_options(ASK)
    def count_distinct(self, value: str, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """How many different values there are; of the person's id, how many people.

        >>> session.table("people").count_distinct("person_id", epsilon=0.1).columns
        ['count_distinct']
        """
        return self._ask({"count_distinct": ("count_distinct", value)}, by, options)

    @takes_options(ASK)
    def sum(self, value: str, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """The sum of a number.

        >>> session.table("people").sum("salary", by="sex", rho=0.01).columns
        ['sex', 'sum']
        """
        return self._ask({"sum": ("sum", value)}, by, options)

    @takes_options(ASK)
    def mean(self, value: str, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """The mean of a number.

        >>> session.table("people").mean("age", epsilon=1).interval("mean")[0][0] > 0
        True
        """
        return self._ask({"mean": ("mean", value)}, by, options)

    @takes_options(ASK)
    def median(self, value: str, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """The median of a number.

        >>> session.table("people").median("age", epsilon=1).columns
        ['median']
        """
        return self._ask({"median": ("median", value)}, by, options)

    @takes_options(ASK)
    def quantile(
        self, value: str, share: float, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]
    ) -> Answer:
        """The value that a share of all values is below or at; 0.9 is the ninetieth percentile.

        >>> session.table("people").quantile("age", 0.9, epsilon=1).columns
        ['quantile']
        """
        return self._ask({"quantile": ("quantile", value, share)}, by, options)

    @takes_options(ASK)
    def min(self, value: str, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """A number that few rows are below.

        >>> session.table("people").min("age", epsilon=1).columns
        ['min']
        """
        return self._ask({"min": ("min", value)}, by, options)

    @takes_options(ASK)
    def max(self, value: str, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """A number that few rows are above.

        >>> session.table("people").max("age", epsilon=1).columns
        ['max']
        """
        return self._ask({"max": ("max", value)}, by, options)

    @takes_options(ASK)
    def std(self, value: str, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """The standard deviation of a number, as of a sample.

        >>> session.table("people").std("age", epsilon=1).columns
        ['std']
        """
        return self._ask({"std": ("std", value)}, by, options)

    @takes_options(ASK)
    def var(self, value: str, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """The variance of a number, as of a sample.

        >>> session.table("people").var("age", epsilon=1).columns
        ['var']
        """
        return self._ask({"var": ("var", value)}, by, options)

    @takes_options(ASK)
    def corr(self, value: str, other: str, *, by: str | Iterable[str] = (), **options: Unpack[SqlOptions]) -> Answer:
        """The correlation of two numbers.

        >>> session.table("people").corr("age", "salary", epsilon=1).columns
        ['corr']
        """
        return self._ask({"corr": ("corr", value, other)}, by, options)

    @takes_options(ASK)
    def agg(
        self,
        outputs: Mapping[str, Wanted] | None = None,
        /,
        *,
        by: str | Iterable[str] = (),
        **named: Any,  # noqa: ANN401 - outputs by their names, and what `sql` takes
    ) -> Answer:
        """Several aggregates in one question, by the names of its outputs: n="count", pay=("mean", "salary").

        An output that is called like an option goes into the first argument: {"rows": "count"}.

        >>> session.table("people").agg(n="count", pay=("mean", "salary"), by="sex", epsilon=1).columns
        ['sex', 'n', 'pay']
        """
        options = {name: value for name, value in named.items() if name in SqlOptions.__annotations__}
        wanted = {**(outputs or {}), **{name: value for name, value in named.items() if name not in options}}
        return self._ask(wanted, by, cast("SqlOptions", options))

    def _ask(self, wanted: Mapping[str, Wanted], by: str | Iterable[str], options: SqlOptions) -> Answer:
        raise NotImplementedError


def write_outputs(wanted: Mapping[str, Wanted]) -> str:
    """The outputs of a question in SQL, in their order."""
    if not wanted:
        raise Refusal("agg()", "asks for nothing", write('name an output: agg(n="count", {epsilon=0.5})'), code="empty")
    return ", ".join(f"{_write_aggregate(each)} AS {require_name(name)}" for name, each in wanted.items())


def list_keys(by: str | Iterable[str]) -> tuple[str, ...]:
    """One key or several."""
    return (by,) if isinstance(by, str) else tuple(by)


def _write_aggregate(wanted: Wanted) -> str:
    name, *arguments = (wanted,) if isinstance(wanted, str) else wanted or ("",)
    if name == "count" and not arguments:
        return "COUNT(*)"
    if name not in _AGGREGATES or len(arguments) != _AGGREGATES[name][1]:
        why = "is no aggregate" if name not in _AGGREGATES else f"takes {_AGGREGATES[name][1]} arguments"
        fix = f'write "count" or ("mean", "salary"); there are {", ".join(_AGGREGATES)}'
        raise Refusal(shorten(str(name)), why, fix, code="aggregate_not_allowed")
    written = [_write_argument(name, argument) for argument in arguments]
    return _AGGREGATES[name][0].format(*written)


def _write_argument(name: str, argument: object) -> str:
    """An expression, or the share of a quantile."""
    if isinstance(argument, int | float | Decimal) and name == "quantile":
        return str(argument)
    # Without brackets where ids of people are counted: those are named as they are.
    return require_column(argument) if name == "count_distinct" else bracket(argument)  # type: ignore[arg-type]
