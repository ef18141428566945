"""The Web API over HTTP: who calls, what goes wrong, which method, what it answers; every call is recorded.

The order is Slack's: token, method, scope, rate, then what the method itself refuses. Errors are HTTP 200 with
{"ok": false}, but for 429. x-oauth-scopes and x-accepted-oauth-scopes stand on every answer to a good token.

What goes wrong on demand, or how the next calls of a method are answered:

    slack.faults.next("chat.update", RATE_LIMITED)                          # 429, Retry-After: 1
    slack.faults.next("chat.postMessage", Fault(error="invalid_blocks"), times=2)
    slack.faults.next("chat.appendStream", Fault(status=500))
    slack.faults.next("chat.postMessage", Fault(applies=True, drops=True))  # posted, but nobody hears of it
    slack.faults.next("chat.startStream", Fault(applies=True, delay=40))    # done, the answer comes too late
    slack.faults.always("chat.startStream", Fault(error="feature_not_enabled"))
    slack.faults.where("*", SERVER_ERROR, lambda arguments: "poison" in str(arguments))  # every call that says so
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.fakes.slack import messages, methods
from tests.fakes.slack.events import Events, SocketMode
from tests.fakes.slack.limits import Rates
from tests.fakes.slack.methods import Call, Method, Recorded, Refused
from tests.fakes.slack.sign_in import SignIn
from tests.fakes.slack.state import Installation, Json, State


@dataclass(frozen=True)
class Fault:
    """`error`: {"ok": false}. `status`: an HTTP error without JSON. `drops`: the connection is cut without an answer.
    `applies`: the call is done, and recorded as done, all the same. `delay`: seconds before any of it, or before the
    answer if it applies."""

    error: str = ""
    messages: tuple[str, ...] = ()
    status: int = 200
    retry_after: int | None = None
    delay: float = 0.0
    applies: bool = False
    drops: bool = False

    @property
    def spoils(self) -> bool:
        """Whether the caller gets another answer than the method's, or none."""
        return self.drops or bool(self.error) or self.status != 200

    @property
    def heard(self) -> int:
        """The HTTP status that the caller hears; 0: none."""
        return 0 if self.drops else self.status

    @property
    def body(self) -> dict[str, Any]:
        if not self.error:
            return {}
        messages = {"response_metadata": {"messages": list(self.messages)}} if self.messages else {}
        return {"ok": False, "error": self.error, **messages}


RATE_LIMITED = Fault(error="ratelimited", status=429, retry_after=1)
SERVER_ERROR = Fault(status=500)


class Faults:
    def __init__(self) -> None:
        self._next: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._always: dict[str, Fault] = {}
        self._where: dict[str, tuple[Fault, Callable[[Mapping[str, Any]], bool]]] = {}

    def next(self, method: str, fault: Fault, *, times: int = 1) -> None:
        """The next `times` calls of this method; "*" meets any method, "response_url" the posts there."""
        self._next[method].extend([fault] * times)

    def always(self, method: str, fault: Fault) -> None:
        self._always[method] = fault

    def where(self, method: str, fault: Fault, meets: Callable[[Mapping[str, Any]], bool]) -> None:
        """Every call of this method with such arguments."""
        self._where[method] = fault, meets

    def none(self) -> None:
        """Everything goes well again."""
        self._next.clear()
        self._always.clear()
        self._where.clear()

    def due(self, method: str, arguments: Mapping[str, Any]) -> Fault | None:
        for name in (method, "*"):
            if name in self._where and self._where[name][1](arguments):
                return self._where[name][0]
            if self._next[name]:
                return self._next[name].popleft()
            if name in self._always:
                return self._always[name]
        return None


METHODS: Mapping[str, Method] = {**methods.METHODS, **messages.METHODS}
NESTED = ("blocks", "chunks", "view", "prompts", "loading_messages", "attachments", "metadata")
"""Arguments that come as JSON in a form."""


