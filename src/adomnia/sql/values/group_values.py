"""What names and aggregates mean over the groups of a question."""

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.plans.formulas import Formula, Grouping, Term
from adomnia.plans.plan import Output
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket, Key
from adomnia.privacy.kinds import Identity
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.aggregates import read_aggregate
from adomnia.sql.values.groups import Groups
from adomnia.sql.values.having import Conditions
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import check_parts, own_nodes
from adomnia.sql.values.windows import read_over, refusal_of_rows


@dataclass(frozen=True)
class GroupValues(Conditions):
    """Reads values over the groups of a question. Names of keys go before those of `outputs`, and these before others.

    `stage` is how many choices leave the rows that a window is over; None where it cannot be over any.
    """

    groups: Groups
    outputs: tuple[Output, ...] = ()
    stage: int | None = None

    def read_aggregate(self, node: exp.Expr) -> Term:
        return read_aggregate(self.groups, node)

    def read_window(self, node: exp.Window) -> Term:
        if self.stage is None:
            raise refusal_of_rows(node)
        if self.groups.sets:
            why = "is over rows of several groupings, and would count everybody more than once"
            raise refusal("window_function", node, why, "group by the keys alone: GROUP BY a, b")
        return read_over(self, node, self.stage)

    def read_grouping(self, node: exp.Expr) -> Term:
        check_parts(node, "expressions")
        found: Term = Fraction(0)
        for part in node.expressions:
            key = self.source(part)
            if not isinstance(key, Key):
                raise refusal("type_error", part, "is not a key", "write GROUPING(key)")
            one = Grouping(key)
            found = one if found == Fraction(0) else Formula("+", (Formula("*", (found, Fraction(2))), one))
        return found

    def is_null(self, source: Key | Term) -> Term:
        """Whether a value is NULL: a key is, in the rows that are summed over it."""
        return Grouping(source) if isinstance(source, Key) and self.groups.sets else super().is_null(source)

    def find_key(self, node: exp.Expr) -> Bucket | None:
        """The key by an expression that a node stands for, if there is one."""
        buckets = [key for key in self.groups.keys if isinstance(key, Bucket)]
        known = self.groups.scope.given
        own = list(own_nodes(node, self.groups.scope))
        computes = any(isinstance(each, exp.AggFunc | exp.Query) and id(each) not in known for each in own)
        if not buckets or computes or not any(isinstance(each, exp.Column) or id(each) in known for each in own):
            return None
        if isinstance(node, exp.Column) and not self.groups.scope.knows(node):
            return None
        with suppress(Refusal):
            meaning = read_expression(node, self.groups.scope)
            return next((key for key in buckets if key.written == meaning), None)
        return None

    def read_name(self, node: exp.Column) -> Key | Term:
        known = self.groups.scope.column(node) if self.groups.scope.knows(node) else None
        if isinstance(known, Column) and known in self.groups.keys:
            return known
        for output in self.outputs:
            if not node.table and output.name.lower() == node.name.lower():
                return output.source
        column = self.groups.scope.column(node)
        by = "" if isinstance(column.kind, Identity) else f", or GROUP BY {node.name}"
        raise refusal("not_an_aggregate", node, "would show values of single rows", f"use COUNT, SUM or AVG{by}")
