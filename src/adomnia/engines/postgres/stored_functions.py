"""Functions that are stored in PostgreSQL: what one is made of, and those of arithmetic, which never fails."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import nextafter

PREFIX = "ao_"
ONCE = "_once"  # the end of a twin's name


@dataclass(frozen=True)
class StoredFunction:
    """A function of ours: its arguments with their types, the type of its value, and an expression of them.

    A `twin` belongs to an expression that uses an argument more than once: the planner inlines such a function only
    where its arguments are cheap, and is very slow where it does not, so the twin evaluates them first. A `block` is
    PL/pgSQL instead of an expression. What starts a subtransaction is not `parallel`.
    """

    name: str
    arguments: str
    returns: str
    body: str
    twin: bool = False
    block: bool = False
    parallel: bool = True

    @property
    def called(self) -> str:
        """Its name in statements."""
        return f"{PREFIX}{self.name}"

    def render(self, schema: str) -> Iterator[str]:
        """The statements that make it in a schema, whose name is quoted. `{schema}` in a block is that schema."""
        if self.block:
            yield self._in_blocks(schema, self.called, self.body.replace("{schema}", schema))
            return
        yield f"{self._head(schema, self.called)} LANGUAGE sql RETURN {self.body.replace('{schema}', schema)}"
        if self.twin:
            block = f"BEGIN RETURN {self.body.replace('{schema}', schema)}; END"
            yield self._in_blocks(schema, self.called + ONCE, block)

    def _in_blocks(self, schema: str, name: str, block: str) -> str:
        return f"{self._head(schema, name)} LANGUAGE plpgsql AS $ao${block}$ao$"

    def _head(self, schema: str, name: str) -> str:
        # A cost of one operator, not of a hundred: what calls it is inlined only where it is cheap as a whole.
        together = "SAFE" if self.parallel else "UNSAFE"
        named = f"CREATE OR REPLACE FUNCTION {schema}.{name}({self.arguments}) RETURNS {self.returns}"
        return f"{named} IMMUTABLE PARALLEL {together} COST 1"


def double(number: float) -> str:
    """A double that is written out."""
    return f"'{number!r}'::float8"


_BIG, _SMALL = 2.0**500, 2.0**-500
_LAST_EXPONENT, _FIRST_EXPONENT = 709.782712893384, -745.1332191019411  # of e, within the doubles
_SPLIT = 2.0**27 + 1
_LARGEST_SUMMAND = 2.0**1023
_SUBTRACTED = 2.0**900  # what is smaller does not move a sum beyond the doubles


def _function(name: str, body: str, count: int = 1, *, twin: bool = True) -> StoredFunction:
    return StoredFunction(name, ", ".join(f"{each} float8" for each in "ab"[:count]), "float8", body, twin)


def _block(name: str, body: str, count: int = 2, *, parallel: bool = True) -> StoredFunction:
    arguments = ", ".join(f"{each} float8" for each in "ab"[:count])
    return StoredFunction(name, arguments, "float8", body, block=True, parallel=parallel)


_INFINITY, _NAN = "'Infinity'::float8", "'NaN'::float8"
# At odd places lie 0, and what is between 2**-500 and 2**500 with either sign: products and quotients of these stay
# within the doubles. One search is faster than four comparisons.
PLACES = f"'{{{-_BIG!r},{-_SMALL!r},0,5e-324,{_SMALL!r},{_BIG!r}}}'::float8[]"
_USUAL = f"(width_bucket(a, {PLACES}) & width_bucket(b, {PLACES}) & 1) = 1"
_SCALABLE = f"abs(a) < {double(_BIG)} AND abs(b) BETWEEN 1 AND {double(_BIG)}"
_SUMMABLE = f"abs(a) < {double(_LARGEST_SUMMAND)} AND abs(b) < {double(_LARGEST_SUMMAND)}"
# PostgreSQL's own arithmetic fails on none of these.
_SPECIAL = f"a = 0 OR b = 0 OR abs(a) >= {_INFINITY} OR abs(b) >= {_INFINITY}"  # NaN is above all

# Numbers scaled by powers of two have products with the same digits. These are compared with the ends of the doubles,
# scaled alike; a product that seems to lie on the lower end is told apart by the digits that rounding took away.
_FAR_PRODUCT = f"""
DECLARE s float8 := GREATEST(abs(a), abs(b)); t float8 := LEAST(abs(a), abs(b));
  p float8; s_high float8; s_low float8; t_high float8; t_low float8;
