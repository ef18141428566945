"""Pages for whoever runs ritbot: answers with their way, answers that are stale, gaps, sites, what waits in the event log.

They show what people asked and were told, private questions too, as `ritbot answers` does; so they are for the operators
that the settings name, and for nobody else who is let in.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from bot.gaps.report import GapReport, state_line
from bot.model import Exchange
from bot.ports import BotStore
from bot.web.access import Visitor, WebAccess
from bot.web.answer_views import answer_row, answer_view, stale_view
from bot.web.pages import Message, operating_page
from bot.web.responses import HEADERS, plainly, root, told
from bot.web.section_view import is_web
from ingest.events.dead_letters import KeptLetter
from ingest.model import Site
from ingest.ports import Clock
from ingest.watch.report import WatchReport
from ingest.watch.site_tally import SiteTally

MAX_ROWS = 50
"""Answers on a page of the list."""
MAX_STALE_ROWS = 200
"""Answers that are stale, the newest of those asked in STALE_DAYS."""
STALE_DAYS = 90
FIRST_WINDOW = timedelta(hours=6)
"""The newest answers are looked for so far back, then four times as far, and so on up to LAST_WINDOW."""
LAST_WINDOW = timedelta(days=1500)
STATE_BADGES = {"open": "not-found", "taken": "offered", "fixed": "answered", "ignored": "offered"}
"""How a gap's state looks: as an outcome does."""
NOT_OPERATOR = Message(
    "This page is for operators",
    "It shows what people asked, so it is for those whom web.operators names in ritbot's settings.",
)
NO_SUCH_ANSWER = Message(
    "No such question",
    "It may have gone with the days of the answer log, or been forgotten at somebody's wish. The list has what is kept.",
)

Page = Callable[[Request], Awaitable[Mapping[str, object]]]
"""What the template of a page is given."""


@dataclass(frozen=True, slots=True)
class SiteStatus:
    site: Site
    tally: SiteTally
    report: WatchReport


@dataclass(frozen=True, slots=True)
class Operated:
    """What a process can read of the rest. `letters`: dead letters that wait, the newest first. `gaps`: all, or one by its id,
    with all its questions. All raise StoreUnavailable."""

    sites: Callable[[], Awaitable[Sequence[SiteStatus]]]
    waiting: Callable[[], Awaitable[Mapping[str, int]]]
    letters: Callable[[], Awaitable[Sequence[KeptLetter]]]
    gaps: Callable[[str | None], Awaitable[Sequence[GapReport]]]


class OperatorWeb:
    """`operators`: accounts (Visitor.account) of those who may see these pages."""

    def __init__(
        self, store: BotStore, access: WebAccess, clock: Clock, operated: Operated, operators: Collection[str]
    ) -> None:
        self._store = store
        self._access = access
        self._clock = clock
        self._operated = operated
        self._operators = frozenset(operators)

    def routes(self) -> Sequence[BaseRoute]:
        pages = {
            "answers": self.answers,
            "stale": self.stale,
            "gaps": self.gaps,
            "sites": self.sites,
            "events": self.events,
        }
        return [
            Route("/web/answer", plainly(self.answer), methods=["GET"]),
            *(
                Route(f"/web/{name}", plainly(partial(self._page, name, page)), methods=["GET"])
                for name, page in pages.items()
            ),
        ]

    async def _page(self, name: str, page: Page, request: Request) -> Response:
        visitor = await self._operator(request)
        return visitor if isinstance(visitor, Response) else _shown(request, name, visitor, **await page(request))

    async def _operator(self, request: Request) -> Visitor | Response:
        visitor = await self._access.visitor(request)
        if isinstance(visitor, Response) or visitor.account in self._operators:
            return visitor
        return told(request, NOT_OPERATOR, 403)

    async def answers(self, request: Request) -> Mapping[str, object]:
        """The newest, or those before `?before`, a time in ISO 8601."""
        try:
            until = datetime.fromisoformat(request.query_params["before"])
        except (KeyError, ValueError):
            until = None
        if until is None or until.tzinfo is None:
            until = self._clock.now() + timedelta(minutes=1)
        found = await self._newest(until)
        rows = [answer_row(exchange, self._clock.now(), root(request)) for exchange in reversed(found)]
        before = found[0].question.asked_at.isoformat() if len(found) == MAX_ROWS else ""
        return {"rows": rows, "before": before, "newest": "before" not in request.query_params}

    async def _newest(self, until: datetime) -> Sequence[Exchange]:
        """Of those asked before, oldest first."""
        window = FIRST_WINDOW
        while True:
            found = deque([each async for each in self._store.exchanges(until - window, until)], MAX_ROWS)
            if len(found) == MAX_ROWS or window > LAST_WINDOW:
                return found
            window *= 4

    async def answer(self, request: Request) -> Response:
        visitor = await self._operator(request)
        if isinstance(visitor, Response):
            return visitor
        kept = await self._store.exchange(request.query_params.get("id", ""))
        if kept is None:
            return told(request, NO_SUCH_ANSWER, 404)
        view = await asyncio.to_thread(answer_view, kept.exchange, self._clock.now(), root(request))
        return _shown(request, "answer", visitor, view=view)

    async def stale(self, request: Request) -> Mapping[str, object]:
        now = self._clock.now()
        found = deque(
            [
                stale_view(exchange, now, root(request))
                async for exchange in self._store.exchanges(now - timedelta(days=STALE_DAYS))
                if any(source.stale for source in exchange.changed)
            ],
            MAX_STALE_ROWS,
        )
        return {"rows": list(reversed(found)), "days": STALE_DAYS}

    async def gaps(self, request: Request) -> Mapping[str, object]:
        """All, or the one of `?id`."""
        one = request.query_params.get("id")
        given = {"state_line": state_line, "is_web": is_web, "badges": STATE_BADGES}
        return {"reports": await self._operated.gaps(one), "one": bool(one), "now": self._clock.now(), **given}

    async def sites(self, _: Request) -> Mapping[str, object]:
        return {"sites": await self._operated.sites(), "now": self._clock.now()}

    async def events(self, _: Request) -> Mapping[str, object]:
        waiting, letters = await asyncio.gather(self._operated.waiting(), self._operated.letters())
        return {"waiting": waiting, "letters": letters, "now": self._clock.now()}


def _shown(request: Request, name: str, visitor: Visitor, **given: object) -> Response:
    signed_in = visitor.name if visitor.signs_out else ""
    return HTMLResponse(operating_page(name, root=root(request), signed_in=signed_in, **given), headers=HEADERS)
