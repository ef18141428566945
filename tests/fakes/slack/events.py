"""What the app hears of, and how it gets there: events and interactions, sent, acknowledged or not, sent again, over Socket
Mode or signed HTTP; all of it recorded.

An event reaches an installation whose bot is in the channel, that subscribed to it and holds its scope. In a channel
that is shared over Slack Connect it is marked is_ext_shared_channel, and the asker's own workspace stands in user_team.
An event that is not acknowledged in time is sent up to three times more (at once, after a minute, after five); commands
and interactions are sent once, as Slack does.

Socket Mode: websockets that an app opened with apps.connections.open. Each payload goes to one connection, in turn. A
first delivery carries retry_attempt 0 already (facts: dropping by the header's presence drops everything). Pings are
answered, unless `deaf`; a `mute` socket is connected and delivers nothing. HTTP mode: docs.slack.dev "Verifying requests
from Slack": HMAC-SHA256 of "v0:timestamp:body" with the signing secret.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import re
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import urlencode, urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout, WSCloseCode, WSMsgType, web

from tests.fakes.slack.state import Channel, Clock, Installation, Json, Message, State, User

Kind = Literal["events_api", "interactive", "slash_commands"]
RETRIES_AFTER = (0.0, 60.0, 300.0)
"""Seconds of the clock."""
ACK_WITHIN = 3.0
"""Real seconds."""


@dataclass
class Attempt:
    """`to`: the connection it went to. `seconds`: how long the acknowledgement took, be it too late; None: none came.
    `failed` says why it did not count: timeout, connection_failed, http_error …"""

    number: int
    envelope_id: str = ""
    to: str = ""
    sent_at: float = field(default_factory=time.monotonic)
    seconds: float | None = None
    answer: Any = None
    failed: str = ""


@dataclass
class Delivery:
    kind: Kind
    payload: Json
    heard: Callable[[Any], None] | None = None
    """What Slack does with the answer that comes with the acknowledgement, as soon as it is there."""
    attempts: list[Attempt] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def event_id(self) -> str:
        return str(self.payload.get("event_id", ""))

    @property
    def type(self) -> str:
        """app_mention, message, block_actions, view_submission, /ask …"""
        event: Json = self.payload.get("event", {})
        return str(event.get("type") or self.payload.get("type") or self.payload.get("command"))

    @property
    def acked(self) -> bool:
        return any(attempt.seconds is not None and not attempt.failed for attempt in self.attempts)

    @property
    def answer(self) -> Any:
        """What came with the acknowledgement."""
        return next((attempt.answer for attempt in self.attempts if attempt.answer is not None), None)

    async def over(self) -> Delivery:
        """Acknowledged, or given up."""
        await self.ended.wait()
        return self


class NotCarried(Exception):
    """The attempt failed; the text is Slack's word for why."""


class Carrier(Protocol):
    async def carry(self, delivery: Delivery, attempt: Attempt, within: float) -> None:
        """Fills in `seconds` and `answer` of the attempt. Raises NotCarried."""
        ...


