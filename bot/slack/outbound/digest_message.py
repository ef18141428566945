"""A digest of gaps, posted to its owner's channel once: what is there already, from a process that died before it could say so,
is not posted again."""

from __future__ import annotations

from functools import partial

from bot.gaps.digest import Digest
from bot.slack.outbound.client import JsonObject, call
from bot.slack.outbound.delivery import ClientOf
from bot.slack.outbound.rate_limiter import RateLimiter
from bot.slack.render.gap_digest import gap_digest
from ingest.ports import Clock

DIGEST_EVENT = "ritbot_gaps"
"""What a digest says of itself in its metadata."""
MAX_MESSAGES_READ = 200
"""Of the channel, from the hour on at which the digest was due."""


class DigestMessages:
    """Implements bot.gaps.digest.SendDigest."""

    def __init__(self, client_of: ClientOf, rates: RateLimiter, clock: Clock) -> None:
        self._client_of = client_of
        self._rates = rates
        self._clock = clock

    async def __call__(self, digest: Digest) -> None:
        client = await self._client_of("", digest.team)
        await self._rates.turn("conversations.history", digest.team)
        said = await call(
            client.conversations_history,
            channel=digest.channel,
            oldest=f"{digest.since.timestamp():.6f}",
            include_all_metadata=True,
            limit=MAX_MESSAGES_READ,
        )
        if any(message.get("metadata") == digest_metadata(digest.name) for message in said.get("messages", [])):
            return
        reports = {report.gap.id: report for report in digest.reports}
        made = gap_digest(digest.name, tuple(reports), reports, self._clock.now())
        await self._rates.turn("chat.postMessage", digest.team, digest.channel)
        await call(
            client.chat_postMessage,
            again=False,
            limited=partial(self._rates.hold, "chat.postMessage", digest.team, digest.channel),
            channel=digest.channel,
            text=made.text,
            blocks=list(made.blocks),
            unfurl_links=False,
            unfurl_media=False,
            metadata=digest_metadata(digest.name),
        )


def digest_metadata(name: str) -> JsonObject:
    return {"event_type": DIGEST_EVENT, "event_payload": {"digest": name}}
