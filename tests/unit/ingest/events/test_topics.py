"""How topics are kept, and how large records may be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ingest.errors import RecordTooLarge
from ingest.events.codec import DeadLetter, dump_dead
from ingest.events.topics import MAX_RECORD_BYTES, PAGES, Keeping, check_size, dead_topic
from ingest.ports import Record


def test_only_page_events_are_compacted_and_dead_letters_are_kept_longest() -> None:
    keeping = Keeping(compacted=timedelta(1), others=timedelta(2), dead=timedelta(3))
    topics = (PAGES, dead_topic(PAGES), "some.topic")
    assert [keeping.is_compacted(topic) for topic in topics] == [True, False, False]
    assert [keeping.period(topic).days for topic in topics] == [1, 3, 2]


@pytest.mark.parametrize("topic", ["bot.questions", "bot.answers", dead_topic("bot.questions")])
def test_what_people_wrote_is_kept_for_a_time_of_its_own_also_as_a_dead_letter(topic: str) -> None:
    keeping = Keeping(compacted=timedelta(1), others=timedelta(2), dead=timedelta(3), private=timedelta(4))
    assert not keeping.is_compacted(topic)
    assert keeping.period(topic).days == 4


def test_key_and_value_count_together() -> None:
    check_size("t", b"k" * 24, b"x" * (MAX_RECORD_BYTES - 24))
    check_size("t", b"k" * MAX_RECORD_BYTES, None)
    with pytest.raises(RecordTooLarge, match="t:"):
        check_size("t", b"k" * 25, b"x" * (MAX_RECORD_BYTES - 24))


def test_the_largest_record_fits_into_a_dead_letter() -> None:
    key = "k" * 8192
    record = Record("t", 0, 0, key, b"x" * (MAX_RECORD_BYTES - len(key)), datetime(2026, 1, 1, tzinfo=UTC))
    check_size(dead_topic("t"), key.encode(), dump_dead(DeadLetter(record, "why" * 1000)))
