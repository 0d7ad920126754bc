"""A shared answer taken in many tabs at once, at a server of two processes: the dataset never pays for it again."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from httpx import Client

from adomnia.api.access import Access, Role
from adomnia.api.ledger_view import open_snapshot, read_entries
from adomnia.session.curator import STATE
from kit.example import write_example
from kit.ledgers import find_ledger
from kit.serving import served
from kit.waiting import HANG_SECONDS

PASSWORD = "correct horse battery staple"
SHARED = "SELECT COUNT(*) AS n FROM people"
MORE = """
[analysts.paul]
epsilon = 20
policy = "equal_split"
questions = 10

[analysts.pia]
epsilon = 10
policy = "equal_split"
questions = 10

[analysts.gus]
epsilon = 10.4
policy = "geometric"
spend = 0.1
"""
ANALYSTS = ("paul", "pia", "gus")


@pytest.fixture
def folder(tmp_path):
    folder = write_example(tmp_path / "hospital", people=1_000, indexed=True)
    catalog = folder / "catalog.toml"
    catalog.write_text(re.sub(r"(?m)^epsilon = .*", "epsilon = 1000", catalog.read_text(), count=1) + MORE)
    access = Access.open(folder / STATE)
    for name in ANALYSTS:
        access.add_user(name, Role.ANALYST)
        access.set_password(name, PASSWORD)
    access.close()
    return folder


class Tab:
    """Somebody who is signed in."""

    def __init__(self, http: Client, name: str) -> None:
        self.http = http
        self.http.post("/sign-in", data={"name": name, "password": PASSWORD})
        self.csrf = re.search(r'name="csrf" value="([^"]+)"', self.http.get("/ask").text)[1]

    def post(self, path: str, **fields: str):
        return self.http.post(path, data={"csrf": self.csrf, **fields})


def test_whoever_comes_too_late_is_refused_and_the_dataset_pays_once(folder):
    with served(folder, "--workers", 2, "--bucket", 0, "--rate", 1000) as serving, ExitStack() as stack:
        serving.all_workers(2)
        clients = [
            stack.enter_context(Client(base_url=f"http://127.0.0.1:{serving.port}", timeout=HANG_SECONDS))
            for _ in "123"
        ]
        paul, pia, gus = map(Tab, clients, ANALYSTS)
        assert paul.post("/ask", sql=SHARED, pay="policy").status_code == 303  # at 2, which nobody else may pay
        assert pia.post("/ask", sql=SHARED, pay="policy", request_id="mine").status_code == 303  # at 1
        link = re.search(r"/shared/share_[0-9a-f_]+", pia.post("/answers/share", request_id="mine").text)[0]
        assert "see the answer</button>" in gus.http.get(link).text
        others = [f"SELECT COUNT(*) AS n FROM people WHERE age > {age}" for age in range(6)]

        def act(number: int) -> int:
            path, fields = (link, {}) if number % 2 else ("/ask", {"sql": others[number // 2], "pay": "policy"})
            return gus.post(path, **fields).status_code

        with ThreadPoolExecutor(8) as pool:
            taken = list(pool.map(act, range(2 * len(others))))[1::2]
    with open_snapshot(find_ledger(folder)) as connection:
        entries = [entry for entry in read_entries(connection) if entry.kind == "reserve"]
    asked = [entry for entry in entries if entry.analyst == "gus"]
    assert set(taken) <= {303, 400}
    assert len(asked) == len(others) + (303 in taken)
    shared = [entry for entry in asked if "dataset" not in entry.totals]
    assert len(shared) == (303 in taken)
    assert all(entry.cost.epsilon == "1" for entry in shared)
