"""The settings of a server. They hold no secrets, and are passed to worker processes as JSON."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adomnia.catalog.sizes import parse_size
from adomnia.client.connection import is_loopback
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.engines.limits import Limits

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
EVERYWHERE = {"0.0.0.0", "::"}  # noqa: S104 - known here to be refused without TLS
_NAME = re.compile(r"[a-z0-9_.\-]{1,253}|\[[0-9a-f:.]+\]")
_LONGEST = 3600.0
_MOST = 1024
_LAST_PORT = 65_535


@dataclass(frozen=True)
class Settings:
    """One server: its dataset, where it listens, how much it does at once, and when its replies leave.

    >>> Settings(Path("study"), port=9000).address
    'http://127.0.0.1:9000'
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 2
    threads: int = 16
    queue: int = 64
    bucket: float = 0.1
    limit: float = 60.0
    memory: str = "2400MB"
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    names: tuple[str, ...] = ()
    rate: float = 50.0
    burst: int = 100
    deployment: str = ""  # what all servers that share visits have in common, if there may be several

    def __post_init__(self) -> None:
        for option, number, least, most in (
            ("port", self.port, 0, _LAST_PORT),
            ("workers", self.workers, 1, _MOST),
            ("threads", self.threads, 1, _MOST),
            ("queue", self.queue, 1, 1024 * _MOST),
            ("burst", self.burst, 1, 1024 * _MOST),
        ):
            if not least <= number <= most:
                raise _refusal(option, number, f"is not between {least} and {most}")
        self._check_times()
        self._check_names()
        if not parse_size(self.memory):
            raise _refusal("memory", self.memory, "is not a size", "write --memory 2400MB")

    @property
    def secure(self) -> bool:
        """Whether callers speak TLS, to this server or to the proxy before it."""
        return self.certificate is not None or self.behind_proxy

    @property
    def cookie(self) -> str:
        """The name of the cookie of a visit; browsers let nobody but this very host set one that begins with __Host-.

        They send it to every port of the host, so that other servers there need other names.
        """
        return f"{'__Host-' if self.secure else ''}adomnia-{self.deployment or self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names that requests may call this server by; others come from pages that were made to look like it."""
        own = () if self.host in EVERYWHERE else (_bracketed(self.host.lower()),)
        return tuple(dict.fromkeys((*LOOPBACK, *own, *self.names)))

    @property
    def address(self) -> str:
        """Where people find it; the port behind a proxy is the proxy's own affair."""
        usual = "127.0.0.1" if self.host in EVERYWHERE else self.host
        name = self.names[0] if self.names else _bracketed(usual)
        port = "" if self.behind_proxy and self.names else f":{self.port}"
        return f"{'https' if self.secure else 'http'}://{name}{port}"

    def limits(self) -> Limits:
        """What the engine of one worker may take: workers share the cores."""
        from adomnia.engines.limits import Limits  # not above: the parent of workers does without engines

        memory = f"{max(1, self._memory_bytes // 2000)}KB"
        return Limits(max(1, (os.cpu_count() or 1) // self.workers), memory, self.limit)

    @property
    def answer_bytes(self) -> int:
        """What the answers of one worker may take; the other half of its memory is the engine's."""
        return self._memory_bytes // 2

    @property
    def _memory_bytes(self) -> int:
        return parse_size(self.memory) or 0

    def to_json(self) -> str:
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Settings:
        plain: dict[str, Any] = json.loads(text)
        paths = {name: Path(plain[name]) for name in ("folder", "certificate", "key") if plain[name] is not None}
        return cls(**{**plain, **paths, "names": tuple(plain["names"])})

    def _check_times(self) -> None:
        if not 0 < self.limit <= _LONGEST:
            raise _refusal("limit", self.limit, f"is not above 0 and at most {_LONGEST:g} seconds")
        if not (math.isfinite(self.bucket) and 0 <= self.bucket <= self.limit):
            raise _refusal("bucket", self.bucket, "is not between 0 and the limit", "write --bucket 0.1, or 0 for none")
        if not 0 < self.rate <= _MOST * _MOST:
            raise _refusal("rate", self.rate, "is not a number of requests above 0", "write --rate 50")

    def _check_names(self) -> None:
        for name in self.names:
            if not _NAME.fullmatch(name):
                fix = "write it in small letters and without a port: --name data.example.org"
                raise _refusal("name", name, "is not the name of a host", fix)
        if (self.certificate is None) != (self.key is None):
            raise Refusal("TLS", "needs a certificate and its key", "give both --tls-cert FILE and --tls-key FILE")
        if not (self.secure or is_loopback(self.host)):
            why = "can be reached from other machines, and passwords and tokens would travel in the open"
            fix = "give --tls-cert and --tls-key, or --behind-proxy if a proxy speaks TLS for it"
            raise Refusal(f"Host {self.host}", why, fix, code="insecure")
        if self.host in EVERYWHERE and not self.names:
            fix = "give --name data.example.org, as often as it has names"
            raise Refusal(f"Host {self.host}", "does not say what callers call this server", fix)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _refusal(option: str, value: object, why: str, fix: str | None = None) -> Refusal:
    return Refusal(f"--{option} {value}", why, fix or f"give another --{option}")
