"""`/cite` and "Cite a section": sections found by words, one of them posted with the link that stays; and such links
unfolded where people paste them.

Finding is shown to whoever asked, alone; posting is for everybody in the channel, also where ritbot is no member.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.model import Question
from bot.permalinks.lookup import Permalinks
from bot.permalinks.permalink import reference_in
from bot.slack.inbound.intake import Intake
from bot.slack.inbound.parse import presser
from bot.slack.message_text import Payload
from bot.slack.outbound.client import SlackRefused, call
from bot.slack.render import actions
from bot.slack.render.answer_message import Message, notice
from bot.slack.render.section_message import choice_message, section_message, unfurled
from ingest.model import Scope
from ingest.ports import Clock

log = structlog.get_logger()

ScopeOf = Callable[[str, str], Awaitable[Scope]]
"""(team, channel) -> where sections are looked for there."""
MAX_CHOICES = 5
"""Sections to choose from."""
MAX_UNFURLED = 5
"""Links of one message."""
CITE_USAGE = "Name some words of a section, for example: `/cite rotate the signing keys`"
NO_SEARCH = "I cannot search for sections here: another process of mine holds the index. Please tell whoever runs me."
SECTION_GONE = "This section is no longer there. Please search again."


class Citing:
    """`public_url`: where permalinks lead; "": the documentation itself is linked."""

    def __init__(
        self, permalinks: Permalinks, intake: Intake, scope_of: ScopeOf, clock: Clock, *, public_url: str = ""
    ) -> None:
        self._permalinks = permalinks
        self._intake = intake
        self._scope_of = scope_of
        self._clock = clock
        self._public_url = public_url

    async def offer(self, wanted: Question) -> Message:
        """What whoever asked is shown. Raises StoreUnavailable."""
        if closed := await self._intake.closed(wanted, shared=False):
            return notice(closed)
        if not self._permalinks.searches:
            return notice(NO_SEARCH)
        scope = await self._scope_of(wanted.team, wanted.channel)
        sections = await self._permalinks.found(wanted.text, scope, MAX_CHOICES)
        return choice_message(sections, thread=wanted.thread)

    async def post(self, body: Payload, client: AsyncWebClient) -> str:
        """The section whose button was pressed; what could not be done comes back as a sentence."""
        node, thread = actions.citation_of(str(body["actions"][0].get("value")))
        if closed := await self._intake.closed(presser(body, self._clock.now()), shared=False):
            return closed
        section = (await self._permalinks.sections([node])).get(node)
        if section is None:
            return SECTION_GONE
        if self._public_url:
            await self._permalinks.keep_linked(section)
        live = await self._permalinks.landing(section)
        message = section_message(section, now=self._clock.now(), live=live, public_url=self._public_url)
        made = list(message.blocks)
        try:
            await call(
                client.chat_postMessage,
                again=False,
                channel=str((body.get("channel") or {}).get("id")),
                unfurl_links=False,
                unfurl_media=False,
                text=message.text,
                blocks=made,
                thread_ts=thread or None,
            )
        except SlackRefused as error:
            if error.unsure or not (address := str(body.get("response_url") or "")):
                raise
            log.info("cited_through_response_url", reason=str(error))
            webhook = AsyncWebhookClient(address, proxy=client.proxy, retry_handlers=[])
            said = {"text": message.text, "blocks": made, **({"thread_ts": thread} if thread else {})}
            public = {"response_type": "in_channel", "replace_original": False, **said}
            await call(webhook.send_dict, again=False, body=public)
        log.info("section_cited", node=node)
        return ""

    async def unfurl(self, body: Payload, client: AsyncWebClient) -> None:
        """A message with links was posted (docs.slack.dev, "link_shared", "chat.unfurl"): each that stays is unfolded. What is
        only being written is not, for nobody knows yet who will read it."""
        event: Payload = body["event"]
        if event.get("source") == "composer" or await self._intake.closed(
            self._sharer(body), shared=bool(body.get("is_ext_shared_channel"))
        ):
            return
        made: dict[str, Payload] = {}
        for url in [str(each.get("url")) for each in event.get("links") or ()][:MAX_UNFURLED]:
            wanted = reference_in(url, self._public_url)
            if wanted and (standing := await self._permalinks.standing(wanted)):
                if standing.now:
                    await self._permalinks.keep_linked(standing.now)
                made[url] = {"blocks": list(unfurled(standing, url=url, now=self._clock.now()))}
        if made:
            channel, ts = str(event.get("channel")), str(event.get("message_ts"))
            await call(client.chat_unfurl, unfurls=made, channel=channel, ts=ts)
            log.info("links_unfurled", count=len(made))

    def _sharer(self, body: Payload) -> Question:
        event: Payload = body["event"]
        shared = {**body, "channel": {"id": event.get("channel")}, "user": {"id": event.get("user")}}
        return presser(shared, self._clock.now())
