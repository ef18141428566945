"""What topics are called and how each is kept. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ingest.errors import RecordTooLarge

PAGES = "docs.pages"
"""What happened to pages (PageEvent); the key is the page key."""

NODES = "docs.nodes"
"""What happened to sections that were known (NodesEvent); the key is the page key."""

PRIVATE = "bot."
"""What topics begin with that hold what people wrote."""

DEAD_SUFFIX = ".dead"

MAX_RECORD_BYTES = 512 * 1024
"""Key and value together. A dead letter, which holds such a record in base64, still fits into Kafka's usual 1 MiB."""


def dead_topic(topic: str) -> str:
    """Where the records of a topic go that could not be handled."""
    return topic + DEAD_SUFFIX


def check_size(topic: str, key: bytes, value: bytes | None) -> None:
    """Raises RecordTooLarge; dead letters may be as large as what they hold makes them."""
    size = len(key) + len(value or b"")
    most = MAX_RECORD_BYTES * (2 if topic.endswith(DEAD_SUFFIX) else 1)
    if size > most:
        raise RecordTooLarge(f"a record of {size} bytes is too large for {topic}: at most {most} are taken")


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long topics keep records. A compacted topic keeps the newest record of each key for ever, and the older ones
    for `compacted` so that a group that is late still sees them. Private topics keep all, dead letters too, for `private`
    at most."""

    compacted: timedelta = timedelta(days=7)
    others: timedelta = timedelta(days=14)
    dead: timedelta = timedelta(days=90)
    private: timedelta = timedelta(days=14)

    def is_compacted(self, topic: str) -> bool:
        return topic == PAGES

    def period(self, topic: str) -> timedelta:
        if self.is_compacted(topic):
            return self.compacted
        if topic.startswith(PRIVATE):
            return self.private
        return self.dead if topic.endswith(DEAD_SUFFIX) else self.others


KEEPING = Keeping()
