"""The event log's part of the composition root: a file in the data folder, or Kafka."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from bot.answering.service import ANSWER_GROUP
from bot.events import ANSWERS_TOPIC, QUESTIONS_TOPIC
from bot.staleness.judging import GIVEN_GROUP, STALENESS_GROUP
from deploy.settings.root import Settings
from deploy.settings.site import secret_text
from deploy.settings.stores import EventsSettings
from deploy.wiring.stores import SystemClock
from ingest.events.announce import Tell, tell_nodes
from ingest.events.dead_letters import DEAD_LETTER_GROUP
from ingest.events.sqlite import SqliteEventLog
from ingest.events.topics import NODES, PAGES, Keeping, dead_topic
from ingest.indexing.service import INDEXER_GROUP
from ingest.model import PageRecord
from ingest.ports import EventLog

if TYPE_CHECKING:
    from ingest.events.kafka.event_log import KafkaEventLog

GROUPS = {PAGES: INDEXER_GROUP, NODES: STALENESS_GROUP, QUESTIONS_TOPIC: ANSWER_GROUP, ANSWERS_TOPIC: GIVEN_GROUP}
"""The topics whose records are handled, and can fail, each with the group that handles them."""
ASKED_TOPICS = (QUESTIONS_TOPIC, NODES, ANSWERS_TOPIC)
"""Those that are handled where people ask in Slack, and else by nobody."""


def handled_topics(settings: Settings) -> Sequence[str]:
    """Those that somebody handles in an installation."""
    return [PAGES, *(ASKED_TOPICS if settings.slack.wanted else ())]


async def events_waiting(events: EventLog, topics: Iterable[str]) -> Mapping[str, int]:
    """By topic. Raises StoreUnavailable."""
    return {topic: await events.lag(topic, GROUPS[topic]) for topic in topics}


async def dead_letters_waiting(events: EventLog) -> Mapping[str, int]:
    """By the topic that they come from; none is read. Raises StoreUnavailable."""
    return {topic: await events.lag(dead_topic(topic), DEAD_LETTER_GROUP) for topic in GROUPS}


@asynccontextmanager
async def open_events(settings: Settings) -> AsyncIterator[EventLog]:
    """The log that the settings choose. Raises IngestError."""
    keeping = Keeping(private=settings.bot.keep_events)
    if settings.events.kind == "kafka":
        async with _kafka(settings.events, keeping) as kafka:
            yield kafka
        return
    folder = settings.index.folder
    folder.mkdir(parents=True, exist_ok=True)
    async with SqliteEventLog(folder / "events.sqlite", SystemClock(), keeping=keeping) as sqlite:
        yield sqlite


@asynccontextmanager
async def open_telling(settings: Settings) -> AsyncIterator[Tell]:
    """To the log that the settings choose, for who needs it for nothing else: it is opened when there is something to tell,
    which a first index has not. What it gives raises IngestError."""
    async with AsyncExitStack() as stack:
        opened: list[Tell] = []
        opening = asyncio.Lock()

        async def tell(record: PageRecord) -> None:
            async with opening:
                if not opened:
                    opened.append(tell_nodes(await stack.enter_async_context(open_events(settings))))
            await opened[0](record)

        yield tell


def _kafka(events: EventsSettings, keeping: Keeping) -> KafkaEventLog:
    """Not yet entered."""
    from ingest.events.kafka.client import Connection
    from ingest.events.kafka.event_log import KafkaEventLog  # its client takes a moment to import

    connection = Connection(
        tuple(events.servers.split(",")),
        tls=events.tls,
        ca_file=str(events.ca_file) if events.ca_file else None,
        certificate_file=str(events.certificate_file) if events.certificate_file else None,
        key_file=str(events.key_file) if events.key_file else None,
        username=events.user,
        password=secret_text(events.password),
        mechanism=events.mechanism,
        prefix=events.prefix,
    )
    return KafkaEventLog(
        connection,
        create_topics=events.create_topics,
        partitions=events.partitions,
        keeping=keeping,
    )
