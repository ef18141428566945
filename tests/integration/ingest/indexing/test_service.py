"""The indexer service: what it does with records that cannot be handled, with failing stores, and when it stops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from pathlib import Path

import pytest

from deploy.wiring.stores import SystemClock
from ingest.errors import (
    Blocked,
    FetchFailed,
    IndexMismatch,
    RecordTooLarge,
    StoreUnavailable,
    TooManyDeadLetters,
    UnknownSite,
)
from ingest.events.announce import Announcer, to_log
from ingest.events.dead_letters import settle
from ingest.events.topics import PAGES
from ingest.events.workers import WorkerPolicy
from ingest.indexing.indexer import Outcome
from ingest.indexing.service import INDEXER_GROUP, Attempts, IndexerService
from ingest.model import PageEvent, Site
from ingest.ports import Record
from tests.fakes.pipeline import SOON, Pipeline, open_fetcher, pipeline
from tests.waiting import eventually

BASE = "https://docs.example.test/"
Handler = Callable[[PageEvent], Awaitable[Outcome]]


@pytest.fixture
async def pipe() -> AsyncIterator[Pipeline]:
    async with pipeline(Site("docs", BASE)) as pipe:
        yield pipe


async def announce(pipe: Pipeline, *names: str) -> None:
    announcer = Announcer(pipe.trees, to_log(pipe.events), pipe.clock)
    for name in names:
        await announcer.changed("docs", BASE + name)


def service(
    pipe: Pipeline, handle: Handler, *, parallel: int = 4, patience: WorkerPolicy = SOON, **more: int
) -> IndexerService:
    announcer = Announcer(pipe.trees, to_log(pipe.events), pipe.clock)
    return IndexerService(
        pipe.events,
        handle,
        announcer=announcer,
        attempts=Attempts(pipe.trees),
        clock=SystemClock(),
        parallel=parallel,
        patience=patience,
        **more,
    )


async def until_done(pipe: Pipeline, running: IndexerService) -> None:
    """Until the log has nothing left for the service."""
    task = asyncio.create_task(running.run())
    async with asyncio.timeout(20):
        while await pipe.events.lag(PAGES, INDEXER_GROUP):
            if (await asyncio.wait([task], timeout=0.01))[0]:
                break
    running.stop()
    await task


class Handling:
    """Notes what is handled; raises what it is told to, as often as it is told to."""

    def __init__(self, **errors: tuple[int, BaseException]) -> None:
        self.errors = errors
        self.seen: list[str] = []
        self.most_at_once = self.at_once = 0

    async def __call__(self, event: PageEvent) -> Outcome:
        name = event.key.removeprefix(BASE)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0.01)
        finally:
            self.at_once -= 1
        self.seen.append(name)
        times, error = self.errors.get(name, (0, KeyError()))
        if self.seen.count(name) <= times:
            raise error
        return Outcome("changed", event.key)


async def test_pages_are_handled_side_by_side_and_one_page_in_order(pipe: Pipeline) -> None:
    await announce(pipe, *"abcdabcd")
    order: list[int] = []

    async def handle(event: PageEvent) -> Outcome:
        if event.key == BASE + "a":
            order.append(event.seq)
        return await handling(event)

    handling = Handling()
    await until_done(pipe, service(pipe, handle))
    assert sorted(handling.seen) == sorted("abcdabcd")
    assert order == [1, 2]
    assert 1 < handling.most_at_once <= 4


async def test_what_is_no_event_goes_to_the_dead_letters_at_once_with_the_reason(pipe: Pipeline) -> None:
    await pipe.events.append(PAGES, BASE + "a", b"\xff not json")
    await pipe.events.append(PAGES, BASE + "b", b'{"v": 99}')
    await pipe.events.append(PAGES, BASE + "c", None)
    await announce(pipe, "d")
    handling = Handling()
    running = service(pipe, handling)
    await until_done(pipe, running)
    reasons = {letter.record.key.removeprefix(BASE): letter.reason for letter in await pipe.dead()}
    assert sorted(reasons) == ["a", "b", "c"]
    assert "upgrade" in reasons["b"]
    assert "tombstone" in reasons["c"]
    assert handling.seen == ["d"]
    assert running.totals.dead == 3


async def test_a_failure_that_passes_is_tried_again(pipe: Pipeline) -> None:
    await announce(pipe, "a")
    handling = Handling(a=(2, FetchFailed("the server is busy", retry_after=600.0)))
    await until_done(pipe, service(pipe, handling))
    assert handling.seen == ["a", "a", "a"]
    assert await pipe.dead() == []


async def test_a_failure_that_stays_ends_in_the_dead_letters_and_the_others_go_on(pipe: Pipeline) -> None:
    await announce(pipe, "a", "b")
    handling = Handling(a=(99, ZeroDivisionError("a bug")))
    await until_done(pipe, service(pipe, handling))
    [letter] = await pipe.dead()
    assert letter.reason == "ZeroDivisionError: a bug (attempt 3)"
    assert handling.seen.count("a") == 3
    assert handling.seen.count("b") == 1


async def test_what_is_not_to_be_fetched_is_not_tried_again(pipe: Pipeline) -> None:
    await announce(pipe, "a")
    handling = Handling(a=(99, Blocked("robots.txt does not allow it")))
    await until_done(pipe, service(pipe, handling))
    assert handling.seen == ["a"]
    assert "robots.txt" in (await pipe.dead())[0].reason


async def test_an_event_of_a_site_that_nobody_knows_is_kept_with_the_reason(pipe: Pipeline) -> None:
    await Announcer(pipe.trees, to_log(pipe.events), pipe.clock).changed("other", BASE + "a")
    await pipe.work()
    assert "no site called other" in (await pipe.dead())[0].reason


async def test_while_a_store_does_not_answer_nothing_is_given_up(pipe: Pipeline) -> None:
    await announce(pipe, "a", "b")
    handling = Handling(a=(20, StoreUnavailable("no answer")), b=(20, StoreUnavailable("no answer")))
    await until_done(pipe, service(pipe, handling))
    assert (handling.seen.count("a"), handling.seen.count("b")) == (21, 21)
    assert await pipe.dead() == []


async def test_an_error_of_the_installation_ends_the_service_and_gives_nothing_up(pipe: Pipeline) -> None:
    await announce(pipe, "a", "b")
    with pytest.raises(IndexMismatch):
        await until_done(pipe, service(pipe, Handling(a=(99, IndexMismatch("another model")))))
    assert await pipe.dead() == []
    handling = Handling()
    await until_done(pipe, service(pipe, handling))
    assert "a" in handling.seen


async def test_a_page_that_kills_the_process_again_and_again_is_given_up(pipe: Pipeline) -> None:
    class Killed(BaseException):
        """As the system's memory limit does it."""

    await announce(pipe, "a", "b")
    for _ in range(3):
        with pytest.raises(Killed):
            await until_done(pipe, service(pipe, Handling(a=(1, Killed())), parallel=1))
    handling = Handling(a=(1, Killed()))
    await until_done(pipe, service(pipe, handling))
    assert "a" not in handling.seen
    [letter] = await pipe.dead()
    assert (letter.record.key, letter.reason) == (BASE + "a", "the indexer ended 3 times while it handled this page")


