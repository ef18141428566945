"""What every BotStore does (bot.ports.BotStore)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bot.errors import KeyMissing, KeyWrong
from bot.model import ChangedSource, ChangeNote, ChannelSettings, Exchange, Feedback, Need
from bot.ports import AskedInVain, BotStore, VersionedExchange
from bot.store.sealing import KeySeal, LeftSealed
from ingest.errors import Conflict
from tests.conftest import ROOT
from tests.contract.conftest import KEY, OpenBotStore, name_of
from tests.fakes.exchanges import NOON, TOKEN, SetClock, answer, answered, installation, question, waiting

OTHER_KEY = "YW5vdGhlciBrZXkgdGhhdCBpcyBub3QgYSBzZWNyZXQ="
DAY = timedelta(days=1)

_T = TypeVar("_T")


async def all_of(iterator: AsyncIterator[_T]) -> list[_T]:
    return [each async for each in iterator]


def ids(exchanges: list[Exchange]) -> list[str]:
    return [exchange.question.id for exchange in exchanges]


async def kept(store: BotStore, *exchanges: Exchange) -> None:
    for exchange in exchanges:
        await store.keep(exchange, None)


# --- exchanges


async def test_an_unknown_question_has_no_exchange(bot_store: BotStore) -> None:
    assert await bot_store.exchange("T1:C1:0.0") is None


@pytest.mark.parametrize(
    "exchange",
    [
        waiting(),
        answered(),
        replace(answered(), stop=True, state="stopped", answer=None),
        waiting(id="T1:C1:" + "x" * 2000, thread="", ts=""),
        waiting(id="%/?#\\ \"'…🦊 \n", channel="*", thread="a/b c", text="nul\x00 \u2028 \ufeff e\u0301 {}<!channel>"),
        waiting(asked_at=datetime.fromisoformat("2026-05-01T14:00:00+02:00"), text="x" * 40_000, attempt=3),
    ],
    ids=["waiting", "answered", "stopped", "long", "odd", "zoned"],
)
async def test_an_exchange_comes_back_as_it_was_kept(bot_store: BotStore, exchange: Exchange) -> None:
    revision = await bot_store.keep(exchange, None)
    assert await bot_store.exchange(exchange.question.id) == VersionedExchange(exchange, revision)
    assert await bot_store.conversation(exchange.question.conversation) == [exchange]
    assert await all_of(bot_store.exchanges()) == [exchange]


async def test_half_a_surrogate_pair_is_kept_as_a_question_mark(bot_store: BotStore) -> None:
    await bot_store.keep(waiting(text="why \ud83d?"), None)
    (there,) = await all_of(bot_store.exchanges())
    assert there.question.text == "why ??"


async def test_an_answer_with_two_million_characters_of_trace_comes_back_as_it_was_kept(bot_store: BotStore) -> None:
    huge = replace(answered(), answer=answer(size=1_000_000))
    revision = await bot_store.keep(huge, None)
    assert await bot_store.exchange(huge.question.id) == VersionedExchange(huge, revision)
    assert await bot_store.conversation(huge.question.conversation) == [huge]


@pytest.mark.parametrize("expected", [None, "stale", "no revision at all", ""])
async def test_keeping_on_anything_but_the_revision_conflicts_and_changes_nothing(
    bot_store: BotStore, expected: str | None
) -> None:
    stale = await bot_store.keep(waiting(), None)
    revision = await bot_store.keep(answered(), stale)
    late = replace(waiting(), state="refused")
    with pytest.raises(Conflict, match="T1:C1:1"):
        await bot_store.keep(late, stale if expected == "stale" else expected)
    assert await bot_store.exchange(late.question.id) == VersionedExchange(answered(), revision)


async def test_keeping_what_is_expected_where_nothing_is_conflicts(bot_store: BotStore) -> None:
    with pytest.raises(Conflict):
        await bot_store.keep(waiting(), "1.1")
    assert await bot_store.exchange(waiting().question.id) is None


async def test_a_revision_of_what_was_removed_is_not_one_of_what_was_kept_anew(bot_store: BotStore) -> None:
    first = await bot_store.keep(waiting(), None)
    await bot_store.forget("U1")
    with pytest.raises(Conflict):
        await bot_store.keep(answered(), first)
    second = await bot_store.keep(waiting(), None)
    assert second != first
    with pytest.raises(Conflict):
        await bot_store.keep(answered(), first)


async def test_of_many_who_would_hold_the_lease_exactly_one_gets_it(open_bot_store: OpenBotStore) -> None:
    async with open_bot_store() as one, open_bot_store() as two:
        revision = await one.keep(waiting(), None)
        held = [replace(waiting(), state="answering", owner=str(number)) for number in range(12)]
        results = await asyncio.gather(
            *([one, two][number % 2].keep(exchange, revision) for number, exchange in enumerate(held)),
            return_exceptions=True,
        )
        (winner,) = [number for number, result in enumerate(results) if isinstance(result, str)]
        assert all(isinstance(result, Conflict) for number, result in enumerate(results) if number != winner)
        assert await two.exchange(waiting().question.id) == VersionedExchange(held[winner], str(results[winner]))


async def test_no_change_is_lost_among_many_that_start_over_and_no_older_state_is_seen(
    open_bot_store: OpenBotStore,
) -> None:
    async with open_bot_store() as one, open_bot_store() as two:
        await one.keep(waiting(), None)
        newest = 0

        async def increment(store: BotStore) -> None:
            nonlocal newest
            while True:
                before = newest
                there = await store.exchange(waiting().question.id)
                assert there is not None
                assert there.exchange.attempts >= before
                try:
                    await store.keep(replace(there.exchange, attempts=there.exchange.attempts + 1), there.revision)
                except Conflict:
                    continue
                newest = max(newest, there.exchange.attempts + 1)
                return

        await asyncio.gather(*(increment(store) for store in [one, two] * 8))
        there = await one.exchange(waiting().question.id)
        assert there is not None
        assert there.exchange.attempts == 16


async def test_what_was_kept_is_there_after_closing_and_opening(open_bot_store: OpenBotStore) -> None:
    async with open_bot_store() as store:
        revision = await store.keep(answered(), None)
        await store.set_channel(ChannelSettings("T1", "C1", mode="off"))
        await store.install(installation())
        await store.add("cost", 0.5, NOON + DAY)
    async with open_bot_store() as store:
        assert await store.exchange(answered().question.id) == VersionedExchange(answered(), revision)
        assert await store.channel("T1", "C1") == ChannelSettings("T1", "C1", mode="off")
        assert await store.installation("", "T1") == installation()
        assert await store.counted("cost", NOON) == 0.5


# --- what changed since


def changed(exchange: Exchange, *nodes: str, due_at: datetime | None = None) -> Exchange:
    source = ChangedSource(1, "stale", nodes, NOON, "Once a year.", "Twice a year.", "https://docs.example.org/1")
    return replace(exchange, changed=(source,), note=ChangeNote(due_at, 1, "9.9"))


async def test_who_cited_a_section_is_found_by_its_id_as_soon_as_the_answer_is_kept(bot_store: BotStore) -> None:
    """An answer of two sources, of which the first alone is cited, and one without any."""
    await kept(bot_store, answered(3), answered(1), waiting(2))
    assert await all_of(bot_store.citing(["n1"])) == [question(1).id, question(3).id]
    assert await all_of(bot_store.citing(["n1", "n1", "n7", "x" * 400])) == [question(1).id, question(3).id]
    assert await all_of(bot_store.citing(["n2"])) == []
    assert await all_of(bot_store.citing([])) == []


async def test_an_answer_is_found_by_the_sections_in_which_its_words_are_looked_for_as_they_are_now(
    bot_store: BotStore,
) -> None:
    revision = await bot_store.keep(answered(), None)
    revision = await bot_store.keep(changed(answered(), "n1", "part"), revision)
    assert await all_of(bot_store.citing(["part"])) == [question().id]
    found = await bot_store.exchange(question().id)
    assert found is not None
    assert found.exchange == changed(answered(), "n1", "part")
    await bot_store.keep(answered(), revision)
    assert await all_of(bot_store.citing(["part"])) == []
    assert await all_of(bot_store.citing(["n1"])) == [question().id]


async def test_more_answers_than_are_read_at_once_are_found_and_none_that_went(bot_store: BotStore) -> None:
    await kept(bot_store, *(answered(number) for number in range(45)))
    assert len(await all_of(bot_store.citing(["n1"]))) == 45
    await bot_store.expire(NOON + timedelta(minutes=40))
    assert len(await all_of(bot_store.citing(["n1"]))) == 5


async def test_notes_are_found_when_they_are_due_the_longest_due_first(bot_store: BotStore) -> None:
    for number, minutes in ((1, 30), (2, 10), (3, 20), (4, None)):
        due_at = None if minutes is None else NOON + timedelta(minutes=minutes)
        await bot_store.keep(changed(answered(number), "n1", due_at=due_at), None)
    await bot_store.keep(answered(5), None)
    assert await bot_store.due_notes(NOON + timedelta(minutes=9)) == []
    assert await bot_store.due_notes(NOON + timedelta(minutes=20)) == [question(2).id, question(3).id]
    assert await bot_store.due_notes(NOON + DAY, 1) == [question(2).id]
    assert await bot_store.due_notes(NOON + DAY, 0) == []


async def test_a_note_that_was_put_off_is_due_later(bot_store: BotStore) -> None:
    revision = await bot_store.keep(changed(answered(), "n1", due_at=NOON), None)
    await bot_store.keep(changed(answered(), "n1", due_at=NOON + DAY), revision)
    assert await bot_store.due_notes(NOON + timedelta(hours=23)) == []
    assert await bot_store.due_notes(NOON + DAY) == [question().id]


# --- what the documentation fell short of


def in_need(number: int, gap: str, **fields: Any) -> Exchange:
    return replace(answered(number, **fields), need=Need(gap, ("n1", "n2")))


async def test_questions_asked_in_vain_are_found_by_their_gap_oldest_first(bot_store: BotStore) -> None:
    good = replace(answered(5), feedback=(), answer=replace(answer(), unsupported=()))
    await kept(bot_store, in_need(4, "g1"), answered(3), in_need(2, "g2"), in_need(1, "g1"), good, waiting(6))
    told = {number: AskedInVain(question(number).id, question(number).asked_at, "") for number in range(1, 7)}
    first, second, fourth = (replace(told[n], gap=gap) for n, gap in ((1, "g1"), (2, "g2"), (4, "g1")))
    assert await bot_store.asked_in_vain() == [first, second, told[3], fourth]
    assert await bot_store.asked_in_vain("g1") == [first, fourth]
    assert await bot_store.asked_in_vain("") == [told[3]]
    assert await bot_store.asked_in_vain("g3") == []


async def test_a_question_is_in_its_gap_as_long_as_it_was_asked_in_vain_and_is_kept(bot_store: BotStore) -> None:
    revision = await bot_store.keep(waiting(), None)
    assert await bot_store.asked_in_vain() == []
    revision = await bot_store.keep(answered(), revision)
    assert [each.gap for each in await bot_store.asked_in_vain()] == [""]
    revision = await bot_store.keep(in_need(1, "g1"), revision)
    found = await bot_store.exchange(question().id)
    assert found is not None
    assert found.exchange == in_need(1, "g1")
    right = replace(in_need(1, "g1"), feedback=(), answer=replace(answer(), unsupported=()))
    await bot_store.keep(right, revision)
    assert await bot_store.asked_in_vain() == []
    await kept(bot_store, in_need(2, "g1", user="U2"), in_need(3, "g1"), in_need(9, "g1"))
    await bot_store.forget("U2")
    await bot_store.expire(NOON + timedelta(minutes=5))
    assert [each.question for each in await bot_store.asked_in_vain("g1")] == [question(9).id]


# --- conversations and walks


async def test_a_conversation_is_its_newest_exchanges_oldest_first(bot_store: BotStore) -> None:
    await kept(bot_store, *(waiting(number) for number in (3, 1, 5, 2, 4)))
    await kept(bot_store, waiting(6, thread="6.0"), waiting(7, team="T2"), waiting(8, channel="C2"))
    key = question().conversation
    assert await bot_store.conversation(key) == [waiting(number) for number in range(1, 6)]
    assert await bot_store.conversation(key, 2) == [waiting(4), waiting(5)]
    assert await bot_store.conversation(key, 0) == []
    assert await bot_store.conversation("T1:C1:never") == []


async def test_a_conversation_has_what_another_process_kept_before_the_call_and_as_it_is_now(
    open_bot_store: OpenBotStore,
) -> None:
    async with open_bot_store() as writer, open_bot_store() as reader:
        for number in range(1, 6):
            revision = await writer.keep(waiting(number), None)
            assert (await reader.conversation(question().conversation))[-1] == waiting(number)
            await writer.keep(answered(number), revision)
            assert (await reader.conversation(question().conversation))[-1] == answered(number)


async def test_exchanges_are_walked_in_the_order_in_which_they_were_asked(bot_store: BotStore) -> None:
    numbers = [number * 37 % 53 for number in range(53)]
    await asyncio.gather(*(bot_store.keep(waiting(number, thread=str(number)), None) for number in numbers))
    assert await all_of(bot_store.exchanges()) == [waiting(number, thread=str(number)) for number in range(53)]


async def test_a_walk_takes_in_its_beginning_and_leaves_out_its_end(bot_store: BotStore) -> None:
    await kept(bot_store, *(waiting(number) for number in range(6)))
    since, until = (NOON + timedelta(minutes=number) for number in (2, 4))
    assert await all_of(bot_store.exchanges(since, until)) == [waiting(2), waiting(3)]
    assert await all_of(bot_store.exchanges(since)) == [waiting(number) for number in range(2, 6)]
    assert await all_of(bot_store.exchanges(until=until)) == [waiting(number) for number in range(4)]
    assert await all_of(bot_store.exchanges(until, since)) == []


async def test_many_questions_of_one_moment_are_all_walked(bot_store: BotStore) -> None:
    await asyncio.gather(*(bot_store.keep(waiting(number, asked_at=NOON), None) for number in range(45)))
    assert len(set(ids(await all_of(bot_store.exchanges(NOON, NOON + DAY))))) == 45


# --- what goes


async def test_exchanges_asked_before_a_time_expire(bot_store: BotStore) -> None:
    await kept(bot_store, *(waiting(number) for number in range(4)))
    assert await bot_store.expire(NOON + timedelta(minutes=2)) == 2
    assert await all_of(bot_store.exchanges()) == [waiting(2), waiting(3)]
    assert await bot_store.exchange(waiting(0).question.id) is None
    assert await bot_store.expire(NOON + timedelta(minutes=2)) == 0


async def test_forgetting_removes_a_persons_questions_and_says_how_many(bot_store: BotStore) -> None:
    await kept(bot_store, answered(1), answered(2, user="U2"), waiting(3), waiting(4, user="U11"))
    assert await bot_store.forget("U1") == 2
    assert await all_of(bot_store.exchanges()) == [answered(2, user="U2"), waiting(4, user="U11")]
    assert await bot_store.exchange(answered(1).question.id) is None
    assert await bot_store.conversation(question().conversation) == [answered(2, user="U2"), waiting(4, user="U11")]
    assert await bot_store.forget("U1") == 0


async def test_forgetting_takes_name_and_words_from_feedback_on_anothers_question(bot_store: BotStore) -> None:
    others = (Feedback("U9", "bad", NOON, "words of U9"), Feedback("U2", "good", NOON, "fine"))
    await bot_store.keep(replace(answered(), feedback=others), None)
    assert await bot_store.forget("U9") == 0
    (there,) = await all_of(bot_store.exchanges())
    assert there == replace(answered(), feedback=(Feedback("", "bad", NOON), others[1]))


async def test_forgetting_takes_the_name_from_channel_settings_and_counters(bot_store: BotStore) -> None:
    settings = ChannelSettings("T1", "C1", ("docs",), changed_by="U1", changed_at=NOON)
    other = ChannelSettings("T1", "C2", changed_by="U2")
    for each in (settings, other):
        await bot_store.set_channel(each)
    for counter in ("questions:T1:U1", "questions:T1:U11", "U1", "cost:T1"):
        await bot_store.add(counter, 1, NOON + DAY)
    await bot_store.forget("U1")
    assert await bot_store.channel("T1", "C1") == replace(settings, changed_by="")
    assert await bot_store.channel("T1", "C2") == other
    counts = [await bot_store.counted(c, NOON) for c in ("questions:T1:U1", "U1", "questions:T1:U11", "cost:T1")]
    assert counts == [0.0, 0.0, 1.0, 1.0]


async def test_what_is_forgotten_while_it_is_answered_does_not_come_back(bot_store: BotStore) -> None:
    revision = await bot_store.keep(waiting(), None)
    await bot_store.forget("U1")
    with pytest.raises(Conflict):
        await bot_store.keep(answered(), revision)
    assert await all_of(bot_store.exchanges()) == []


# --- channels


async def test_channel_settings_come_back_as_they_were_set_and_the_last_count(bot_store: BotStore) -> None:
    assert await bot_store.channel("T1", "C1") is None
    full = ChannelSettings(
        "T1", "C1", ("docs", "Bücher & mehr"), "questions", True, "de", True, False, "U1", NOON, "agentic"
    )
    await bot_store.set_channel(ChannelSettings("T1", "C1", quiet=True))
    await bot_store.set_channel(full)
    await bot_store.set_channel(ChannelSettings("T1 C1", ""))
    assert await bot_store.channel("T1", "C1") == full
    assert await bot_store.channel("T2", "C1") is None
    listed = await all_of(bot_store.channels())
    assert sorted(listed, key=lambda each: each.team) == [full, ChannelSettings("T1 C1", "")]


# --- counters


async def test_nothing_is_lost_of_what_many_add_at_once(open_bot_store: OpenBotStore) -> None:
    async with open_bot_store() as one, open_bot_store() as two:
        sums = await asyncio.gather(*(store.add("c", 0.5, NOON + DAY) for store in [one, two] * 12))
        assert sorted(sums) == [0.5 * number for number in range(1, 25)]
        assert await one.counted("c", NOON) == await two.counted("c", NOON) == 12.0
        assert await one.counted("other", NOON) == 0.0


async def test_a_counter_expires_at_the_time_that_it_was_made_with_and_then_begins_anew(
    bot_store: BotStore, clock: SetClock
) -> None:
    end = NOON + timedelta(hours=1)
    await bot_store.add("c", 2, end)
    assert await bot_store.add("c", 3, end + DAY) == 5.0
    assert await bot_store.counted("c", end - timedelta(microseconds=1)) == 5.0
    assert await bot_store.counted("c", end) == 0.0
    clock.time = end
    assert await bot_store.add("c", 7, end + DAY) == 7.0
    assert await bot_store.counted("c", end) == 7.0
    assert await bot_store.counted("c", end + DAY) == 0.0


async def test_counters_that_have_expired_go_with_the_exchanges(bot_store: BotStore, clock: SetClock) -> None:
    await bot_store.add("old", 1, NOON + timedelta(hours=1))
    await bot_store.add("new", 1, NOON + DAY)
    clock.time += timedelta(hours=2)
    assert await bot_store.expire(NOON) == 0
    assert [await bot_store.counted(counter, NOON) for counter in ("old", "new")] == [0.0, 1.0]


# --- installations


async def test_installations_come_back_and_go(bot_store: BotStore) -> None:
    await bot_store.uninstall("", "T1")
    assert await bot_store.installation("", "T1") is None
    for each in (installation(), installation("", "E1"), installation("T1", "E1", scopes=())):
        await bot_store.install(each)
    await bot_store.install(installation(bot_user="UNEW"))
    assert await bot_store.installation("", "T1") == installation(bot_user="UNEW")
    assert await bot_store.installation("E1", "") == installation("", "E1")
    assert len(await all_of(bot_store.installations())) == 3
    await bot_store.uninstall("", "T1")
    assert await bot_store.installation("", "T1") is None
    listed = await all_of(bot_store.installations())
    assert {(each.enterprise, each.team) for each in listed} == {("E1", ""), ("E1", "T1")}


async def test_tokens_are_kept_sealed_and_a_copy_needs_no_key(open_bot_store: OpenBotStore) -> None:
    async with open_bot_store() as store, open_bot_store(seal=LeftSealed()) as copying:
        await store.install(installation())
        raw = await copying.installation("", "T1")
        assert raw is not None
        assert TOKEN not in str(raw)
        assert (raw.team, raw.bot_user, raw.scopes) == ("T1", "UBOT", ("chat:write", "commands"))
        await copying.uninstall("", "T1")
        await copying.install(raw)
        assert await store.installation("", "T1") == installation()


async def test_without_a_key_nothing_is_installed_or_read_and_all_else_works(open_bot_store: OpenBotStore) -> None:
    async with open_bot_store() as store, open_bot_store(seal=KeySeal([])) as keyless:
        with pytest.raises(KeyMissing, match=r"set bot\.keys"):
            await keyless.install(installation())
        assert await store.installation("", "T1") is None
        await store.install(installation())
        with pytest.raises(KeyMissing):
            await keyless.installation("", "T1")
        with pytest.raises(KeyMissing):
            await all_of(keyless.installations())
        await keyless.keep(waiting(), None)
        await keyless.uninstall("", "T1")
        assert await store.installation("", "T1") is None


async def test_keys_are_changed_by_putting_a_new_one_in_front(open_bot_store: OpenBotStore) -> None:
    async with open_bot_store() as old, open_bot_store(seal=KeySeal([OTHER_KEY, KEY])) as both:
        await old.install(installation())
        assert await both.installation("", "T1") == installation()
        await both.install(installation())
        with pytest.raises(KeyWrong, match="sealed with another key"):
            await old.installation("", "T1")
    async with open_bot_store(seal=KeySeal([OTHER_KEY])) as new:
        assert await new.installation("", "T1") == installation()


# --- processes

_OTHER_PROCESS = """
import asyncio, sys
from contextlib import AsyncExitStack
from pathlib import Path
from dataclasses import replace
from bot.store.opensearch import OpenSearchBotStore
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from ingest.errors import Conflict
from ingest.stores.cluster.opensearch import OpenSearch
from tests.fakes.exchanges import SetClock, NOON, waiting