BEGIN
  IF a IS NULL OR b IS NULL THEN RETURN NULL; END IF;
  IF {_SPECIAL} THEN RETURN a * b; END IF;
  IF s >= {double(_BIG)} AND t > 1 THEN
    p := (s * {double(2.0**-600)}) * (t * {double(2.0**-600)});
    IF p >= {double(2.0**-176)} THEN RETURN sign(a) * sign(b) * {_INFINITY}; END IF;
  ELSIF s < 1 AND t < {double(_SMALL)} THEN
    s := s * {double(2.0**600)}; t := t * {double(2.0**600)}; p := s * t;
    s_high := s * {double(_SPLIT)}; s_high := s_high - (s_high - s); s_low := s - s_high;
    t_high := t * {double(_SPLIT)}; t_high := t_high - (t_high - t); t_low := t - t_high;
    IF p < {double(2.0**125)} OR p = {double(2.0**125)}
      AND ((s_high * t_high - p) + s_high * t_low + s_low * t_high) + s_low * t_low <= 0
    THEN RETURN sign(a) * sign(b) * 0; END IF;
  END IF;
  RETURN a * b;
END"""
_FAR_QUOTIENT = f"""
DECLARE s float8 := abs(a); t float8 := abs(b); places int := 0;
BEGIN
  IF a IS NULL OR b IS NULL OR b = 0 THEN RETURN NULL; END IF;
  IF {_SPECIAL} THEN RETURN a / b; END IF;
  IF t < 1 AND s >= {double(2.0**-100)} THEN
    IF s >= {double(_BIG)} THEN s := s * {double(2.0**-600)}; places := places + 600; END IF;
    IF t <= {double(_SMALL)} THEN t := t * {double(2.0**600)}; places := places + 600; END IF;
    IF places = 600 AND s / t >= {double(2.0**424)} OR places = 1200 AND s / t >= {double(2.0**-176)}
    THEN RETURN sign(a) * sign(b) * {_INFINITY}; END IF;
  ELSIF t >= 1 AND s < 1 THEN
    IF s < {double(_SMALL)} THEN s := s * {double(2.0**600)}; places := places + 600; END IF;
    IF t >= {double(_BIG)} THEN t := t * {double(2.0**-600)}; places := places + 600; END IF;
    IF places = 600 AND s <= t * {double(2.0**-475)} OR places = 1200 AND s <= t * {double(2.0**125)}
    THEN RETURN sign(a) * sign(b) * 0; END IF;
  END IF;
  RETURN a / b;
END"""
_FAR_SUM = f"""
DECLARE half float8;
BEGIN
  IF abs(a) >= {double(_SUBTRACTED)} AND abs(b) >= {double(_SUBTRACTED)} AND NOT ({_SPECIAL}) THEN
    half := a * 0.5::float8 + b * 0.5::float8;
    IF abs(half) >= {double(_LARGEST_SUMMAND)} THEN RETURN sign(half) * {_INFINITY}; END IF;
  END IF;
  RETURN a + b;
END"""
# Exact, as fmod is: the divisor is doubled up to the dividend, and subtracted wherever it fits on the way back.
_REMAINDER = f"""
DECLARE rest float8 := abs(a); least float8 := abs(b); t float8 := abs(b);
BEGIN
  IF a IS NULL OR b IS NULL OR b = 0 THEN RETURN NULL; END IF;
  IF rest >= {_INFINITY} OR least = {_NAN} THEN RETURN {_NAN}; END IF;
  IF rest < least THEN RETURN a; END IF;
  IF rest < {double(2.0**53)} AND least >= 1 AND rest = floor(rest) AND least = floor(least) THEN
    RETURN sign(a) * (rest::bigint % least::bigint)::float8;
  END IF;
  WHILE t <= rest - t LOOP t := t * 2; END LOOP;
  LOOP
    IF t <= rest THEN rest := rest - t; END IF;
    EXIT WHEN t = least;
    t := t * 0.5::float8;
  END LOOP;
  RETURN sign(a) * rest;
