from __future__ import annotations

from adomnia.server.replies import Asked, Kept, Replies

BODY = b"x" * 100


def asked(question: str, analyst: str = "alice", edition: str = "one") -> Asked:
    return Asked(analyst, edition, question)


def test_a_reply_is_found_by_analyst_edition_and_question_together():
    replies = Replies()
    replies.keep(asked("a"), Kept("id", BODY))
    assert replies.find(asked("a")) == Kept("id", BODY)
    assert replies.find(asked("b")) is None
    assert replies.find(asked("a", analyst="bob")) is None
    assert replies.find(asked("a", edition="two")) is None


def test_what_was_not_used_for_longest_makes_room():
    replies = Replies(room=8_000)
    for name in "abcdefghijklm":  # thirteen of about six hundred bytes fit
        replies.keep(asked(name), Kept(name, BODY))
    replies.find(asked("a"))
    replies.keep(asked("n"), Kept("n", BODY))
    assert replies.find(asked("b")) is None
    assert all(replies.find(asked(name)) for name in "acdefghijklmn")


def test_the_same_question_takes_room_once():
    replies = Replies(room=8_000)
    replies.keep(asked("first"), Kept("first", BODY))
    for number in range(100):
        replies.keep(asked("a"), Kept(str(number), BODY))
    assert replies.find(asked("a")) == Kept("99", BODY)
    assert replies.find(asked("first"))


def test_a_very_large_reply_is_not_kept_and_pushes_nothing_out():
    replies = Replies(room=8_000)
    replies.keep(asked("a"), Kept("a", BODY))
    replies.keep(asked("large"), Kept("large", b"x" * 1_000))
    assert replies.find(asked("large")) is None
    assert replies.find(asked("a"))
