"""What holds in Slack holds with two workers that share their data, over sockets and HTTP, on both columns: each event goes to
either of them, and whichever answers, the situations end as with one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from bot.ports import BotStore
from bot.slack.inbound.http_mode import EVENTS_PATH
from bot.slack.inbound.interactions import ASKED_ALREADY, SHARED_ALREADY
from bot.slack.render import actions
from bot.store.opensearch import OpenSearchBotStore
from bot.store.sealing import KeySeal
from deploy.wiring.stores import SystemClock
from ingest.events.kafka import group
from ingest.events.kafka.client import Connection
from ingest.events.kafka.event_log import KafkaEventLog
from ingest.ports import EventLog
from ingest.stores.cluster.opensearch import OpenSearch
from tests.fakes.messages_api import MessagesApi
from tests.fakes.slack import Channel, FakeSlack, Fault, Message, labels, words
from tests.fakes.slack_bot import Bot, OpenColumn, bot, files, over_http, written
from tests.fakes.writer import Writer
from tests.servers.qdrant import own_name

QUESTION = "How do I prime a pump with water?"
PATIENCE = 40.0
SMALL_TALK = ("thanks!", "lol", ":+1:", "明日確認します", "<!here> who did this?")


@pytest.fixture(params=["embedded", "cluster"])
def column(request: pytest.FixtureRequest, tmp_path: Path) -> OpenColumn:
    """The log and the store, opened by each worker by itself."""

    def embedded() -> AbstractAsyncContextManager[tuple[EventLog, BotStore]]:
        return files(tmp_path, KeySeal(()))

    if request.param == "embedded":
        return embedded
    kafka, url = request.getfixturevalue("kafka").address, request.getfixturevalue("opensearch").url
    prefix, name = f"test{uuid4().hex[:8]}.", own_name(uuid4().hex[:12])

    @asynccontextmanager
    async def cluster() -> AsyncIterator[tuple[EventLog, BotStore]]:
        timing = group.GroupTiming(session=6.0, hand_over=2.0)
        async with (
            KafkaEventLog(Connection((kafka,), prefix=prefix), timing=timing) as events,
            OpenSearch(url) as server,
            OpenSearchBotStore(server, name, KeySeal(()), SystemClock()) as store,
        ):
            yield events, store

    return cluster


@pytest.fixture(params=["socket", "http"])
async def workers(
    request: pytest.FixtureRequest, tmp_path: Path, slack: FakeSlack, api: MessagesApi, column: OpenColumn
) -> AsyncIterator[Bot]:
    """One of the two, to look at what both keep."""
    more = {"column": column, "model": written(api), "person": slack.group("docs-team", slack.person("Bob"))}
    async with AsyncExitStack() as stack:
        if request.param == "http":
            both = [await stack.enter_async_context(over_http(tmp_path / name, slack, **more)) for name in ("a", "b")]
            slack.over_http(*(f"{address}{EVENTS_PATH}" for _, address in both))
            yield both[0][0]
        else:
            bots = [await stack.enter_async_context(bot(tmp_path / name, slack, **more)) for name in ("a", "b")]
            await slack.socket.connected(2)
            yield bots[0]


def ours(slack: FakeSlack, channel: Channel, root: Message) -> list[Message]:
    return [one for one in slack.thread(channel, root) if one.user == slack.bot_user and not one.only_for]


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_the_situations_end_as_with_one(workers: Bot, slack: FakeSlack, api: MessagesApi) -> None:
    ada, bob, gus = slack.person("Ada"), slack.person("Bob"), slack.person("Gus", guest="multi")
    rooms = [slack.channel(f"room-{n}") for n in range(6)]
    writer = Writer(paragraphs=3, pace=0.2)
    api.always(writer)

    # once each: heard of twice, redelivered, posted unheard, refused in its place
    first = await ada.mention(rooms[0], QUESTION)
    await workers.over(1, PATIENCE)
    for delivery in [one for one in slack.deliveries.all if one.kind == "events_api"]:
        slack.deliveries.again(delivery)
    slack.faults.next("chat.startStream", Fault(error="feature_not_enabled"))
    slack.faults.next("chat.postMessage", Fault(applies=True, drops=True))
    unheard = await ada.mention(rooms[1], QUESTION)
    await workers.over(2, PATIENCE)
    slack.faults.next("chat.update", Fault(error="edit_window_closed"))
    refused = await ada.mention(rooms[2], QUESTION)
    await workers.over(3, PATIENCE)
    assert [len(ours(slack, room, root)) for room, root in zip(rooms, (first, unheard), strict=False)] == [1, 1]
    said = "\n".join(words(one) for one in ours(slack, rooms[2], refused))
    assert all(said.count(f"Step {n} is done.") == 1 for n in (1, 2, 3))

    # quick: a 429 ends a stream, and the answer comes
    slack.faults.next("chat.appendStream", Fault(error="ratelimited", status=429, retry_after=30))
    limited = await ada.mention(rooms[3], QUESTION)
    await workers.over(4, PATIENCE)
    assert [writer.last in words(one) for one in ours(slack, rooms[3], limited)] == [True]

    # quiet: small talk is left alone, a question is not; a deleted one ends the work
    asked = len(api.requests)
    for text in SMALL_TALK:
        await bob.say(rooms[0], text, thread=first)
    await slack.settled()
    assert len(api.requests) == asked
    assert len(ours(slack, rooms[0], first)) == 1
    writer.pace = 3.0
    gone = await ada.mention(rooms[4], QUESTION)
    await slack.until(lambda: api.requests[asked:], patience=PATIENCE)
    await ada.delete(gone)
    await workers.over(5, PATIENCE)
    assert slack.said_in(rooms[4]) == []
    writer.pace = 0.0

    # doors: told once, by whichever worker
    answer = ours(slack, rooms[0], first)[0]
    for _ in range(3):
        await gus.mention(rooms[5], QUESTION)
    await slack.settled()
    await slack.until(lambda: any(one.only_for == gus.id for one in slack.said_in(rooms[5])))
    assert len(slack.calls("chat.postEphemeral")) == 1
    await gus.press(answer, actions.SHOW_TRACE)
    await slack.until(lambda: len(slack.calls("chat.postEphemeral")) == 2)
    assert gus.id not in slack.state.modals

    # pressed at both: shared once, a person asked once
    await bob.command(rooms[5], "/ask", QUESTION)
    await slack.until(lambda: any(map(labels, slack.said_in(rooms[5]))), patience=PATIENCE)
    private = next(one for one in slack.said_in(rooms[5]) if labels(one))
    for _ in range(2):
        await bob.press(private, actions.SHARE)
        await slack.until(lambda: any(not m.only_for and m.blocks for m in slack.said_in(rooms[5])))
    await slack.until(lambda: any(one.text == SHARED_ALREADY for one in slack.said_in(rooms[5])))
    assert sum(bool(one.blocks) and not one.only_for for one in slack.said_in(rooms[5])) == 1
    for person in (ada, bob):
        await person.press(answer, actions.ASK_PERSON)
        await slack.until(lambda person=person: slack.state.modals.get(person.id))
    for person in (ada, bob):
        await person.submit({actions.REASON_BLOCK: "Please."})
    await slack.until(lambda: any(one.text == ASKED_ALREADY for one in slack.thread(rooms[0], first)))
    assert len(ours(slack, rooms[0], first)) == 2
