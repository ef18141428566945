"""A word to one person alone: what whoever pressed, picked or typed something is told when it could not be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.slack.outbound.client import SlackRefused, call

log = structlog.get_logger()

Json = Mapping[str, Any]


async def tell(body: Json, client: AsyncWebClient, text: str) -> None:
    """`body`: the payload that Slack sent of what the person did. Where ritbot is no member of the channel, the address
    that came with the payload still works."""
    container: Json = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or body.get("channel_id")
    try:
        await call(
            client.chat_postEphemeral,
            channel=str(channel),
            user=who(body),
            thread_ts=container.get("thread_ts") or None,
            text=text,
        )
    except SlackRefused as error:
        log.info("not_told", reason=str(error))
        if address := str(body.get("response_url") or ""):
            webhook = AsyncWebhookClient(address, proxy=client.proxy, retry_handlers=[])
            await call(webhook.send_dict, body={"response_type": "ephemeral", "replace_original": False, "text": text})


def who(body: Json) -> str:
    """The id of the person; a command names it elsewhere than a button."""
    return str((body.get("user") or {}).get("id") or body.get("user_id"))
