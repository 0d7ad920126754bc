"""Explains a question: whose rows it reads, what it measures, what each number costs and how far off it may be."""

from collections.abc import Iterator, Sequence

from adomnia.explaining.reasons import reason_tree
from adomnia.explaining.tree import Node
from adomnia.messages.texts import Note
from adomnia.plans.descriptions import describe_key, describe_set, describe_term
from adomnia.plans.formulas import Term, statistics_of
from adomnia.plans.plan import Plan
from adomnia.plans.public_columns import PublicRows
from adomnia.plans.words import term_in_words
from adomnia.pricing.bills import (
    Expected,
    Measurement,
    Quote,
    error_in_words,
    format_cost,
    noise_in_words,
    sensitivity_in_words,
    show_share,
)
from adomnia.pricing.notes import hides_rows
from adomnia.pricing.quotes import list_planned_measures, quote_plan
from adomnia.privacy.amounts import show_up
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.keys import Key, is_open, key_cells
from adomnia.privacy.losses import loss
from adomnia.work import spend

_STEPS_OF_A_QUERY = 5
_NAMED = 3  # so many measurements of an output are called what they are; more have their numbers alone
_UNPRICED = Pure(1)  # measurements are asked at some price, which is then not told


def explain(meaning: Plan | PublicRows, quoted: Quote | None = None, notes: Sequence[Note] = ()) -> Node:
    """Explain a question as a tree; without a quote it says nothing about prices, and has the notes that are given."""
    if isinstance(meaning, PublicRows):
        return Node("Rows of public tables, exact and free", (reason_tree(meaning.rows.source),))
    price = _UNPRICED if quoted is None or quoted.price is None else quoted.price
    lines = quote_plan(meaning, price, notes=notes).measurements if quoted is None else quoted.measurements
    by_row = hides_rows(notes if quoted is None else quoted.notes)
    groups = [
        ("" if is_open(key) else f"{_plural(len(key_cells(key)), 'declared value')} of ") + describe_key(key)
        for key in meaning.keys
    ]
    groups += map(str, quoted.findings if quoted else ())
    if meaning.sets:
        listed = ", ".join(map(describe_set, meaning.sets))
        groups.append(f"{len(meaning.sets)} groupings: {listed}; measured by all keys, and added up over the others")
    who = "row" if by_row else "person"
    caps = [Node(str(cap)) for cap in (quoted.caps if quoted else ())]
    answers = tuple(_output_nodes(meaning, price, lines, quoted))
    parts = [
        Node("rows", (reason_tree(meaning.relation, by_row), *caps), "rows"),
        Node("groups", tuple(map(Node, groups or ["one, of all rows"])), "groups"),
        Node(
            "measured",
            tuple(_measurement_node(place, line, quoted, who) for place, line in enumerate(lines, 1)),
            "measured",
        ),
        Node("answered", answers, "answered"),
        Node(_total_in_words(quoted)),
        *map(Node, notes if quoted is None else (*quoted.vacuous, *quoted.notes, *quoted.warnings)),
    ]
    return Node(f"{_plural(len(lines), 'measurement')}, {_plural(len(meaning.outputs), 'output')}", tuple(parts))


def _measurement_node(place: int, line: Measurement, quoted: Quote | None, who: str) -> Node:
    price = "" if quoted is None else f": {format_cost(line.price)}"
    facts = [line.bounds] if line.bounds else []
    facts.append(f"one {who} moves it by at most {sensitivity_in_words(line)}: {line.why}")
    if quoted is not None:
        groups = "each group that is found" if quoted.findings else _plural(line.cells // line.sums, "group")
        each = f"on each of {line.sums} sums in" if line.sums > 1 else "in"
        facts.append(f"noise: {noise_in_words(line)}, {each} {groups}")
    return Node(f"[{place}] {line.what}{price}", tuple(map(Node, facts)))


def _output_nodes(plan: Plan, price: Price, lines: Sequence[Measurement], quoted: Quote | None) -> Iterator[Node]:
    expected = {} if quoted is None else {each.name: tuple(_error_nodes(each, quoted.rows)) for each in quoted.outputs}
    # Rehearsed once: guesses are the same only if they are one object.
    rehearsed = dict(zip(plan.statistics, list_planned_measures(plan, price), strict=True))
    distinct = dict.fromkeys(measure for each in rehearsed.values() for measure in each)
    first = {measure: place for place, measure in enumerate(distinct, 1)}

    def made(term: Term) -> str:
        spend(_STEPS_OF_A_QUERY * sum(len(each.queries) for each in statistics_of(term)))
        places = sorted({first[measure] for each in statistics_of(term) for measure in rehearsed[each]})
        few = len(places) <= _NAMED
        named = ", ".join(f"[{place}] {lines[place - 1].what}" if few else f"[{place}]" for place in places)
        words = describe_term(term_in_words(term), plan.relation)
        return (
            f"{words} is {_plural(len(places), 'measurement')}: {named}" if places else f"{words} needs no measurement"
        )

    shown = []
    for output in plan.outputs:
        if not isinstance(output.source, Key):
            shown.append(output.source)
            totals = _total_nodes(output.name, () if quoted is None else quoted.outputs)
            yield Node(f"{output.name} = {made(output.source)}", (*expected.get(output.name, ()), *totals))
    for term in dict.fromkeys(plan.terms):
        if term not in shown:
            yield Node(f"to choose or sort: {made(term)}")


def _error_nodes(expected: Expected, rows: int) -> Iterator[Node]:
    size = "in a group of any size" if expected.rows is None else f"in a group of {expected.rows:,} rows"
    within = f" in {rows:,} rows" if expected.rows is None else ""
    relative = f", {show_share(expected.relative)} of its value{within}" if expected.relative is not None else ""
    yield Node(f"error: {error_in_words(expected)} {size}{relative}", kind="expected")
    yield Node(f"interval: {expected.method}", kind="expected")


def _total_nodes(name: str, lines: Sequence[Expected]) -> Iterator[Node]:
    """How far an output is off in the rows of coarser groupings, which are sums."""
    for line in lines:
        if line.output == name and line.groups > 1:
            yield Node(f"error of {line.groups:,} groups as one: {error_in_words(line)}")


def _total_in_words(quoted: Quote | None) -> str:
    if quoted is None or quoted.price is None:
        return "price: none was named; every measurement gets the same part unless weights say otherwise"
    kept = "all groups at once" if quoted.simultaneous else "each group"
    beside = loss(quoted.event).delta
    delta = f" and delta {show_up(beside)}" if beside else ""
    sure = f"errors are kept in {kept} {100 * quoted.confidence:g}% of the time"
    return f"price: {format_cost(quoted.price)}{delta} in all; {sure}"


def _plural(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
