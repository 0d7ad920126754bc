"""Random questions of the whole language that is answered, as text: a writer that draws every choice from Hypothesis.

It knows of each column only its sort, a string of letters: those of kit.spellings, and k for a key with declared
values, p for the person, q for a person whom LEFT JOIN may leave out, l for an id that links tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from kit.spellings import CONSTANTS, PLAIN, SPELLINGS, Spelling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TABLES: dict[str, dict[str, str]] = {
    "people": {
        "person_id": "p",
        "name": "t",
        "age": "nwN",
        "sex": "tk",
        "city": "tk",
        "salary": "nN",
        "eye_color": "t",
        "member": "bk",
        "score": "nN",
        "weight": "n",
    },
    "visits": {
        "person_id": "p",
        "visit_id": "l",
        "hospital": "tk",
        "day": "d",
        "diagnosis": "t",
        "cost": "nN",
        "urgent": "bk",
    },
    "items": {"visit_id": "l", "kind": "tk", "price": "nN", "amount": "nwN", "bought": "d"},
}
VIEWS: dict[str, dict[str, str]] = {
    "grown": {"person_id": "p", "sex": "tk", "monthly": "nN", "age": "nwN"},
    "stays": {"person_id": "p", "hospital": "tk", "stays": "nwN", "dearest": "nN"},
}
PUBLIC_TABLES: dict[str, dict[str, str]] = {
    "cities": {"city": "tk", "region": "tk", "population": "nwN"},
    "zones": {"city": "tk", "zone": "tk", "area": "nwN", "since": "d"},
}
VALUES = "ntbdm"  # the kinds that an output of a subquery may have

_GIVEN = {"n": "nwN", "w": "w", "N": "N", "t": "t", "b": "b", "d": "d", "m": "m"}  # which templates give a kind
_SORTS = {"n": "n", "w": "nw", "N": "nN", "t": "t", "b": "bk", "d": "d", "m": "m"}  # what is known of a value of a kind


@lru_cache
def _spellings(kind: str, *, plain: bool) -> tuple[Spelling, ...]:
    names = [name for name in SPELLINGS if name in PLAIN or not plain]
    return tuple(each for name in names for each in SPELLINGS[name] if each.gives in _GIVEN[kind])


@lru_cache
def _one_of(options: tuple[Any, ...]) -> Any:
    return st.sampled_from(options)


@dataclass(frozen=True)
class Field:
    """A column as a SELECT refers to it, and its sort."""

    text: str
    sort: str


@dataclass(frozen=True)
class Side:
    """What stands behind FROM or JOIN, without an alias, and the columns it offers."""

    text: str
    columns: dict[str, str]
    table: str = ""  # its name, if it has one


@dataclass(frozen=True)
class From:
    """FROM as written, the columns in it, and the conditions that WHERE must hold for its joins."""

    text: str
    fields: tuple[Field, ...]
    conditions: tuple[str, ...] = ()

    def of(self, kinds: str) -> list[Field]:
        """The columns of some kind."""
        return [each for each in self.fields if set(kinds) & set(each.sort)]


@dataclass
class Writer:
    """Writes one question. `depth` bounds how many SELECTs stand in each other.

    A plain question is one that any database with SQL understands, and answers with the same whole numbers.
    """

    draw: Callable[[Any], Any]
    plain: bool = False
    named: list[Side] = field(default_factory=list)  # the subqueries of WITH
    written: list[str] = field(default_factory=list)  # the same as WITH writes them
    aliases: int = 0
    sides: int = 0

    def question(self) -> str:
        source = self.source(depth=self.pick(0, 1, 1, 2, 3))
        keys = self.some(source.of("k"), most=2)
        asked = [self.aggregate(source) for _ in range(self.pick(1, 1, 2, 3))]
        names = [each.text for each in keys] + ([self.bucket(source)] if self.chance(4) else [])
        body = f"SELECT {', '.join([*names, *asked])}{self.filtered(source, looks=True)}"
        if names:
            together = "{}" if self.plain or not self.chance(12) else self.pick("ROLLUP ({})", "CUBE ({})")
            body += f" GROUP BY {together.format(', '.join(names))}"
        if not self.plain and self.chance(8):
            body += f" ORDER BY 1 {self.pick('', 'DESC')} LIMIT 3"
        if not self.plain and self.chance(8):
            body = f"SELECT * FROM ({body}) AS answer"
        return f"WITH {', '.join(self.written)} {body}" if self.named else body

    def bucket(self, source: From) -> str:
        """A key by an expression that has few values, whatever its rows hold."""
        numbers, days = source.of("n"), source.of("d")
        texts = [each for each in source.of("k") if "t" in each.sort]
        options = ["CASE WHEN {condition} THEN 'yes' ELSE 'no' END", "CASE WHEN {condition} THEN 'yes' END"]
        tens = "LEAST(GREATEST(FLOOR({number} / 10), -1), 3)"
        options += [tens, "LEAST(GREATEST(FLOOR({number}), 0), 2) * 5"] * bool(numbers)
        options += ["MONTH({day})", "YEAR({day}) % 4"] * bool(days)
        options += ["DATE_TRUNC('year', {day})", "DATE_TRUNC('quarter', {day})"] * (bool(days) and not self.plain)
        options += ["STRFTIME({day}, '%B')"] * bool(days)
        options += ["COALESCE({key}, 'none')", "UPPER({key}) || '-'", "REPLACE(LEFT({key}, 2), 'o', 'x')"] * bool(texts)
        options += ["CASE WHEN {condition} THEN {key} WHEN {key} = 'Oslo' THEN 'o' END"] * bool(texts)
        options += ["{looked_up}"] * bool(source.of("p"))
        chosen = str(self.pick(*options))
        if chosen == "{looked_up}":
            return self.looked_up(source)
        return chosen.format(
            condition=self.condition(source.fields),
            number=self.pick(*numbers).text if numbers else "",
            day=self.pick(*days).text if days else "",
            key=self.pick(*texts).text if texts else "",
        )

    # ---------------------------------------------------------------------------------------------- choices

    def pick(self, *options: Any) -> Any:
        return self.draw(_one_of(options))

    def chance(self, out_of: int) -> bool:
        """Once in so many times; never in the simplest question."""
        return self.pick(*range(out_of)) == out_of - 1

    def some(self, options: Sequence[Any], most: int) -> list[Any]:
        """Up to so many different ones."""
        count = self.pick(*range(most + 1)) if options else 0
        return list(dict.fromkeys(self.pick(*options) for _ in range(count)))

    def alias(self) -> str:
        self.aliases += 1
        return f"t{self.aliases}"

    # ---------------------------------------------------------------------------------------------- values

    def value(self, kind: str, fields: Sequence[Field], depth: int) -> str:
        """An expression of a kind over the columns of a row."""
        columns = [each.text for each in fields if kind in each.sort]
        if depth <= 0 or self.chance(4):
            constant = not columns or self.chance(4)
            return self.pick(*CONSTANTS[kind]) if constant else self.pick(*columns)
        spelling = self.pick(*_spellings(kind, plain=self.plain))
        return spelling.template.format(*(self.value(part, fields, depth - 1) for part in spelling.takes))

    def condition(self, fields: Sequence[Field], depth: int = 2) -> str:
        texts = [each.text for each in fields if "t" in each.sort]
        if texts and self.chance(6):
            return f"({self.pick(*texts)} {self.pick('', 'NOT ')}IN ('F', 'Oslo', 'drug', 'inner'))"
        return self.value("b", fields, depth)

    def mostly(self, fields: Sequence[Field]) -> str:
        """A condition that many rows meet: conditions of few leave nothing to ask about."""
        plain = self.condition(fields)
        match self.pick("alone", "or", "or null", "not true"):
            case "or":
                return f"({plain} OR {self.condition(fields)})"
            case "or null":
                return f"({plain} IS NOT FALSE)"
            case "not true":
                return f"({plain} IS NOT TRUE)"
        return plain

    def aggregate(self, source: From) -> str:
        """What a question asks of all rows."""
        match self.pick("count", "count", "sum", "sum", "average", *(["spread", "pair"] if not self.plain else [])):
            case "count":
                return self.counted(source)
            case "sum" | "average" if self.plain:
                return self.whole_sum(source)
            case "spread":
                return self.summed(self.pick("VAR_POP", "VAR", "STDDEV_POP", "STDDEV"), source)
            case "pair":
                pair = (self.value("N", source.fields, self.pick(0, 1)) for _ in range(2))
                return f"{self.pick('COVAR_POP', 'COVAR_SAMP', 'CORR')}({', '.join(pair)})"
            case form:
                return self.summed("SUM" if form == "sum" else "AVG", source)

    def counted(self, source: From) -> str:
        """A count of rows, of people, of values, or of different values."""
        people = source.of("pq")
        match self.pick("rows", "present", "different", *(["people", "people", "ids"] if people else [])):
            case "people":
                return self.people_counted(source, self.pick(*people).text)
            case "ids":
                return f"COUNT({self.pick(*people).text})"
            case "present":
                return f"COUNT({self.value(self.pick(*VALUES), source.fields, 2)})"
            case "different":
                counted = self.pick(*source.of(VALUES)).text if source.of(VALUES) and self.chance(2) else ""
                return f"COUNT(DISTINCT {counted or self.value(self.pick(*VALUES), source.fields, 1)})"
        return "COUNT(*)"

    def people_counted(self, source: From, person: str) -> str:
        """A count of people, or of those with a row that meets a condition."""
        match self.pick("all", "all", "filter", "case"):
            case "filter":
                return f"COUNT(DISTINCT {person}) FILTER (WHERE {self.mostly(source.fields)})"
            case "case":
                return f"COUNT(DISTINCT CASE WHEN {self.mostly(source.fields)} THEN {person} END)"
        return f"COUNT(DISTINCT {person})"

    def summed(self, function: str, source: From) -> str:
        if source.of("p") and self.chance(6):
            looked_up = self.looked_up_number(source)
            if self.chance(2):
                looked_up = f"CASE WHEN {self.looked_up(source)} THEN {looked_up} ELSE 2 END"
            return f"{function}({looked_up})"
        return f"{function}({self.value(self.pick('N', 'N', 'N', 'b'), source.fields, self.pick(0, 1, 2))})"

    def whole_sum(self, source: From) -> str:
        """A sum that no grid rounds: of whole numbers, or of conditions."""
        whole = [each.text for each in source.of("w") if "N" in each.sort]
        if not whole or self.chance(4):
            return f"SUM(CAST({self.value('b', source.fields, 2)} AS INTEGER))"
        return f"SUM({self.pick(*whole)})"

    # ---------------------------------------------------------------------------------------------- FROM

    def source(self, depth: int) -> From:
        """One side, or several joined."""
        count = self.pick(1, 1, 2, 3) if depth else self.pick(1, 1, 1, 2)
        return self.single(depth) if count == 1 else self.joined(self.side(depth), depth, count)

    def single(self, depth: int) -> From:
        side = self.side(depth)
        if self.chance(2):
            alias = self.alias()
            return From(f"{side.text} AS {alias}", _fields(side.columns, alias))
        named = side.text if side.table else f"{side.text} AS {self.alias()}"
        return From(named, _fields(side.columns))

    def joined(self, first: Side, depth: int, count: int) -> From:
        alias = self.alias()
        found = From(f"{first.text} AS {alias}", _fields(first.columns, alias))
        commas = self.chance(4)
        for _ in range(count - 1):
            found = self.join(found, depth, commas=commas)
        return found

    def join(self, left: From, depth: int, *, commas: bool) -> From:
        public = bool(left.of("t")) and self.chance(3)
        right, alias = self.public_side(depth) if public else self.side(depth - 1), self.alias()
        fields = _fields(right.columns, alias)
        equal, shared = self.equality(left, right, alias, public=public)
        if not equal:
            return left
        both = (*left.fields, *fields)
        more = [self.mostly(both)] if self.chance(3) else []
        outer = not commas and self.chance(3)
        offered = tuple(Field(each.text, each.sort.replace("p", "q")) for each in fields) if outer else fields
        text = f"{right.text} AS {alias}"
        if commas:
            return From(f"{left.text}, {text}", (*left.fields, *offered), (*left.conditions, equal, *more))
        word = "LEFT JOIN" if outer else "JOIN"
        on = f"USING ({shared})" if shared and not more and self.chance(2) else f"ON {' AND '.join([equal, *more])}"
        return From(f"{left.text} {word} {text} {on}", (*left.fields, *offered), left.conditions)

    def equality(self, left: From, right: Side, alias: str, *, public: bool) -> tuple[str, str]:
        """The equality by which a side is joined, and the one name of both columns if it can be left to USING."""
        pairs = []
        for name, sort in right.columns.items():
            for each in left.fields:
                ids = (("p" in sort and "p" in each.sort) or ("l" in sort and "l" in each.sort)) and not public
                alike = public and any(kind in sort and kind in each.sort for kind in "tw")
                if ids or alike:
                    pairs.append((each.text, name))
        if not pairs:
            return "", ""
        near = [pair for pair in pairs if pair[0].endswith(f".{pair[1]}")] or pairs
        mine, name = self.pick(*(pairs if self.chance(4) else near))
        alone = sum(each.text.endswith(f".{name}") for each in left.fields) == 1
        shared = name if mine.endswith(f".{name}") and alone else ""
        sides = (mine, f"{alias}.{name}")
        return " = ".join(sides if self.chance(2) else sides[::-1]), shared

    def public_side(self, depth: int) -> Side:
        name = self.pick(*PUBLIC_TABLES)
        side = Side(name, PUBLIC_TABLES[name], name)
        if depth and self.chance(6):
            parts = (f"SELECT city FROM {table}" for table in ("zones", name, "cities"))
            return Side(f"({' UNION ALL '.join(parts)})", {"city": "t"})
        if depth and self.chance(4):
            fields = _fields(side.columns)
            city = "city" if self.chance(2) else self.value("t", fields, 1)
            size = self.value("N", fields, 1)
            text = f"(SELECT {city} AS city, {size} AS size FROM {name} WHERE {self.condition(fields, 1)})"
            return Side(text, {"city": "t" if city != "city" else "tk", "size": "nN"})
        return side

    def side(self, depth: int) -> Side:
        self.sides += 1
        forms = ["people", "visits", "visits", "items"]
        if depth > 0 and self.sides < 8:
            forms += ["derived", "derived", "own", "own", "distinct", "union", "with", *VIEWS]
        form = self.pick(*forms)
        known = TABLES | VIEWS
        if form in known:
            return Side(form, known[form], form)
        return self.named_side(depth) if form == "with" else self.subquery(form, depth)

    def subquery(self, form: str, depth: int) -> Side:
        match form:
            case "own":
                text, columns = self.own(depth - 1)
            case "distinct":
                text, columns = self.distinct(depth - 1)
            case "union":
                text, columns = self.union(depth - 1)
            case _:
                text, columns = self.whole(depth) if self.chance(6) else self.projected(self.source(depth - 1))
        return Side(f"({text})", columns)

    def named_side(self, depth: int) -> Side:
        """A subquery of WITH, perhaps one that was written already."""
        if self.named and self.chance(2):
            return self.named[self.pick(*range(len(self.named)))]
        side = self.subquery(self.pick("derived", "own", "union"), depth)
        name = f"w{len(self.named) + 1}"
        self.written.append(f"{name} AS {side.text}")
        self.named.append(Side(name, side.columns, name))
        return self.named[-1]

    # ---------------------------------------------------------------------------------------------- subqueries

    def filtered(self, source: From, *, looks: bool = False, more: Sequence[str] = ()) -> str:
        """FROM and WHERE."""
        conditions = [*source.conditions, *more]
        if self.chance(2):
            conditions.append(self.mostly(source.fields))
        if looks and source.of("p") and self.chance(3):
            conditions.append(self.looked_up(source))
        return f" FROM {source.text}" + (f" WHERE {' AND '.join(conditions)}" if conditions else "")

    def projected(self, source: From) -> tuple[str, dict[str, str]]:
        """SELECT of ids and values over each row."""
        outputs, columns = self.ids(source)
        for _ in range(self.pick(1, 2, 3)):
            text, sort = self.output(source)
            columns[f"c{len(columns)}"] = sort
            outputs.append(f"{text} AS c{len(columns) - 1}")
        return f"SELECT {', '.join(outputs)}{self.filtered(source, looks=True)}", columns

    def whole(self, depth: int) -> tuple[str, dict[str, str]]:
        """SELECT * of one side."""
        side = self.side(depth - 1)
        source = From(f"{side.text} AS {self.alias()}", _fields(side.columns))
        return f"SELECT *{self.filtered(source)}", side.columns

    def ids(self, source: From) -> tuple[list[str], dict[str, str]]:
        people, links = source.of("p"), [each for each in source.of("l") if len(source.fields) < 8]
        outputs, columns = [], {}
        if people:
            outputs.append(f"{self.pick(*people).text} AS person_id")
            columns["person_id"] = "p"
        if links and " LEFT JOIN " not in source.text and self.chance(2):
            outputs.append(f"{self.pick(*links).text} AS visit_id")
            columns["visit_id"] = "l"
        return outputs, columns

    def output(self, source: From) -> tuple[str, str]:
        """A column as it is, or an expression, and what is known of it."""
        plain = source.of(VALUES)
        if plain and self.chance(2):
            chosen = self.pick(*plain)
            return chosen.text, chosen.sort
        kind = self.pick(*_SORTS)
        if kind == "N" and self.chance(4):
            return self.looked_up_number(source), "n"
        text = self.value(kind, source.fields, 1)
        return text, _SORTS[kind].replace("k", "")

    def distinct(self, depth: int) -> tuple[str, dict[str, str]]:
        source = self.whose(depth)
        person, chosen = self.pick(*source.of("p")), self.some(source.of(VALUES), most=2)
        columns = {"person_id": "p", **{f"d{place}": each.sort for place, each in enumerate(chosen)}}
        outputs = [f"{person.text} AS person_id", *(f"{each.text} AS d{n}" for n, each in enumerate(chosen))]
        return f"SELECT DISTINCT {', '.join(outputs)}{self.filtered(source)}", columns

    def union(self, depth: int) -> tuple[str, dict[str, str]]:
        """Parts with values of the same kinds in each place."""
        kinds = [self.pick("N", "n", "t", "b", "d", "m") for _ in range(self.pick(1, 2))]
        same = self.pick("people", "visits") if self.chance(3) else ""
        parts, keys = [], [key for key, sort in TABLES.get(same, {}).items() if "k" in sort]
        for _ in range(self.pick(2, 2, 3)):
            source = From(same, _fields(TABLES[same])) if same else self.whose(depth)
            values = [self.value(kind, source.fields, self.pick(0, 1)) for kind in kinds]
            outputs = [f"{source.of('p')[0].text} AS person_id", *(f"{text} AS u{n}" for n, text in enumerate(values))]
            parts.append(f"SELECT {', '.join([*outputs, *keys])}{self.filtered(source)}")
        columns = {"person_id": "p", **{f"u{place}": _SORTS[kind] for place, kind in enumerate(kinds)}}
        return " UNION ALL ".join(parts), columns | {key: TABLES[same][key] for key in keys}

    def whose(self, depth: int) -> From:
        """Rows of which the person is known by name."""
        source = self.source(depth)
        if source.of("p"):
            return source
        alias = self.alias()
        return From(f"visits AS {alias}", _fields(TABLES["visits"], alias))

    def own(self, depth: int) -> tuple[str, dict[str, str]]:
        """Aggregates of each person's own rows."""
        source = self.whose(depth)
        person = self.pick(*source.of("p")).text
        keys = [self.output(source) for _ in range(self.pick(0, 0, 1, 2))]
        keys = [(text, sort) for text, sort in keys if not text.lstrip("-").isdecimal()]  # the place of an output
        asked = [self.own_aggregate(source) for _ in range(self.pick(1, 2))]
        outputs = [*keys, *((each.text, each.sort) for each in asked)]
        columns = {"person_id": "p", **{f"o{place}": sort for place, (_, sort) in enumerate(outputs)}}
        written = [f"{person} AS person_id", *(f"{text} AS o{place}" for place, (text, _) in enumerate(outputs))]
        group = ", ".join([person, *(text for text, _ in keys)])
        text = f"SELECT {', '.join(written)}{self.filtered(source)} GROUP BY {group}"
        if self.chance(3):
            text += f" HAVING {self.condition([*asked, self.own_aggregate(source)], 1)}"
        return text, columns

    def own_aggregate(self, source: From) -> Field:  # noqa: PLR0911 - one for each form
        more = (
            ("BOOL_OR", "BOOL_AND") if self.plain else ("BOOL_OR", "BOOL_AND", "MEDIAN", "spread", "chosen", "chosen")
        )
        function = self.pick("COUNT(*)", "COUNT", "COUNT(DISTINCT", "SUM", "AVG", "MIN", "MAX", *more)
        match function:
            case "BOOL_OR" | "BOOL_AND":
                return Field(f"{function}({self.condition(source.fields, 1)})", "b")
            case "MEDIAN":
                return Field(f"MEDIAN({self.value('N', source.fields, self.pick(0, 1))})", "nN")
            case "spread":
                spread = self.pick("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV")
                return Field(f"{spread}({self.value('N', source.fields, 0)})", "nN")
            case "chosen":
                return self.chosen(source)
            case "SUM" | "AVG" if self.plain:
                return Field(self.whole_sum(source), "nwN")
            case "COUNT(*)":
                return Field(function, "nwN")
            case "COUNT":
                return Field(f"COUNT({self.value(self.pick(*VALUES), source.fields, 1)})", "nwN")
            case "COUNT(DISTINCT":
                counted = self.pick(*source.of(VALUES)).text if source.of(VALUES) and self.chance(2) else ""
                return Field(f"COUNT(DISTINCT {counted or self.value('t', source.fields, 1)})", "nwN")
            case "SUM" | "AVG":
                return Field(f"{function}({self.value('N', source.fields, self.pick(0, 1))})", "nN")
        kind = self.pick("N", "n", "d", "m")
        return Field(f"{function}({self.value(kind, source.fields, self.pick(0, 1))})", _SORTS[kind])

    def chosen(self, source: From) -> Field:
        """The value of the row where another is least or greatest."""
        kind = self.pick("N", "t", "b", "d", "m")
        order = self.value(self.pick("n", "d"), source.fields, self.pick(0, 1))
        value = self.value(kind, source.fields, self.pick(0, 1))
        forms = ("ARG_MIN({0}, {1})", "ARG_MAX({0}, {1})", "FIRST({0} ORDER BY {1})", "LAST({0} ORDER BY {1} DESC)")
        return Field(self.pick(*forms).format(value, order), _SORTS[kind].replace("k", ""))

    # ---------------------------------------------------------------------------------------------- lookups

    def looked_up(self, source: From) -> str:  # noqa: PLR0911 - one for each form
        """A condition on the person of a row by the rows of a subquery, or on public rows."""
        person, negated = self.pick(*source.of("p")).text, self.pick("", "NOT ")
        match self.pick("in", "exists", "number", "number", "public", "public", "pair", "pair", "link"):
            case "public":
                return self.looked_up_in_public(source)
            case "pair" if "." in person and not self.wide(source):
                return f"{negated}EXISTS (SELECT 1{self.compared(person, source)})"
            case "link" if self.links(source):
                alias, table = self.alias(), self.pick("items", "items", "visits")
                inner = From(f"{table} AS {alias}", _fields(TABLES[table], alias))
                equal = f"{alias}.visit_id = {self.pick(*self.links(source))}"
                if self.chance(2):
                    number = self.pick("COUNT(*)", f"MAX({self.value('n', inner.fields, 0)})")
                    return f"((SELECT {number}{self.filtered(inner, more=[equal])}) > 1)"
                return f"{negated}EXISTS (SELECT *{self.filtered(inner, more=[equal])})"
            case "exists" if "." in person:
                return f"{negated}EXISTS (SELECT 1{self.correlated(person)[0]})"
            case "number" if "." in person:
                compared = self.pick("> 1", "= 0", "< 3", "<= 50", "IS NULL", "BETWEEN 1 AND 2")
                return f"({self.looked_up_number(source)} {compared})"
        return f"{person} {negated}IN ({self.people()})"

    def links(self, source: From) -> list[str]:
        return [each.text for each in source.of("l") if "." in each.text]

    def wide(self, source: From) -> bool:
        return " LEFT JOIN " in source.text

    def compared(self, person: str, source: From) -> str:
        """FROM and WHERE of a subquery whose rows are compared with those of one side around it."""
        alias, side = self.alias(), person.rsplit(".", 1)[0]
        rest, mine = [f"{person} = {alias}.person_id"], _fields(TABLES["visits"], alias)
        for kind in "ntbd":
            around = [each.text for each in source.of(kind) if each.text.startswith(f"{side}.")]
            if around and self.chance(2):
                sign = self.pick("<", "<>", ">=", "=") if kind in "nd" else self.pick("<>", "=")
                value = self.pick(*(each.text for each in mine if kind in each.sort))
                rest.append(f"{value} {sign} {self.pick(*around)}")
        return f" FROM visits AS {alias} WHERE {' AND '.join(rest)}"

    def looked_up_in_public(self, source: From) -> str:
        """A condition on public rows: whether a value is among theirs, or what they have for it."""
        table, negated = self.pick(*PUBLIC_TABLES), self.pick("", "NOT ")
        name, kind = self.pick(*((name, kind) for name, sort in PUBLIC_TABLES[table].items() for kind in sort[0]))
        kept = self.mostly(_fields(PUBLIC_TABLES[table])) if self.chance(2) else "TRUE"
        around = [each.text for each in source.of(kind) if "." in each.text]
        match self.pick("in", "in", "exists", "number", "constant"):
            case "exists" if around:
                equal = f"{table}.{name} = {self.pick(*around)}"
                return f"{negated}EXISTS (SELECT 1 FROM {table} WHERE {equal} AND {kept})"
            case "number" if around:
                equal, counted = f"{table}.{name} = {self.pick(*around)}", self.pick("COUNT(*)", f"COUNT({name})")
                return f"((SELECT {counted} FROM {table} WHERE {equal} AND {kept}) {self.pick('>', '=')} 1)"
            case "constant":
                counted = self.pick("COUNT(*)", f"COUNT(DISTINCT {name})", "MAX(LENGTH(city))")
                number = self.value("n", source.fields, 0)
                return f"({number} > (SELECT {counted} FROM {table} WHERE {kept}))"
        value = self.value(kind, source.fields, self.pick(0, 0, 1))
        return f"({value} {negated}IN (SELECT {name} FROM {table} WHERE {kept}))"

    def people(self) -> str:
        """A SELECT of people."""
        match self.pick("rows", "having", "subquery", "distinct"):
            case "rows":
                source = self.whose(0)
                return f"SELECT {self.pick(*source.of('p')).text}{self.filtered(source)}"
            case "having":
                source = self.whose(0)
                person = self.pick(*source.of("p")).text
                having = self.condition([self.own_aggregate(source), self.own_aggregate(source)])
                return f"SELECT {person}{self.filtered(source)} GROUP BY {person} HAVING {having}"
            case "subquery":
                return f"SELECT person_id FROM ({self.own(0)[0]}) AS {self.alias()}"
        source = self.whose(0)
        return f"SELECT DISTINCT {self.pick(*source.of('p')).text}{self.filtered(source)}"

    def looked_up_number(self, source: From) -> str:
        people = [each.text for each in source.of("p") if "." in each.text]
        if not people:
            return self.value("N", source.fields, 1)
        rest, inner = self.correlated(self.pick(*people))
        return f"(SELECT {self.own_aggregate(inner).text}{rest})"

    def correlated(self, person: str) -> tuple[str, From]:
        """FROM and WHERE of a subquery about the person of the row around it."""
        table, alias = self.pick("people", "visits", "visits"), self.alias()
        inner = From(f"{table} AS {alias}", _fields(TABLES[table], alias))
        if self.chance(3):
            inner = self.join(inner, 0, commas=False)
        pair = (f"{alias}.person_id", person)
        return self.filtered(inner, more=[" = ".join(pair if self.chance(2) else pair[::-1])]), inner


@st.composite
def questions(draw: Any) -> str:
    """The text of a question about the hospital with items."""
    return Writer(draw).question()


@st.composite
def plain_questions(draw: Any) -> str:
    """The same, as any database understands it."""
    return Writer(draw, plain=True).question()


def _fields(columns: dict[str, str], alias: str = "") -> tuple[Field, ...]:
    return tuple(Field(f"{alias}.{name}" if alias else name, sort) for name, sort in columns.items())
