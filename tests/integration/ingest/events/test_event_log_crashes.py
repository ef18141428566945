"""Consumers in processes of their own that are killed: every record is handled by someone, in the order of its key."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tests.integration.ingest.events.log_worker import open_log
from tests.waiting import eventually

KEYS = 20
ROUNDS = 15


class Worker:
    """The child process and what it said so far."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.handled: list[tuple[str, int]] = []
        self.ready = asyncio.Event()

    async def listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            match line.decode().split():
                case ["ready"]:
                    self.ready.set()
                case ["handled", key, value]:
                    self.handled.append((key, int(value)))

    def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()

    async def ended(self) -> None:
        await self._process.wait()


@asynccontextmanager
async def worker(*arguments: str) -> AsyncIterator[Worker]:
    command = [sys.executable, "-m", "tests.integration.ingest.events.log_worker", *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    worker = Worker(process)
    listening = asyncio.create_task(worker.listen())
    try:
        yield worker
    finally:
        worker.kill()
        await worker.ended()
        await listening


@pytest.mark.parametrize(("kind", "at_once"), [("sqlite", 1), ("kafka", 2)])
async def test_workers_that_are_killed_lose_no_record(
    kind: str, at_once: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Kafka's group goes on with the member that is left; the embedded log's goes on with its successor."""
    where = request.getfixturevalue("kafka").address if kind == "kafka" else str(tmp_path / "events.sqlite")
    topic = f"crash.{uuid4().hex}"
    async with open_log(kind, where) as log, AsyncExitStack() as stack:
        workers = [await stack.enter_async_context(worker(kind, where, topic)) for _ in range(at_once)]
        first = workers[0]
        await asyncio.wait_for(asyncio.gather(*(each.ready.wait() for each in workers)), 30)
        for number in range(ROUNDS):
            await asyncio.gather(*(log.append(topic, f"key{key}", str(number).encode()) for key in range(KEYS)))
        async with asyncio.timeout(30):
            while not all(each.handled for each in workers):
                await log.append(topic, "key0", str(ROUNDS).encode())
                await asyncio.sleep(0.05)
        first.kill()
        await first.ended()
        workers.append(await stack.enter_async_context(worker(kind, where, topic)))

        async def all_committed() -> bool:
            return not await log.lag(topic, "workers")

        await eventually(all_committed, within=40)
    for key in {key for key, _ in first.handled}:
        numbers = [number for found, number in first.handled if found == key]
        assert numbers == sorted(numbers), "a key went back before any crash"
    every = [pair for each in workers for pair in each.handled]
    assert {(f"key{key}", number) for key in range(KEYS) for number in range(ROUNDS)} <= set(every)
    assert len(every) - len(set(every)) < KEYS * ROUNDS, "more was done again than a crash explains"
