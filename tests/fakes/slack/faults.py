"""What goes wrong on demand: how the next calls of a method are answered.

slack.faults.next("chat.update", RATE_LIMITED)                          # 429, Retry-After: 1
slack.faults.next("chat.postMessage", Fault(error="invalid_blocks"), times=2)
slack.faults.next("chat.appendStream", Fault(status=500))
slack.faults.next("chat.postMessage", Fault(applies=True, drops=True))  # posted, but nobody hears of it
slack.faults.next("chat.startStream", Fault(applies=True, delay=40))    # done, the answer comes too late
slack.faults.always("chat.startStream", Fault(error="feature_not_enabled"))
slack.faults.where("*", SERVER_ERROR, lambda arguments: "poison" in str(arguments))  # every call that says so
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """`error`: {"ok": false}. `status`: an HTTP error without JSON. `drops`: the connection is cut without an answer.
    `applies`: the call is done, and recorded as done, all the same. `delay`: seconds before any of it, or before the
    answer if it applies."""

    error: str = ""
    messages: tuple[str, ...] = ()
    status: int = 200
    retry_after: int | None = None
    delay: float = 0.0
    applies: bool = False
    drops: bool = False

    @property
    def spoils(self) -> bool:
        """Whether the caller gets another answer than the method's, or none."""
        return self.drops or bool(self.error) or self.status != 200

    @property
    def heard(self) -> int:
        """The HTTP status that the caller hears; 0: none."""
        return 0 if self.drops else self.status

    @property
    def body(self) -> dict[str, Any]:
        if not self.error:
            return {}
        messages = {"response_metadata": {"messages": list(self.messages)}} if self.messages else {}
        return {"ok": False, "error": self.error, **messages}


RATE_LIMITED = Fault(error="ratelimited", status=429, retry_after=1)
SERVER_ERROR = Fault(status=500)


class Faults:
    def __init__(self) -> None:
        self._next: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._always: dict[str, Fault] = {}
        self._where: dict[str, tuple[Fault, Callable[[Mapping[str, Any]], bool]]] = {}

    def next(self, method: str, fault: Fault, *, times: int = 1) -> None:
        """The next `times` calls of this method; "*" meets any method, "response_url" the posts there."""
        self._next[method].extend([fault] * times)

    def always(self, method: str, fault: Fault) -> None:
        self._always[method] = fault

    def where(self, method: str, fault: Fault, meets: Callable[[Mapping[str, Any]], bool]) -> None:
        """Every call of this method with such arguments."""
        self._where[method] = fault, meets

    def none(self) -> None:
        """Everything goes well again."""
        self._next.clear()
        self._always.clear()
        self._where.clear()

    def due(self, method: str, arguments: Mapping[str, Any]) -> Fault | None:
        for name in (method, "*"):
            if name in self._where and self._where[name][1](arguments):
                return self._where[name][0]
            if self._next[name]:
                return self._next[name].popleft()
            if name in self._always:
                return self._always[name]
        return None
