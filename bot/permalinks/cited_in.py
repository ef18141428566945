"""In which answers a section was cited, for people who are let in to that: when, and where in Slack. What was asked and
answered is not told: Slack shows it to whoever may read the channel, and a private answer to nobody else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.model import Exchange
from bot.ports import BotStore

MAX_CITING_ANSWERS = 20
"""Answers that are told of, the newest."""
SLACK_MESSAGE = "https://slack.com/archives/{channel}/p{ts}"
"""Where Slack shows a message to whoever may read it."""


@dataclass(frozen=True, slots=True)
class CitingAnswer:
    """`href` "": it was given in private."""

    asked_at: datetime
    href: str


CitedIn = Callable[[str], Awaitable[Sequence[CitingAnswer]]]
"""Of a section, by its id; the newest first. Raises StoreUnavailable."""


def cited_in(store: BotStore) -> CitedIn:
    async def answers(node: str) -> Sequence[CitingAnswer]:
        newest = deque([question async for question in store.citing([node])], MAX_CITING_ANSWERS)
        kept = [await store.exchange(question) for question in reversed(newest)]
        return [citing_answer(each.exchange) for each in kept if each and _cites(each.exchange, node)]

    return answers


def citing_answer(exchange: Exchange) -> CitingAnswer:
    question, posted = exchange.question, exchange.posted
    private = question.private or posted is None or not posted.ts
    href = "" if private or not posted else SLACK_MESSAGE.format(channel=posted.channel, ts=posted.ts.replace(".", ""))
    return CitingAnswer(question.asked_at, href)


def _cites(exchange: Exchange, node: str) -> bool:
    sources = exchange.answer.sources if exchange.answer else ()
    return any(source.first.node_id == node for source in sources)
