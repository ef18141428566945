"""The EventLog port: what is appended, read, counted, replayed and given up. Consumers: test_event_log_consumers."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from ingest.errors import GroupBusy, RecordTooLarge, Undecodable
from ingest.events.codec import load_dead
from ingest.events.dead_letters import DEAD_LETTER_GROUP, dead_letters, send_again, settle
from ingest.events.topics import MAX_RECORD_BYTES, dead_topic
from ingest.ports import EventLog
from tests.contract.conftest import OpenLog
from tests.contract.log_reading import JOINED, drain, one, read


async def test_a_record_comes_back_as_it_was_appended(log: EventLog, topic: str) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    await log.append(topic, "https://docs.example/ü?a=1", b"\x00\xff text")
    [record] = await read(log, topic)
    assert (record.topic, record.key, record.value) == (topic, "https://docs.example/ü?a=1", b"\x00\xff text")
    assert before <= record.timestamp <= datetime.now(UTC) + timedelta(seconds=1)


async def test_a_tombstone_is_not_an_empty_value(log: EventLog, topic: str) -> None:
    await log.append(topic, "k", None)
    await log.append(topic, "k", b"")
    assert [record.value for record in await read(log, topic)] == [None, b""]


async def test_a_key_that_is_no_unicode_comes_back_too(log: EventLog, topic: str) -> None:
    key = b"caf\xe9".decode("utf-8", "surrogateescape")
    await log.append(topic, key, b"x")
    assert [record.key for record in await read(log, topic)] == [key]


async def test_records_of_one_key_keep_their_order(log: EventLog, topic: str) -> None:
    for number in range(60):
        await log.append(topic, f"key {number % 7}", str(number).encode())
    records = await read(log, topic)
    for first in range(7):
        numbers = [int(record.value or b"") for record in records if record.key == f"key {first}"]
        assert numbers == list(range(first, 60, 7))


async def test_what_was_appended_is_there_when_the_log_is_opened_again(open_log: OpenLog, topic: str) -> None:
    async with open_log() as log:
        await log.append(topic, "k", b"kept")
    async with open_log() as log:
        assert [record.value for record in await read(log, topic)] == [b"kept"]


async def test_many_appends_at_once_are_all_there(log: EventLog, topic: str) -> None:
    await asyncio.gather(*(log.append(topic, f"k{number}", b"x") for number in range(200)))
    assert sorted(record.key for record in await read(log, topic)) == sorted(f"k{number}" for number in range(200))


async def test_the_largest_record_is_taken_and_a_larger_one_is_refused(log: EventLog, topic: str) -> None:
    await log.append(topic, "k", b"x" * (MAX_RECORD_BYTES - 1))
    with pytest.raises(RecordTooLarge, match=str(MAX_RECORD_BYTES)):
        await log.append(topic, "k", b"x" * MAX_RECORD_BYTES)
    assert [len(record.value or b"") for record in await read(log, topic)] == [MAX_RECORD_BYTES - 1]


async def test_an_empty_topic_reads_as_nothing(log: EventLog, topic: str) -> None:
    assert await read(log, topic) == []
    assert await log.lag(topic, "g") == 0


async def test_reading_takes_nothing_from_any_group(log: EventLog, topic: str) -> None:
    await log.append(topic, "k", b"x")
    assert await read(log, topic) == await read(log, topic)
    assert await log.lag(topic, "g") == 1
    assert [record.key for record in await drain(log, topic, "g")] == ["k"]


async def test_lag_counts_what_a_group_has_not_committed(log: EventLog, topic: str) -> None:
    for number in range(5):
        await log.append(topic, f"k{number}", b"x")
    assert await log.lag(topic, "g") == 5
    async with log.consume(topic, "g") as consumer:
        record = await one(consumer)
        assert await log.lag(topic, "g") == 5
        await consumer.acknowledge(record)
        assert await log.lag(topic, "g") == 4
    await drain(log, topic, "g")
    assert await log.lag(topic, "g") == 0
    assert await log.lag(topic, "another") == 5


async def test_committed_says_where_a_group_goes_on(log: EventLog, topic: str) -> None:
    assert await log.committed(topic, "g") == {}
    await log.append(topic, "k", b"1")
    await log.append(topic, "k", b"2")
    async with log.consume(topic, "g") as consumer:
        first = await one(consumer)
        await consumer.acknowledge(first)
        assert await log.committed(topic, "g") == {first.partition: first.offset + 1}
    assert await log.committed(topic, "another") == {}


async def test_replay_starts_a_group_over_and_no_other(log: EventLog, topic: str) -> None:
    for number in range(5):
        await log.append(topic, f"k{number}", b"x")
    for group in ("g", "other"):
        await drain(log, topic, group)
    await log.replay(topic, "g")
    assert (await log.lag(topic, "g"), await log.lag(topic, "other")) == (5, 0)
    assert sorted(record.key for record in await drain(log, topic, "g")) == [f"k{number}" for number in range(5)]


async def test_replay_of_a_group_that_never_read_changes_nothing(log: EventLog, topic: str) -> None:
    await log.append(topic, "k", b"x")
    await log.replay(topic, "new")
    assert [record.key for record in await drain(log, topic, "new")] == ["k"]


async def test_replay_is_refused_while_the_group_has_members(log: EventLog, topic: str) -> None:
    await log.append(topic, "k", b"x")
    async with log.consume(topic, "g") as consumer:
        await consumer.acknowledge(await one(consumer))
        with pytest.raises(GroupBusy):
            await log.replay(topic, "g")
        assert await log.lag(topic, "g") == 0


async def test_a_dead_record_is_kept_with_its_reason_and_place_and_its_offset_is_committed(
    log: EventLog, topic: str
) -> None:
    await log.append(topic, "kéy", b"\x00 not json")
    async with log.consume(topic, "g") as consumer:
        record = await one(consumer)
        assert await consumer.dead(record, "not a page event")
        assert not consumer.holds(record)
    assert await log.lag(topic, "g") == 0
    [dead] = await read(log, dead_topic(topic))
    letter = load_dead(dead.value)
    assert dead.key == "kéy"
    assert letter.reason == "not a page event"
    assert (letter.record.topic, letter.record.partition, letter.record.offset) == (
        topic,
        record.partition,
        record.offset,
    )
    assert (letter.record.key, letter.record.value) == ("kéy", b"\x00 not json")
    assert letter.record.timestamp == record.timestamp


@pytest.mark.parametrize("value", [b"x" * (MAX_RECORD_BYTES - 3), None], ids=["largest", "tombstone"])
async def test_any_record_that_was_taken_can_be_given_up(log: EventLog, topic: str, value: bytes | None) -> None:
    await log.append(topic, "kéy", value and value[:-1])
    async with log.consume(topic, "g") as consumer:
        assert await consumer.dead(await one(consumer), "why")
    [kept] = [kept async for kept in dead_letters(log, topic)]
    assert kept.letter.record.value == (value and value[:-1])


async def test_dead_letters_are_sent_back_once_each(log: EventLog, topic: str) -> None:
    for number in range(3):
        await log.append(topic, f"k{number}", b"x")
    async with log.consume(topic, "g") as consumer:
        for _ in range(3):
            await consumer.dead(await one(consumer), "down")
    assert await settle(log, topic) == 3
    assert await settle(log, topic) == 0
    assert sorted(record.key for record in await drain(log, topic, "g")) == ["k0", "k1", "k2"]
    assert [kept.waits async for kept in dead_letters(log, topic)] == [False] * 3


async def test_dead_letters_that_are_let_be_do_not_come_back(log: EventLog, topic: str) -> None:
    for value in (b"1", b"2"):
        await log.append(topic, "k", value)
    async with log.consume(topic, "g") as consumer:
        for _ in range(2):
            await consumer.dead(await one(consumer), "down")
    assert [kept.waits async for kept in dead_letters(log, topic)] == [True] * 2
    assert await settle(log, topic, again=False) == 2
    assert [kept.waits async for kept in dead_letters(log, topic)] == [False] * 2
    assert await log.lag(topic, "g") == 0


async def test_the_dead_letters_of_one_key_are_sent_again_in_order_and_no_others(log: EventLog, topic: str) -> None:
    for key, value in (("a", b"1"), ("b", b"2"), ("a", b"3")):
        await log.append(topic, key, value)
    async with log.consume(topic, "g") as consumer:
        for _ in range(3):
            await consumer.dead(await one(consumer), "down")
    assert await send_again(log, topic, "a") == 2
    assert await send_again(log, topic, "c") == 0
    assert [(record.key, record.value) for record in await drain(log, topic, "g")] == [("a", b"1"), ("a", b"3")]
    assert await log.lag(dead_topic(topic), DEAD_LETTER_GROUP) == 3


async def test_a_dead_letter_that_is_none_is_not_passed_over(log: EventLog, topic: str) -> None:
    await log.append(dead_topic(topic), "k", b"{}")
    for _ in range(2):
        with pytest.raises(Undecodable):
            await settle(log, topic)
    with pytest.raises(Undecodable):
        _ = [letter async for letter in dead_letters(log, topic)]


async def test_groups_do_not_disturb_each_other(log: EventLog, topic: str) -> None:
    for number in range(20):
        await log.append(topic, f"k{number}", b"x")
    one_group, other_group = await asyncio.gather(drain(log, topic, "a"), drain(log, topic, "b"))
    assert sorted(record.key for record in one_group) == sorted(record.key for record in other_group)
    assert len(one_group) == 20


async def test_a_group_that_comes_late_starts_with_the_oldest_record(log: EventLog, topic: str) -> None:
    await log.append(topic, "k", b"1")
    await drain(log, topic, "early")
    await log.append(topic, "k", b"2")
    async with log.consume(topic, "late") as consumer:
        assert (await consumer.take(wait=JOINED))[0].value == b"1"