async def test_stopping_finishes_what_is_in_hand_and_takes_nothing_more(pipe: Pipeline) -> None:
    await announce(pipe, *"abcdef")
    begun = asyncio.Event()
    done: list[str] = []

    async def handle(event: PageEvent) -> Outcome:
        begun.set()
        await asyncio.sleep(0.1)
        done.append(event.key)
        return Outcome("changed", event.key)

    running = service(pipe, handle, parallel=1)
    task = asyncio.create_task(running.run())
    await begun.wait()
    running.stop()
    await task
    assert len(done) == 1
    assert await pipe.events.lag(PAGES, INDEXER_GROUP) == 5


async def test_stopping_does_not_wait_longer_than_the_grace_and_loses_nothing(pipe: Pipeline) -> None:
    await announce(pipe, "a")
    begun = asyncio.Event()

    async def hang(event: PageEvent) -> Outcome:
        begun.set()
        await asyncio.sleep(60)
        return Outcome("changed", event.key)

    running = service(pipe, hang, patience=WorkerPolicy(grace=0.1))
    task = asyncio.create_task(running.run())
    await begun.wait()
    started = time.monotonic()
    running.stop()
    await task
    assert time.monotonic() - started < 30
    handling = Handling()
    await until_done(pipe, service(pipe, handling))
    assert handling.seen == ["a"]


async def test_stopping_does_not_wait_for_a_store_that_is_away(pipe: Pipeline) -> None:
    await announce(pipe, "a")
    handling = Handling(a=(10_000, StoreUnavailable("no answer")))
    running = service(pipe, handling, patience=WorkerPolicy(pause=30.0, longest=30.0))
    task = asyncio.create_task(running.run())
    await eventually(lambda: handling.seen)
    async with asyncio.timeout(10):  # the pause is of 15 seconds at least
        running.stop()
        await task
    assert await pipe.events.lag(PAGES, INDEXER_GROUP) == 1


async def test_a_record_that_cannot_be_read_ends_the_service_and_is_not_skipped(pipe: Pipeline) -> None:
    class Oversized:
        async def take(self, most: int = 1, wait: float = 1.0) -> Sequence[Record]:
            raise RecordTooLarge("partition 0 holds a record of 30 MB at offset 7")

    class Log:
        def consume(self, topic: str, group: str) -> AbstractAsyncContextManager[Oversized]:
            return nullcontext(Oversized())

    pipe.events = Log()  # type: ignore[assignment]
    with pytest.raises(RecordTooLarge, match="offset 7"):
        await service(pipe, Handling()).run()


