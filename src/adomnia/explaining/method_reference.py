"""The page of all methods, as Markdown: what docs/statistics.md has below its introduction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adomnia.explaining.methods import MethodList

CHAPTERS = {
    "describe": "Describe",
    "densities": "Histograms and densities",
    "likelihood": "Likelihood",
    "models": "Models",
    "testing": "Tests",
    "survival": "Survival",
    "robust": "Robust estimators",
    "releases": "Releases",
}


def render_reference(methods: MethodList) -> str:
    """All methods by their chapters: arguments, columns, an example, names elsewhere."""
    records = [each.record for each in methods]
    lines = [*_contents(records)]
    for chapter, title in CHAPTERS.items():
        own = [record for record in records if record["chapter"] == chapter]
        lines += ["", f"## {title}"] if own else []
        for record in own:
            lines += _method(record)
    return "\n".join(lines) + "\n"


def _contents(records: list[Mapping[str, Any]]) -> Iterator[str]:
    yield "| method | what it does | in R | elsewhere |"
    yield "|---|---|---|---|"
    for record in records:
        others = "; ".join(f"{program}: {name}" for program, name in record["known_as"].items() if program != "R")
        link = f"[`{record['name']}`](#{record['name']})"
        yield f"| {link} | {record['summary']} | {record['known_as'].get('R', '')} | {others} |"


def _method(record: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"### `{record['name']}`", record["summary"], "", "```sql", record["example"], "```", "")
    yield from ("| argument | takes | default | meaning |", "|---|---|---|---|")
    for each in record["parameters"]:
        default = "must be given" if each["required"] else "" if each["default"] is None else f"`{each['default']}`"
        yield f"| `{each['name']}` | {each['takes']} | {default} | {each['meaning']} |"
    yield from ("", "| column | meaning |", "|---|---|")
    for name, meaning in record["returns"].items():
        yield f"| `{name}` | {meaning} |"
    for note in record["notes"]:
        yield from ("", note)