class Deliveries:
    """`delay`: real seconds that every payload waits before it is sent. `held`: see `hold`."""

    def __init__(self, clock: Clock, carrier: Callable[[], Carrier]) -> None:
        self.all: list[Delivery] = []
        self.ack_within = ACK_WITHIN
        self.retries_after: tuple[float, ...] = RETRIES_AFTER
        self.delay = 0.0
        self._clock = clock
        self._carrier = carrier
        self._held: list[tuple[Delivery, int]] | None = None
        self._running: set[asyncio.Task[None]] = set()

    def send(self, kind: Kind, payload: Json, heard: Callable[[Any], None] | None = None) -> Delivery:
        delivery = Delivery(kind, payload, heard)
        self.all.append(delivery)
        self._put(delivery, 0)
        return delivery

    def again(self, delivery: Delivery, *, times: int = 1) -> None:
        """The same payload once more, as a retry that was not needed."""
        for _ in range(times):
            self._put(delivery, max(1, len(delivery.attempts)))

    def hold(self) -> None:
        """Nothing goes out until `release`."""
        self._held = self._held or []

    def release(self, *, reverse: bool = False) -> None:
        """What was held goes out, in turn, or the latest first."""
        held, self._held = self._held or [], None
        for delivery, number in reversed(held) if reverse else held:
            self._put(delivery, number)

    async def settled(self) -> None:
        """Every payload is acknowledged or given up, with those that come up meanwhile."""
        while self._running:
            await asyncio.wait(self._running)

    async def stop(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _put(self, delivery: Delivery, number: int) -> None:
        if self._held is not None:
            self._held.append((delivery, number))
            return
        task = asyncio.create_task(self._deliver(delivery, number))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _deliver(self, delivery: Delivery, number: int) -> None:
        await asyncio.sleep(self.delay)
        last = len(self.retries_after) if delivery.kind == "events_api" else 0
        while not await self._attempt(delivery, number) and number < last:
            await self._clock.sleep(self.retries_after[number])
            number += 1
        delivery.ended.set()

    async def _attempt(self, delivery: Delivery, number: int) -> bool:
        attempt = Attempt(number)
        delivery.attempts.append(attempt)
        try:
            await self._carrier().carry(delivery, attempt, self.ack_within)
        except NotCarried as reason:
            attempt.failed = str(reason)
        else:
            if delivery.heard:
                delivery.heard(attempt.answer)
        return not attempt.failed


def last_failure(delivery: Delivery) -> str:
    """Why the attempt before this one failed: retry_reason."""
    return next((attempt.failed for attempt in reversed(delivery.attempts[:-1]) if attempt.failed), "")


# --- Socket Mode

MAX_CONNECTIONS = 10
"""Of an app."""


@dataclass(eq=False)
class Connection:
    id: str
    socket: web.WebSocketResponse
    request: web.Request
    pings: int = 0

    def abort(self) -> None:
        """Cut the TCP connection: no close frame, no goodbye."""
        transport = self.request.transport
        if transport is not None:
            transport.abort()

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Slack asks the app to connect anew: warning, refresh_requested, link_disabled."""
        await self.socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "fake"}})


class SocketMode:
    def __init__(self, app_id: str) -> None:
        self.connections: list[Connection] = []
        self.opened = 0
        """Connections so far."""
        self.mute = False
        self.deaf = False
        self._app_id = app_id
        self._tickets: set[str] = set()
        self._waiting: dict[str, tuple[Attempt, asyncio.Future[None]]] = {}
        self._arrived = asyncio.Event()

    def ticket(self) -> str:
        """Good for one connection."""
        ticket = uuid.uuid4().hex
        self._tickets.add(ticket)
        return ticket

    async def connected(self, many: int = 1) -> None:
        """Wait until that many connections are open."""
        while len(self.connections) < many:
            arrived = self._arrived
            await arrived.wait()

    async def link(self, request: web.Request) -> web.StreamResponse:
        """The endpoint of the websocket."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=404, text="no such ticket")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        self.opened += 1
        connection = Connection(f"connection-{self.opened}", socket, request)
        if len(self.connections) >= MAX_CONNECTIONS:
            await connection.disconnect("too_many_websockets")
            await socket.close()
            return socket
        await self._hello(connection)
        try:
            await self._listen(connection)
        finally:
            self.connections.remove(connection)
        return socket

    async def carry(self, delivery: Delivery, attempt: Attempt, within: float) -> None:
        until = time.monotonic() + within
        connection = await self._next(until)
        attempt.envelope_id, attempt.to = str(uuid.uuid4()), connection.id
        acked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[attempt.envelope_id] = attempt, acked
        attempt.sent_at = time.monotonic()
        try:
            await connection.socket.send_json(self._envelope(delivery, attempt))
        except ConnectionError:
            raise NotCarried("connection_failed") from None
        try:
            await asyncio.wait_for(acked, until - time.monotonic())
        except TimeoutError:
            raise NotCarried("timeout") from None

    async def close(self) -> None:
        for connection in list(self.connections):
            await connection.socket.close(code=WSCloseCode.GOING_AWAY)

    async def _hello(self, connection: Connection) -> None:
        self.connections.append(connection)
        self._arrived.set()
        self._arrived = asyncio.Event()
        await connection.socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self.connections),
                "connection_info": {"app_id": self._app_id},
                "debug_info": {"host": "fake", "build_number": 1, "approximate_connection_time": 18060},
            }
        )

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.socket:
            if message.type is WSMsgType.PING:
                connection.pings += 1
                if not self.deaf:
                    await connection.socket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._acknowledge(json.loads(message.data))

    def _acknowledge(self, answer: Any) -> None:
        attempt, acked = self._waiting.get(answer.get("envelope_id", ""), (None, None))
        if attempt is None or acked is None or attempt.seconds is not None:
            return
        attempt.seconds = time.monotonic() - attempt.sent_at
        attempt.answer = answer.get("payload")
        if not acked.done():
            acked.set_result(None)

    async def _next(self, until: float) -> Connection:
        """The connection whose turn it is; waits for one."""
        while self.mute or not self.connections:
            left = until - time.monotonic()
            if left <= 0:
                raise NotCarried("timeout" if self.connections else "connection_failed")
            try:
                await asyncio.wait_for(self._arrived.wait(), min(left, 0.05))
            except TimeoutError:
                continue
        connection = self.connections.pop(0)
        self.connections.append(connection)
        return connection

    def _envelope(self, delivery: Delivery, attempt: Attempt) -> Json:
        envelope: Json = {
            "envelope_id": attempt.envelope_id,
            "type": delivery.kind,
            "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
        }
        if delivery.kind == "events_api":
            envelope |= {"retry_attempt": attempt.number, "retry_reason": last_failure(delivery)}
        return envelope


