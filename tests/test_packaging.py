"""The unit for systemd: it parses, and says what the page about running it says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from adomnia.catalog.sizes import parse_size
from adomnia.server.settings import Settings

ROOT = Path(__file__).parents[1]
UNIT = ROOT / "packaging" / "adomnia@.service"
PAGE = ROOT / "docs" / "running.md"
BINARY = "/opt/adomnia/bin/adomnia"


def read_unit() -> dict[str, dict[str, list[str]]]:
    """Sections, keys, and the values of each in their order; anything else is an error."""
    sections: dict[str, dict[str, list[str]]] = {}
    for line in UNIT.read_text().splitlines():
        if header := re.fullmatch(r"\[(\w+)\]", line):
            section = sections.setdefault(header[1], {})
        elif setting := re.fullmatch(r"(\w+)=(.*)", line):
            section.setdefault(setting[1], []).append(setting[2])
        else:
            assert not line or line.startswith("# "), line
    return sections


def test_the_unit_starts_the_server_and_lets_it_finish():
    unit, usual = read_unit(), Settings(Path())
    service = unit["Service"]
    assert set(unit) == {"Unit", "Service", "Install"}
    assert service["ExecStart"] == [f"{BINARY} serve /srv/adomnia/%i $OPTIONS"]
    assert float(service["TimeoutStopSec"][0]) >= usual.limit + 10
    assert service["KillMode"] == ["mixed"]
    needed = usual.workers * (parse_size(usual.memory) + 400 * 10**6)
    assert parse_size(f"{service['MemoryMax'][0]}B") >= needed


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ProtectSystem", "strict"),
        ("ReadWritePaths", "/srv/adomnia/%i/.adomnia"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("IPAddressDeny", "any"),
        ("LimitCORE", "0"),
        ("MemorySwapMax", "0"),
        ("UMask", "0077"),
    ],
)
def test_the_unit_gives_the_server_no_more_than_it_needs(key, value):
    assert read_unit()["Service"][key] == [value]


def test_the_page_names_the_paths_of_the_unit():
    page = PAGE.read_text()
    for path in (BINARY, "/srv/adomnia/hospital/.adomnia", "/etc/adomnia/hospital.env", "adomnia@hospital"):
        assert path in page


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_unit(tmp_path):
    unit = tmp_path / "adomnia@hospital.service"
    unit.write_text(UNIT.read_text().replace(BINARY, "/bin/true"))
    command = ["systemd-analyze", "verify", str(unit)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
