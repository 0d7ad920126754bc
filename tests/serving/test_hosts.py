"""Two servers with folders of their own and one PostgreSQL: one budget, one set of users, whoever is asked."""

from __future__ import annotations

import http.client
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction

import pytest

from adomnia.api.access import Role, open_access
from adomnia.cli.opening import open_accounts
from adomnia.engines.sources.state import fresh_key
from adomnia.errors import Refusal
from adomnia.session.curator import STATE, open_folder
from adomnia.session.ledgers import find_ledger
from api.access.trials import code_of
from kit.example import write_example
from kit.postgres import Server
from kit.serving import API, HOST, Serving, start, with_analysts
from kit.waiting import HANG_SECONDS, wait_until

ASK, PASSWORD = "/datasets/hospital/query", "five words that I drew"
COST, LEFT = Fraction(1, 100), 12  # each question, and how many alice may ask
AWAY = "the shared database cannot be reached"
BUCKET = 0.6  # of the host that is killed while a question waits for its edge


@dataclass
class Reply:
    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def content(self):
        return json.loads(self.body)


@dataclass
class Host:
    """One server, with its own copies of everything that is not shared."""

    serving: Serving

    def ask(self, method, path, token=None, body=None, seconds=HANG_SECONDS, **headers) -> Reply:
        line = http.client.HTTPConnection(HOST, self.serving.port, timeout=seconds)
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            line.request(method, f"{API}{path}", None if body is None else json.dumps(body), headers)
            reply = line.getresponse()
            return Reply(reply.status, reply.read(), {name.lower(): text for name, text in reply.getheaders()})
        finally:
            line.close()

    def query(self, token, number, name=None) -> Reply:
        """A question of its own for each number."""
        sql = f"SELECT COUNT(*) FROM people WHERE salary > {number}"
        return self.ask("POST", ASK, token, {"sql": sql, "epsilon": str(COST), "request_id": name or f"n{number}"})


@dataclass
class Cluster:
    """Two hosts, the database between them, and everybody's token."""

    database: Server
    folders: list
    hosts: list[Host]
    tokens: dict[str, str]

    @property
    def left(self) -> Fraction:
        """What bob has left, whichever host says it."""
        lefts = {host.ask("GET", "/datasets/hospital/budget", self.tokens["bob"]).body for host in self.hosts}
        (left,) = lefts
        return Fraction(json.loads(left)["personal"]["left"]["epsilon"])


def copy_host(folder, other) -> None:
    """What a second host gets of the first: catalog, files and key, and nothing else."""
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns(STATE))
    (other / STATE).mkdir(mode=0o700)
    shutil.copy(folder / STATE / "index.key", other / STATE)


def write_dataset(folder, url) -> None:
    write_example(folder, people=300)
    with_analysts(folder, ["bob"], epsilon=1000, each=100)
    catalog = folder / "catalog.toml"
    alice = f'[analysts.alice]\nepsilon = {float(LEFT * COST)}\npolicy = "on_demand"\n'
    text = catalog.read_text().replace("[dataset]\n", '[dataset]\nvacuous_answers = "warn"\n')
    catalog.write_text(f'{text}\n{alice}\n[ledger]\nurl = "{url}"\n')


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    place = tmp_path_factory.mktemp("hosts")
    folders = [place / "one", place / "two"]
    with ExitStack() as ending:
        database = Server("max_connections=50")
        ending.callback(database.remove)
        write_dataset(folders[0], database.url())
        open_folder(folders[0]).close()
        copy_host(*folders)
        find_ledger(folders[1]).join()
        with open_access(folders[0]) as access:
            for name, role in (("olga", Role.OWNER), ("alice", Role.ANALYST), ("bob", Role.ANALYST)):
                access.add_user(name, role, PASSWORD)
            tokens = {name: access.create_token(name, "test", 1)[0] for name in ("olga", "alice", "bob")}
        options = ("--workers", 1, "--rate", 10_000, "--memory", "400MB", "--bucket")
        with ThreadPoolExecutor(2) as starting:
            hosts = list(
                starting.map(
                    lambda each: Host(start(each[0], *options, each[1])), zip(folders, (BUCKET, 0), strict=True)
                )
            )
        for host in hosts:
            ending.callback(host.serving.kill)
        yield Cluster(database, folders, hosts, tokens)


def test_a_visit_that_begins_on_one_host_goes_on_on_the_other_and_ends_on_both(cluster):
    one, two = cluster.hosts
    entered = one.ask("POST", "/sign-in", body={"name": "bob", "password": PASSWORD})
    cookie, csrf = entered.headers["set-cookie"].partition(";")[0], entered.content["csrf"]
    assert two.ask("GET", "/me", Cookie=cookie).content == {"name": "bob", "role": "analyst", "csrf": csrf}
    asked = {"sql": "SELECT COUNT(*) FROM people", "epsilon": str(COST)}
    assert two.ask("POST", ASK, body=asked, Cookie=cookie).status == 403
    assert two.ask("POST", ASK, body=asked, Cookie=cookie, **{"X-CSRF-Token": csrf}).status == 200
    assert two.ask("POST", "/sign-out", Cookie=cookie, **{"X-CSRF-Token": csrf}).status == 204
    assert one.ask("GET", "/me", Cookie=cookie).status == 401


