"""The weekly digest: when it is sent and by whom, what it says in a fake Slack, what its buttons do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import DeliveryFailed
from bot.gaps.digest import LATE, SENDING, Digest, Digests, DigestTime
from bot.gaps.gap import Gap, GapState, Place
from bot.gaps.report import GapOwner, GapReport, asked_openly
from bot.model import Exchange, Need
from bot.slack.inbound.gap_states import GAP_GONE
from bot.slack.outbound.digest_message import DigestMessages
from bot.slack.outbound.rate_limiter import RateLimiter
from bot.slack.render import actions
from bot.slack.render.blocks import LIMITS, characters
from bot.slack.render.gap_digest import HEADING, MAX_GAPS, gap_digest, told_of
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from bot.store.sqlite_gaps import SqliteGaps
from tests.fakes.exchanges import SetClock, answer, question
from tests.fakes.slack import Channel, FakeSlack, Message, Person, words
from tests.fakes.slack_bot import Bot, bot
from tests.waiting import eventually

MONDAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)
SECURITY, GUIDES = GapOwner("/keys", "Security", "C7"), GapOwner(".", "Guides", "C8")
BERLIN = ZoneInfo("Europe/Berlin")


def gap(number: int, page: str = "keys", **fields: object) -> Gap:
    path = ("Pump", "Guide", f"*Key* <!channel> {number}")
    place = Place(f"n{number}", path, f"https://docs.example.test/{page}#{number}")
    return Gap(f"{number:08x}", MONDAY - WEEK, pin=place, **fields)  # type: ignore[arg-type]


def in_vain(number: int, of: Gap, asked_at: datetime, **fields: str) -> Exchange:
    lacking = replace(answer(), outcome="not_found", sources=())
    text = f"How do I rotate <@U77> key {number}?"
    return Exchange(
        question(number, text=text, asked_at=asked_at, **fields), state="done", answer=lacking, need=Need(of.id)
    )


class Office:
    """A store with gaps, and whoever tells their owners. `told`: what was sent; `failing`: how the next tries end."""

    def __init__(self, store: SqliteBotStore, gaps: SqliteGaps, clock: SetClock) -> None:
        self.store = store
        self.gaps = gaps
        self.clock = clock
        self.told: list[Digest] = []
        self.failing: list[BaseException] = []

    def sender(self, time: DigestTime = DigestTime()) -> Digests:  # noqa: B008
        owners = (SECURITY, GUIDES, GapOwner(".", "Nobody"))
        told: Any = {"owners": owners, "may_quote": lambda: asked_openly, "time": time}
        return Digests(self.store, self.gaps, self.send, self.clock, **told)

    async def send(self, digest: Digest) -> None:
        if self.failing:
            raise self.failing.pop(0)
        self.told.append(digest)


@asynccontextmanager
async def office(folder: Path, *kept: tuple[Gap, int, timedelta]) -> AsyncIterator[Office]:
    """`kept`: gaps, how many questions each has, and how long before Monday the last was asked."""
    clock = SetClock(MONDAY)
    async with SqliteBotStore(folder / "bot", KeySeal(()), clock) as store, SqliteGaps(folder / "gaps") as gaps:
        number = 0
        for each, count, ago in kept:
            await gaps.keep(each, None)
            for back in range(count):
                number += 1
                await store.keep(in_vain(number, each, MONDAY - ago - back * HOUR), None)
        yield Office(store, gaps, clock)


async def test_each_owner_hears_once_a_week_of_gaps_that_are_open_the_most_asked_first(tmp_path: Path) -> None:
    kept = [
        (gap(1), 1, DAY),
        (gap(2), 3, DAY),
        (gap(3), 5, 2 * WEEK),
        (gap(4, state="taken"), 2, DAY),
        (gap(5, state="ignored"), 9, DAY),
        (gap(6, state="fixed"), 9, DAY),
        (gap(7, page="guide"), 1, DAY),
    ]
    async with office(tmp_path, *kept) as here:
        await asyncio.gather(*(here.sender().look() for _ in range(5)))
        await here.sender().look()
        told = {digest.channel: [int(report.gap.id) for report in digest.reports] for digest in here.told}
        assert (told, len(here.told)) == ({"C7": [2, 4, 1, 3], "C8": [7]}, 2)
        here.clock.time += WEEK
        await here.store.keep(in_vain(99, gap(1), here.clock.time - DAY), None)
        await here.sender().look()
        assert [(digest.channel, digest.name) for digest in here.told[2:]] == [("C7", "digest:C7:2026-05-11")]


@pytest.mark.parametrize(
    ("zone", "weekday", "now", "due"),
    [
        (UTC, 0, MONDAY, MONDAY),
        (UTC, 0, MONDAY - timedelta(seconds=1), MONDAY - WEEK),
        (UTC, 0, MONDAY + 6 * DAY, MONDAY),
        (UTC, 2, MONDAY, MONDAY - 5 * DAY),
        (BERLIN, 0, MONDAY, MONDAY - 2 * HOUR),
        (BERLIN, 0, MONDAY - 2 * HOUR - timedelta(seconds=1), MONDAY - WEEK - 2 * HOUR),
        (UTC, None, MONDAY, None),
    ],
)
def test_the_hour_of_a_digest_is_of_the_clock_on_the_wall(
    zone: ZoneInfo, weekday: int | None, now: datetime, due: datetime | None
) -> None:
    assert DigestTime(weekday, zone).last(now) == due


async def test_a_digest_that_is_too_late_waits_for_the_next_week(tmp_path: Path) -> None:
    async with office(tmp_path, (gap(1), 1, DAY)) as here:
        here.clock.time += LATE + timedelta(seconds=1)
        await here.sender().look()
        assert here.told == []


@pytest.mark.parametrize("error", [DeliveryFailed("not_in_channel", passing=False), asyncio.CancelledError()])
async def test_what_was_not_sent_is_left_to_the_next_who_looks_later(tmp_path: Path, error: BaseException) -> None:
    async with office(tmp_path, (gap(1), 1, DAY)) as here:
        here.failing = [error]
        for late in (timedelta(0), SENDING / 2, SENDING):
            here.clock.time = MONDAY + late
            try:
                await here.sender().look()
            except asyncio.CancelledError:
                continue
            assert len(here.told) == (late == SENDING)


def test_a_digest_keeps_to_what_slack_takes_and_pings_nobody() -> None:
    reports = {}
    for number in range(2 * MAX_GAPS):
        made = gap(number, state="taken")
        long = replace(made, pin=Place("n", ("P" * 500,) * 9, f"https://docs.example.test/{'x' * 900}"))
        reports[made.id] = GapReport(long, (MONDAY,), None, ("word " * 400, "<!channel> & <@U1>", "x" * 4_000))
    message = gap_digest("digest:C7:2026-05-04", tuple(reports), reports, MONDAY)
    assert len(message.blocks) <= LIMITS.blocks
    assert characters(message.blocks) <= LIMITS.characters
    assert all(len(block["text"]["text"]) <= LIMITS.section for block in message.blocks if block["type"] == "section")
    assert "<!channel>" not in str(message.blocks)
    assert "<@U1>" not in str(message.blocks)
    digest, told = told_of({"blocks": list(message.blocks)})
    assert digest == "digest:C7:2026-05-04"
    assert told == tuple(reports)[: len(told)]
    assert len(told) >= 3
    with pytest.raises(ValueError, match="not a digest"):
        told_of({"blocks": [{"type": "divider"}]})


async def sent(ritbot: Bot, channel: Channel, *gaps: Gap, times: int = 1) -> Message:
    """The digest as each of so many processes sends it, none of which knows that another did."""
    slack = ritbot.slack
    for number, each in enumerate(gaps):
        await ritbot.gaps.keep(each, None)
        for place, private in ((channel, False), (slack.channel(f"secret-{number}", private=True), True)):
            where = {"id": f"q{number}{private}", "channel": place.id, "team": place.team}
            await ritbot.store.keep(in_vain(number + 7 * private, each, datetime.now(UTC) - HOUR, **where), None)

    async def client_of(_: str, __: str) -> AsyncWebClient:
        return AsyncWebClient(slack.bot_token, base_url=slack.base_url)

    since = datetime.fromtimestamp(slack.clock.now(), UTC) - HOUR
    reports = tuple(GapReport(each, (MONDAY,), SECURITY, ("How do I rotate a key?",)) for each in gaps)
    for _ in range(times):
        send = DigestMessages(client_of, RateLimiter(), SetClock())
        await send(Digest("digest:week", channel.id, "", since, reports))
    [message] = [one for one in slack.said_in(channel) if HEADING in words(one)]
    return message


async def test_a_digest_is_posted_once_and_its_buttons_set_states_that_the_message_shows(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, docs = slack.person("Ada"), slack.channel("docs")
    async with bot(tmp_path, slack) as ritbot:
        first, second = gap(1), gap(2)
        message = await sent(ritbot, docs, first, second, times=3)
        assert "How do I rotate a key?" in words(message)
        assert "U77" not in str(message.blocks)
        assert await pressed(ritbot, ada, message, first, "taken") == "taken"
        await slack.until(lambda: "· taken" in words(message))
        assert "How do I rotate someone key 0?" in words(message)
        assert "someone key 7?" not in words(message), "it was asked in a private channel"
        assert await pressed(ritbot, ada, message, first, "fixed") == "fixed"
        assert await pressed(ritbot, ada, message, second, "ignored") == "ignored"
        await slack.until(lambda: "· fixed" in words(message) and "· ignored" in words(message))
        assert await pressed(ritbot, ada, message, first, "open") == "open"
        await slack.until(lambda: "· fixed" not in words(message))
        assert await sent(ritbot, docs) is message, "a process that died before it could say so does not post again"


async def test_who_may_not_ask_may_not_press_and_what_is_gone_is_said_so(tmp_path: Path, slack: FakeSlack) -> None:
    ada, gus, docs = slack.person("Ada"), slack.person("Gus", guest="multi"), slack.channel("docs")
    async with bot(tmp_path, slack) as ritbot:
        first = gap(1)
        message = await sent(ritbot, docs, first)
        await gus.press(message, f"{actions.GAP}taken")
        await slack.until(lambda: any("guests" in one.text for one in slack.said_in(docs)))
        kept = await ritbot.gaps.gap(first.id)
        assert kept is not None
        assert kept.gap.state == "open"
        await ritbot.gaps.remove(first.id)
        await ada.press(message, f"{actions.GAP}taken")
        await slack.until(lambda: any(one.text == GAP_GONE for one in slack.said_in(docs)))


async def pressed(ritbot: Bot, person: Person, message: Message, of: Gap, state: GapState) -> str:
    """The gap's state after its button was pressed."""
    await person.press(message, f"{actions.GAP}{state}", value=of.id)

    async def is_set() -> bool:
        kept = await ritbot.gaps.gap(of.id)
        return kept is not None and kept.gap.state == state

    await eventually(is_set)
    return state
