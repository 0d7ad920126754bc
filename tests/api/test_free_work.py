from __future__ import annotations

import asyncio
from threading import Event
from typing import TYPE_CHECKING

import pytest

from adomnia.api.free_work import ask_free
from adomnia.api.problems import status_of
from adomnia.errors import Refusal
from adomnia.work import current, spend
from kit.waiting import HANG_SECONDS

if TYPE_CHECKING:
    from kit import house


class Caller:
    """A request that is sent in full, and whose caller hangs up once told to."""

    def __init__(self, own: house.House) -> None:
        self.app, self.hung_up = own.app, asyncio.Event()
        self.state = type("State", (), {"visitor": own.services.access.identify_token(own.tokens["alice"])})()
        self.scope = {"type": "http"}

    async def receive(self) -> dict[str, str]:
        await self.hung_up.wait()
        return {"type": "http.disconnect"}


def test_what_is_free_is_counted(shared_house):
    async def run() -> object:
        return await ask_free(Caller(shared_house), None, lambda _: spend(11), most_steps=10)

    with pytest.raises(Refusal, match="takes more than 10 steps"):
        shared_house.client.run(run())


def test_it_ends_when_nobody_waits_any_more(shared_house):
    begun = Event()

    def work_on(_curator: object) -> None:
        begun.set()
        for _ in range(int(100 * HANG_SECONDS)):
            spend(0)
            Event().wait(0.01)

    async def run() -> object:
        caller = Caller(shared_house)
        asked = asyncio.create_task(ask_free(caller, None, work_on))
        await asyncio.to_thread(begun.wait, HANG_SECONDS)
        caller.hung_up.set()
        return await asked

    assert shared_house.client.run(run()).status_code == 499


def test_what_was_paid_for_is_not_counted(shared_house):
    async def run() -> object:
        return await ask_free(Caller(shared_house), "hospital", lambda _: spend(10**9) or current().most, None)

    assert shared_house.client.run(run()) is None


def test_another_dataset_is_not_there(shared_house):
    with pytest.raises(Refusal) as refused:
        shared_house.client.run(ask_free(Caller(shared_house), "other", lambda _: None))
    assert status_of(refused.value) == 404
