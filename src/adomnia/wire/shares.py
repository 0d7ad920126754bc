"""Links to answers: for who paid for one to make, and for other analysts to see and buy what they lead to."""

from pydantic import Field

from adomnia.wire.models import CostReply, LeftReply, Reply, Time


class ShareReply(Reply):
    """A link to an answer, without its code."""

    id: str
    request_id: str
    created: Time


class NewShareReply(ShareReply):
    """A link with its code, which is shown this once."""

    code: str
    path: str = Field(examples=["/shared/..."])


class SharesReply(Reply):
    """One's own links that have not ended, newest first."""

    shares: list[ShareReply]


class SharedReply(Reply):
    """What a link leads to: a question and its price, and nothing of the answer."""

    by: str = Field(description="Who shares it.")
    created: Time
    questions: list[str]
    version: int
    confidence: float
    at: str | None
    cost: CostReply
    request_id: str | None = Field(description="Under which one has the answer already; null: one would pay.")
    left: LeftReply | None = Field(description="Of one's own budget, before it is paid.")
    left_after: LeftReply | None
    problem: str | None = Field(description="Why it cannot be had, if so.")
