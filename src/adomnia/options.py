"""The options of a question, one row each: what every surface offers, describes and reads beside the text."""

from dataclasses import dataclass

# What an option may be named for.
ASK, EXPLAIN, PRICE, BATCH, BATCH_PRICE, RELEASE = "ask", "explain", "price", "batch", "batch price", "release"
REQUESTS = (ASK, EXPLAIN, PRICE, BATCH, BATCH_PRICE, RELEASE)
_QUESTION = "question"  # a part of the question itself, which each question of a batch may name
_EACH = frozenset({*REQUESTS, _QUESTION})

CURRENCIES = ("epsilon", "rho", "error")  # of which a question names one
CONFIDENCE = 0.95
LARGEST_GROUP = 10**15  # rows, and no number whose digits alone would take for ever


@dataclass(frozen=True)
class Typed:
    """How an option is typed: `--flag VALUE`; or `--flag` alone, which `stands_for` a value; or once for each name."""

    flag: str
    metavar: str = ""
    stands_for: object = None
    meaning: str = ""  # where it says another thing than the option does
    repeats: bool = False


@dataclass(frozen=True)
class QuestionOption:
    """A row. `kind` is amount, distance, whole number, share, choice, truth, text, or amounts or values by their names.

    Numbers are from `least` to `most`; a share is strictly between 0 and 1. `applies` says where it may be named.
    `label` is what a form calls it, `words` what it calls the choices, and `example` stands where nothing is typed;
    what is a switch there says what it does. `formerly` is a name that is refused, with this one as the fix.
    """

    name: str
    kind: str
    meaning: str
    applies: frozenset[str]
    typed: Typed
    default: object = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    label: str = ""
    words: tuple[str, ...] = ()
    example: str = ""
    formerly: str = ""
    asked_afterwards: bool = False  # an answer in Python or on a terminal is asked for it once it is there

    @property
    def in_words(self) -> str:
        """What a form calls it."""
        return self.label or self.name.replace("_", " ").capitalize()

    @property
    def is_of_question(self) -> bool:
        """Whether it is a part of the question, with its price, and not of how one request asks it."""
        return _QUESTION in self.applies


_ROWS = (
    QuestionOption(
        "epsilon",
        "amount",
        "Pays in epsilon, for Laplace noise. Name exactly one of epsilon, rho and error.",
        _EACH,
        Typed("epsilon", "NUMBER"),
    ),
    QuestionOption("rho", "amount", "Pays in rho, for Gaussian noise.", _EACH, Typed("rho", "NUMBER")),
    QuestionOption(
        "error",
        "distance",
        "Pays the least epsilon that keeps every output within this error.",
        _EACH,
        Typed("error", "NUMBER"),
    ),
    QuestionOption(
        "delta",
        "amount",
        "Paid beside the price, for values of keys that nobody declared, or by methods that need it.",
        _EACH,
        Typed("delta", "NUMBER"),
        label="Delta beside the price",
        example="1e-9",
    ),
    QuestionOption(
        "weights",
        "amounts",
        "How the price is split over the outputs, by their names; the weight of others is 1.",
        _EACH,
        Typed("weight", "OUTPUT=NUMBER", meaning="The weight of an output in the price; default 1.", repeats=True),
        label="Weights of columns",
        example="pay = 3",
    ),
    QuestionOption(
        "rows",
        "whole number",
        "How many rows a group is supposed to have, for errors that depend on it.",
        _EACH,
        Typed("rows", "NUMBER"),
        least=1,
        most=LARGEST_GROUP,
        label="Rows in a group",
        example="1,000",
    ),
    QuestionOption(
        "effort",
        "choice",
        "With rho, high effort takes longer and needs less noise.",
        _EACH,
        Typed("effort", "NAME"),
        default="normal",
        choices=("normal", "high"),
        label="Effort",
        words=("normal", "high: takes longer, needs less noise"),
    ),
    QuestionOption(
        "interval",
        "truth",
        "Whether intervals of quantiles are bought beside their values.",
        _EACH,
        Typed("no-interval", stands_for=False, meaning="Buys quantiles without their intervals."),
        default=True,
    ),
    QuestionOption(
        "inference",
        "choice",
        "Whether intervals are about the data, or the population that the people are a sample of.",
        _EACH,
        Typed(
            "population",
            stands_for="population",
            meaning="Makes intervals be about the population that the people are a sample of.",
        ),
        default="data",
        choices=("data", "population"),
        label="The intervals are about",
        words=("the data", "the population that it is a sample of"),
    ),
    QuestionOption(
        "parameters",
        "values",
        "The values of :name in the text, by their names, or of ? in their order.",
        _EACH,
        Typed("parameter", "NAME=VALUE", meaning="The value of :NAME in the question.", repeats=True),
        label="Values of :names",
        example="least = 18",
    ),
    QuestionOption(
        "from_release",
        "truth",
        "Answers from a release that covers the question, free, or not at all.",
        _EACH,
        Typed("from-release", stands_for=True),
    ),
    QuestionOption(
        "confidence",
        "share",
        "The confidence level of intervals and errors.",
        frozenset(REQUESTS),
        Typed("confidence", "SHARE"),
        default=CONFIDENCE,
        label="Confidence",
        example="0.95",
    ),
    QuestionOption(
        "request_id",
        "text",
        "Your name for the request: sent again, it gets the same answer and pays nothing.",
        frozenset({ASK, BATCH}),
        Typed("request-id", "TEXT"),
    ),
    QuestionOption(
        "replay",
        "truth",
        "Whether an equal question at the same price gets the same answer, free.",
        frozenset({ASK}),
        Typed("fresh", stands_for=False, meaning="Pays again for new noise, and replays no answer."),
        default=True,
    ),
    QuestionOption(
        "allow_uninformative",
        "truth",
        "Pays also for an answer that would say almost nothing.",
        frozenset({ASK, BATCH}),
        Typed("allow-uninformative", stands_for=True),
        default=False,
        formerly="anyway",
    ),
    QuestionOption(
        "simultaneous",
        "truth",
        "Intervals or errors that hold in all groups at once.",
        frozenset({ASK, PRICE, BATCH_PRICE}),
        Typed("simultaneous", stands_for=True),
        default=False,
        formerly="together",
        asked_afterwards=True,
    ),
    QuestionOption(
        "private",
        "truth",
        "Buys the release for oneself, not for everybody.",
        frozenset({RELEASE}),
        Typed("private", stands_for=True),
        default=False,
    ),
)
OPTIONS = {row.name: row for row in _ROWS}


def list_options(request: str) -> tuple[QuestionOption, ...]:
    """The options that a request may name."""
    return tuple(row for row in _ROWS if request in row.applies)
