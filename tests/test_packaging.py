"""Units, and what hosts, databases and balancers are set up with: they parse, and say what the pages say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import reduce
from pathlib import Path

import pytest

from adomnia.api.access import Access, Role
from adomnia.api.ledger_stamps import BACKED_UP, VERIFIED, read_stamp
from adomnia.api.settings import Settings
from adomnia.catalog.sizes import parse_size
from adomnia.session.agreement import Deployment, agree
from adomnia.session.curator import open_folder
from kit.example import write_example
from kit.postgres import server as postgres_server
from kit.waiting import HANG_SECONDS

ROOT = Path(__file__).parents[1]
UNIT = ROOT / "packaging" / "adomnia@.service"
PAGE = ROOT / "docs" / "running.md"
BINARY = "/opt/adomnia/bin/adomnia"


def read_unit(unit: Path = UNIT) -> dict[str, dict[str, list[str]]]:
    """Sections, keys, and the values of each in their order; anything else is an error."""
    sections: dict[str, dict[str, list[str]]] = {}
    for line in unit.read_text().splitlines():
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
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=HANG_SECONDS)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


BACKUP = [ROOT / "packaging" / f"adomnia-backup@.{kind}" for kind in ("service", "timer")]
RUN = "from adomnia.cli.app import main; main()"


def test_a_backup_is_made_every_night_and_gets_no_more_than_it_needs():
    service, timer = (read_unit(unit) for unit in BACKUP)
    assert timer["Timer"]["Persistent"] == ["true"]
    assert timer["Install"]["WantedBy"] == ["timers.target"]
    assert service["Service"]["Type"] == ["oneshot"]
    assert service["Service"]["ReadWritePaths"] == ["/srv/adomnia/%i/.adomnia /var/backups/adomnia"]
    server = read_unit()["Service"]
    for key in (
        "User",
        "UMask",
        "ProtectSystem",
        "NoNewPrivileges",
        "CapabilityBoundingSet",
        "IPAddressDeny",
        "LimitCORE",
    ):
        assert service["Service"][key] == server[key]
    page = PAGE.read_text()
    for name in ("/var/backups/adomnia", "adomnia-backup@hospital.timer", *(unit.name for unit in BACKUP)):
        assert name in page


def test_what_the_backup_unit_runs_leaves_a_copy_and_the_times_that_metrics_tell(tmp_path):
    folder = write_example(tmp_path / "hospital", people=50)
    open_folder(folder).close()
    program, copies = tmp_path / "adomnia", tmp_path / "copies"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(RUN)} "$@"\n')
    program.chmod(0o755)
    copies.mkdir()
    places = {BINARY: program, "/srv/adomnia/%i": folder, "/var/backups/adomnia": copies, "%i": "hospital"}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for written in read_unit(BACKUP[0])["Service"]["ExecStart"]:
        command = reduce(lambda text, place: text.replace(place, str(places[place])), places, written)
        words = [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(command)]
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=HANG_SECONDS, env=environment)
        assert (done.returncode, done.stderr) == (0, "")
    (copy,) = copies.glob("*.sqlite")
    assert re.fullmatch(r"hospital-\d{4}-\d\d-\d\dT\d{6}Z\.sqlite", copy.name)
    assert copy.with_name(f"{copy.name}.anchor").exists()
    assert read_stamp(folder, VERIFIED).entries == read_stamp(folder, BACKED_UP).entries > 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_units_of_the_backup(tmp_path):
    for unit in BACKUP:
        named = tmp_path / unit.name.replace("@", "@hospital")
        named.write_text(unit.read_text().replace(BINARY, "/bin/true"))
    command = ["systemd-analyze", "verify", *map(str, tmp_path.iterdir())]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=HANG_SECONDS)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


CLUSTER = ROOT / "packaging" / "cluster"
CLUSTER_PAGE = ROOT / "docs" / "cluster.md"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_unit_of_a_host_of_several(tmp_path):
    unit = tmp_path / "adomnia@hospital.service"
    unit.write_text(UNIT.read_text().replace(BINARY, "/bin/true"))
    folder = tmp_path / f"{unit.name}.d"
    folder.mkdir()
    (folder / "cluster.conf").write_text((CLUSTER / "host.conf").read_text())
    command = ["systemd-analyze", "verify", str(unit)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=HANG_SECONDS)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_page_about_hosts_names_every_file_and_path():
    page = CLUSTER_PAGE.read_text()
    for file in CLUSTER.iterdir():
        assert f"packaging/cluster/{file.name}" in page
    for path in ("/etc/adomnia/pgpass", "/etc/systemd/system/adomnia@hospital.service.d/cluster.conf"):
        assert path in page
    assert "PGPASSFILE=/etc/adomnia/pgpass" in (CLUSTER / "host.conf").read_text()


@pytest.mark.parametrize("name", ["haproxy.cfg", "nginx.conf"])
def test_balancers_wait_longer_than_questions_take_and_ask_for_no_secret(name):
    text = (CLUSTER / name).read_text()
    waits = [int(seconds) for seconds in re.findall(r"(?:timeout server|proxy_read_timeout) (\d+)s", text)]
    assert waits
    assert min(waits) >= Settings(Path()).limit + 10
    assert "cookie" not in text.lower()


def test_while_no_host_is_ready_people_get_a_page_that_looks_again():
    """It has the form that scripts of the console know as one which says what is wrong."""
    (page,) = re.findall(r'http-error status 503 .* string "(.*?)"', (CLUSTER / "haproxy.cfg").read_text())
    assert "http-equiv=refresh" in page
    assert re.search(r"<main data-problem>.*<div role=alert><p>[^<]+</p>", page)


def test_a_role_that_the_script_makes_keeps_users_and_what_hosts_agreed_on():
    server = postgres_server()
    program = server.programs / "psql"
    script = (CLUSTER / "postgresql.sql").read_text()
    command = [str(program), "-v", "ON_ERROR_STOP=1", "-q", "-d", server.url(), "-f", "-"]
    done = subprocess.run(command, input=script, check=False, capture_output=True, text=True, timeout=HANG_SECONDS)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    url = server.url("adomnia").replace("postgres@", "adomnia@")
    try:
        with Access.open_shared(url, "hospital") as access:
            access.add_user("olga", Role.OWNER)
        agree(url, Deployment("hospital", 1, "text"))
    finally:
        for statement in ("DROP DATABASE adomnia WITH (FORCE)", "DROP ROLE adomnia"):
            subprocess.run([str(program), "-q", "-d", server.url(), "-c", statement], check=True, timeout=HANG_SECONDS)


def test_the_settings_of_the_database_are_settings():
    server = postgres_server()
    names = re.findall(r"^(\w+) = ", (CLUSTER / "postgresql.conf").read_text(), re.MULTILINE)
    query = "SELECT name FROM pg_settings"
    command = [str(server.programs / "psql"), "-At", "-d", server.url(), "-c", query]
    known = subprocess.run(command, check=True, capture_output=True, text=True, timeout=HANG_SECONDS).stdout.split()
    assert len(names) > 8
    assert set(names) <= set(known)
