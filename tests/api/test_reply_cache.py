from __future__ import annotations

from adomnia.api.reply_cache import CachedReply, ReplyCache, ReplyKey

BODY = [b"x" * 50, b"x" * 50]


def asked(question: str, analyst: str = "alice", edition: str = "one") -> ReplyKey:
    return ReplyKey(analyst, edition, question)


def test_a_reply_is_found_by_analyst_edition_and_question_together():
    replies = ReplyCache()
    replies.put(asked("a"), CachedReply("id", BODY))
    assert replies.get(asked("a")) == CachedReply("id", BODY)
    assert replies.get(asked("b")) is None
    assert replies.get(asked("a", analyst="bob")) is None
    assert replies.get(asked("a", edition="two")) is None


def test_what_was_not_used_for_longest_makes_room():
    replies = ReplyCache(largest_bytes=8_000)
    for name in "abcdefghijklm":  # thirteen of about six hundred bytes fit
        replies.put(asked(name), CachedReply(name, BODY))
    replies.get(asked("a"))
    replies.put(asked("n"), CachedReply("n", BODY))
    assert replies.get(asked("b")) is None
    assert all(replies.get(asked(name)) for name in "acdefghijklmn")


def test_the_same_question_takes_room_once():
    replies = ReplyCache(largest_bytes=8_000)
    replies.put(asked("first"), CachedReply("first", BODY))
    for number in range(100):
        replies.put(asked("a"), CachedReply(str(number), BODY))
    assert replies.get(asked("a")) == CachedReply("99", BODY)
    assert replies.get(asked("first"))


def test_a_very_large_reply_is_not_kept_and_pushes_nothing_out():
    replies = ReplyCache(largest_bytes=8_000)
    replies.put(asked("a"), CachedReply("a", BODY))
    replies.put(asked("large"), CachedReply("large", [b"x" * 500, b"x" * 500]))
    assert replies.get(asked("large")) is None
    assert replies.get(asked("a"))
