"""The README of a release, for whoever finds the folder: what it is, what it guarantees, what it is not good for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.methods.registry import find_method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.releases.model import Release
    from adomnia.statistics.products import Attribute

_SHOWN = 8  # values of a column


def write_readme(release: Release) -> str:
    """The page, in Markdown."""
    return "\n".join(
        [
            f"# {release.name}",
            "",
            *_say_what(release),
            "",
            "## What is guaranteed",
            "",
            release.facts.guarantee or "Nothing is said.",
            "Whoever works with these files can compute whatever they like: the guarantee stays as it is.",
            "",
            "## How it was made",
            "",
            *_say_how(release),
            "",
            "## What it stands for",
            "",
            "| column | type | values |",
            "|---|---|---|",
            *(
                f"| {_cell(each.name)} | {each.sort} | {_cell(_say_values(each))} |"
                for each in release.product.attributes
            ),
            "",
            "## Files",
            "",
            *_say_files(release),
            "",
            "## How far off, and not good for",
            "",
            *(f"- {line}" for line in _say_limits(release)),
            "",
        ]
    )


def _say_what(release: Release) -> Iterator[str]:
    if not _has_estimates(release):
        yield (
            f"Synthetic rows: {release.table.num_rows:,} made-up ones, drawn so that counts of them come close to "
            "counts of a private table. No row is a person."
        )
    else:
        yield "Noisy counts of a private table, by the values of its columns."
    yield ""
    yield "It is the answer to this question:"
    yield ""
    yield "```sql"
    yield release.question.replace("```", "` ` `")
    yield "```"


def _say_how(release: Release) -> Iterator[str]:
    words = {
        "mechanism": "Method",
        "price": "Paid",
        "made_by": "Made by",
        "made_at": "Made at",
        "version": "Version of the data",
        "catalog": "SHA-256 of the catalog",
        "request_id": "Request id in the ledger",
        "randomness": "Randomness after the noise",
    }
    told = release.about
    yield from (f"- {word}: {told[key]}" for key, word in words.items() if key in told)


def _say_files(release: Release) -> Iterator[str]:
    yield f"- `data.parquet` and `data.csv`: the table, {release.table.num_rows:,} rows."
    for field in release.table.schema:
        kind = (field.metadata or {}).get(b"kind", b"").decode()
        yield f"    - `{_cell(field.name)}`: {_say_field(release, field.name, kind)}"
    yield "- `release.json`: all of the above for programs, with the SHA-256 of every file."
    yield (
        "- `integers.parquet` and `numbers.parquet`: the arrays that `release.json` names. They are what was measured, "
        "and what counts are computed from."
    )
    yield ""
    yield "In Python, `adomnia.open_release(folder)` checks the files and opens them."


def _say_field(release: Release, name: str, kind: str) -> str:
    percent = f"{100 * (release.facts.confidence or 0):g}%"
    method = find_method(release.facts.mechanism or "")
    if method is not None and name in method.returns and kind not in {"lower", "upper"}:
        return method.returns[name]
    match kind:
        case "value":
            return "an estimate"
        case "lower" | "upper":
            return f"the {kind} end of its interval, which holds the exact value in at least {percent} of releases"
        case "fact":
            return "a number that follows from the estimates"
    return "a value of somebody who does not exist" if release.product.rows is not None else "a value, or (all) of them"


def _say_limits(release: Release) -> Iterator[str]:
    if _has_estimates(release):
        yield "Every count has noise of a known size: its interval tells how far off it may be. Sums of many have more."
    if not _has_estimates(release):
        yield (
            "Relations between columns that were not measured are made up: check what you find by a private question "
            "before you believe it."
        )
        yield "Single rows mean nothing, and standard errors computed as if rows were people are too small."
    else:
        yield "Small counts are mostly noise."
    yield "It tells about the version of the data above, and does not change when the data does."
    yield from release.notes


def _has_estimates(release: Release) -> bool:
    """Whether the table has numbers with intervals; otherwise its rows are made up."""
    return any((field.metadata or {}).get(b"kind") == b"value" for field in release.table.schema)


def _say_values(attribute: Attribute) -> str:
    shown = ["(missing)" if level is None else str(level) for level in attribute.levels]
    if len(shown) <= _SHOWN:
        return ", ".join(shown)
    return f"{', '.join(shown[: _SHOWN - 1])}, ..., {shown[-1]} ({len(shown):,} in all)"


def _cell(text: str) -> str:
    """A text that stays within its cell of a table."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("`", "'").replace("\n", " ")
