"""The buttons under a digest of gaps: they set a gap's state, and the message shows it."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.gaps.grouping import change_gap
from bot.gaps.report import MayQuote, gap_reports
from bot.ports import BotStore, Gaps
from bot.slack.inbound.intake import Intake
from bot.slack.inbound.parse import presser
from bot.slack.message_text import Payload
from bot.slack.outbound.client import call
from bot.slack.outbound.digest_message import digest_metadata
from bot.slack.render import actions
from bot.slack.render.gap_digest import gap_digest, told_of
from ingest.ports import Clock

log = structlog.get_logger()

GAP_GONE = "This gap is no longer there: its questions are older than what I keep, or they were forgotten."


class GapStates:
    """`may_quote`: as of the digests."""

    def __init__(
        self, store: BotStore, gaps: Gaps, intake: Intake, clock: Clock, may_quote: Callable[[], MayQuote]
    ) -> None:
        self._store = store
        self._gaps = gaps
        self._intake = intake
        self._clock = clock
        self._may_quote = may_quote

    async def put(self, body: Payload, client: AsyncWebClient) -> str:
        """The state whose button was pressed; what could not be done comes back as a sentence."""
        pressed: Payload = body["actions"][0]
        state, gap_id = actions.gap_state(str(pressed["action_id"])), str(pressed["value"])
        now = self._clock.now()
        if closed := await self._intake.closed(presser(body, now), shared=False):
            return closed
        if await change_gap(self._gaps, gap_id, lambda gap: gap.put(state, now)) is None:
            return GAP_GONE
        log.info("gap_state_set", gap=gap_id, state=state)
        digest, gap_ids = told_of(body["message"])
        quotable = self._may_quote()
        told = [await gap_reports(self._store, self._gaps, (), only=each, may_quote=quotable) for each in gap_ids]
        made = gap_digest(digest, gap_ids, {report.gap.id: report for each in told for report in each}, now)
        await call(
            client.chat_update,
            channel=str(body["channel"]["id"]),
            ts=str(body["message"]["ts"]),
            text=made.text,
            blocks=list(made.blocks),
            metadata=digest_metadata(digest),
        )
        return ""