# --- HTTP mode


class Webhook:
    """`urls`: of replicas behind one address, each in turn."""

    def __init__(self, urls: Sequence[str], signing_secret: str) -> None:
        self._urls = itertools.cycle(urls)
        self._secret = signing_secret

    async def carry(self, delivery: Delivery, attempt: Attempt, within: float) -> None:
        body, headers = self._body(delivery)
        if attempt.number:
            reason = {"timeout": "http_timeout"}.get(last_failure(delivery), last_failure(delivery))
            headers |= {"X-Slack-Retry-Num": str(attempt.number), "X-Slack-Retry-Reason": reason}
        attempt.to = next(self._urls)
        attempt.sent_at = time.monotonic()
        status, attempt.answer = await self._post(attempt.to, body, headers | self.signed(body), within)
        attempt.seconds = time.monotonic() - attempt.sent_at
        if status >= 300:
            raise NotCarried("http_error")

    def signed(self, body: str, *, at: float | None = None) -> dict[str, str]:
        """The headers that prove where a body comes from."""
        timestamp = str(int(time.time() if at is None else at))
        mac = hmac.new(self._secret.encode(), f"v0:{timestamp}:{body}".encode(), hashlib.sha256)
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={mac.hexdigest()}"}

    async def verify(self) -> bool:
        """Whether the app answers the challenge that Slack sends when the URL is entered."""
        body = json.dumps({"type": "url_verification", "token": "verification", "challenge": "c0ffee"})
        headers = {"Content-Type": "application/json"} | self.signed(body)
        status, answer = await self._post(next(self._urls), body, headers, 3.0)
        return status == 200 and (answer == "c0ffee" or answer == {"challenge": "c0ffee"})

    def _body(self, delivery: Delivery) -> tuple[str, dict[str, str]]:
        if delivery.kind == "events_api":
            return json.dumps(delivery.payload), {"Content-Type": "application/json"}
        form = delivery.payload if delivery.kind == "slash_commands" else {"payload": json.dumps(delivery.payload)}
        return urlencode(form), {"Content-Type": "application/x-www-form-urlencoded"}

    async def _post(self, url: str, body: str, headers: dict[str, str], within: float) -> tuple[int, Any]:
        try:
            async with (
                ClientSession(timeout=ClientTimeout(total=within)) as session,
                session.post(url, data=body.encode(), headers=headers) as response,
            ):
                text = await response.text()
                status, is_json = response.status, response.content_type == "application/json"
        except TimeoutError:
            raise NotCarried("timeout") from None
        except ClientError:
            raise NotCarried("connection_failed") from None
        if not text:
            return status, None
        return status, json.loads(text) if is_json else text


