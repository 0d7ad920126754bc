"""The statements of a ledger in PostgreSQL; each finds its rows by an index."""

from functools import cache

__all__ = ["write_statements"]

_STATEMENTS = {
    "bodies": """SELECT sequence, body FROM {s}.entries WHERE sequence > %s AND sequence <= %s
                 ORDER BY sequence LIMIT %s""",
    "newest": "SELECT sequence, body FROM {s}.entries ORDER BY sequence DESC LIMIT 1",
    "checkpoint": """SELECT sequence, body FROM {s}.entries WHERE sequence <= %s AND kind = 'checkpoint'
                     ORDER BY sequence DESC LIMIT 1""",
    "requests": """SELECT kind, request_id, sequence, body FROM {s}.entries
                   WHERE request_id = ANY(%b::text[]) AND kind IN ('reserve', 'commit')""",
    "answered": """SELECT asked.plan, asked.analyst, found.request_id
                   FROM unnest(%b::text[], %b::text[]) AS asked (plan, analyst) CROSS JOIN LATERAL (
                       SELECT request_id FROM {s}.entries AS kept WHERE kind = 'commit' AND kept.plan = asked.plan
                       ORDER BY (kept.analyst IS NOT DISTINCT FROM asked.analyst) DESC, sequence LIMIT 1) AS found""",
    "touch": "UPDATE {s}.format SET version = version",
    "payload": "SELECT payload FROM {s}.payloads WHERE digest = %s",
    "payloads": "SELECT COUNT(*) FROM {s}.payloads",
    "restorations": "SELECT body FROM {s}.entries WHERE kind = 'restored' ORDER BY sequence",
    "page": """SELECT kept.sequence, debits.body FROM {s}.entries AS kept
               JOIN {s}.entries AS debits ON debits.kind = 'reserve' AND debits.request_id = kept.request_id
               WHERE kept.kind = 'commit' AND kept.analyst = %s AND kept.sequence > %s
               ORDER BY kept.sequence LIMIT %s""",
    "latest": """SELECT kept.sequence, debits.body FROM {s}.entries AS kept
                 JOIN {s}.entries AS debits ON debits.kind = 'reserve' AND debits.request_id = kept.request_id
                 WHERE kept.kind = 'commit' AND kept.analyst = %s AND kept.sequence > %s
                 ORDER BY kept.sequence DESC LIMIT %s""",
    "unanswered": """SELECT body FROM {s}.entries AS debits
                     WHERE kind = 'reserve' AND request_id > %s AND request_id < %s AND NOT EXISTS (
                         SELECT 1 FROM {s}.entries AS kept
                         WHERE kept.kind = 'commit' AND kept.request_id = debits.request_id
                     ) ORDER BY sequence DESC LIMIT %s""",
    "debits": """SELECT body FROM {s}.entries
                 WHERE kind = 'reserve' AND request_id > %s AND request_id < %s ORDER BY sequence LIMIT %s""",
    "answers": "SELECT COUNT(*) FROM {s}.entries WHERE kind = 'commit' AND analyst = %s",
    "storage": "SELECT analyst, bytes FROM {s}.storage WHERE analyst = ANY(%b::text[])",
    "rows": """SELECT sequence, body, kind, analyst, request_id, plan FROM {s}.entries
               WHERE sequence > %s ORDER BY sequence LIMIT %s""",
    "stored": "SELECT digest, payload FROM {s}.payloads WHERE digest > %s ORDER BY digest LIMIT %s",
    "counts": "SELECT analyst, bytes FROM {s}.storage",
    "add_entries": """INSERT INTO {s}.entries (sequence, body, kind, analyst, request_id, plan)
                      SELECT * FROM unnest(%b::bigint[], %b::text[], %b::text[], %b::text[], %b::text[], %b::text[])""",
    "add_payloads": """INSERT INTO {s}.payloads SELECT * FROM unnest(%b::text[], %b::bytea[])
                       ON CONFLICT DO NOTHING""",
    "add_storage": """INSERT INTO {s}.storage SELECT * FROM unnest(%b::text[], %b::bigint[])
                      ON CONFLICT (analyst) DO UPDATE SET bytes = excluded.bytes""",
}


@cache
def write_statements(schema: str) -> dict[str, str]:
    """The statements for the ledger in a schema."""
    return {name: text.format(s=schema) for name, text in _STATEMENTS.items()}
