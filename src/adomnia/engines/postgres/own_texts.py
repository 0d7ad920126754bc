"""Functions of texts as DuckDB has them, and what texts say, read without a cast that may fail."""

from collections.abc import Iterator
from fractions import Fraction

from adomnia.engines.letters import list_case_pairs
from adomnia.engines.postgres.own import Own
from adomnia.privacy.kinds import LONGEST_TEXT

_ANY_CASE = "CASE WHEN octet_length(a) = length(a) THEN {0}(a COLLATE \"C\") ELSE translate(a, '{1}', '{2}') END"
# A pattern in our one form: PostgreSQL reads \\x with as many digits as there are, and knows no \\z.
_PATTERN = r"replace(replace(b, '\x', '\u00'), '\z', '\Z')"
_PLAIN_NUMBER = "^[+-]?[0-9]{1,15}([.][0-9]{0,15})?$"
_NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
BEYOND = 2**1024 - 2**970  # from here on, a number is read as an infinity
_LAST_PLACE = 1200  # of the first digit: a double's are nearer to the point
# The half of the smallest double, in all of its digits: up to there, a number is read as 0.
SMALLEST = f"0.{int(Fraction(1, 2**1075) * 10**1075):01075d}"


# A number has a size that is known from the places of its digits; only near the ends of the doubles is it compared.
_READ_NUMBER = f"""
DECLARE parts text[]; digits text; exponent text; place int; exact numeric; unsigned float8;
BEGIN
  IF a ~ '{_PLAIN_NUMBER}' THEN RETURN a::float8; END IF;
  IF a IS NULL OR a !~ '{_NUMBER}' THEN RETURN NULL; END IF;
  parts := regexp_match(a, '^([+-]?)([0-9]*)[.]?([0-9]*)[eE]?([+-]?)([0-9]*)$');
  digits := ltrim(parts[2] || parts[3], '0');
  exponent := ltrim(parts[5], '0');
  place := length(parts[2]) - (length(parts[2] || parts[3]) - length(digits));
  IF digits = '' THEN
    unsigned := 0;
  ELSIF length(exponent) > 6 THEN
    unsigned := CASE WHEN parts[4] = '-' THEN 0 ELSE 'Infinity'::float8 END;
  ELSE
    place := place + (parts[4] || COALESCE(NULLIF(exponent, ''), '0'))::int;
    IF abs(place) > {_LAST_PLACE} THEN
      unsigned := CASE WHEN place < 0 THEN 0 ELSE 'Infinity'::float8 END;
    ELSE
      exact := ('0.' || digits || 'e' || place)::numeric;
      unsigned := CASE WHEN exact >= {BEYOND} THEN 'Infinity'::float8 WHEN exact <= {SMALLEST} THEN 0
        ELSE ltrim(a, '+-')::float8 END;
    END IF;
  END IF;
  RETURN CASE WHEN parts[1] = '-' THEN -unsigned ELSE unsigned END;
END"""
_READ_DATE = r"""
DECLARE first date;
BEGIN
  IF a IS NULL OR a !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' OR a LIKE '0000%' THEN RETURN NULL; END IF;
  first := make_date(left(a, 4)::int, substr(a, 6, 2)::int, 1);
  RETURN CASE WHEN right(a, 2)::int <= (first + interval '1 month')::date - first THEN first + right(a, 2)::int - 1 END;
END"""


def list_texts() -> Iterator[Own]:
    """All of them; which letter is the other case of which, DuckDB says."""
    yield Own("matches", "a text, b text", "boolean", f"a ~ {_PATTERN}")
    yield Own("like", "a text, b text", "boolean", "a LIKE b ESCAPE ''")
    yield Own("contains", "a text, b text", "boolean", "strpos(a, b) > 0")
    yield Own("ends_with", "a text, b text", "boolean", "starts_with(reverse(a), reverse(b))")
    yield Own("cut", "a text", "text", f"substring(a, 1, {LONGEST_TEXT})")
    yield Own("substring", "a text, b float8, c float8", "text", "substring(a, b::int, c::int)")
    yield Own("right", "a text, b float8", "text", "right(a, b::int)")
    yield Own("read_number", "a text", "float8", _READ_NUMBER, block=True)
    yield Own("read_date", "a text", "date", _READ_DATE, block=True)
    truth = """CASE lower(a COLLATE "C") WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"""
    yield Own("read_boolean", "a text", "boolean", truth)
    yield Own("number", "a boolean", "float8", "a::int::float8")
    yield Own("write_boolean", "a boolean", "text", "a::text")
    yield Own("write_number", "a float8", "text", "{schema}.ao_long(a)::text")
    for name in ("upper", "lower"):
        letters, others = map("".join, zip(*list_case_pairs(name), strict=True))
        yield Own(name, "a text", "text", _ANY_CASE.format(name, letters, others), twin=True)