def test_a_token_that_is_revoked_on_one_host_opens_nothing_on_the_other(cluster):
    one, two = cluster.hosts
    with open_access(cluster.folders[1]) as access:
        token, made = access.create_token("bob", "soon gone", 1)
    assert [host.ask("GET", "/me", token).status for host in (one, two)] == [200, 200]
    assert one.ask("DELETE", f"/tokens/{made.id}", cluster.tokens["bob"]).status == 204
    assert [host.ask("GET", "/me", token).status for host in (two, one)] == [401, 401]


def test_wrong_passwords_are_counted_on_both_hosts_together(cluster):
    wrong = {"name": "olga", "password": "not the right one"}
    statuses = [cluster.hosts[k % 2].ask("POST", "/sign-in", body=wrong).status for k in range(7)]
    assert statuses == [401] * 5 + [429] * 2


def test_a_retry_through_the_other_host_gets_the_same_answer_and_pays_nothing(cluster):
    one, two = cluster.hosts
    first = two.query(cluster.tokens["bob"], 1000)
    left = cluster.left
    again = one.query(cluster.tokens["bob"], 1000)
    assert (first.status, again.status) == (200, 200)
    assert again.content["replayed"]
    assert [first.content[part] == again.content[part] for part in ("columns", "receipt")] == [True, True]
    assert cluster.left == left
    assert one.ask("GET", "/datasets/hospital/answers/n1000", cluster.tokens["bob"]).status == 200


def test_the_same_question_at_the_same_moment_runs_once(cluster):
    left = cluster.left
    with ThreadPoolExecutor(6) as callers:
        hosts = cluster.hosts * 3
        replies = list(callers.map(lambda host: host.query(cluster.tokens["bob"], 2000), hosts))
    assert {reply.status for reply in replies} == {200}
    assert len({json.dumps(reply.content["receipt"]) for reply in replies}) == 1
    assert sum(not reply.content["replayed"] for reply in replies) == 1
    assert left - cluster.left == COST


def test_two_hosts_spend_one_budget_to_its_end_and_not_beyond(cluster):
    with ThreadPoolExecutor(8) as callers:
        asked = [(cluster.hosts[k % 2], 3000 + k) for k in range(2 * LEFT)]
        replies = list(callers.map(lambda each: each[0].query(cluster.tokens["alice"], each[1]), asked))
    assert sorted(reply.status for reply in replies) == [200] * LEFT + [402] * LEFT
    for host in cluster.hosts:
        budget = host.ask("GET", "/datasets/hospital/budget", cluster.tokens["alice"]).content
        assert Fraction(budget["personal"]["left"]["epsilon"]) == 0


def test_a_database_that_hangs_is_503_on_both_hosts_and_all_is_well_afterwards(cluster):
    token = cluster.tokens["bob"]
    cluster.database.pause()
    try:
        for host in cluster.hosts:
            reply = host.query(token, 4000)
            assert (reply.status, "retry-after" in reply.headers) == (503, True)
            assert reply.content["error"]["what"] == "The shared database"
        assert [host.ask("GET", "/health").status for host in cluster.hosts] == [200, 200]
        for host in cluster.hosts:
            wait_until(lambda host=host: AWAY in host.ask("GET", "/ready").body.decode())
    finally:
        cluster.database.resume()
    for host in cluster.hosts:
        wait_until(lambda host=host: host.ask("GET", "/ready").status == 200)
    left = cluster.left
    assert [host.query(token, 4000).status for host in cluster.hosts] == [200, 200]
    assert left - cluster.left == COST
    logs = "".join(host.serving.log.read_text() for host in cluster.hosts)
    assert "Traceback" not in logs
    assert str(cluster.database.folder) not in logs


def test_a_host_whose_key_is_another_is_refused_and_told_what_to_copy(cluster, tmp_path):
    copy_host(cluster.folders[0], tmp_path / "three")
    (tmp_path / "three" / STATE / "index.key").write_bytes(fresh_key())
    with pytest.raises(Refusal, match=r"copy index\.key from one of them"):
        open_folder(tmp_path / "three")


def test_a_new_catalog_goes_from_host_to_host_and_the_old_one_never_comes_back(cluster, tmp_path):
    old, new = (folder / "catalog.toml" for folder in cluster.folders)
    shutil.copytree(cluster.folders[0], tmp_path / "old")
    new.write_text(f"{new.read_text()}# since today\n")
    wait_until(lambda: code_of(open_accounts(tmp_path / "old").__enter__) == "disagreement")
    assert code_of(open_folder, tmp_path / "old") == "disagreement"
    assert [host.query(cluster.tokens["bob"], 6000).status for host in cluster.hosts] == [200, 200]
    old.write_bytes(new.read_bytes())
    open_folder(cluster.folders[0]).close()


def test_what_a_killed_host_was_doing_is_settled_by_the_other(cluster):
    """The last one: there is one host left."""
    one, two = cluster.hosts
    token, left = cluster.tokens["bob"], cluster.left
    with ThreadPoolExecutor(1) as caller:
        cut = caller.submit(one.query, token, 5000)
        wait_until(lambda: read_left(two, token) < left)
        one.serving.kill()
        with pytest.raises(OSError, match=r"."):
            cut.result()
    again = two.query(token, 5000)
    assert (again.status, again.content["error"]["request_id"]) == (424, "n5000")
    assert left - read_left(two, token) == COST
    assert two.query(token, 5000).status == 424
    assert two.query(token, 5000, "another").status == 200
    assert left - read_left(two, token) == 2 * COST
    assert two.query(token, 5001, "n5001").status == 200


def read_left(host, token) -> Fraction:
    return Fraction(host.ask("GET", "/datasets/hospital/budget", token).content["personal"]["left"]["epsilon"])