async def main(where, name):
    async with AsyncExitStack() as stack:
        if name:
            server = await stack.enter_async_context(OpenSearch(where))
            store = await stack.enter_async_context(OpenSearchBotStore(server, name, KeySeal([]), SetClock()))
        else:
            store = await stack.enter_async_context(SqliteBotStore(Path(where), KeySeal([]), SetClock()))
        for _ in range(10):
            await store.add("c", 1, NOON.replace(year=2027))
            while True:
                kept = await store.exchange(waiting().question.id)
                try:
                    await store.keep(replace(kept.exchange, attempts=kept.exchange.attempts + 1), kept.revision)
                    break
                except Conflict:
                    pass

asyncio.run(main(*sys.argv[1:]))
"""


async def test_two_processes_lose_nothing_to_each_other(
    open_bot_store: OpenBotStore, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    where = (str(tmp_path / "bot.sqlite"), "")
    if "opensearch" in request.node.name:
        where = (request.getfixturevalue("opensearch").url, name_of(tmp_path))
    async with open_bot_store() as store:
        await store.keep(waiting(), None)
        command = [sys.executable, "-c", _OTHER_PROCESS, *where]
        processes = [await asyncio.create_subprocess_exec(*command, cwd=ROOT) for _ in range(2)]
        assert [await process.wait() for process in processes] == [0, 0]
        there = await store.exchange(waiting().question.id)
        assert there is not None
        assert there.exchange.attempts == await store.counted("c", NOON) == 20
