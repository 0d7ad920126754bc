"""Analysis of variance of a formula: term by term, by tests that know the noise."""

from dataclasses import dataclass
from typing import ClassVar

from adomnia.errors import Refusal
from adomnia.messages.texts import NoteTemplate, define_note
from adomnia.methods.contract import BY, Arguments, Frame, Method
from adomnia.methods.parts.models.formula import name_term
from adomnia.methods.parts.models.regression import FORMULA, Regression, TermTest, VarianceTable, read_rows
from adomnia.methods.parts.testing.report import ADJUST
from adomnia.statistics.contract import Fact, Measured, ResultTable
from adomnia.statistics.p_values import EXPLAINED, bound_p_values

_ABOUT = define_note(
    "tests_about_population", "Tests are about the population that these rows are a sample of, and know the noise."
)
_ROWS = NoteTemplate("complete_rows", "About {rows:,} complete rows, a noisy number.")
_SQUARES = define_note("squares_in_order", "Sums of squares are what each term adds to those before it.")
_NOT_ESTIMABLE = NoteTemplate(
    "terms_not_estimable", "Not estimable: {terms}. Too few rows tell the terms before apart."
)


@dataclass(frozen=True)
class Anova(Regression):
    """The table of an analysis of variance: each term after those before it (sums of squares of type I, as in R).

    Method      least squares from noisy sums of products; score tests with the covariance of noise and sampling.
    Guarantee   all sums composed; everything else is post-processing.
    Bias        what noise adds to sums of squares is taken off; they are 0 where it is more.
    Cite        McSherry & Mironov 2009, Wang 2018 (noisy sufficient statistics).
    """

    tag: ClassVar[str] = "Anova"
    name: ClassVar[str] = "anova"

    @property
    def fits(self) -> int:
        return 1 + len(self.design.terms) // 3  # one for each term, each of a column more

    def tabulate(self, *measured: Measured) -> ResultTable:
        fit = self.fit(measured)
        table = VarianceTable(fit, tuple(self._ends()))
        names = tuple(name for name in self.design.terms if name != name_term(()))
        residual = TermTest(max(0.0, fit.sum_of_squares) * fit.products.plan.halves[-1] ** 2, None, None)
        lost = [name for name, test in zip(names, table.tests, strict=True) if test.statistic is None]

        def column(field: str) -> list[Fact]:
            return [getattr(test, field) for test in (*table.tests, residual)]

        return ResultTable(
            labels={"term": (*names, "Residuals")},
            estimates={},
            notes=(
                _ABOUT,
                _ROWS(rows=max(0, round(fit.products.rows))),
                _SQUARES,
                *([_NOT_ESTIMABLE(terms=lost)] if lost else []),
            ),
            facts={
                "df": lambda: [*(end - start for start, end in table.ends), round(fit.degrees_of_freedom)],
                "sum_of_squares": lambda: column("sum_of_squares"),
                "f": lambda: column("statistic"),
                "p_value": lambda: bound_p_values(column("p_value")),
            },
        )

    def _ends(self) -> list[tuple[int, int]]:
        """The first column of each term, and the one after its last."""
        terms = [column.term for column in self.design.columns]
        named = (place for place, name in enumerate(self.design.terms) if name != name_term(()))
        return [(terms.index(place), terms.index(place) + terms.count(place)) for place in named if place in terms]


def _build(frame: Frame, arguments: Arguments) -> Anova:
    relation, by, design = read_rows(frame, arguments)
    if frame.relation.rows_per_person > 1:
        why, fix = "takes rows for independent, and a person may have several here", "reduce them to one row a person"
        raise Refusal("anova", why, f"{fix} in the SELECT", code="rows_per_person")
    return Anova(relation, by, design, population=True)


METHOD = Method(
    name="anova",
    chapter="models",
    summary="Analysis of variance of a formula: which terms matter.",
    parameters=(FORMULA, BY, ADJUST),
    build=_build,
    returns={
        "term": "the term of the formula, or Residuals",
        "df": "degrees of freedom: how many columns the term has; of the residuals noisy",
        "sum_of_squares": "what the term adds to those before it",
        "f": "the statistic of its test: F where there is no noise",
        "p_value": f"of the test that the term does nothing; {EXPLAINED}",
    },
    example="SELECT * FROM anova((SELECT salary, sex FROM people), formula => 'salary ~ C(sex)')",
    known_as={"R": "anova, aov", "SAS": "PROC ANOVA, PROC GLM", "statsmodels": "anova_lm", "SciPy": "f_oneway"},
    notes=("Residuals are taken for independent and of one spread; their sums of squares are of type I, as in R.",),
)
