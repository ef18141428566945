"""One batch: many items, a bounded number of them side by side, until all are done or the run ends.

What an item comes to, its work keeps at once, so that a run which ends anywhere, by a ceiling, an interruption or a kill, is
begun again and goes on: nothing is asked twice but what was under way. A failure that passes is tried again by the model's own
adapter, a bounded number of times; what fails after that is left for the next run, and too many in a row end this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from ingest.concurrency import for_each
from navigator.batch.ledger import CeilingReached
from navigator.errors import ModelError

log = structlog.get_logger()

Item = TypeVar("Item")
MAX_FAILURES_IN_A_ROW = 5
"""Items that a model fails, each after its retries, before a run ends."""


@dataclass(slots=True)
class Progress:
    """Of `total` items (None: not known before), `known` were done in an earlier run, `done` and `failed` in this one, the
    last `failure` being this. `outcomes`: what the items came to, by a name that the batch gives it. `ended`: why before
    all was done, "" if it was."""

    total: int | None = None
    known: int = 0
    done: int = 0
    failed: int = 0
    failure: str = ""
    ended: str = ""
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def complete(self) -> bool:
        """Whether nothing is left that another run could do."""
        return not self.ended and not self.failed


Show = Callable[[Progress], None]


def unseen(progress: Progress) -> None:
    """Shows nothing."""


async def run_batch(
    items: AsyncIterator[Item] | Iterable[Item],
    work: Callable[[Item], Awaitable[None]],
    progress: Progress,
    *,
    workers: int = 4,
    show: Show = unseen,
) -> Progress:
    """Do `work` for each item. It may raise ModelError, which fails the item, and CeilingReached, which ends the run; whatever
    else it raises, and being cancelled, ends the run and is raised here. `show` is told of each item that is over."""
    failures_in_a_row = 0

    async def until_ended() -> AsyncIterator[Item]:
        async for item in items if isinstance(items, AsyncIterator) else _each(items):
            if progress.ended:
                return
            yield item

    async def do(item: Item) -> None:
        nonlocal failures_in_a_row
        try:
            await work(item)
        except* CeilingReached as reached:  # a group, where the work asks several things side by side
            progress.ended = progress.ended or str(reached.exceptions[0])
        except* ModelError as failed:
            failures_in_a_row += 1
            _fail(progress, failed.exceptions[0], failures_in_a_row)
        else:
            failures_in_a_row = 0
            progress.done += 1
        show(progress)

    await for_each(until_ended(), do, workers)
    return progress


def _fail(progress: Progress, error: BaseException, in_a_row: int) -> None:
    progress.failed += 1
    progress.failure = str(error)
    log.warning("model_failed", kind=type(error).__name__, failures=in_a_row, reason=progress.failure)
    if in_a_row >= MAX_FAILURES_IN_A_ROW or rejects_the_sender(error):
        progress.ended = progress.ended or progress.failure


async def _each(items: Iterable[Item]) -> AsyncIterator[Item]:
    for item in items:
        yield item


def rejects_the_sender(error: BaseException) -> bool:
    """Whether every request would be rejected like this one: for its key, its account, the name of the model."""
    from navigator.models.faults import RequestRefused  # the SDK behind it takes a second to import

    return isinstance(error, RequestRefused) and (
        error.status not in (400, 413, 422) or "credit balance" in error.detail.lower()
    )
