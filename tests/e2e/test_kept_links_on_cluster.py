"""Links that stay, notes of what changed and gaps in the documentation, across processes: each role alone, on Kafka, OpenSearch
and Qdrant's API."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from bot.slack.inbound.app import CITE_COMMAND
from bot.slack.render import actions
from bot.slack.render.change_note import CHANGED
from tests.e2e.commands import indexed, lay_out, on_servers, ritbot
from tests.e2e.roles import get, running, until
from tests.e2e.test_bot_processes import answers, connected, end, logged, ready
from tests.fakes.site import html
from tests.fakes.slack import Channel, FakeSlack, Message, words
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch

PAGE = html(
    "Pumps",
    "<p>Pumps move water.</p><h2 id='prime'>Priming</h2><p>To prime a pump, fill it with water for ten minutes.</p>",
)


@pytest.mark.timeout(600)
async def test_a_link_resolves_and_a_change_is_told_once_whoever_does_what(
    tmp_path: Path, slack: FakeSlack, kafka: Kafka, opensearch: OpenSearch, qdrant: str
) -> None:
    settings = f"""{on_servers(kafka, opensearch, qdrant)}
        [index]
        folder = "data"
        [web]
        public_url = "https://kb.example"
        [stale]
        wait_minutes = 0
        [[sites]]
        name = "pumps"
        start = "html"
        base_url = "https://pumps.example/"
        """
    place = indexed(lay_out(tmp_path / "place", {"pumps": PAGE}, settings + connected(slack)))
    ada, general = slack.person("Ada"), slack.channel("general")
    with ExitStack() as stack:
        names = ("slack", "answer", "answer", "web", "watch", "indexer")
        roles = listens, *workers, web, _, _ = [stack.enter_context(running(place, role)) for role in names]
        await ready(*roles)

        await ada.command(general, CITE_COMMAND, "prime a pump")
        await until(lambda: any(m.only_for for m in slack.said_in(general)), "sections are offered", listens)
        [offered] = [message for message in slack.said_in(general) if message.only_for]
        await ada.press(offered, actions.CITE)
        await until(lambda: any(m.bot_id and not m.only_for for m in slack.said_in(general)), "one is posted", listens)
        [posted] = [message for message in slack.said_in(general) if message.bot_id and not message.only_for]
        link = "/n/" + str(posted.blocks).partition("https://kb.example/n/")[2].partition("|")[0]
        assert "Priming" in words(posted)
        landed = await get(web, link)
        assert landed.headers["location"].startswith("https://pumps.example/pumps.html#prime:~:text=To%20prime")

        question = await ada.mention(general, "How long do I fill a pump with water to prime it?")
        await until(lambda: any("ten minutes" in words(m) for m in answers(slack, general, question)), "it is answered")
        in_vain = await ada.mention(general, "Which warranty does a pump have?")
        await until(lambda: len(answers(slack, general, in_vain)) == 1, "it is turned away", *workers)
        await until(lambda: sum(logged(role, "question_grouped") for role in workers) == 1, "it is in a gap", *workers)
        [gap] = json.loads(ritbot(place, "gaps", "--json").stdout)
        assert (gap["questions"], gap["path"]) == (["Which warranty does a pump have?"], ["Pumps"])
        (place / "html/pumps.html").write_text(PAGE.replace("ten minutes", "one hour"), encoding="utf-8")
        await until(lambda: sum(logged(role, "note_sent") for role in workers) == 1, "it is told", *roles)
        assert len(notes(slack, general, question)) == 1
        await until(lambda: sum(logged(role, "gap_changed") for role in workers) == 1, "the gap hears of it", *workers)
        changed = await get(web, link)
        assert changed.status_code == 200
        assert "Changed since" in changed.text
        assert "added: </span>one hour" in changed.text
        (place / "html/pumps.html").write_text(PAGE.replace("ten minutes", "two hours"), encoding="utf-8")
        await until(lambda: sum(logged(role, "note_sent") for role in workers) == 2, "and again", *roles)
        await end(roles)
    assert len(notes(slack, general, question)) == 1


def notes(slack: FakeSlack, channel: Channel, question: Message) -> list[Message]:
    return [message for message in answers(slack, channel, question) if CHANGED in words(message)]
