from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from adomnia.api.settings import Settings
from adomnia.errors import Refusal

FOLDER = Path("study")
TLS = {"certificate": Path("c.pem"), "key": Path("k.pem")}


def test_settings_survive_the_way_to_a_worker():
    settings = Settings(FOLDER, host="::1", port=1, bucket=0.5, names=("data.example.org",), **TLS)
    text = settings.to_json()
    assert json.loads(text)["certificate"] == "c.pem"
    assert Settings.from_json(text) == settings
    assert Settings.from_json(Settings(FOLDER).to_json()) == Settings(FOLDER)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"port": -1}, "--port -1 is not between 0 and 65535"),
        ({"port": 65_536}, "--port 65536"),
        ({"workers": 0}, "--workers 0"),
        ({"threads": 0}, "--threads 0"),
        ({"queue": 0}, "--queue 0"),
        ({"burst": 0}, "--burst 0"),
        ({"limit": 0.0}, "--limit 0.0"),
        ({"limit": float("nan")}, "--limit nan"),
        ({"limit": 3601.0}, "--limit 3601"),
        ({"bucket": -0.1}, "--bucket -0.1"),
        ({"bucket": float("nan")}, "--bucket nan"),
        ({"bucket": 61.0}, "--bucket 61.0 is not between 0 and the limit"),
        ({"rate": 0.0}, "--rate 0.0"),
        ({"rate": float("inf")}, "--rate inf"),
        ({"memory": "much"}, "--memory much is not a size"),
        ({"names": ("Data.example.org",)}, "--name Data.example.org is not the name of a host"),
        ({"names": ("data.example.org:80",)}, "is not the name of a host"),
        ({"certificate": Path("c.pem")}, "TLS needs a certificate and its key"),
        ({"key": Path("k.pem")}, "TLS needs a certificate and its key"),
        ({"host": "192.0.2.1"}, "Host 192.0.2.1 can be reached from other machines"),
        ({"host": "data.example.org"}, "can be reached from other machines"),
        ({"host": "0.0.0.0", **TLS}, "does not say what callers call this server"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, says):
    with pytest.raises(Refusal) as refused:
        Settings(FOLDER, **wrong)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("chosen", "address", "host"),
    [
        ({}, "http://127.0.0.1:8000", "127.0.0.1"),
        ({"host": "localhost"}, "http://localhost:8000", "localhost"),
        ({"host": "::1"}, "http://[::1]:8000", "[::1]"),
        ({"host": "192.0.2.1", **TLS}, "https://192.0.2.1:8000", "192.0.2.1"),
        ({"host": "0.0.0.0", "names": ("a.example",), **TLS}, "https://a.example:8000", "a.example"),
        ({"host": "192.0.2.1", "behind_proxy": True}, "https://192.0.2.1:8000", "192.0.2.1"),
        ({"host": "0.0.0.0", "names": ("a.example",), "behind_proxy": True}, "https://a.example", "a.example"),
    ],
)
def test_the_address_and_the_names_follow_from_where_it_listens(chosen, address, host):
    settings = Settings(FOLDER, **chosen)
    assert settings.address == address
    assert host in settings.hosts
    assert not {"0.0.0.0", "*"} & set(settings.hosts)


def test_cookies_are_for_tls_alone_where_somebody_speaks_it():
    assert not Settings(FOLDER).secure
    assert Settings(FOLDER, behind_proxy=True).secure
    assert Settings(FOLDER, **TLS).secure
    assert (Settings(FOLDER).cookie, Settings(FOLDER, **TLS).cookie) == ("adomnia-8000", "__Host-adomnia-8000")


def test_servers_on_one_host_have_cookies_of_their_own():
    """Browsers send a cookie to every port of a host. Hosts that share visits may listen on ports that differ."""
    assert Settings(FOLDER, port=1).cookie != Settings(FOLDER, port=2).cookie
    hosts = [Settings(FOLDER, port=port, behind_proxy=True, deployment="hospital") for port in (1, 2)]
    assert {host.cookie for host in hosts} == {"__Host-adomnia-hospital"}
    assert Settings(FOLDER, deployment="school").cookie == "adomnia-school"


def test_workers_share_the_cores(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert Settings(FOLDER, workers=2).limits().threads == 4
    assert Settings(FOLDER, workers=16).limits().threads == 1
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert Settings(FOLDER, limit=7.0).limits() == Settings(FOLDER, limit=7.0, workers=1).limits()
    assert Settings(FOLDER, limit=7.0).limits().seconds == 7.0
