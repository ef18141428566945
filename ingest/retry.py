"""Trying again: how often, with which pauses, and what a server asked for. Everybody who tries again does it by these.

An adapter that talks to a store translates what may pass (no connection, no answer in time, too many requests, a part of
it that restarts) into NotNow, and only repeats what does no harm when it was done already.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import structlog

from ingest.errors import StoreUnavailable

log = structlog.get_logger()

_T = TypeVar("_T")

Sleep = Callable[[float], Awaitable[None]]
Passing = Callable[[Exception], float | None]
"""Of an error: the seconds that a server asked to be left alone, 0 where it named none; None where the error stays."""


class NotNow(StoreUnavailable):
    """A server did not do what it was asked, and may if it is asked again. `after`: seconds that it wants to be left
    alone, where it said so."""

    def __init__(self, message: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts`: tries in all. In seconds: `pause` after the first failure, doubling up to `longest`; `asked`: a server
    that asks for more is not waited for; `within`: no try begins later than so long after the first."""

    attempts: float = 5
    pause: float = 1.0
    longest: float = 60.0
    asked: float = math.inf
    within: float = math.inf

    def after(self, failures: int, chance: float) -> float:
        """Seconds to wait after so many failures; `chance` (0 to 1) keeps those apart that failed together."""
        return min(self.pause * 2.0 ** min(failures - 1, 30), self.longest) * (0.5 + chance / 2)

    def next_pause(self, failures: int, asked: float, chance: float) -> float | None:
        """Seconds until the next try, as the server `asked` where it did; None where there is none."""
        if failures >= self.attempts or asked > self.asked:
            return None
        return asked or self.after(failures, chance)


PASSING_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
"""Of HTTP, after which a store may do what it was asked when it is asked again."""
STORE_RETRIES = RetryPolicy(attempts=math.inf, pause=0.1, longest=5.0, within=60.0)
"""For servers that are ours: asked as often as `within` allows."""


def not_now(error: Exception) -> float | None:
    """What passes among the errors of stores."""
    return error.after if isinstance(error, NotNow) else None


async def retrying(
    attempt: Callable[[], Awaitable[_T]],
    policy: RetryPolicy,
    passing: Passing = not_now,
    *,
    sleep: Sleep = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> _T:
    """Try until it is done. Raises the last error where it does not pass, or the policy allows no further try."""
    clock = asyncio.get_running_loop().time
    until = clock() + policy.within
    failures = 0
    while True:
        try:
            return await attempt()
        except Exception as error:
            failures += 1
            asked = passing(error)
            pause = None if asked is None else policy.next_pause(failures, asked, chance())
            if pause is None or clock() + pause > until:
                raise
            # A store that is away is the operator's business, a website or Slack that is busy is not.
            tell = log.warning if isinstance(error, StoreUnavailable) else log.info
            tell("tried_again", failures=failures, pause=round(pause, 3), error=str(error))
        await sleep(pause)


_SECONDS = re.compile(r"\d+(\.\d+)?", re.ASCII)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the Retry-After header asks for (RFC 9110 section 10.2.3); a date is counted from the answer's own
    Date where it has one, so that no clocks need to agree. None without a usable header."""
    values = {name.lower(): value for name, value in headers.items()}
    value = values.get("retry-after", "").strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    try:
        since = parsedate_to_datetime(values["date"]) if "date" in values else datetime.now(UTC)
        return max(0.0, (parsedate_to_datetime(value) - since).total_seconds())
    except (TypeError, ValueError):
        return None