END"""
_EXPONENTIAL = (
    f"CASE WHEN a BETWEEN {double(_FIRST_EXPONENT)} AND {double(_LAST_EXPONENT)} THEN exp(a) "
    f"WHEN a < {double(_FIRST_EXPONENT)} THEN {double(0.0)} WHEN a = {_NAN} THEN a "
    f"WHEN a > {double(_LAST_EXPONENT)} THEN {_INFINITY} END"
)
# Where a power comes near an end of the doubles, nobody knows beforehand whether it is raised: it is tried.
_POWER = f"""
DECLARE odd boolean; size float8;
BEGIN
  IF a IS NULL OR b IS NULL THEN RETURN NULL; END IF;
  IF b = 0 OR a = 1 THEN RETURN 1; END IF;
  IF a = {_NAN} OR b = {_NAN} THEN RETURN {_NAN}; END IF;
  IF abs(b) = {_INFINITY} THEN
    IF abs(a) = 1 THEN RETURN 1; END IF;
    RETURN CASE WHEN (abs(a) > 1) = (b > 0) THEN {_INFINITY} ELSE 0 END;
  END IF;
  odd := b = floor(b) AND abs(b) < {double(2.0**53)} AND b::bigint % 2 <> 0;
  IF a = 0 OR abs(a) = {_INFINITY} THEN
    size := CASE WHEN (a = 0) = (b < 0) THEN {_INFINITY} ELSE 0 END;
    RETURN CASE WHEN odd AND a::text LIKE '-%' THEN -size ELSE size END;
  END IF;
  IF a < 0 AND b <> floor(b) THEN RETURN {_NAN}; END IF;
  size := {{schema}}.ao_multiply(b, ln(abs(a)));
  IF abs(size) < 700 THEN RETURN power(a, b); END IF;
  IF abs(size) < 760 THEN
    BEGIN
      RETURN power(a, b);
    EXCEPTION WHEN numeric_value_out_of_range THEN NULL;
    END;
  END IF;
  size := CASE WHEN size > 0 THEN {_INFINITY} ELSE 0 END;
  RETURN CASE WHEN odd AND a < 0 THEN -size ELSE size END;
END"""
# What lies outside becomes an end, and the ends become NULL: the argument stands there once, so that it is inlined.
_POSITIVE = f"NULLIF(GREATEST(a, {double(0.0)}), {double(0.0)})"
_NOT_NEGATIVE = f"NULLIF(GREATEST(a, {double(-5e-324)}), {double(-5e-324)})"
_LONG_ENDS = nextafter(-(2.0**63), float("-inf")), 2.0**63
_LONG = (
    f"NULLIF(NULLIF(GREATEST(LEAST(a, {double(_LONG_ENDS[1])}), {double(_LONG_ENDS[0])}), "
    f"{double(_LONG_ENDS[1])}), {double(_LONG_ENDS[0])})::bigint"
)

ARITHMETIC = (
    _block("far_product", _FAR_PRODUCT),
    _block("far_quotient", _FAR_QUOTIENT),
    _block("far_sum", _FAR_SUM),
    _function("multiply", f"CASE WHEN {_USUAL} THEN a * b ELSE {{schema}}.ao_far_product(a, b) END", 2),
    # By a constant, most of which the planner decides: a number becomes no smaller, and stays far from the last ones.
    _function("scale", f"CASE WHEN {_SCALABLE} THEN a * b ELSE {{schema}}.ao_far_product(a, b) END", 2),
    _function("divide", f"CASE WHEN {_USUAL} AND b <> 0 THEN a / b ELSE {{schema}}.ao_far_quotient(a, b) END", 2),
    _function("add", f"CASE WHEN {_SUMMABLE} THEN a + b ELSE {{schema}}.ao_far_sum(a, b) END", 2),
    _function("subtract", f"CASE WHEN {_SUMMABLE} THEN a - b ELSE {{schema}}.ao_far_sum(a, -b) END", 2),
    _block("modulo", _REMAINDER),
    _function("finite", f"NULLIF(NULLIF(NULLIF(a, {_NAN}), {_INFINITY}), -{_INFINITY})", twin=False),
    _function("round", "trunc(a) + CASE WHEN abs(a - trunc(a)) >= 0.5::float8 THEN sign(a) ELSE 0 END"),
    _function("ln", f"ln({_POSITIVE})", twin=False),
    _function("log10", f"log({_POSITIVE})", twin=False),
    _function("exp", _EXPONENTIAL),
    _function("sqrt", f"sqrt({_NOT_NEGATIVE})", twin=False),
    _block("power", _POWER, parallel=False),
    StoredFunction("long", "a float8", "bigint", _LONG),
)


_PART = 2.0**62
# A double that is whole, as the decimal that it is: its parts of 62 bits are integers of 64 bits.
_WIDE = (
    f"CAST(TRUNC(a / {double(_PART)}) AS bigint)::numeric * {int(_PART)} "
    f"+ CAST(a - TRUNC(a / {double(_PART)}) * {double(_PART)} AS bigint)"
)
WIDE = StoredFunction("wide", "a float8", "numeric", _WIDE)
