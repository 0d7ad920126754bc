"""`adomnia survey serve`: one process that takes reports until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import uvicorn

from adomnia.api.running.logs import Logs
from adomnia.serving.certificates import open_certificate
from adomnia.serving.listener import check_certificate, list_ending_signals, open_listener
from adomnia.survey.app import create_survey_app
from adomnia.survey.store import ReportStore
from adomnia.survey.survey import read_survey

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from types import FrameType

    from adomnia.api.settings import Settings
    from adomnia.serving.certificates import Certificate
    from adomnia.survey.survey import Survey

_MOST_AT_ONCE = 500
_KEEP_ALIVE_SECONDS = 5


def serve_survey(settings: Settings, announce: Callable[[Survey, str], None]) -> None:
    """Serve the survey of a folder until a signal. No request is logged: who answers when is nobody's business."""
    check_certificate(settings)
    survey = read_survey(settings.folder)
    with ReportStore.open(settings.folder, survey) as store, open_listener(settings) as listener:
        settings = replace(settings, port=listener.getsockname()[1])
        config = uvicorn.Config(
            create_survey_app(survey, store, settings),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_AT_ONCE,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            ssl_certfile=settings.certificate,
            ssl_keyfile=settings.key,
        )
        announce(survey, settings.address)
        _Server(config, open_certificate(settings, Logs(settings))).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A uvicorn server for which a signal is a reason to end, not an error; a second one does not wait.

    A new certificate is in use within a minute, and at once after SIGHUP.
    """

    def __init__(self, config: uvicorn.Config, certificate: Certificate | None = None) -> None:
        super().__init__(config)
        self._ending, self._certificate = list_ending_signals(), certificate

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self._certificate is not None and self.config.ssl is not None:
            self.config.ssl.sni_callback = self._certificate.use_newest
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._certificate.check)
        await super().startup(sockets)

    async def on_tick(self, counter: int) -> bool:
        if self._certificate is not None:
            self._certificate.check_each_minute()
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as Python calls it
        if sig in self._ending:
            self.force_exit = self.should_exit
            self.should_exit = True