class WebApi:
    def __init__(
        self,
        state: State,
        events: Events,
        rates: Rates,
        faults: Faults,
        socket: SocketMode,
        sign_in: SignIn,
        credentials: Mapping[str, str],
    ) -> None:
        """`credentials`: app_id, app_token, client_id, client_secret."""
        self.calls: list[Recorded] = []
        self.stream_life = messages.STREAM_LIFE
        self._state = state
        self._events = events
        self._rates = rates
        self._faults = faults
        self._socket = socket
        self._sign_in = sign_in
        self._credentials = credentials

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/{method}", self._method),
            web.get("/api/{method}", self._method),
            web.post("/respond/{url}", self._respond),
        ]

    async def _method(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        arguments = await _arguments(request)
        token = str(arguments.pop("token", "") or request.headers.get("Authorization", "").removeprefix("Bearer "))
        fault = self._faults.due(method, arguments)
        if fault is None:
            return self._answered(request, method, arguments, token)
        if fault.applies:
            response = self._answered(request, method, arguments, token)
            await asyncio.sleep(fault.delay)
            return self._spoiled(request, fault) if fault.spoils else response
        await asyncio.sleep(fault.delay)
        if not fault.spoils:
            return self._answered(request, method, arguments, token)
        self._record(method, arguments, fault.heard, fault.body, None)
        return self._spoiled(request, fault)

    def _answered(self, request: web.Request, method: str, arguments: Json, token: str) -> web.Response:
        messages.expire_old(self._state, self.stream_life)
        by = self._state.by_token(token)
        headers: dict[str, str] = {}
        status = 200
        try:
            if method == "apps.connections.open":
                body = self._connect(request, token)
            elif method in ("oauth.v2.access", "openid.connect.token"):
                body = self._exchange(request, method, arguments)
            else:
                body = {"ok": True, **self._run(request, method, arguments, token, by)}
        except Refused as refused:
            body = refused.body
        if body.get("error") == "ratelimited":
            status, headers["Retry-After"] = 429, str(body.pop("retry_after"))
        if by is not None:
            headers["x-oauth-scopes"] = ",".join(sorted(by.scopes))
            headers["x-accepted-oauth-scopes"] = ",".join(METHODS[method].scopes) if method in METHODS else ""
        self._record(method, arguments, status, body, by)
        return web.json_response(body, status=status, headers=headers)

    def _run(self, request: web.Request, name: str, arguments: Json, token: str, by: Installation | None) -> Json:
        if not token:
            raise Refused("not_authed")
        if by is None:
            raise Refused("invalid_auth")
        if by.revoked:
            raise Refused("token_revoked")
        method = METHODS.get(name)
        if method is None:
            raise Refused("unknown_method", req_method=name)
        call = Call(name, arguments, by, self._state, self._events)
        if method.scopes:
            call.needs(*method.scopes)
        wait = self._rates.take(by.team, name, str(arguments.get("channel", "")))
        if wait is not None:
            raise Refused("ratelimited", retry_after=wait)
        return method.run(call)

    def _connect(self, request: web.Request, token: str) -> Json:
        if token != self._credentials["app_token"]:
            raise Refused("invalid_auth" if token.startswith("xapp-") or not token else "not_allowed_token_type")
        url = request.url.origin().with_scheme("ws") / "link"
        return {"ok": True, "url": str(url.with_query(ticket=self._socket.ticket()))}

    def _exchange(self, request: web.Request, method: str, arguments: Json) -> Json:
        named = arguments.get("client_id"), arguments.get("client_secret")
        with_basic = request.headers.get("Authorization", "")
        if with_basic.startswith("Basic "):
            try:
                client, _, secret = base64.b64decode(with_basic[6:]).decode().partition(":")
            except (binascii.Error, UnicodeDecodeError):
                client, secret = "", ""
            named = client, secret
        if named[0] != self._credentials["client_id"]:
            return {"ok": False, "error": "invalid_client_id"}
        if named[1] != self._credentials["client_secret"]:
            return {"ok": False, "error": "bad_client_secret"}
        if method.startswith("openid"):
            return self._sign_in.token(arguments, str(request.url.origin()))
        return methods.exchange(self._state, self._credentials["app_id"], str(arguments.get("code", "")))

    def _spoiled(self, request: web.Request, fault: Fault) -> web.Response:
        if fault.drops:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else {}
        if fault.body:
            return web.json_response(fault.body, status=fault.status, headers=headers)
        return web.Response(status=fault.status, text="Slack is having trouble.", headers=headers)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.text())
        url = self._state.response_urls.get(request.match_info["url"])
        fault = self._faults.due("response_url", body)
        if fault is not None and fault.applies and url:
            messages.respond(self._state, url, body)
        if fault is not None:
            await asyncio.sleep(fault.delay)
            self._record("response_url", body, fault.heard, fault.body, None)
            return self._spoiled(request, fault)
        error, message = messages.respond(self._state, url, body) if url else ("invalid_url", None)
        if message is not None and not message.only_for:
            self._events.posted(message)
        answer: Json = {"ok": False, "error": error} if error else {"ok": True}
        gone = error in ("expired_url", "used_url", "invalid_url")
        status = 404 if gone else 400 if error else 200
        self._record("response_url", body, status, answer, None)
        return web.json_response(answer, status=status) if error else web.Response(text="ok")

    def _record(self, method: str, arguments: Json, status: int, body: Json, by: Installation | None) -> None:
        now = self._state.clock.now()
        self.calls.append(Recorded(method, arguments, now, status, body, by.team if by else ""))


async def _arguments(request: web.Request) -> Json:
    """From the query, a form or JSON; what is nested comes as JSON in a string."""
    arguments: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        text = await request.text()
        arguments |= json.loads(text) if text else {}
    elif request.method == "POST":
        arguments |= dict(await request.post())
    for name in NESTED:
        if isinstance(arguments.get(name), str):
            try:
                arguments[name] = json.loads(arguments[name])
            except ValueError:
                continue
    return arguments
