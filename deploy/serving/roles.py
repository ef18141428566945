"""Roles side by side in one process: they start together, end together, and finish what is in hand when told to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from starlette.routing import BaseRoute

from deploy.serving.health import Check, Health

log = structlog.get_logger()

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Role:
    """`run` goes on until `stop` was called, then finishes what is in hand and returns. `stop` None: being cancelled
    at any point loses nothing."""

    name: str
    run: Callable[[], Coroutine[Any, Any, object]]
    stop: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class SlackRoles:
    """What talks to people in a process: roles, what is mounted beside health, what says whether they are well."""

    roles: Sequence[Role] = ()
    routes: Sequence[BaseRoute] = ()
    checks: Mapping[str, Check] = field(default_factory=dict)


async def run_roles(roles: Sequence[Role], stop: asyncio.Event, health: Health) -> None:
    """Until `stop` is set or a role ends, be it by an error or not; then all are stopped and waited for. Raises the
    error by which a role ended, the first of several. Cancelled, it cancels them all."""
    errors: list[Exception] = []

    async def run(role: Role) -> None:
        try:
            await role.run()
        except Exception as error:
            log.error("role_died", role=role.name, error=repr(error))
            health.died(role.name, error)
            errors.append(error)

    tasks = {asyncio.create_task(run(role), name=role.name): role for role in roles}
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        health.ends()
        log.info("roles_stopping", roles=[role.name for role in roles])
        for task, role in tasks.items():
            if role.stop is None:
                task.cancel()
            else:
                role.stop()
        await asyncio.wait(tasks)
    finally:
        for each in (stopping, *tasks):
            each.cancel()
        await asyncio.gather(stopping, *tasks, return_exceptions=True)
    if errors:
        raise errors[0]


@contextmanager
def stopped_by_signals() -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set. A second signal ends the process at once, as if it were killed: what was in
    hand is done again by whoever comes next."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def told() -> None:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        stop.set()

    for number in SIGNALS:
        loop.add_signal_handler(number, told)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
