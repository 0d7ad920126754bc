"""What programs act on: the actions of fixes, one stable word each, and the facts that belong to it."""

from adomnia.messages.texts import Fix

ADD_DELTA = "add_delta"
ASK_FIRST = "ask_first"  # sql: a question whose answer is needed
ASK_RELEASE = "ask_release"  # the question is about a release
PAY = "pay"  # an amount of a currency
RENAME = "rename"  # name: what was probably meant; otherwise: as of what is told
TELL = "tell"  # otherwise: what there is, as a sentence, which is no command


def guess(close: list[str], otherwise: str = "", sentence: str = "") -> Fix:
    """The first of names that were probably meant; and what there is otherwise, as a sentence if that reads better."""
    sentence = sentence or otherwise
    if not close:
        return tell(otherwise, sentence)
    return Fix(f"did you mean {close[0]}? {otherwise}".strip(), RENAME, name=close[0], otherwise=sentence)


def tell(otherwise: str, sentence: str = "") -> Fix:
    """What there is, which is not what to do."""
    return Fix(otherwise, TELL, otherwise=sentence or otherwise)
