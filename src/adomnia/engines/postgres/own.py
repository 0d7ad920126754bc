"""What a function of ours in PostgreSQL is made of, and the statements that make it."""

from collections.abc import Iterator
from dataclasses import dataclass

PREFIX = "ao_"
ONCE = "_once"  # the end of a twin's name


@dataclass(frozen=True)
class Own:
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
