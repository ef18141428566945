"""`ritbot dead-letters` on both event logs that settings can choose, and what these settings make of Kafka."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from rich.console import Console

from bot.events import QUESTIONS_TOPIC
from deploy.commands.documents.dead_letters import act, list_letters
from deploy.settings.index import IndexSettings
from deploy.settings.root import Settings
from deploy.settings.stores import EventsSettings, StoresSettings
from deploy.wiring.events import GROUPS, dead_letters_waiting, open_events
from ingest.errors import StoreUnavailable
from ingest.events.topics import PAGES
from ingest.indexing.service import INDEXER_GROUP
from tests.contract.log_reading import drain, one
from tests.servers.kafka import Kafka


@pytest.fixture(params=["sqlite", "kafka"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    index = IndexSettings(folder=tmp_path / "data")
    if request.param == "sqlite":
        return Settings(index=index)
    return on_kafka(request.getfixturevalue("kafka"), index)


def on_kafka(kafka: Kafka, index: IndexSettings) -> Settings:
    events = EventsSettings(kind="kafka", servers=kafka.address, prefix=f"{uuid4().hex[:8]}.", partitions=2)
    return Settings(index=index, stores=StoresSettings(kind="cluster"), events=events)


async def give_up(settings: Settings, topic: str, letters: Mapping[str, str]) -> None:
    """Records of these keys, handed out and given up for these reasons."""
    async with open_events(settings) as events:
        for key in letters:
            await events.append(topic, key, b"x")
        async with events.consume(topic, INDEXER_GROUP) as consumer:
            for _ in letters:
                record = await one(consumer)
                await consumer.dead(record, letters[record.key])


async def shown(settings: Settings) -> str:
    out = StringIO()
    assert await list_letters(settings, Console(file=out, width=100), as_json=False) == 0
    return out.getvalue()


async def acted(settings: Settings, replay: str | None) -> tuple[int, str]:
    out = StringIO()
    return await act(settings, Console(file=out, width=100), replay=replay), out.getvalue()


async def test_letters_are_listed_with_reason_and_place_and_sent_back_once(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await shown(settings) == "No dead letters.\n"
    await give_up(settings, PAGES, {"https://d.example/a": "500 each time", "https://d.example/b": "no such site"})
    await give_up(settings, QUESTIONS_TOPIC, {"T1:C1:1.0": "not a question"})
    listed = await shown(settings)
    assert "https://d.example/a\n  500 each time\n  given up just now; docs.pages, partition" in listed
    assert "T1:C1:1.0\n  not a question\n  given up just now; bot.questions, partition" in listed
    assert "3 dead letters wait, 0 settled." in listed
    await list_letters(settings, Console(file=StringIO()), as_json=True)
    fields = json.loads(capsys.readouterr().out)
    assert {(each["key"], each["reason"], each["waits"]) for each in fields} == {
        ("https://d.example/a", "500 each time", True),
        ("https://d.example/b", "no such site", True),
        ("T1:C1:1.0", "not a question", True),
    }
    assert await acted(settings, "all") == (0, "3 dead letters sent back.\n")
    assert await acted(settings, "all") == (0, "0 dead letters sent back.\n")
    assert "0 dead letters wait, 3 settled." in await shown(settings)
    async with open_events(settings) as events:
        assert sorted(record.key for record in await drain(events, PAGES, INDEXER_GROUP)) == [
            "https://d.example/a",
            "https://d.example/b",
        ]
        assert await dead_letters_waiting(events) == dict.fromkeys(GROUPS, 0)


async def test_letters_of_one_key_are_sent_back_and_the_rest_let_be(settings: Settings) -> None:
    await give_up(settings, PAGES, {"https://d.example/a": "500", "https://d.example/b": "500"})
    assert await acted(settings, "https://d.example/b") == (0, "1 dead letter of https://d.example/b sent back.\n")
    assert await acted(settings, "https://d.example/c") == (1, "There are none of https://d.example/c.\n")
    assert await acted(settings, None) == (0, "2 dead letters let be.\n")
    async with open_events(settings) as events:
        assert await dead_letters_waiting(events) == dict.fromkeys(GROUPS, 0)
        assert [record.key for record in await drain(events, PAGES, INDEXER_GROUP)] == ["https://d.example/b"]


async def test_topics_and_groups_have_the_prefix_on_the_brokers_and_nowhere_else(kafka: Kafka, tmp_path: Path) -> None:
    settings, other = (on_kafka(kafka, IndexSettings(folder=tmp_path)) for _ in range(2))
    prefix = settings.events.prefix
    await give_up(settings, PAGES, {"k": "why"})
    async with open_events(settings) as events:
        [record] = [record async for record in events.read(PAGES)]
        assert record.topic == PAGES
    async with open_events(other) as events:
        assert [record async for record in events.read(PAGES)] == []
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.address)
    await admin.start()
    try:
        topics = set(await admin.list_topics())
        groups = {group[0] for group in await admin.list_consumer_groups()}
        [found] = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, f"{prefix}{PAGES}")])
    finally:
        await admin.close()
    assert {f"{prefix}docs.pages", f"{prefix}docs.pages.dead"} <= topics
    assert f"{prefix}indexer" in groups
    assert {entry[0]: entry[1] for entry in found.resources[0][4]}["cleanup.policy"] == "compact"


async def test_topics_that_may_not_be_created_are_named_as_the_brokers_know_them(kafka: Kafka, tmp_path: Path) -> None:
    settings = on_kafka(kafka, IndexSettings(folder=tmp_path))
    events = settings.events.model_copy(update={"create_topics": False})
    with pytest.raises(StoreUnavailable, match=rf"has no topic {settings.events.prefix}docs\.pages\.dead"):
        await list_letters(settings.model_copy(update={"events": events}), Console(file=StringIO()), as_json=False)
