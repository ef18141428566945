"""Processes that are killed, frozen and started again, and what they said."""

from __future__ import annotations

import asyncio
import json
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

_STARTED_WITHIN = 60.0
_STOPPED_WITHIN = 30.0
_AT_WORK = (b'"site_watched"', b'"event_handled"', b'"site_opened"')


@dataclass(slots=True)
class Heard:
    """What all members said, those that are dead included: events that the stores have by key and number, how often by
    kind of outcome, cycles of watchers as their verdicts, warnings by name, and the last lines that were no log events."""

    handled: set[tuple[str, int]] = field(default_factory=set)
    outcomes: Counter[str] = field(default_factory=Counter)
    cycles: list[Counter[str]] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)
    other: deque[str] = field(default_factory=lambda: deque(maxlen=40))

    def line(self, raw: bytes) -> None:
        """A line without an end is what a killed process was about to say: it does not count."""
        try:
            said: dict[str, Any] = json.loads(raw) if raw.startswith(b"{") and raw.endswith(b"\n") else {}
        except ValueError:
            said = {}
        match said:
            case {"event": "event_handled", "key": str(key), "seq": int(seq), "kind": str(kind)}:
                self.handled.add((key, seq))
                self.outcomes[kind] += 1
            case {"event": "site_watched"}:
                self.cycles.append(Counter({name: n for name, n in said.items() if isinstance(n, int) and n}))
            case {"event": str(event), "level": "warning" | "error" | "critical"}:
                self.warnings[event] += 1
            case {"event": _}:
                pass
            case _:
                self.other.append(raw.decode(errors="replace").rstrip())


class Fleet:
    """`commands` by member; they are started on entering, and nobody is left on leaving. `fallen`: sentences on those
    that ended though nobody wanted it, or not as they should."""

    def __init__(self, commands: Mapping[str, Sequence[str]], heard: Heard) -> None:
        self._commands = commands
        self._heard = heard
        self._running: dict[str, tuple[Process, asyncio.Task[None]]] = {}
        self._at_work: dict[str, asyncio.Event] = {}
        self.fallen: list[str] = []

    async def __aenter__(self) -> Self:
        await asyncio.gather(*map(self.start, self.members))
        return self

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.gather(*map(self.kill, list(self._running)))

    @property
    def members(self) -> list[str]:
        return sorted(self._commands)

    def pid(self, member: str) -> int:
        return self._running[member][0].pid

    async def start(self, member: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *self._commands[member], stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        self._at_work[member] = asyncio.Event()
        self._running[member] = process, asyncio.create_task(self._listen(member, process))

    async def at_work(self, member: str) -> None:
        """Wait until it says something of its work. Raises TimeoutError."""
        async with asyncio.timeout(_STARTED_WITHIN):
            await self._at_work[member].wait()

    async def kill(self, member: str) -> None:
        """SIGKILL, whatever it is doing."""
        process, listening = self._running.pop(member)
        if process.returncode is None:
            process.kill()
        else:
            self._fell(member, process.returncode)
        await process.wait()
        await listening

    async def stop(self) -> None:
        """SIGTERM to all: they finish what they hold, and end well."""
        running, self._running = self._running, {}
        for process, _ in running.values():
            if process.returncode is None:
                process.terminate()
        await asyncio.gather(*(self._ended(member, *each) for member, each in running.items()))

    async def freeze(self, member: str, seconds: float) -> None:
        """It stands still, is perhaps taken for dead, and wakes up later."""
        process, _ = self._running[member]
        if process.returncode is None:
            process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGCONT)

    async def _ended(self, member: str, process: Process, listening: asyncio.Task[None]) -> None:
        try:
            async with asyncio.timeout(_STOPPED_WITHIN):
                code = await process.wait()
                if code and not (code == -signal.SIGTERM and not self._at_work[member].is_set()):
                    self._fell(member, code)
        except TimeoutError:
            self.fallen.append(f"{member} did not end within {_STOPPED_WITHIN:g} s of SIGTERM")
            process.kill()
        await listening

    def _fell(self, member: str, code: int) -> None:
        self.fallen.append(f"{member} ended with {code}: {' | '.join(self._heard.other)[-1500:]}")

    async def _listen(self, member: str, process: Process) -> None:
        assert process.stdout is not None
        async for raw in process.stdout:
            self._heard.line(raw)
            if any(word in raw for word in _AT_WORK):
                self._at_work[member].set()
