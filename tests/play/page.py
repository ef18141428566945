"""The fake Slack with a page: `async with Play(port=8484) as slack: …` and open slack.url in a browser.

    async with Play(port=8484, shortcuts={"answer_from_docs": "Answer from docs"}) as slack:
        …connect the bot to slack.base_url with slack.bot_token and slack.app_token…

GET /              the page (static files beside it)
GET /play/state    what a person sees: ?as=U…&channel=C…&thread=1.2 (snapshot.py)
GET /play/changes  server-sent events: one "changed" for every change, at most twenty a second
POST /play/do      what a person does: {"as": "U…", "do": "write", …}; the answer is {"ok": …, "error": "…"}
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.fakes.slack import Channel, Delivery, FakeSlack, Message, NotThere, Person, View
from tests.play.snapshot import Snapshot

STATIC = Path(__file__).parent / "static"
PAUSE = 0.05
"""Seconds between two events to a page."""
POLICY = "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"
PEOPLE = ("Ada", "Grace")
Json = dict[str, Any]


class Play(FakeSlack):
    """A workspace with two people, a guest, #general, #platform, a channel shared with another company, and the bot.

    `shortcuts`: what the menu of a message offers, by callback id. `docs`: a folder of HTML, served at `docs_url`, so
    that links of answers lead to pages that a browser opens."""

    def __init__(self, *, shortcuts: Mapping[str, str] | None = None, docs: Path | None = None, **how: Any) -> None:
        super().__init__(**how)
        self._docs = docs
        self._shortcuts = dict(shortcuts or {})
        self._watching: set[asyncio.Event] = set()
        self.state.watchers.append(self._tell)
        self._furnish()

    async def __aexit__(self, *exc: object) -> None:
        self._watching, pages = set(), self._watching
        for page in pages:
            page.set()
        await super().__aexit__(*exc)

    def routes(self) -> list[web.AbstractRouteDef]:
        docs = [web.static("/docs", self._docs)] if self._docs else []
        return [
            *super().routes(),
            *docs,
            web.get("/", self._index),
            web.get("/play/state", self._show),
            web.get("/play/changes", self._changes),
            web.post("/play/do", self._do),
            web.get("/{file:[a-z]+\\.(?:js|css)}", self._file),
        ]

    @property
    def docs_url(self) -> str:
        return f"{self.url}/docs/"

    def _furnish(self) -> None:
        people = [self.person(name, admin=name == PEOPLE[0]) for name in PEOPLE]
        other = self.team("Partner Inc")
        for name in ("general", "platform"):
            self.channel(name)
        outsider = self.person("Olga", team=other)
        guest = self.person("Gil", guest="multi")
        self.channel("with-partner", shared_with=[other], members=[*people, outsider])
        for person in (*people, guest):
            person.direct()

    def _tell(self) -> None:
        for page in self._watching:
            page.set()

    async def _index(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / "index.html", headers={"Content-Security-Policy": POLICY})

    async def _file(self, request: web.Request) -> web.StreamResponse:
        path = STATIC / request.match_info["file"]
        if not path.is_file():
            raise web.HTTPNotFound
        return web.FileResponse(path, headers={"Cache-Control": "no-cache"})

    async def _show(self, request: web.Request) -> web.Response:
        person = self._who(request.query.get("as", ""))
        channel = self._where(person, request.query.get("channel", ""))
        shown = Snapshot(person, channel, request.query.get("thread", ""), self.bot_user).as_json()
        return web.json_response({**shown, "shortcuts": self._shortcuts})

    async def _changes(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        changed = asyncio.Event()
        self._watching.add(changed)
        try:
            while changed in self._watching:
                changed.clear()
                await response.write(b"data: changed\n\n")
                await asyncio.sleep(PAUSE)
                await changed.wait()
        except ConnectionError:
            return response
        finally:
            self._watching.discard(changed)
        return response

    async def _do(self, request: web.Request) -> web.Response:
        wish: Json = await request.json()
        person = self._who(str(wish.get("as", "")))
        try:
            made = await self._done(person, self._where(person, str(wish.get("channel", ""))), wish)
        except NotThere as wrong:
            return web.json_response({"ok": False, "error": str(wrong)})
        if isinstance(made, Delivery) and not made.acked:
            return web.json_response({"ok": False, "error": "The app did not answer within three seconds."})
        return web.json_response({"ok": True, "ts": made.root if isinstance(made, Message) else ""})

    async def _done(self, person: Person, channel: Channel, wish: Json) -> Message | Delivery | None:
        match wish["do"]:
            case "write":
                return await self._write(person, channel, str(wish["text"]), str(wish.get("thread", "")))
            case "edit":
                await person.edit(self._message(channel, wish), self._with_ids(str(wish["text"])))
            case "delete":
                await person.delete(self._message(channel, wish))
            case "press":
                place, chosen = self._pressed_in(person, channel, wish), wish.get("chosen")
                return await person.press(place, wish["action"], chosen, agrees=bool(wish.get("agrees")))
            case "shortcut":
                return await person.shortcut(self._message(channel, wish), wish["shortcut"])
            case "submit":
                return await person.submit(wish["values"])
            case "dismiss":
                await person.dismiss()
            case "stop":
                await person.stop(channel, str(wish["thread"]))
            case "open":
                await person.open_home(str(wish.get("tab") or "messages"))
        return None

    async def _write(self, person: Person, channel: Channel, text: str, thread: str) -> Message | Delivery:
        """A line that begins with a slash is a command, as in Slack."""
        if re.match(r"/\w", text):
            command, _, rest = text.partition(" ")
            return await person.command(channel, command, rest.strip())
        root = self.state.messages.get((channel.id, thread))
        return await person.say(channel, self._with_ids(text), thread=root)

    def _with_ids(self, text: str) -> str:
        """@ritbot and @Ada become mentions; the rest is escaped as Slack's clients do."""
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        for user in self.state.users.values():
            text = re.sub(rf"@{re.escape(user.name)}\b", f"<@{user.id}>", text, flags=re.IGNORECASE)
        return text

    def _pressed_in(self, person: Person, channel: Channel, wish: Json) -> Message | View:
        if wish.get("place") == "modal":
            return person.modal
        if wish.get("place") == "home":
            return person.home
        return self._message(channel, wish)

    def _message(self, channel: Channel, wish: Json) -> Message:
        message = self.state.messages.get((channel.id, str(wish["ts"])))
        if message is None:
            raise NotThere("That message is gone.")
        return message

    def _who(self, user: str) -> Person:
        known = self.state.users.get(user)
        return Person(self, known) if known and not known.bot_id else self.person(PEOPLE[0])

    def _where(self, person: Person, channel: str) -> Channel:
        known = self.state.channels.get(channel)
        if known is not None and person.id in known.members:
            return known
        return next(one for one in self.state.channels.values() if person.id in one.members)
