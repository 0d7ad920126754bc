"""The durable ledger: budgets are debited before data is read, and nothing is ever refunded; docs/proofs/ledger.md.

`sqlite` opens files that processes share, `files` notices when one is replaced; `schema` has the tables; `chain` links
the entries, `anchor` remembers the newest; `accounts` are what the entries add up to; `journal` writes entries, a
transaction at a time; `requests` decides what a question costs, `owner` what may be spent; `history` lists what was
got, `storage` counts how much it fills; `writer` groups what many threads request; `audit` checks every sum again,
`restore` puts a backup in place; `store` is the interface to it all.
"""

from adomnia.ledger.records import Storage
from adomnia.ledger.requests import Receipt, StoredAnswer
from adomnia.ledger.store import Hold, Ledger

__all__ = ["Hold", "Ledger", "Receipt", "Storage", "StoredAnswer"]
