"""Plans a question about a method: its rows, its arguments, its analysis, and what is shown of its table."""

from dataclasses import replace
from difflib import get_close_matches
from math import prod

from sqlglot import exp

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.fixes import guess
from adomnia.messages.references import Setting
from adomnia.messages.texts import Message
from adomnia.methods.contract import Arguments, BadArgument, Method
from adomnia.methods.parts.testing.adjustment import NONE
from adomnia.methods.registry import METHODS, find_method
from adomnia.methods.synthesis.attributes import list_left_out, show_columns
from adomnia.plans.plan import Output, Plan
from adomnia.privacy.scans import values_of
from adomnia.privacy.vectors import LargeEntryError
from adomnia.sql.methods.arguments import find_arguments, read_arguments, refuse_at
from adomnia.sql.methods.frames import Given, read_rows
from adomnia.sql.methods.views import ViewReader
from adomnia.sql.reading.refusals import WRITTEN, refusal
from adomnia.sql.rows.derived import refuse_slow
from adomnia.sql.values.outputs import read_limit, read_offset
from adomnia.sql.values.scope import check_parts
from adomnia.statistics.contract import Statistic
from adomnia.work import spend

MOST_NUMBERS = 10**6  # that a method measures
_STEPS_OF_A_QUERY = 25


def find_call(select: exp.Select) -> exp.Func | None:
    """The function that stands in FROM of a question, if one does."""
    source = select.args.get("from_")
    table = None if source is None else source.this
    return table.this if isinstance(table, exp.Table) and isinstance(table.this, exp.Func) else None


def plan_method(select: exp.Select, call: exp.Func, catalog: Catalog, confidence: float) -> Plan:
    """Plan a question whose rows are those of a method."""
    method = _find(call)
    given = read_rows(select, call, method.name, catalog, confidence)
    arguments = read_arguments(call, method, given)
    analysis = _build(call, method, given, arguments)
    table = select.args["from_"].this
    _refuse_parts(table)
    by = [factor.name for factor in arguments.get("by") or ()]
    by += () if method.shows is None else method.shows(given.frame, arguments)
    if {name.lower() for name in by} & method.returns.keys():
        fix = "give it another name in the SELECT in brackets"
        raise refusal(
            "duplicate_alias", call, "has a column of its own called like one of its rows'", fix, f"{method.name}()"
        )
    view = ViewReader(table.alias or method.name, (*by, *method.returns)).read_view(select)
    view = replace(view, adjust=arguments.get("adjust", NONE), exponentiate=arguments.get("exponentiate", False))
    if method.shows is show_columns:
        view = replace(view, left_out=list_left_out(given.frame, arguments))
    _refuse_large(call, given, analysis)
    return Plan(
        given.frame.relation,
        (),
        (Output(method.name, analysis),),
        limit=read_limit(select),
        offset=read_offset(select),
        view=view,
    )


def name_of(call: exp.Func) -> str:
    """What a question calls a function."""
    return str(call.this) if isinstance(call, exp.Anonymous) else str(call.meta.get(WRITTEN, call.sql_name()))


def _find(call: exp.Func) -> Method:
    name = name_of(call)
    found = find_method(name)
    if found is None:
        close = get_close_matches(name.lower(), METHODS, n=1)
        hint = guess(close, "SHOW METHODS lists all") if close else Message(Setting("table"))
        raise refusal("function_not_allowed", call, "is not a table of the catalog", hint)
    return found


def _refuse_parts(table: exp.Table) -> None:
    """Refuse what stands behind a method and would change its rows: nothing is left out unsaid."""
    check_parts(table, "this", "alias")
    if table.args.get("alias") is not None:
        check_parts(table.args["alias"], "this")


def _build(call: exp.Func, method: Method, given: Given, arguments: Arguments) -> Statistic:
    """The analysis; what a method refuses has its place in the text."""
    nodes = find_arguments(call, method)
    try:
        return method.build(given.frame, arguments)
    except BadArgument as cause:
        raise refuse_at(cause, nodes.get(cause.argument, call), cause.offset) from None
    except Refusal as cause:
        raise refuse_at(cause, call) if cause.position is None else cause from None


def _refuse_large(call: exp.Func, given: Given, analysis: Statistic) -> None:
    try:
        queries = analysis.queries
    except LargeEntryError:
        why = "multiplies columns to numbers that are too large to be added up exactly"
        fix = "use lower powers, or fewer columns in a product"
        raise refusal("scale_out_of_range", call, why, fix, f"{name_of(call)}()") from None
    spend(_STEPS_OF_A_QUERY * len(queries))
    numbers = sum(prod(query.result_shape) for query in queries)
    if numbers > MOST_NUMBERS:
        why = f"measures {numbers:,} numbers, more than {MOST_NUMBERS:,}"
        raise refusal("too_many_cells", call, why, "use fewer levels, bins or groups", f"{name_of(call)}()")
    refuse_slow(
        call, given.block.weight, dict.fromkeys(value for query in queries for value in values_of(query.aggregate))
    )
