"""Roles of ritbot as processes that run until they are told to end; what they log is read all the while."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import isawaitable
from pathlib import Path
from threading import Thread
from typing import Any

import httpx

from tests.e2e.commands import start

PATIENCE_SECONDS = 220.0
"""Something that has not happened by then never will, on a busy machine either: a group that waits for a killed member's
session and a question whose lease nobody renews (30 s each), each twice."""


class Running:
    """A role as a process; what it logs is read all the time."""

    def __init__(
        self, folder: Path, *arguments: str, env: Mapping[str, str] | None = None, fresh: bool = False
    ) -> None:
        env = {"RITBOT_LOG__LEVEL": "debug", "RITBOT_LOG__FORMAT": "json", **(env or {})}
        self.process = start(folder, *arguments, env=env, fresh=fresh)
        self.events: list[dict[str, Any]] = []
        self.output: list[str] = []
        self._readers = [Thread(target=self._read_log), Thread(target=self._read_output)]
        for reader in self._readers:
            reader.start()

    def _read_log(self) -> None:
        assert self.process.stderr
        with self.process.stderr as stderr:
            for line in stderr:
                self.events.append(json.loads(line) if line.startswith("{") else {"event": line})

    def _read_output(self) -> None:
        assert self.process.stdout
        with self.process.stdout as stdout:
            self.output.extend(stdout)

    @property
    def address(self) -> str | None:
        """Where it says how it is."""
        return next((event["address"] for event in self.events if event["event"] == "listening"), None)

    def handled(self, kind: str) -> int:
        """How many pages came to such an end."""
        return sum(event["event"] == "event_handled" and event["kind"] == kind for event in self.events)

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        status = self.process.wait(PATIENCE_SECONDS)
        for reader in self._readers:
            reader.join()
        assert self.process.stdout
        assert self.process.stderr
        self.process.stdout.close()
        self.process.stderr.close()
        return status


@contextmanager
def running(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, fresh: bool = False
) -> Iterator[Running]:
    role = Running(folder, *arguments, env=env, fresh=fresh)
    try:
        yield role
    finally:
        if role.process.poll() is None:
            role.end(signal.SIGKILL)


async def until(condition: Callable[[], object], what: str, *roles: Running) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not (await found if isawaitable(found := condition()) else found):
        logs = [event for role in roles for event in role.events if event.get("logger") != "opensearch"][-40:]
        assert all(role.process.poll() is None for role in roles), f"a role ended before {what}: {logs}"
        assert time.monotonic() < give_up, f"{what} did not happen: {logs}"
        await asyncio.sleep(0.05)


async def get(role: Running, path: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        return await client.get(f"{role.address}{path}")


async def is_ready(role: Running) -> bool:
    return bool(role.address) and (await get(role, "/readyz")).status_code == 200
