"""The Model port on Anthropic's Messages API, and on any endpoint that speaks it.

What an endpoint cannot do is found out, not configured: a request that it refuses is sent again without
prompt caching and without search results, and what was taken is remembered; a reply that comes in one
piece is read like a stream; counts that it leaves out are estimated.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Self

import httpx2
import structlog

from ingest.retry import RetryPolicy
from navigator.errors import ModelError, ModelLimited, ModelUnreachable
from navigator.models.capabilities import TRY_CITATIONS, TRY_TOOLS, Capabilities, missing, refused_by
from navigator.models.channel import Channel
from navigator.models.faults import RequestRefused
from navigator.models.messages import Conversation, Form, Json, basis, request_body, sources
from navigator.models.prices import Prices
from navigator.models.reply import StreamedReply
from navigator.models.tokens import CHARACTERS_PER_TOKEN
from navigator.ports import CitationDelta, ModelEvent, TextDelta, Tool, ToolCallEvent, Turn, TurnEnd

log = structlog.get_logger()

_MAX_RETRY_AFTER_SECONDS = 30.0
"""An endpoint that asks for a longer pause is not waited for; who asked is told."""
_MAX_PAUSE_SECONDS = 8.0
MORE_ROOM = 2
"""Times max_tokens, for a turn that reasoning used up."""
END_OF_REASONING = "</think>\n\n"
"""Ends what the first try left open: it is cut with the reasoning."""

Events = AsyncGenerator[ModelEvent, None]


class AnthropicModel:
    """One model at one endpoint; any number of turns side by side.

    `api_key` None sends none (local servers). `base_url` may have a path. `timeout`: seconds without
    anything new (pings are nothing new). `max_retries`: further tries after a transient failure, only while
    nothing was said, the first after `retry_wait` seconds, then doubling, or when the endpoint says.
    `citations`: whether the endpoint gives its own; None: found out. Current models refuse any
    `temperature` but None. `proxy`, `ca_file`, `trust_env`, `transport`: see Channel."""

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None = None,
        model: str = "claude-haiku-5-5",
        max_tokens: int = 8_192,
        timeout: float = 60.0,
        max_retries: int = 3,
        retry_wait: float = 0.5,
        context_window: int = 200_000,
        temperature: float | None = None,
        citations: bool | None = None,
        prompt_caching: bool = True,
        prices: Prices | None = None,
        proxy: str | None = None,
        ca_file: str | None = None,
        trust_env: bool = False,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._channel = Channel(
            api_key=api_key,
            base_url=base_url,
            model=model,
            timeout=timeout,
            proxy=proxy,
            ca_file=ca_file,
            trust_env=trust_env,
            transport=transport,
        )
        self._name = model
        self._context_window = context_window
        self._limits: Json = {"max_tokens": max_tokens}
        if temperature is not None:
            self._limits["extra_body"] = {"temperature": temperature}
        self._retries = RetryPolicy(
            max_retries + 1, pause=retry_wait, longest=_MAX_PAUSE_SECONDS, asked=_MAX_RETRY_AFTER_SECONDS
        )
        self._prices = prices
        self._form = Form(citations=citations is not False, caching=prompt_caching)
        self._may_drop_citations = citations is None
        self._citations_unproven = citations is None and base_url is not None
        self._proving = asyncio.Lock()
        self._reports_caching = False

    async def __aenter__(self) -> Self:
        await self._channel.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._channel.__aexit__()

    @property
    def name(self) -> str:
        return self._name

    @property
    def cites(self) -> bool:
        return self._form.citations

    @property
    def context_window(self) -> int:
        return self._context_window

    def turn(self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False) -> Events:
        return self._answered(Conversation(system, turns, tools, must_answer), prove=True)

    async def probe(self) -> Capabilities:
        """What the endpoint can do, at the price of two tiny conversations. Raises nothing for what it cannot."""
        try:
            tools = any([isinstance(event, ToolCallEvent) async for event in self._answered(TRY_TOOLS)])
            streaming, caching = self._channel.streams, self._form.caching and self._reports_caching
            citations = self._form.citations and await self._try_citations()
        except RequestRefused as error:
            return refused_by(error)
        except ModelError as error:
            limited = isinstance(error, ModelLimited)
            return Capabilities(limited, True if limited else None, notes=(str(error),))
        notes = missing(streaming, tools, citations, caching, citations_expected=self._form.citations)
        return Capabilities(True, True, True, streaming, tools, citations, caching, notes)

    async def _try_citations(self) -> bool:
        """Ask for a citation and see. Some endpoints take search results and show the model nothing of them."""
        try:
            cited = any([isinstance(event, CitationDelta) async for event in self._answered(TRY_CITATIONS)])
        except RequestRefused as error:
            if not error.by_shape:
                raise
            cited = False
        log.info("citations_tried", model=self._name, cited=cited)
        self._citations_unproven = False
        if not cited and self._may_drop_citations:
            self._form = replace(self._form, citations=False)
        return cited

    async def _answered(self, conversation: Conversation, *, prove: bool = False) -> Events:
        """The turn in the fullest form that the endpoint takes, tried again after a transient failure. Neither once
        something was said: what a listener has heard is not said again. `prove`: first find out about citations."""
        if prove and conversation.passages:
            async with self._proving:  # one question finds out, those beside it wait for what it finds
                if self._citations_unproven:
                    await self._try_citations()
        form = first = self._form
        simpler = list(first.simpler(droppable_citations=self._may_drop_citations and bool(conversation.passages)))
        refusal: RequestRefused | None = None
        said, failures = False, 0
        while True:
            try:
                async with aclosing(self._once(conversation, form)) as events:
                    async for event in events:
                        if form != first and not said:
                            log.info("form_settled", model=self._name, **asdict(form))
                            self._form = form
                        said = True
                        yield event
                return
            except RequestRefused as error:
                refusal = refusal or error  # the first says what is wrong; later ones may only mind what was left out
                if said or not error.by_shape or not simpler:
                    raise refusal from error
                form, failures = simpler.pop(0), 0
            except (ModelUnreachable, ModelLimited) as error:
                failures += 1
                asked = error.retry_after if isinstance(error, ModelLimited) else None
                pause = self._retries.next_pause(failures, asked or 0.0, random.random())
                if said or pause is None:
                    raise
                log.info("model_retried", kind=type(error).__name__, failures=failures, pause=round(pause, 2))
                await asyncio.sleep(pause)

    async def _once(self, conversation: Conversation, form: Form) -> Events:
        """One request and its reply; where reasoning used up the reply, one more with more room, where the endpoint
        grants it."""
        body = request_body(conversation, form)
        spent: TurnEnd | None = None
        for room in (1, MORE_ROOM):
            started = time.monotonic()
            reply = StreamedReply(sources(conversation), basis(conversation, form))
            limits = self._limits | {"max_tokens": room * self._limits["max_tokens"]}
            try:
                async with aclosing(self._channel.send(limits | body)) as received:
                    async for data in received:
                        for event in reply.feed(data):
                            yield event
            except RequestRefused:
                if spent is None:
                    raise
                yield spent
                return
            if not reply.complete:
                raise self._channel.faults.broke_off() if reply.begun else self._channel.faults.not_the_api()
            self._reports_caching = reply.reports_caching
            *due, last = reply.close()
            for event in due:
                yield event
            ended = self._counted(last, body, started) if isinstance(last, TurnEnd) else TurnEnd("end")
            if spent is not None or not reply.only_reasoned:
                yield replace(ended, usage=ended.usage + spent.usage) if spent else ended
                return
            spent = ended
            if reply.said:
                yield TextDelta(END_OF_REASONING)

    def _counted(self, ended: TurnEnd, body: Json, started: float) -> TurnEnd:
        """With the cost; with an estimate where the endpoint counts nothing."""
        if ended.context_tokens:
            cost = self._prices.cost(ended.usage) if self._prices else None
            ended = replace(ended, usage=replace(ended.usage, cost=cost))
        else:
            ended = replace(ended, context_tokens=len(json.dumps(body, ensure_ascii=False)) // CHARACTERS_PER_TOKEN)
        seconds = round(time.monotonic() - started, 2)
        log.info("model_answered", model=self._name, reason=ended.reason, seconds=seconds, **asdict(ended.usage))
        return ended
