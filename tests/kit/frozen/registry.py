"""What is frozen: each thing by the name of its file, the part of `make test` that looks at it, and what tells it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from kit.frozen.records import collect

if TYPE_CHECKING:
    from kit.frozen.records import Records

# By part, and then by name: the module of kit/frozen and its function, which yields keys and texts. Only the modules of
# one part are imported in its process.
THINGS = {
    "server": {
        "openapi": "documents:describe_openapi",
        "console_pages": "pages:visit_pages",
        "refusals": "refusals:tell_refusals",
    },
    "surfaces": {
        "help": "commands:show_help",
        "words_of_methods": "words:tell_methods",
        "words_of_aggregates": "words:tell_aggregates",
    },
    "analyses": {
        "answers_of_methods": "answers:answer_methods",
        "answers_of_corpus": "answers:answer_corpus",
    },
}
ADDRESSES = {name: address for things in THINGS.values() for name, address in things.items()}


def find(name: str) -> Records:
    """What a thing shows now."""
    module, function = ADDRESSES[name].split(":")
    return collect(getattr(import_module(f"kit.frozen.{module}"), function)())
