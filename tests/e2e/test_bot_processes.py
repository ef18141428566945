"""The bot as processes of their own: `ritbot slack` and `ritbot answer` on Kafka and OpenSearch, `ritbot serve` alone.
Whoever is killed, and however often Slack delivers, people see one answer."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from bot.answering.service import STOPPED
from tests.e2e.commands import indexed, lay_out, on_servers, site
from tests.e2e.roles import Running, is_ready, running, until
from tests.fakes.messages_api import MessagesApi
from tests.fakes.site import html
from tests.fakes.slack import Channel, FakeSlack, Message, words
from tests.fakes.writer import Writer
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch

QUESTION = "How do I prime a pump with water?"
PUMPS = html("Pumps", "<p>Pumps move water.</p><h2 id='prime'>Priming</h2><p>To prime a pump, fill it with water.</p>")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, kafka: Kafka, opensearch: OpenSearch, qdrant: str) -> str:
    """Settings of an index that is filled already."""
    folder = tmp_path_factory.mktemp("cluster")
    settings = f"""{on_servers(kafka, opensearch, qdrant)}
        [index]
        folder = "{folder / "data"}"
        [[sites]]
        name = "pumps"
        start = "{folder / "html"}"
        base_url = "https://pumps.example/"
        """
    indexed(lay_out(folder, {"pumps": PUMPS}, settings))
    return settings


def connected(slack: FakeSlack) -> str:
    return f"""
        [slack]
        bot_token = "{slack.bot_token}"
        app_token = "{slack.app_token}"
        api_url = "{slack.base_url}"
        """


@pytest.fixture
def place(tmp_path: Path, cluster: str, slack: FakeSlack, api: MessagesApi) -> Path:
    model = f"""
        [model]
        provider = "anthropic"
        api_key = "key"
        base_url = "{api.url}"
        citations = true
        """
    (tmp_path / "ritbot.toml").write_text(cluster + connected(slack) + model, encoding="utf-8")
    return tmp_path


def answers(slack: FakeSlack, channel: Channel, question: Message) -> list[Message]:
    return [message for message in slack.thread(channel, question) if message.user == slack.bot_user]


def shown(slack: FakeSlack, channel: Channel, question: Message, text: str) -> bool:
    """A finished answer, links and all."""
    found = answers(slack, channel, question)
    return any(text in words(message) and "Sources" in words(message) for message in found)


def logged(role: Running, event: str) -> int:
    return sum(each["event"] == event for each in role.events)


async def ready(*roles: Running) -> None:
    for role in roles:
        await until(partial(is_ready, role), "every role is ready", *roles)


async def end(roles: Sequence[Running]) -> None:
    """SIGTERM to all at once."""
    statuses = await asyncio.gather(*(asyncio.to_thread(role.end, signal.SIGTERM) for role in roles))
    assert statuses == [0] * len(roles), [role.events[-5:] for role in roles]
    assert all("Stopped" in "".join(role.output) for role in roles)


@pytest.mark.timeout(600)
async def test_whoever_answers_may_die_be_stopped_or_be_told_to_end(
    place: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    writer = Writer()
    api.always(writer)
    with ExitStack() as stack:
        roles = (("slack", True), ("answer", True), ("answer", False))
        listens, one, two = (stack.enter_context(running(place, role, fresh=fresh)) for role, fresh in roles)
        await ready(listens, one, two)
        writer.pace = 0.8

        question = await ada.mention(general, QUESTION)
        await until(
            lambda: "Step 2" in "".join(map(words, answers(slack, general, question))),
            "it is written",
            listens,
            one,
            two,
        )
        victim, other = (one, two) if logged(one, "question_asked") else (two, one)
        assert victim.end(signal.SIGKILL) == -signal.SIGKILL
        writer.pace = 0.0
        await until(lambda: shown(slack, general, question, writer.last), "another goes on", listens, other)
        [answer] = answers(slack, general, question)
        assert answer.ts == slack.calls("chat.startStream")[0].answer["ts"], "in the same message"
        assert words(answer).count(writer.last) == 1

        writer.pace = 0.8
        stopped = await ada.mention(general, QUESTION)
        await until(lambda: len(answers(slack, general, stopped)) == 1, "it is written", listens, other)
        await ada.stop(general, stopped.ts)
        await until(lambda: len(answers(slack, general, stopped)) == 2, "it is stopped", listens, other)
        assert words(answers(slack, general, stopped)[1]) == STOPPED

        writer.pace = 0.3
        last = await ada.mention(general, QUESTION)
        await until(lambda: len(answers(slack, general, last)) == 1, "it is written", listens, other)
        await end([listens, other])
        assert shown(slack, general, last, writer.last), "what is in hand is finished"


@pytest.mark.timeout(600)
async def test_a_listener_that_dies_before_it_acknowledged_costs_no_answer_and_makes_no_second(
    place: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    writer = Writer()
    api.always(writer)
    with ExitStack() as stack:
        listens, worker = (stack.enter_context(running(place, role)) for role in ("slack", "answer"))
        await ready(listens, worker)
        slack.deliveries.ack_within, slack.deliveries.retries_after = 0.0, (60.0, 60.0, 60.0)
        question = await ada.mention(general, QUESTION)
        await until(lambda: logged(listens, "question_taken"), "the question is written down", listens, worker)
        assert listens.end(signal.SIGKILL) == -signal.SIGKILL
        assert not any(delivery.acked for delivery in slack.deliveries.all)

        slack.deliveries.ack_within = 10.0
        replicas = [stack.enter_context(running(place, "slack")) for _ in range(2)]
        await ready(*replicas)
        await slack.socket.connected(2)
        slack.clock.advance(60.0)
        await slack.settled()
        for delivery in slack.deliveries.all:
            slack.deliveries.again(delivery, times=2)
        await slack.settled()
        assert all(delivery.acked for delivery in slack.deliveries.all)
        assert all(logged(replica, "question_taken") for replica in replicas), "both were asked"
        await until(lambda: shown(slack, general, question, writer.last), "it is answered", worker, *replicas)
        again = await ada.mention(general, "How do I prime a pump once more?", thread=question)
        await until(lambda: len(answers(slack, general, again)) == 2, "what came after it, too", worker, *replicas)
        await end([worker, *replicas])
        assert len(answers(slack, general, question)) == 2


async def test_serve_alone_answers_in_slack_and_stops_when_told(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    lay_out(tmp_path, {"pumps": PUMPS}, connected(slack) + site("pumps"))
    with running(tmp_path, "serve") as serve:
        await ready(serve)
        await until(lambda: serve.handled("new"), "the page is indexed", serve)
        question = await ada.mention(general, QUESTION)
        await until(lambda: shown(slack, general, question, "fill it with water"), "it is answered", serve)
        [answer] = answers(slack, general, question)
        assert "https://pumps.example/docs/pumps.html#prime" in words(answer)
        assert serve.end(signal.SIGTERM) == 0, serve.events[-5:]
