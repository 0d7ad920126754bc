"""Writes docs/gallery: figures and worked numbers of the papers beside our own.

    python tools/gallery.py [NAME ...] [--again]

Each exhibit is a file in tools/exhibits. Numbers follow from seeds, so a test writes every page again and compares.
What takes minutes is simulated once and kept in docs/gallery/simulated.json; --again simulates it anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

from exhibits import EXHIBITS  # noqa: E402 - found through the path above, like what follows
from exhibits.contract import PAPERS  # noqa: E402
from exhibits.misprints import read_misprints, tabulate_misprints  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exhibits.contract import Exhibit, Page, Simulation

FOLDER = ROOT / "docs" / "gallery"
KEPT = FOLDER / "simulated.json"
OPENING = """# Gallery: the papers' figures and numbers, beside ours

This project grew from five papers, and four of them have figures and worked numbers. Each page shows one of these, what
our own code says, and why they differ where they do. [The papers, line by line](../papers.md) has all that they name.
`make gallery` writes all of it; a test writes it again and compares.
"""
MISPRINTS = """## Other misprints

What is wrong in the papers without a number to compare. The pages above have the others.
"""


def simulate(simulation: Simulation, kept: Mapping[str, Any], again: bool) -> dict[str, Any]:
    """The results of all cases, of which only the missing ones are computed."""
    found = {} if again else dict(kept)
    for case in simulation.cases:
        if case not in found:
            few, all_of_them = (simulation.run(case, times) for times in (simulation.few, simulation.repetitions))
            found[case] = {"few": few, "all": all_of_them}
            print(f"  {case}: {json.dumps(all_of_them)}", flush=True)
    return found


def build_page(exhibit: Exhibit, kept: Mapping[str, Any]) -> Page:
    """The page of an exhibit, from what is kept of its simulation."""
    return exhibit.build({case: found["all"] for case, found in kept.get(exhibit.name, {}).items()})


def render_page(exhibit: Exhibit, page: Page) -> str:
    """The page in Markdown."""
    rows = [f"| {row.what} | {row.printed} | {row.ours} | {row.verdict} |" for row in page.rows]
    parts = [
        f"# {exhibit.title}",
        f"{PAPERS[exhibit.paper]}, {exhibit.place}. [All exhibits](README.md).",
        page.shows,
        f"![{page.picture.words}](images/{exhibit.name}.svg)",
        "\n".join(["| | the paper | ours | |", "|---|---:|---:|---|", *rows]),
        page.why,
        page.beyond.strip(),
        f"How: {page.how}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def render_index(pages: Mapping[Exhibit, Page]) -> str:
    """The list of all exhibits."""
    lines = [
        f"| [{exhibit.title}]({exhibit.name}.md) | {_author(exhibit)}, {exhibit.place} | {page.verdict} |"
        for exhibit, page in pages.items()
    ]
    table = "\n".join(["| exhibit | from | |", "|---|---|---|", *lines])
    cited = "\n".join(f"- {citation}" for citation in PAPERS.values())
    others = tabulate_misprints([each for each in read_misprints() if not each.exhibit], "")
    return f"{OPENING}\n{table}\n\n## The papers\n{cited}\n\n{MISPRINTS}\n{others}"


def _author(exhibit: Exhibit) -> str:
    return PAPERS[exhibit.paper].split(",")[0]


def read_kept() -> dict[str, Any]:
    """What was simulated before."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}  # type: ignore[no-any-return]


def main() -> None:
    """Write all pages and pictures, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="exhibits whose pictures and simulations are made; all unless named")
    parser.add_argument("--again", action="store_true", help="simulate also what is kept")
    given = parser.parse_args()
    (FOLDER / "images").mkdir(parents=True, exist_ok=True)
    kept, pages = read_kept(), {}
    for exhibit in EXHIBITS:
        chosen = not given.names or exhibit.name in given.names
        if exhibit.simulation is not None and chosen:
            kept[exhibit.name] = simulate(exhibit.simulation, kept.get(exhibit.name, {}), given.again)
            KEPT.write_text(json.dumps(kept, indent=1) + "\n")
        pages[exhibit] = page = build_page(exhibit, kept)
        (FOLDER / f"{exhibit.name}.md").write_text(render_page(exhibit, page))
        if chosen:
            svg = page.picture.svg()
            (FOLDER / "images" / f"{exhibit.name}.svg").write_text(svg)
            print(f"docs/gallery/{exhibit.name}.md, picture {len(svg) // 1000} kB", flush=True)
    (FOLDER / "README.md").write_text(render_index(pages))


if __name__ == "__main__":
    main()
