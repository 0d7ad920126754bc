import pytest

from adomnia.curator.measurements import Record
from adomnia.curator.paying import read_record
from adomnia.errors import Failure
from adomnia.ledger import StoredAnswer
from adomnia.ledger.requests import Receipt
from adomnia.privacy.events import Pure


def stored(payload):
    return StoredAnswer(payload, Receipt("alice", "first", b"a plan", Pure(1), ""))


def test_a_record_is_read_as_it_was_written():
    assert read_record(stored(Record(rounds=["a"], results=[1]).to_bytes())) == Record(rounds=["a"], results=[1])


@pytest.mark.parametrize(
    "payload", [b"", b"\xff", b"3", b"null", b"{}", b'[{"shape": [1]}]', b'{"values": 1, "names": 2}']
)
def test_what_is_no_record_is_a_failure_of_its_request(payload):
    with pytest.raises(Failure, match="first"):
        read_record(stored(payload))
