"""A connection to Slack that is not what it seems is replaced; one that cannot be had is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from slack_bolt.async_app import AsyncApp

from bot.errors import SlackClosed
from bot.slack.inbound.socket_mode import Socket
from bot.slack.outbound.client import quiet_client
from tests.fakes.slack import SERVER_ERROR, FakeSlack, Fault
from tests.waiting import eventually

REVOKED = Fault(error="invalid_auth")


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as fake:
        fake.deliveries.retries_after = (0.1, 0.1, 0.1)
        yield fake


class Listening:
    """An app that notes what is said, behind a Socket with short patience."""

    def __init__(self, slack: FakeSlack, **seconds: float) -> None:
        self.heard: list[str] = []
        self.before: Callable[[], object] = lambda: None
        app = AsyncApp(client=quiet_client(slack.bot_token, slack.base_url), process_before_response=True)
        app.event("message")(self._said)
        self.socket = Socket(app, slack.app_token, **{"ping": 0.1, "dead": 30.0, "look": 0.05, **seconds})
        self.running = asyncio.create_task(self.socket.run())

    async def _said(self, event: dict[str, str]) -> None:
        if asyncio.iscoroutine(waits := self.before()):
            await waits
        self.heard.append(event["text"])


@asynccontextmanager
async def listening(slack: FakeSlack, **seconds: float) -> AsyncIterator[Listening]:
    made = Listening(slack, **seconds)
    try:
        await slack.until(lambda: slack.socket.connections or made.running.done())
        yield made
    finally:
        made.socket.stop()
        with suppress(SlackClosed):
            await made.running


async def heard(slack: FakeSlack, app: Listening, text: str) -> None:
    ada = slack.person("Ada")
    await ada.say(slack.channel("general"), text)
    await slack.until(lambda: text in app.heard)


async def test_a_connection_that_stays_silent_is_replaced(slack: FakeSlack) -> None:
    """Situation 6: connected after a long idle time, and no events."""
    async with listening(slack, silent=1.0) as app:
        slack.socket.mute = True
        await slack.until(lambda: slack.socket.opened >= 2)
        slack.socket.mute = False
        await heard(slack, app, "Are you there?")


async def test_a_connection_over_which_something_comes_is_kept(slack: FakeSlack) -> None:
    async with listening(slack, silent=1.5) as app:
        until = time.monotonic() + 2.5
        while time.monotonic() < until:
            await heard(slack, app, f"It is {time.monotonic()}.")
        assert slack.socket.opened == 1


async def test_a_connection_that_is_cut_is_opened_again_and_nothing_is_lost(slack: FakeSlack) -> None:
    async with listening(slack) as app:
        slack.socket.connections[0].abort()
        await heard(slack, app, "Are you there?")
        assert slack.socket.opened == 2


async def test_a_connection_that_the_library_gave_up_is_replaced(slack: FakeSlack) -> None:
    """Situation 5: the session is closed, nobody makes another, and the process looks alive."""
    async with listening(slack, dead=0.5) as app:
        handler = app.socket._handler
        assert handler is not None
        handler.client.auto_reconnect_enabled = False
        for connection in tuple(slack.socket.connections):
            connection.abort()
        await slack.until(lambda: slack.socket.opened >= 2)
        await heard(slack, app, "Are you there?")
        assert not app.running.done()


async def test_while_there_is_no_connection_it_says_so_and_then_connects(slack: FakeSlack) -> None:
    async with listening(slack, dead=0.3) as app:
        await app.socket.check()
        slack.faults.always("apps.connections.open", SERVER_ERROR)
        for connection in tuple(slack.socket.connections):
            connection.abort()

        async def is_alone() -> bool:
            return not await connected(app)

        await eventually(is_alone)
        slack.faults.none()
        await heard(slack, app, "Are you there?")
        await app.socket.check()


async def connected(app: Listening) -> bool:
    try:
        await app.socket.check()
    except SlackClosed:
        return False
    return True


async def test_slack_that_cannot_be_reached_at_the_start_is_tried_again(slack: FakeSlack) -> None:
    slack.faults.next("apps.connections.open", SERVER_ERROR, times=5)
    async with listening(slack, dead=0.3) as app:
        await heard(slack, app, "Are you there?")


async def test_an_app_token_that_is_revoked_while_it_runs_ends_the_role_with_what_to_do(slack: FakeSlack) -> None:
    async with listening(slack, dead=0.3) as app:
        slack.faults.always("apps.connections.open", REVOKED)
        for connection in tuple(slack.socket.connections):
            connection.abort()
        with pytest.raises(SlackClosed, match="xapp-"):
            await asyncio.wait_for(app.running, 10)


async def test_what_is_in_hand_when_it_stops_is_acknowledged(slack: FakeSlack) -> None:
    async with listening(slack) as app:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def wait() -> None:
            begun.set()
            await go_on.wait()

        app.before = wait
        await slack.person("Ada").say(slack.channel("general"), "Are you there?")
        await begun.wait()
        app.socket.stop()
        go_on.set()
        await app.running
        [delivery] = slack.deliveries.all
        assert [attempt.failed for attempt in delivery.attempts] == [""]
