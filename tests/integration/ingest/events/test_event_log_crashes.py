"""Consumers in processes of their own that are killed: every record is handled by someone, in the order of its key."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tests.contract.log_reading import eventually
from tests.integration.ingest.events.log_worker import open_log

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


@pytest.mark.parametrize("kind", ["sqlite", "kafka"])
async def test_workers_that_are_killed_lose_no_record(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = request.getfixturevalue("kafka").address if kind == "kafka" else str(tmp_path / "events.sqlite")
    topic = f"crash.{uuid4().hex}"
    async with open_log(kind, where) as log, worker(kind, where, topic) as first, worker(kind, where, topic) as second:
        await asyncio.wait_for(asyncio.gather(first.ready.wait(), second.ready.wait()), 30)
        for number in range(ROUNDS):
            await asyncio.gather(*(log.append(topic, f"key{key}", str(number).encode()) for key in range(KEYS)))
        async with asyncio.timeout(30):
            while not (first.handled and second.handled):
                await log.append(topic, "key0", str(ROUNDS).encode())
                await asyncio.sleep(0.05)
        first.kill()
        await first.ended()
        async with worker(kind, where, topic) as third:

            async def all_committed() -> bool:
                return not await log.lag(topic, "workers")

            await eventually(all_committed, within=40)
        for key in {key for key, _ in first.handled}:
            numbers = [number for found, number in first.handled if found == key]
            assert numbers == sorted(numbers), "a key went back before any crash"
        handled = {*first.handled, *second.handled, *third.handled}
        assert {(f"key{key}", number) for key in range(KEYS) for number in range(ROUNDS)} <= handled
        again = len(first.handled) + len(second.handled) + len(third.handled) - len(handled)
        assert again < KEYS * ROUNDS, "more was done again than a crash explains"