async def test_a_page_whose_original_went_is_announced_before_the_record_is_done(pipe: Pipeline) -> None:
    async def handle(event: PageEvent) -> Outcome:
        return Outcome("gone", event.key, revisit=(BASE + "copy",)) if event.key == BASE + "a" else await rest(event)

    rest = Handling()
    await announce(pipe, "a")
    await until_done(pipe, service(pipe, handle))
    assert rest.seen == ["copy"]


async def test_a_site_is_opened_once_and_anew_after_a_while(pipe: Pipeline) -> None:
    opened: list[str] = []

    def opening(site: Site) -> AbstractAsyncContextManager[object]:
        opened.append(site.name)
        return open_fetcher(site)

    pipe.site = Site("docs", str(Path(__file__).parent))
    pipe.open_fetcher = opening  # type: ignore[assignment]
    async with pipe.indexers() as indexers:
        for _ in range(2):
            for number in range(3):
                event = PageEvent("file:///nowhere", "docs", number + 1, "changed", "file:///nowhere", pipe.clock.now())
                with suppress(FetchFailed):
                    await indexers.handle(event)
            pipe.clock.advance(hours=2)
    assert opened == ["docs", "docs"]


# --- page after page


class Broken(Handling):
    """A release that breaks on every page but those that it is told of."""

    def __init__(self, *good: str) -> None:
        super().__init__()
        self._good = good

    async def __call__(self, event: PageEvent) -> Outcome:
        outcome = await super().__call__(event)
        if event.key.removeprefix(BASE) not in self._good:
            raise ZeroDivisionError("a bug")
        return outcome


@pytest.mark.parametrize("parallel", [1, 4])
async def test_a_release_that_breaks_on_every_page_halts_and_gives_up_few_pages(pipe: Pipeline, parallel: int) -> None:
    names = [f"p{n:02}" for n in range(12)]
    await announce(pipe, *names)
    broken = service(pipe, Broken(), parallel=parallel, max_dead_in_a_row=4)
    async with asyncio.timeout(20):
        with pytest.raises(TooManyDeadLetters, match=r"4 pages in a row .* ZeroDivisionError: a bug"):
            await broken.run()
    assert len(await pipe.dead()) == 3
    for _ in range(2):  # started again, it gives up none, and does not count how often it was started
        with pytest.raises(TooManyDeadLetters):
            await service(pipe, Broken(), parallel=parallel, max_dead_in_a_row=4).run()
    assert len(await pipe.dead()) == 3
    mended = Handling()
    await until_done(pipe, service(pipe, mended, parallel=parallel, max_dead_in_a_row=4))
    given_up = {letter.record.key.removeprefix(BASE) for letter in await pipe.dead()}
    assert len(await pipe.dead()) == 3
    assert set(mended.seen) == set(names) - given_up


async def test_a_page_that_is_indexed_between_them_ends_the_row(pipe: Pipeline) -> None:
    await announce(pipe, "a", "b", "good", "c", "d")
    await until_done(pipe, service(pipe, Broken("good"), parallel=1, max_dead_in_a_row=3))
    assert {letter.record.key.removeprefix(BASE) for letter in await pipe.dead()} == set("abcd")


async def test_one_page_that_fails_again_and_again_halts_nothing(pipe: Pipeline) -> None:
    for _ in range(5):
        await announce(pipe, "a")
        await until_done(pipe, service(pipe, Broken(), max_dead_in_a_row=2))
    assert len(await pipe.dead()) == 5


async def test_what_a_server_or_the_settings_refuse_halts_nothing(pipe: Pipeline) -> None:
    names = [f"p{n}" for n in range(6)]
    await announce(pipe, *names)
    errors = [Blocked("robots.txt"), FetchFailed("no answer"), UnknownSite("no such site")] * 2
    handling = Handling(**{name: (99, error) for name, error in zip(names, errors, strict=True)})
    await until_done(pipe, service(pipe, handling, max_dead_in_a_row=2))
    assert len(await pipe.dead()) == 6


async def test_letters_that_were_let_be_count_no_more(pipe: Pipeline) -> None:
    await announce(pipe, "a")
    await until_done(pipe, service(pipe, Broken(), max_dead_in_a_row=2))
    await announce(pipe, "b")
    with pytest.raises(TooManyDeadLetters):
        await service(pipe, Broken(), max_dead_in_a_row=2).run()
    assert await settle(pipe.events, PAGES, again=False) == 1
    await until_done(pipe, service(pipe, Broken(), max_dead_in_a_row=2))
    assert {letter.record.key.removeprefix(BASE) for letter in await pipe.dead()} == {"a", "b"}
