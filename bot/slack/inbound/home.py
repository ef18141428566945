"""When someone opens the conversation with ritbot: questions to begin with, taken from the documentation itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.outbound.client import SlackRefused, call
from bot.slack.render.blocks import shortened
from bot.slack.render.sanitize import plain_line
from ingest.ports import Clock, TreeStore

log = structlog.get_logger()

Topics = Callable[[], Awaitable[Sequence[str]]]
"""Titles of the documentation's own top sections."""

MAX_PROMPTS = 4
PROMPTS_LAST = timedelta(hours=1)
"""Then they are made anew: pages change."""
MAX_PAGES_SEEN = 2_000
"""Of a large site no more are looked at for its topics."""


class Home:
    """Suggests a question for each of the first topics."""

    def __init__(self, topics: Topics, clock: Clock) -> None:
        self._topics = topics
        self._clock = clock
        self._prompts: list[dict[str, str]] = []
        self._made_at: datetime | None = None

    async def opened(self, body: Mapping[str, Any], client: AsyncWebClient) -> None:
        """app_home_opened, tab "messages"."""
        event = body["event"]
        prompts = await self._suggested()
        if event.get("tab") != "messages" or not prompts:
            return
        try:
            await call(
                client.assistant_threads_setSuggestedPrompts,
                channel_id=str(event["channel"]),
                thread_ts=event.get("thread_ts"),
                title="Ask about",
                prompts=prompts,
            )
        except SlackRefused as error:
            log.info("prompts_not_shown", reason=str(error))

    async def _suggested(self) -> list[dict[str, str]]:
        now = self._clock.now()
        if self._made_at is None or now - self._made_at > PROMPTS_LAST:
            topics = [words for topic in await self._topics() if (words := plain_line(topic))]
            self._prompts = [
                {"title": shortened(topic, 60), "message": f"What should I know about {shortened(topic, 200)}?"}
                for topic in topics[:MAX_PROMPTS]
            ]
            self._made_at = now
        return self._prompts


async def top_sections(trees: TreeStore, most: int = 8) -> tuple[str, ...]:
    """Titles of the sections right under the roots of the sites, those with most pages first; where a site has no
    structure between its pages, titles of its longest pages. Raises StoreUnavailable."""
    states = []
    async for state in trees.scan():
        if state.state == "live":
            states.append(state)
        if len(states) >= MAX_PAGES_SEEN:
            break
    keys = [state.key for state in states]
    places, outlines = await trees.place(keys), await trees.outlines(keys)
    under: Counter[str] = Counter()
    for key, outline in outlines.items():
        trail = [place.title for place in places.get(key, ())]
        if trail:
            under[(*trail, outline.title)[1]] += 1
    if under:
        return tuple(title for title, _ in under.most_common(most))
    longest = sorted(states, key=lambda state: (-state.nodes, state.key))
    return tuple(outlines[state.key].title for state in longest[:most] if state.key in outlines)
