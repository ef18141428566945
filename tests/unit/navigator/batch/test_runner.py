"""A batch: side by side, counted, ended by a ceiling or by failures in a row, begun again."""

import asyncio
from collections.abc import Callable

import pytest

from navigator.batch.ledger import CeilingReached
from navigator.batch.runner import MAX_FAILURES_IN_A_ROW, Progress, run_batch
from navigator.errors import ModelError, ModelLimited, ModelRejected, ModelUnreachable
from navigator.models.faults import RequestRefused

GONE = ModelUnreachable("The model cannot be reached.")


def failing(fails: Callable[[int], Exception | None]) -> tuple[list[int], Callable[[int], asyncio.Future[None]]]:
    """Work that fails where it is told to; and what it was asked to do."""
    asked: list[int] = []

    async def work(item: int) -> None:
        asked.append(item)
        await asyncio.sleep(0)
        if error := fails(item):
            raise error

    return asked, work  # type: ignore[return-value]


async def test_every_item_is_done_once_and_shown() -> None:
    asked, work = failing(lambda item: None)
    told: list[int] = []
    progress = await run_batch(range(20), work, Progress(20), workers=3, show=lambda p: told.append(p.done))
    assert (progress, asked, told) == (Progress(20, done=20), [*range(20)], [*range(1, 21)])
    assert progress.complete


async def test_as_many_are_under_way_as_there_are_workers() -> None:
    under_way = most = 0

    async def work(item: int) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    await run_batch(range(20), work, Progress(), workers=3)
    assert most == 3


async def test_a_failure_is_counted_and_the_rest_is_done() -> None:
    _, work = failing(lambda item: GONE if item == 1 else None)
    progress = await run_batch(range(4), work, Progress(), workers=1)
    assert (progress.done, progress.failed, progress.failure, progress.ended) == (3, 1, str(GONE), "")
    assert not progress.complete


@pytest.mark.parametrize("error", [GONE, ModelLimited("Asked too much."), ModelRejected("no"), ModelError("?")])
async def test_failures_in_a_row_end_the_run_with_their_reason(error: ModelError) -> None:
    asked, work = failing(lambda item: error if item > 2 else None)
    progress = await run_batch(range(100), work, Progress(), workers=1)
    assert (progress.done, progress.failed, progress.ended) == (3, MAX_FAILURES_IN_A_ROW, str(error))
    assert len(asked) == 3 + MAX_FAILURES_IN_A_ROW


async def test_failures_now_and_then_do_not_end_it() -> None:
    _, work = failing(lambda item: GONE if item % MAX_FAILURES_IN_A_ROW else None)
    progress = await run_batch(range(100), work, Progress(), workers=1)
    assert (progress.done + progress.failed, progress.ended) == (100, "")


async def test_who_fails_side_by_side_is_stopped_all_the_same() -> None:
    asked, work = failing(lambda item: GONE)
    progress = await run_batch(range(100), work, Progress(), workers=8)
    assert MAX_FAILURES_IN_A_ROW <= progress.failed == len(asked) < MAX_FAILURES_IN_A_ROW + 8


@pytest.mark.parametrize(
    ("status", "detail", "ends"),
    [(401, "", 1), (402, "", 1), (403, "", 1), (404, "", 1), (400, "Your credit balance is too low", 1), (400, "", 3)],
)
async def test_a_wrong_key_ends_it_at_once_and_a_refused_request_does_not(status: int, detail: str, ends: int) -> None:
    asked, work = failing(lambda item: RequestRefused("No.", status, detail))
    progress = await run_batch(range(3), work, Progress(), workers=1)
    assert (len(asked), bool(progress.ended)) == (ends, ends == 1)


async def test_the_ceiling_ends_it_and_is_no_failure() -> None:
    _, work = failing(lambda item: CeilingReached("the ceiling is reached") if item == 3 else None)
    progress = await run_batch(range(9), work, Progress(), workers=1)
    assert (progress.done, progress.failed, progress.ended) == (3, 0, "the ceiling is reached")


async def test_the_ceiling_is_heard_out_of_work_that_asks_several_things_side_by_side() -> None:
    async def work(item: int) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(refused())

    async def refused() -> None:
        raise CeilingReached("the ceiling is reached")

    progress = await run_batch(range(9), work, Progress(), workers=2)
    assert (progress.done, progress.ended) == (0, "the ceiling is reached")


async def test_any_other_error_and_being_cancelled_end_it_and_lose_nothing_that_was_done() -> None:
    progress = Progress()
    _, work = failing(lambda item: OSError("disk full") if item == 2 else None)
    with pytest.raises(OSError, match="disk full"):
        await run_batch(range(9), work, progress, workers=1)
    assert progress.done == 2
    kept: list[int] = []
    third = asyncio.Event()

    async def keep(item: int) -> None:
        kept.append(item)
        await asyncio.sleep(0)
        if len(kept) == 3:
            third.set()

    task = asyncio.create_task(run_batch(range(10**6), keep, Progress(), workers=2))
    await third.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    count = len(kept)
    await asyncio.sleep(0.01)
    assert len(kept) == count, "nobody goes on"
