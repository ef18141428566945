"""When someone opens the app: in the conversation with ritbot questions to begin with, in the Home tab what it knows.

Whoever may not ask sees neither: titles and questions tell of the documentation.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.model import Exchange, Question
from bot.ports import BotStore
from bot.slack.inbound.intake import Intake
from bot.slack.inbound.parse import workspace
from bot.slack.inbound.suggestions import asked_before, from_titles
from bot.slack.outbound.client import SlackRefused, call
from bot.slack.render.home_view import SiteFreshness, closed_home, home_view
from bot.slack.workspaces import is_public
from ingest.ports import Clock, TreeStore

log = structlog.get_logger()

MAX_PROMPTS = 4
MADE_ANEW_SECONDS = 3_600.0
"""So long suggestions and the pages of sites are as they were: counting them reads the index."""
MAX_PAGES_COUNTED = 20_000
"""Of a site."""
RECENT_DAYS = (1, 7, 30)
"""So far back one's own questions are looked for, until there are enough."""
MAX_RECENT = 5


class Home:
    """One object a process. `sites`: the names of those that are known."""

    def __init__(
        self, store: BotStore, trees: TreeStore, intake: Intake, clock: Clock, *, sites: Callable[[], Sequence[str]]
    ) -> None:
        self._store = store
        self._trees = trees
        self._intake = intake
        self._clock = clock
        self._sites = sites
        self._made: dict[tuple[str, str], tuple[float, Any]] = {}

    async def opened(self, body: Mapping[str, Any], client: AsyncWebClient) -> None:
        """app_home_opened."""
        event = body["event"]
        closed = await self._intake.closed(_opener(body, self._clock), shared=False)
        if event.get("tab") == "home":
            view = closed_home(closed) if closed else await self._view(body, client)
            await call(client.views_publish, user_id=str(event["user"]), view=view)
        elif event.get("tab") == "messages" and not closed:
            await self._suggest(body, client)

    async def _suggest(self, body: Mapping[str, Any], client: AsyncWebClient) -> None:
        event = body["event"]
        if not (prompts := await self._suggested(body, client)):
            return
        try:
            await call(
                client.assistant_threads_setSuggestedPrompts,
                channel_id=str(event["channel"]),
                thread_ts=event.get("thread_ts"),
                title="You might ask",
                prompts=[{"title": prompt, "message": prompt} for prompt in prompts],
            )
        except SlackRefused as error:
            log.info("prompts_not_shown", reason=str(error))

    async def _view(self, body: Mapping[str, Any], client: AsyncWebClient) -> dict[str, Any]:
        event, team = body["event"], workspace(body)[1]
        return home_view(
            await self._kept("sites", "", self._fresh),
            await self._recent(team, str(event["user"])),
            await self._suggested(body, client),
            now=self._clock.now(),
            conversation=str(event.get("channel") or ""),
        )

    async def _suggested(self, body: Mapping[str, Any], client: AsyncWebClient) -> Sequence[str]:
        """What was asked in public before, else what titles invite to ask."""
        team = workspace(body)[1]

        async def made() -> Sequence[str]:
            asked = await asked_before(self._store, team, self._clock.now(), partial(is_public, client), MAX_PROMPTS)
            titles = await from_titles(self._trees, MAX_PROMPTS) if len(asked) < MAX_PROMPTS else []
            return list(dict.fromkeys([*asked, *titles]))[:MAX_PROMPTS]

        prompts: Sequence[str] = await self._kept("suggested", team, made)
        return prompts

    async def _fresh(self) -> Sequence[SiteFreshness]:
        return [await self._site(name) for name in self._sites()]

    async def _site(self, name: str) -> SiteFreshness:
        site = SiteFreshness(name, 0, None)
        async for state in self._trees.scan(name):
            if site.pages == MAX_PAGES_COUNTED:
                return replace(site, more=True)
            if state.state == "live":
                oldest = min(filter(None, (site.checked_at, state.checked_at)))
                site = replace(site, pages=site.pages + 1, checked_at=oldest)
        return site

    async def _recent(self, team: str, user: str) -> Sequence[Exchange]:
        """One's own questions, the latest first."""
        found: list[Exchange] = []
        for days in RECENT_DAYS:
            since = self._clock.now() - timedelta(days=days)
            asked = [one async for one in self._store.exchanges(since)]
            found = [one for one in asked if (one.question.team, one.question.user) == (team, user)]
            if len(found) >= MAX_RECENT:
                break
        return found[: -MAX_RECENT - 1 : -1]

    async def _kept(self, what: str, of: str, make: Callable[[], Awaitable[Any]]) -> Any:
        """As it was made within the hour."""
        made_at, made = self._made.get((what, of), (0.0, None))
        now = time.monotonic()
        if made is None or now - made_at > MADE_ANEW_SECONDS:
            self._made[what, of] = now, (made := await make())
        return made


def _opener(body: Mapping[str, Any], clock: Clock) -> Question:
    """Whoever opened the app, as an asker: of the workspace that the event was sent to."""
    (enterprise, team), user = workspace(body), str(body["event"]["user"])
    return Question("", team, "", user, "", "direct", clock.now(), asker_team=team, enterprise=enterprise)
