"""Parses a text to one SELECT, or refuses it with a position and a reason.

A text that could make the parser slow, deep or ambiguous is refused before the parser runs. It backtracks, in time that
doubles with every level, on type names and WITHIN GROUP before brackets, on LIMIT and OFFSET before them, and on joins
without a condition. What the parser logs is dropped: its warnings quote questions, and logs hold none.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from adomnia.errors import Refusal
from adomnia.messages.texts import write
from adomnia.sql.reading.refusals import OTHER_ROWS, ROW_OF_EACH, WRITTEN, Position, refusal, shorten
from adomnia.sql.reading.spellings import spell_out_filters, spell_out_quantiles, spell_out_units
from adomnia.sql.values.functions import NAMES
from adomnia.work import spend

_reading_question = ContextVar("reading_question", default=False)


@contextmanager
def silence_parser() -> Iterator[None]:
    """Drop what the parser logs in this thread. What others parse with it in the same process is logged as before."""
    before = _reading_question.set(True)
    try:
        yield
    finally:
        _reading_question.reset(before)


logging.getLogger("sqlglot").addFilter(lambda _record: not _reading_question.get())


MOST_CHARACTERS = 65_536
MOST_PIECES = 6_000
MOST_BRACKETS = 64
MOST_LEVELS = 64
_STEPS_OF_A_PIECE = 3
_MOST_JOINS = 8
_MOST_TYPED_BRACKETS = 3

_PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|\$\w*\$|\w+|[^\w\s]", re.DOTALL)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SEPARATORS = re.compile("[\x85\u2028\u2029]")

_DIALECT = DuckDB()
_MARK = "\x01"  # no name can begin with it, in quotes or without: such characters are refused
_TYPES = DuckDB.parser_class.TYPE_TOKENS
_SPELLINGS = {
    TokenType.HEREDOC_STRING: "A text between dollar signs",
    TokenType.RAW_STRING: "A raw text",
    TokenType.BYTE_STRING: "A text with escapes",
    TokenType.NATIONAL_STRING: "A national text",
    TokenType.UNICODE_STRING: "A text with Unicode escapes",
    TokenType.HEX_STRING: "A hexadecimal constant",
    TokenType.BIT_STRING: "A bit constant",
    TokenType.PARAMETER: "A parameter",
    TokenType.PLACEHOLDER: "A parameter",
    TokenType.L_BRACKET: "[",
    TokenType.L_BRACE: "{",
    TokenType.BACKSLASH: "\\",
}

_SUBSTRINGS = ("SUBSTRING", "SUBSTR")
_SEPARATING = (TokenType.FROM, TokenType.FOR, TokenType.COMMA)
_WORDS_IN_ORDER = ((TokenType.FROM,), (TokenType.FROM, TokenType.FOR))
_PLAIN_CONSTANT = "write a plain constant: a number, or a text between single quotes"
_GIVE_PARAMETERS = write("pass its value: {parameters=[...]} beside the text, or write a plain constant")
_COUNTED = (TokenType.LIMIT, TokenType.OFFSET)
_CONSTANTS = (TokenType.STRING, TokenType.NUMBER)
_INTERVAL = re.compile("[0-9]{1,9}( ?[a-z]{1,12})?", re.ASCII | re.IGNORECASE)
_PREFIXES = (TokenType.VAR, TokenType.AMP, TokenType.STRING)

_ANSWERED = {"expressions", "from_", "where", "group", "order", "joins", "with_"}
_OUTSIDE = {"limit", "offset", "having", "distinct"}
_INSIDE = {"having", "distinct"}
_CLAUSES = {
    "laterals": ("lateral", "LATERAL", "computes a table for every row", "ask about one table"),
    "qualify": (
        "window_function",
        "QUALIFY",
        OTHER_ROWS,
        f"of an answer, put it into FROM (...), and use WHERE around it; {ROW_OF_EACH}",
    ),
    "windows": ("window_function", "WINDOW", OTHER_ROWS, "leave it out"),
    "sample": ("tablesample", "Sampling", "picks an arbitrary subset, which gives no privacy", "leave it out"),
    "locks": ("statement_not_allowed", "FOR UPDATE", "would lock a table", "leave it out"),
    "into": ("statement_not_allowed", "INTO", "would write a table", "leave it out"),
    "pivots": ("statement_not_allowed", "PIVOT", "takes the names of columns from the data", "use GROUP BY"),
}


def parse(text: str) -> exp.Select:
    """Parse a question, which is one SELECT, and check its clauses."""
    tree = parse_statement(text)
    if isinstance(tree, exp.SetOperation):
        why, fix = "puts answers together", "unite rows inside: SELECT COUNT(*) FROM (... UNION ALL ...)"
        raise refusal("set_operation", tree, why, fix, type(tree).__name__.upper())
    if not isinstance(tree, exp.Select):
        raise refusal("statement_not_allowed", tree, "is not a question", "ask with one SELECT", "This statement")
    check_clauses(tree)
    return tree


def parse_statement(text: str) -> exp.Expr:
    """Parse one statement, such as the SELECT of a view, without checking its clauses."""
    tokens = _prepare_tokens(split_tokens(text))
    _check_tokens(tokens)
    tree = _build_tree(text, tokens)
    spell_out_quantiles(tree)
    spell_out_filters(tree)
    spell_out_units(tree)
    _check_depth(tree)
    return tree


def parse_expression(text: str) -> exp.Expr:
    """Parse one expression, such as the condition of a filter written in Python."""
    tree = parse_statement(f"SELECT {text}")
    clauses = {name for name, value in tree.args.items() if value}
    if clauses != {"expressions"} or len(tree.expressions) != 1 or isinstance(tree.expressions[0], exp.Alias):
        fix = "write one condition or value, such as age >= 18"
        raise Refusal(shorten(text), "is not one expression", fix, (1, 1), code="syntax_error")
    found: exp.Expr = tree.expressions[0]
    return found


def _check_characters(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        why = f"has {len(text):,} characters, more than {MOST_CHARACTERS:,}"
        raise Refusal("The question", why, "shorten it", (1, 1), code="too_complex")
    control, separator = _CONTROLS.search(text), _SEPARATORS.search(text)
    if control:
        what = f"The character U+{ord(control.group()):04X}"
        raise Refusal(what, "is invisible", "leave it out", position_at(text, control.start()), code="bad_character")
    if separator:
        what, why = f"The character U+{ord(separator.group()):04X}", "ends a line for some programs and not for others"
        raise Refusal(what, why, "leave it out", position_at(text, separator.start()), code="syntax_not_allowed")


def _check_pieces(text: str) -> None:
    """Refuse too many words and signs, and what is not closed; a text, quoted name or comment counts as one."""
    number = 0
    for number, piece in enumerate(_PIECES.finditer(text)):
        found, start = piece.group(), piece.start()
        if number >= MOST_PIECES:
            why = f"has over {MOST_PIECES:,} words and signs"
            raise Refusal("The question", why, "shorten it", position_at(text, start), code="too_complex")
        if found in ("'", '"') or (found == "/" and text.startswith("/*", start)):
            what = f"What begins with {'/*' if found == '/' else found}"
            raise Refusal(what, "does not end", "close it", position_at(text, start), code="syntax_error")
        if found.startswith("$") and found.endswith("$") and len(found) > 1:
            what, fix = "A text between dollar signs", "write the text between single quotes"
            raise Refusal(what, "is not read here", fix, position_at(text, start), code="syntax_not_allowed")
    spend(_STEPS_OF_A_PIECE * number)


def split_tokens(text: str) -> list[Token]:
    """The tokens of a text, of which there are not too many."""
    _check_characters(text)
    _check_pieces(text)
    try:
        return list(_DIALECT.tokenize(text))
    except TokenError:
        fix = "check quotes and comments"
        raise Refusal("The question", "cannot be read", fix, (1, 1), code="syntax_error") from None


def _prepare_tokens(tokens: list[Token]) -> list[Token]:
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        fix = "ask something like SELECT COUNT(*) FROM people"
        raise Refusal("The question", "is empty", fix, (1, 1), code="empty")
    written = list(_comma_substrings(_move_top(tokens)))
    return [_hide_from_parser(*pair) for pair in zip(written, [*written[1:], None], strict=True)]


def _move_top(tokens: list[Token]) -> list[Token]:
    """Read SELECT TOP 3 ... as SELECT ... LIMIT 3."""
    words = [token.text.upper() for token in tokens[:4]]
    number = tokens[2] if len(tokens) > 3 and words[:2] == ["SELECT", "TOP"] else None
    if number is None or number.token_type is not TokenType.NUMBER or words[3] in ("PERCENT", "WITH"):
        return tokens
    if any(token.token_type in _COUNTED for token in tokens):
        return tokens
    where = (number.line, number.col, number.start, number.end, number.comments)
    return [tokens[0], *tokens[3:], Token(TokenType.LIMIT, "LIMIT", *where), number]


def _comma_substrings(tokens: list[Token]) -> Iterator[Token]:
    """Write SUBSTRING(a FROM b FOR c) with commas: the words mean something else to the parser there.

    Without FROM, it begins at the first character. The words have one order, and stand beside no comma.
    """
    brackets: list[list[TokenType] | None] = []  # those that are open: what separates the arguments of SUBSTRING
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.token_type is TokenType.L_PAREN:
            called = before is not None and before.text.upper() in _SUBSTRINGS
            brackets.append([] if called else None)
        elif token.token_type is TokenType.R_PAREN and brackets:
            brackets.pop()
        separators = brackets[-1] if brackets else None
        if separators is None or token.token_type not in _SEPARATING:
            yield token
            continue
        separators.append(token.token_type)
        yield from _separate(token, tuple(separators))


def _separate(token: Token, separators: tuple[TokenType, ...]) -> Iterator[Token]:
    """What is read in place of the last of the separators between the arguments of SUBSTRING."""
    where = (token.line, token.col, token.start, token.end, token.comments)
    comma = Token(TokenType.COMMA, ",", *where)
    if separators == (TokenType.FOR,):
        yield from (comma, Token(TokenType.NUMBER, "1", *where), comma)
    elif separators in _WORDS_IN_ORDER:
        yield comma
    elif token.token_type is TokenType.COMMA and set(separators) == {TokenType.COMMA}:
        yield token
    else:
        fix = "write SUBSTRING(a FROM 2 FOR 3), or SUBSTRING(a, 2, 3)"
        raise _refusal_at(token, "syntax_error", shorten(token.text), "separates no argument of SUBSTRING here", fix)


def _hide_from_parser(token: Token, after: Token | None) -> Token:
    """Mark the name of a function that we read ourselves, so that the parser does not rewrite its arguments."""
    called = after is not None and after.token_type is TokenType.L_PAREN and token.text.upper() in NAMES
    if not called or token.token_type is TokenType.STRING:
        return token
    where = (token.line, token.col, token.start, token.end, token.comments)
    return Token(TokenType.VAR, _MARK + token.text, *where)


def _check_tokens(tokens: Sequence[Token]) -> None:
    _check_top(tokens)
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            raise _refusal_at(
                token, "multiple_statements", "A second statement", "begins here", "ask one question at a time"
            )
    if tokens[0].token_type not in (TokenType.SELECT, TokenType.WITH):
        word = shorten(tokens[0].text.upper())
        raise _refusal_at(tokens[0], "statement_not_allowed", word, "is not a question", "begin with SELECT")
    brackets: list[bool] = []
    joins = 0
    for before, token in zip([None, *tokens], tokens, strict=False):
        _check_spelling(before, token)
        joins += token.token_type is TokenType.JOIN
        interval = before is not None and before.token_type is TokenType.INTERVAL
        if interval and token.token_type in _CONSTANTS and not _INTERVAL.fullmatch(token.text):
            raise _refusal_at(token, "bad_literal", "INTERVAL", "takes a whole number", "write INTERVAL 7 DAY")
        if before is not None and before.token_type in _COUNTED and token.token_type is not TokenType.NUMBER:
            word = before.text.upper()
            raise _refusal_at(token, "bad_literal", word, "takes a whole number", f"write {word} 10")
        if token.token_type is TokenType.L_PAREN:
            brackets.append(before is not None and (before.token_type in _TYPES or before.text.upper() == "GROUP"))
        elif token.token_type is TokenType.R_PAREN and brackets:
            brackets.pop()
        if len(brackets) > MOST_BRACKETS or sum(brackets) > _MOST_TYPED_BRACKETS or joins > _MOST_JOINS:
            raise _refusal_at(token, "too_complex", "The question", "is nested too deeply", "take it apart")


def _check_top(tokens: Sequence[Token]) -> None:
    """Refuse SELECT TOP that is not LIMIT at the end of all: a share of rows, or rows of a SELECT inside."""
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        begins = before.token_type in (TokenType.SELECT, TokenType.DISTINCT)
        if begins and token.text.upper() == "TOP" and after.token_type is TokenType.NUMBER:
            why, fix = (
                "keeps a share of rows, or rows of a SELECT inside",
                "write LIMIT with a number, at the end of all",
            )
            raise _refusal_at(token, "syntax_not_allowed", f"TOP {after.text}", why, fix)


def _check_spelling(before: Token | None, token: Token) -> None:
    kind = token.token_type
    if kind in _SPELLINGS:
        fix = _GIVE_PARAMETERS if kind is TokenType.PLACEHOLDER else _PLAIN_CONSTANT
        raise _refusal_at(token, "syntax_not_allowed", _SPELLINGS[kind], "is not read here", fix)
    touches = before is not None and before.end + 1 == token.start
    if kind is TokenType.STRING and before is not None and touches and before.token_type in _PREFIXES:
        why, fix = "stands directly before a text", "write the text between single quotes alone"
        raise _refusal_at(before, "syntax_not_allowed", shorten(before.text), why, fix)
    strange = kind is TokenType.UNKNOWN and not token.text.isidentifier()  # a column may well be called unknown
    if strange or (kind in (TokenType.VAR, TokenType.NUMBER) and not token.text.removeprefix(_MARK).isascii()):
        fix = "write names as the catalog does, and texts between single quotes"
        raise _refusal_at(token, "syntax_not_allowed", shorten(token.text), "is neither a name nor a text", fix)


def _build_tree(text: str, tokens: list[Token]) -> exp.Expr:
    try:
        with silence_parser():
            (tree,) = _DIALECT.parser().parse(tokens, text)
    except ParseError as error:
        raise _syntax_refusal(error) from None
    except RecursionError:
        raise Refusal("The question", "is nested too deeply", "take it apart", (1, 1), code="too_complex") from None
    except Exception:  # noqa: BLE001 - the parser stumbles over some texts in ways of its own
        raise Refusal("The question", "cannot be read", "check its syntax", (1, 1), code="syntax_error") from None
    assert tree is not None  # noqa: S101 - the first token is SELECT or WITH
    for named in tree.find_all(exp.Anonymous, exp.Identifier):
        named.set("this", str(named.this).removeprefix(_MARK))
    for function in tree.find_all(exp.Func):
        if "start" in function.meta:
            function.meta[WRITTEN] = text[function.meta["start"] : function.meta["end"] + 1]
    return tree


def _syntax_refusal(error: ParseError) -> Refusal:
    first = error.errors[0]
    word = shorten(str(first["highlight"]))
    place = (first["line"], max(1, first["col"] - len(first["highlight"]) + 1))
    what = f"SQL near {word or 'the end'}"
    return Refusal(what, "cannot be read", "check the syntax there", place, code="syntax_error")


def _check_depth(tree: exp.Expr) -> None:
    """Refuse a tree that is too deep. Brackets are counted before; a chain of AND or of OR counts as one level."""
    waiting = [(tree, 0)]
    while waiting:
        node, level = waiting.pop()
        if level > MOST_LEVELS:
            raise refusal("too_complex", node, "is nested too deeply", "take it apart", "The question")
        for child in node.iter_expressions():
            chained = isinstance(child, exp.Paren) or (type(child) is type(node) and isinstance(node, exp.And | exp.Or))
            waiting.append((child, level + (not chained)))


def check_clauses(select: exp.Select, inner: bool = False) -> None:
    """Refuse clauses that are not answered in a question, or (`inner`) in a SELECT inside one."""
    present = {name for name, value in select.args.items() if value}
    if inner and present & {"limit", "offset"}:
        why = "keeps rows by their order, which depends on everybody's rows"
        raise refusal("limit_below_aggregate", select, why, "use LIMIT outside only", "LIMIT inside a question")
    answered = _ANSWERED | (_INSIDE if inner else _OUTSIDE)
    for name, (code, what, why, fix) in _CLAUSES.items():
        if name in present - answered:
            part = select.args[name]
            node = part[0] if isinstance(part, list) else part
            raise refusal(code, node if isinstance(node, exp.Expr) else select, why, fix, what)
    for name in sorted(present - answered):
        raise refusal("syntax_not_allowed", select, "is not answered", "leave it out", name.rstrip("_").upper())


def refuse_distinct(select: exp.Select) -> None:
    """Refuse SELECT DISTINCT of a question about people."""
    if select.args.get("distinct"):
        why, fix = "would show values of single rows", "use GROUP BY with COUNT(*)"
        raise refusal("not_an_aggregate", select.args["distinct"], why, fix, "DISTINCT")


def write_sql(node: exp.Expr) -> str:
    """A part of a question as its text."""
    return node.sql(dialect=_DIALECT)


def position_at(text: str, offset: int) -> Position:
    """The line and column of a character."""
    before = text[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")


def _refusal_at(token: Token, code: str, what: str, why: str, fix: str) -> Refusal:
    return Refusal(what, why, fix, (token.line, token.col - (token.end - token.start)), code=code)
