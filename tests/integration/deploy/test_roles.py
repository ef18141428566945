"""Roles that run side by side: they end together, finish what is in hand, and a second signal ends them at once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import httpx
import pytest

from deploy.serving.health import Health
from deploy.serving.roles import Role, run_roles, stopped_by_signals
from ingest.errors import IndexMismatch, StoreUnavailable


class Worker:
    """A role that finishes what it has in hand when it is told to stop."""

    def __init__(self) -> None:
        self.told = asyncio.Event()
        self.may_finish = asyncio.Event()
        self.finished = self.cancelled = False

    def role(self, name: str = "worker") -> Role:
        return Role(name, self.run, self.told.set)

    async def run(self) -> None:
        try:
            await self.told.wait()
            await self.may_finish.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        self.finished = True


async def for_ever() -> None:
    await asyncio.Event().wait()


async def fails() -> None:
    raise IndexMismatch("another model made it")


async def test_told_to_stop_all_finish_what_is_in_hand() -> None:
    stop, health, worker = asyncio.Event(), Health(), Worker()
    running = asyncio.create_task(run_roles([worker.role(), Role("watcher", for_ever)], stop, health))
    await asyncio.sleep(0)
    stop.set()
    await worker.told.wait()
    assert not running.done()
    worker.may_finish.set()
    await running
    assert worker.finished


async def test_a_role_that_fails_stops_the_others_and_its_error_is_raised_after_they_have_finished() -> None:
    worker = Worker()
    worker.may_finish.set()
    with pytest.raises(IndexMismatch, match="another model"):
        await run_roles([worker.role(), Role("indexer", fails)], asyncio.Event(), Health())
    assert worker.finished


async def test_while_the_others_finish_health_tells_which_role_died() -> None:
    health, worker = Health(), Worker()
    running = asyncio.create_task(run_roles([worker.role(), Role("indexer", fails)], asyncio.Event(), health))
    await worker.told.wait()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(health.app), base_url="http://localhost") as client:
        found = await client.get("/healthz")
    assert (found.status_code, found.json()["roles"]) == (503, {"indexer": "another model made it"})
    worker.may_finish.set()
    with pytest.raises(IndexMismatch):
        await running


async def test_a_role_that_ends_by_itself_ends_the_others() -> None:
    worker = Worker()
    worker.may_finish.set()
    await run_roles([worker.role(), Role("short", lambda: asyncio.sleep(0))], asyncio.Event(), Health())
    assert worker.finished


async def test_the_first_error_of_several_is_raised() -> None:
    told = asyncio.Event()

    async def fails_later() -> None:
        await told.wait()
        raise StoreUnavailable("later")

    with pytest.raises(IndexMismatch):
        await run_roles([Role("late", fails_later, told.set), Role("soon", fails)], asyncio.Event(), Health())


async def test_cancelled_it_cancels_all() -> None:
    worker = Worker()
    running = asyncio.create_task(run_roles([worker.role()], asyncio.Event(), Health()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert worker.cancelled


PROGRAM = """
import asyncio
from deploy.serving.health import Health
from deploy.serving.roles import Role, run_roles, stopped_by_signals

async def main():
    told = asyncio.Event()
    async def work():
        print("at work", flush=True)
        await told.wait()
        print("told", flush=True)
        {then}
    with stopped_by_signals() as stop:
        await run_roles([Role("worker", work, told.set)], stop, Health())
    print("finished", flush=True)

asyncio.run(main())
"""


def started(then: str) -> subprocess.Popen[str]:
    program = PROGRAM.format(then=then)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    while process.stdout.readline() != "at work\n":
        assert process.poll() is None
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_roles_finish(number: signal.Signals) -> None:
    with started("await asyncio.sleep(0.1)") as process:
        process.send_signal(number)
        assert process.communicate(timeout=30)[0].endswith("told\nfinished\n")
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_the_process_at_once_even_when_it_hangs(number: signal.Signals) -> None:
    # sum() heeds no signal that Python would have to handle, as native code does not.
    with started("sum(range(10**11))") as process:
        process.send_signal(signal.SIGTERM)
        assert process.stdout
        while process.stdout.readline() != "told\n":
            assert process.poll() is None
        process.send_signal(number)
        assert process.wait(timeout=30) == -number


async def test_signals_mean_what_they_meant_before_once_roles_have_ended() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stopped_by_signals() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        await stop.wait()
    assert signal.getsignal(signal.SIGTERM) == before