# --- events

SCOPE_OF: Mapping[str, str] = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "app_home_opened": "",
    "agent_session_stopped": "",
    "app_uninstalled": "",
    "tokens_revoked": "",
    "link_shared": "links:read",
}
"""What can be subscribed to, and the scope that it takes."""
MESSAGES_IN = {"public": "message.channels", "private": "message.groups", "direct": "message.im"}


_URL = re.compile(r"https?://[^\s<>|]+")


class Events:
    def __init__(self, state: State, deliveries: Deliveries, app_id: str, subscriptions: Iterable[str]) -> None:
        self.subscriptions = set(subscriptions)
        self._state = state
        self._deliveries = deliveries
        self._app_id = app_id

    def posted(self, message: Message) -> list[Delivery]:
        """A message was posted; a mention comes as an event of its own before it, but not in a direct channel."""
        channel = self._state.channels[message.channel]
        sent = self._links(message, channel)
        return self._mentions(message, channel) + self._to_channel(self.message(message), channel, message) + sent

    def _links(self, message: Message, channel: Channel) -> list[Delivery]:
        """link_shared, once for what is being written and once for what was posted, in any channel of the workspace, the app
        in it or not; never for the app's own messages (docs.slack.dev, "link_shared", "Changes to unfurls", 2021)."""
        urls = list(dict.fromkeys(_URL.findall(message.text)))
        links = [
            {"domain": host, "url": url}
            for url in urls
            if (host := urlsplit(url).hostname or "") in self._state.unfurl_domains
        ]
        installation = self._state.installations.get(channel.team)
        if not links or installation is None or message.user == installation.bot_user:
            return []
        written = self._state.name("U") + "-unfurl"
        event: Json = {"type": "link_shared", "user": message.user, "links": links, "event_ts": message.ts}
        event["is_bot_user_member"] = installation.bot_user in channel.members
        composer = {"channel": "COMPOSER", "message_ts": written, "unfurl_id": written, "source": "composer"}
        posted = {"channel": channel.id, "message_ts": message.ts, "unfurl_id": f"{channel.id}.{message.ts}"}
        posted |= {"source": "conversations_history", **({"thread_ts": message.thread_ts} if message.thread_ts else {})}
        sent = self._send("link_shared", event | composer, installation)
        return sent + self._send("link_shared", event | posted, installation, channel)

    def edited(self, message: Message, before: Json) -> list[Delivery]:
        """Someone edited a message: message_changed, and a mention in it fires app_mention anew, with `edited`."""
        channel = self._state.channels[message.channel]
        changed = self._wrapped("message_changed", channel)
        changed |= {"message": self.message(message), "previous_message": before}
        return self._mentions(message, channel) + self._to_channel(changed, channel, message)

    def removed(self, message: Message) -> list[Delivery]:
        """Someone deletes a message: message_deleted; one that has replies is changed to a tombstone."""
        channel, before = self._state.channels[message.channel], self.message(message)
        if self._state.remove(message):
            gone = self._wrapped("message_changed", channel)
            gone |= {"message": self.message(message), "previous_message": before}
        else:
            gone = self._wrapped("message_deleted", channel)
            gone |= {"deleted_ts": message.ts, "previous_message": before}
        return self._to_channel(gone, channel, message)

    def home_opened(self, user: User, channel: Channel, tab: str) -> list[Delivery]:
        event: Json = {"type": "app_home_opened", "user": user.id, "channel": channel.id, "tab": tab}
        return self._to_bots(event | {"event_ts": self._state.timestamp()}, channel)

    def session_stopped(self, channel: Channel, root: str, user: str, streams: list[str]) -> list[Delivery]:
        event: Json = {"type": "agent_session_stopped", "channel": channel.id, "thread_ts": root, "user": user}
        return self._to_bots(event | {"streaming_message_ts": streams, "event_ts": self._state.timestamp()}, channel)

    def uninstalled(self, installation: Installation) -> list[Delivery]:
        """The app was removed from a workspace."""
        revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [installation.bot_user]}}
        sent = self._send("tokens_revoked", revoked, installation)
        sent += self._send("app_uninstalled", {"type": "app_uninstalled"}, installation)
        for delivery in sent:
            delivery.payload.pop("authorizations")  # there is none any more
        return sent

    def message(self, message: Message) -> Json:
        """A message as events and conversations.replies show it."""
        channel = self._state.channels[message.channel]
        shown: Json = {
            "type": "message",
            "user": message.user,
            "text": message.text,
            "ts": message.ts,
            "team": message.team,
            "channel": message.channel,
            "channel_type": channel.type,
            "event_ts": message.ts,
            "blocks": message.blocks,
        }
        if message.thread_ts:
            shown |= {"thread_ts": message.thread_ts, "parent_user_id": self._parent(message)}
        if message.bot_id:
            shown |= {"bot_id": message.bot_id, "app_id": self._app_id}
        if message.edited_at:
            shown["edited"] = {"user": message.user, "ts": message.edited_at}
        if channel.shared_with:
            shown["user_team"] = self._state.users[message.user].team
        return shown | message.more

    def _parent(self, message: Message) -> str:
        root = self._state.messages.get((message.channel, message.thread_ts))
        return root.user if root else ""

    def _wrapped(self, subtype: str, channel: Channel) -> Json:
        now = self._state.timestamp()
        return {
            "type": "message",
            "subtype": subtype,
            "channel": channel.id,
            "channel_type": channel.type,
            "hidden": True,
            "ts": now,
            "event_ts": now,
        }

    def _mentions(self, message: Message, channel: Channel) -> list[Delivery]:
        if channel.kind == "direct" or (message.bot_id and "bot_profile" not in message.more):
            return []
        event = self.message(message) | {"type": "app_mention"}
        event.pop("channel_type")
        mentioned = [one for one in self._state.bots_in(channel) if f"<@{one.bot_user}>" in message.text]
        return [sent for one in mentioned for sent in self._send("app_mention", event, one, channel, message)]

    def _to_bots(self, event: Json, channel: Channel) -> list[Delivery]:
        return [sent for one in self._state.bots_in(channel) for sent in self._send(event["type"], event, one, channel)]

    def _to_channel(self, event: Json, channel: Channel, message: Message) -> list[Delivery]:
        installation = next(self._state.bots_in(channel), None)
        if installation is None:
            return []
        return self._send(MESSAGES_IN[channel.kind], event, installation, channel, message)

    def _send(
        self,
        name: str,
        event: Json,
        installation: Installation,
        channel: Channel | None = None,
        message: Message | None = None,
    ) -> list[Delivery]:
        scope, enterprise = SCOPE_OF[name], self._state.teams[installation.team].enterprise
        if name not in self.subscriptions or (scope and scope not in installation.scopes):
            return []
        payload: Json = {
            "token": "verification",
            "team_id": installation.team,
            "api_app_id": self._app_id,
            "event": event,
            "type": "event_callback",
            "event_id": self._state.name("Ev"),
            "event_time": int(self._state.clock.now()),
            "authorizations": [
                {
                    "enterprise_id": enterprise or None,
                    "team_id": installation.team,
                    "user_id": installation.bot_user,
                    "is_bot": True,
                    "is_enterprise_install": installation.organisation,
                }
            ],
            "is_ext_shared_channel": bool(channel and self._state.is_external(channel)),
            "event_context": f"4-{installation.team}-{channel.id if channel else ''}",
        }
        if message is not None and channel is not None and channel.shared_with:
            payload["context_team_id"] = installation.team
        return [self._deliveries.send("events_api", payload)]
