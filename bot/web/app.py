"""The routes of permalinks: GET /n/ID leads to the live section, or shows the page of the section; see NodeWeb.

Whatever stands behind /n/, the answer is a page that says what to do.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bot.permalinks.cited_in import CitedIn
from bot.permalinks.lookup import Permalinks
from bot.permalinks.permalink import PREFIX, parse_reference
from bot.permalinks.standing import Standing
from bot.web.access import WebAccess
from bot.web.pages import Message, section_page
from bot.web.responses import HEADERS, plainly, root, told
from bot.web.section_view import is_web, section_view
from ingest.ports import Clock

ASSETS = {"style.css": "text/css; charset=utf-8", "copy.js": "text/javascript; charset=utf-8"}
_BLOCK = re.compile(r"[0-9]{1,5}")
MALFORMED = Message(
    "This is no link to a section",
    "The address is cut short or misspelt: behind /n/ stands a section's id, 36 characters with four dashes. Copy the link "
    "again from where you found it.",
)
UNKNOWN = Message(
    "No such section",
    "No section with this id is indexed, and no text of it was kept. If the link was copied whole, its site may have been "
    "removed, or indexed anew from nothing. Search the documentation for the section's title, and ask whoever runs ritbot.",
)


class NodeWeb:
    """`public_url`: the address that links are made of; "": the one that a request names. `cited_in`: where answers cited a
    section; told to visitors who are let in to it alone."""

    def __init__(
        self,
        permalinks: Permalinks,
        access: WebAccess,
        clock: Clock,
        public_url: str = "",
        cited_in: CitedIn | None = None,
    ) -> None:
        self._permalinks = permalinks
        self._cited_in = cited_in
        self._access = access
        self._clock = clock
        self._public_url = public_url.rstrip("/")

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route(f"{PREFIX}{{reference:path}}", plainly(self.section), methods=["GET"]),
            *self._access.routes(),
            *(Route(f"/web/{name}", _asset(name, kind), methods=["GET"]) for name, kind in ASSETS.items()),
        ]

    async def section(self, request: Request) -> Response:
        visitor = await self._access.visitor(request)
        if isinstance(visitor, Response):
            return visitor
        link = parse_reference(request.path_params["reference"])
        if link is None:
            return told(request, MALFORMED, 400)
        standing = await self._permalinks.standing(link)
        if standing is None:
            return told(request, UNKNOWN, 404)
        if standing.now:
            await self._permalinks.keep_linked(standing.now)
        if "show" not in request.query_params and (
            target := await self._target(standing, request.query_params.get("at", ""))
        ):
            return RedirectResponse(target, 302, HEADERS)
        way_back = root(request)
        base = self._public_url or str(request.base_url).rstrip("/")
        answers = await self._cited_in(link.node) if self._cited_in and visitor.let_in else ()
        now = self._clock.now()
        view = await asyncio.to_thread(section_view, standing, now=now, base=base, root=way_back, answers=answers)
        return HTMLResponse(
            section_page(view, root=way_back, signed_in=visitor.name if visitor.signs_out else ""), headers=HEADERS
        )

    async def _target(self, standing: Standing, at: str) -> str:
        """Where the link leads: to the live section, unless it names a text that is another one today, or the
        documentation is in files, to which no browser goes from here. `at`: the block that the link names, as it says."""
        if standing.now is None or standing.changed or not is_web(standing.now.link):
            return ""
        block = int(at) if standing.link.hash and _BLOCK.fullmatch(at) else 0
        return await self._permalinks.landing(standing.now, block)


def _asset(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def asset(_: Request) -> Response:
        held = {**HEADERS, "cache-control": "public, max-age=3600"}
        return Response(body, media_type=kind, headers=held)

    body = files("bot.web").joinpath("static", name).read_bytes()
    return asset
