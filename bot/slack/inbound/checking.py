"""`/ritbot check LINK`: whether what was quoted still stands. LINK is that of an answer in this channel, or the link of a
source that somebody pasted into a ticket.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from slack_sdk.web.async_client import AsyncWebClient

from bot.model import Exchange
from bot.permalinks.lookup import followed
from bot.ports import BotStore
from bot.slack.inbound.intake import Intake
from bot.slack.inbound.parse import commanded
from bot.slack.message_text import Payload
from bot.slack.render.change_note import standing_text
from bot.slack.render.sanitize import unescaped
from bot.staleness.judging import Judge
from ingest.ports import Clock, TreeStore
from ingest.urls import page_key
from navigator.citations.linked_words import linked_words, words_stand

CHECK_USAGE = (
    "Name a link: of an answer of mine in this channel, or of a source under one, for example `/ritbot check https://…`"
)
NO_ANSWER = "I know of no answer of mine at this link in this channel. It may be older than what I keep."
NOT_INDEXED = "I do not know this page: it is not among the documentation that I read."
PAGE_GONE = "This page is no longer there."
NO_WORDS_NAMED = "The page is there. The link names no words of it that I could look for."
ALL_STAND = "The words that this link leads to still stand on its page."
SOME_CHANGED = "The words that this link leads to no longer stand on its page: they changed or went."
MAX_ANSWERS_READ = 100
"""Of a thread, the newest."""
_MESSAGE = re.compile(r"/archives/([A-Z0-9]+)/p(\d{10})(\d{6})")


class Checking:
    def __init__(self, store: BotStore, trees: TreeStore, judge: Judge, intake: Intake, clock: Clock) -> None:
        self._store = store
        self._trees = trees
        self._judge = judge
        self._intake = intake
        self._clock = clock

    async def check(self, body: Payload, client: AsyncWebClient) -> str:
        """What whoever typed it is told, alone. Raises StoreUnavailable."""
        asked = commanded(body, self._clock.now())
        if closed := await self._intake.closed(asked, shared=False):
            return closed
        url = unescaped(asked.text.partition(" ")[2].strip().strip("<>").partition("|")[0])
        if not url.startswith(("https://", "http://")):
            return CHECK_USAGE
        if message := _MESSAGE.search(urlsplit(url).path):
            channel, ts = message[1], f"{message[2]}.{message[3]}"
            thread = parse_qs(urlsplit(url).query).get("thread_ts", [ts])[0]
            return await self._answer(asked.team, channel, thread, ts) if channel == asked.channel else NO_ANSWER
        return await self._link(url)

    async def _answer(self, team: str, channel: str, thread: str, ts: str) -> str:
        said = await self._store.conversation(f"{team}:{channel}:{thread}", MAX_ANSWERS_READ)
        exchange = next((each for each in said if _is_at(each, ts)), None)
        if exchange is None or exchange.answer is None or not exchange.answer.sources:
            return NO_ANSWER
        return standing_text(exchange, await self._judge.now(exchange, self._clock.now()))

    async def _link(self, url: str) -> str:
        record = await followed(self._trees, page_key(url))
        if record is None:
            return NOT_INDEXED
        if record.page is None:
            return PAGE_GONE
        words = linked_words(url)
        if not words:
            return NO_WORDS_NAMED
        return ALL_STAND if all(words_stand(each, record.page.nodes) for each in words) else SOME_CHANGED


def _is_at(exchange: Exchange, ts: str) -> bool:
    """Whether it is the message of this question or of its answer."""
    posted = exchange.posted
    note = exchange.note.ts if exchange.note else ""
    return ts in (exchange.question.ts, note, *((posted.ts, *posted.further) if posted else ()))
