"""What CURRENT_DATE means: the date that the owner declares, so that a question means the same whenever it is asked."""

from datetime import date

from sqlglot import exp

from adomnia.sql.reading.refusals import refusal

_WITH_TIME = (exp.CurrentDatetime, exp.CurrentTimestamp, exp.CurrentTime)
_NOW = ("NOW", "GETDATE", "SYSDATE", "SYSDATETIME")
_TODAY = ("TODAY", "CURDATE")


def fill_in_today(tree: exp.Expr, today: date | None) -> None:
    """Write the declared date in the place of CURRENT_DATE; a Refusal where none is declared, or a time is asked."""
    for node in list(tree.find_all(exp.CurrentDate, exp.Anonymous, *_WITH_TIME)):
        called = str(node.this).upper() if isinstance(node, exp.Anonymous) and not node.expressions else ""
        name = called or str(node.sql_name()).upper()
        if isinstance(node, _WITH_TIME) or called in _NOW:
            why, fix = "changes from second to second", "write CURRENT_DATE, or the time as a constant"
            raise refusal("nondeterministic_function", node, why, fix, name)
        if not isinstance(node, exp.CurrentDate) and called not in _TODAY:
            continue
        if today is None:
            fix = "write the date as a constant, or ask the owner for today = 2024-12-31 in [dataset]"
            raise refusal("nondeterministic_function", node, "has no value in this catalog", fix, "CURRENT_DATE")
        constant = exp.Cast(this=exp.Literal.string(today.isoformat()), to=exp.DataType.build("DATE"))
        constant.meta.update(node.meta)
        node.replace(constant)
