"""What the codes of refused questions mean to an owner, and what can be done about each. The codes are a closed set."""

from dataclasses import dataclass

OTHER = "refused"


@dataclass(frozen=True)
class RefusalReason:
    """Why questions with some codes are refused, in a few words, and what an owner can do about it."""

    says: str
    advice: str
    page: str = ""  # of the console, where it can be done


_TUTORIAL = "Show analysts the page about SQL, or the examples on their page of data."
_CATALOG = "/owner/catalog"
_GROUPS: dict[RefusalReason, tuple[str, ...]] = {
    RefusalReason("text that cannot be read", _TUTORIAL): (
        *("empty", "bad_character", "syntax_error", "multiple_statements", "bad_literal", "bad_alias"),
        *("duplicate_alias", "bad_parameter", "ambiguous_column"),
    ),
    RefusalReason("SQL that is not answered here", _TUTORIAL): (
        *("syntax_not_allowed", "statement_not_allowed", "function_not_allowed", "nondeterministic_function"),
        *("set_operation", "recursion", "limit_below_aggregate", "tablesample", "window_function", "grouping_sets"),
        *("aggregate_not_allowed", "nested_aggregate", "aggregate_in_where", "lateral", "blocks"),
    ),
    RefusalReason(
        "single rows asked for", "Rows of people are never shown. Point analysts to counts, sums and means by group."
    ): ("not_an_aggregate",),
    RefusalReason(
        "table or column not known",
        "See whether a column that is asked for is missing from the catalog, and declare it if analysts may use it.",
        _CATALOG,
    ): ("unknown_table", "unknown_column"),
    RefusalReason(
        "values not declared",
        "Declare the values of the columns that are grouped by, or give analysts a delta, so that values can be found.",
        _CATALOG,
    ): ("needs_key_domain",),
    RefusalReason(
        "groups by ids or free text",
        "If such a column has few values that name nobody, declare them in the catalog.",
        _CATALOG,
    ): ("identifier_column",),
    RefusalReason("groups by persons", "Answers are about many people. Point analysts to coarser groups."): (
        "group_by_privacy_unit",
    ),
    RefusalReason("no bounds", "Declare lower and upper bounds of the columns that are summed.", _CATALOG): (
        *("unbounded_expression", "scale_out_of_range", "empty_bounds"),
    ),
    RefusalReason(
        "joins of different people",
        "Tables are joined along the links that the catalog declares: add one that is missing.",
        _CATALOG,
    ): ("join", "private_join", "private_self_join", "fanout_join_with_public", "public_left_join"),
    RefusalReason("subqueries about others", _TUTORIAL): (
        *("private_subquery", "private_scalar_subquery", "public_subquery"),
    ),
    RefusalReason(
        "values of the wrong type", "See whether the catalog declares the types that people expect.", _CATALOG
    ): ("type_error",),
    RefusalReason(
        "more than is left",
        "Raise a budget, if the people in the data are to carry more: it is for good.",
        "/owner/budgets",
    ): ("budget",),
    RefusalReason(
        "more than one question may cost",
        "The ceiling of the policy is lower than the prices that are named.",
        _CATALOG,
    ): ("ceiling",),
    RefusalReason("price named beside a policy", "Tell analysts that their policy sets the price.", "/owner/budgets"): (
        "policy_price",
    ),
    RefusalReason(
        "price or precision that is none", "Tell analysts that the page shows prices before they are paid."
    ): (
        *("price", "bad_price", "confidence", "error_not_known", "error_too_small", "bad_weight", "bad_rows"),
        *("price_changed", "renamed_option"),
        *("bad_effort", "bad_inference", "population", "public_table"),
    ),
    RefusalReason(
        "answer that would say nothing", "The price is too low for groups of this size: coarser groups, or more budget."
    ): ("vacuous",),
    RefusalReason("too large a question", "Fewer or coarser groups, or several questions."): (
        *("too_complex", "too_many_cells", "too_much_work"),
    ),
    RefusalReason("not in a release", "A release of other columns, or of finer bins, would answer these for free."): (
        *("release_join", "release_method", "release_bins", "release_apart", "release_aggregate"),
        *("release_without_estimates", "not_covered", "batch_from_release"),
    ),
    RefusalReason("storage used up", "Raise the quota of the analyst in the catalog.", _CATALOG): ("storage",),
    RefusalReason("method used wrongly", "Analysts find the form of each method on their page of methods."): (
        *("method_rows", "method_inside", "around_method", "bad_argument", "missing_argument", "unknown_argument"),
        *("unknown_method", "bad_row", "rows_per_person", "no_model"),
    ),
    RefusalReason("not found private at the second look", "Report the question: the two looks should agree."): (
        "not_proved",
    ),
    RefusalReason("request id or answer not theirs", "Programs choose a new request id for each question."): (
        *("request_id", "request_id_used", "unknown_answer", "catalog_changed", "other_version"),
    ),
    RefusalReason("not in the catalog", "Give the analyst a budget in the catalog, or remove the user.", _CATALOG): (
        *("unknown_analyst", "unknown_dataset"),
    ),
    RefusalReason(
        "release by who may not publish", "Write publish = true under the analyst, if they may spend for all.", _CATALOG
    ): ("may_not_publish",),
    RefusalReason("release that cannot be made or found", "Show analysts the page about releases."): (
        *("no_release", "release_name", "release_taken", "release_failed", "unknown_release"),
        "too_many_releases",
    ),
    RefusalReason("other reasons", "The replies that analysts got say why, and what to do."): (OTHER,),
}
REASONS = {code: reason for reason, codes in _GROUPS.items() for code in codes}
"""By the code of the refusal; several codes may have one reason."""


def known_code(code: str) -> str:
    """The code, if it is one of the closed set; any other counts as `refused`.

    >>> known_code("budget"), known_code("made_up")
    ('budget', 'refused')
    """
    return code if code in REASONS else OTHER
