"""The wire form of Anthropic's Messages API: a conversation to a request. Pure.

Passages that were read go out as `search_result` blocks, one text block a Block, with citations on, so
that the endpoint's own citations point at blocks (platform.claude.com, "Search results"). The rules kept
here: no text block is blank; the content of a tool result is either search results or text, never both;
user and assistant alternate; results stand first in the message after their calls; at most four cache
breakpoints ("Prompt caching").
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from navigator.answer import Passage
from navigator.models.given_text import given_text
from navigator.ports import ModelTurn, Tool, ToolResult, ToolTurn, Turn, UserTurn

Json = dict[str, Any]

HOW_TO_CITE = (
    "Each section below begins with its number in square brackets. After each statement put the number of the "
    "section that it rests on, written like [{number}]."
)
"""Goes with passages as plain text, whatever the system prompt says: only the adapter knows that this
endpoint gives no citations of its own."""


@dataclass(frozen=True, slots=True)
class Form:
    """How much of the API a request makes use of; an endpoint may refuse either."""

    citations: bool
    caching: bool

    def simpler(self, *, droppable_citations: bool) -> tuple[Form, ...]:
        """What to try next where this form is refused, the most similar first."""
        forms: list[Form] = []
        if self.caching:
            forms.append(replace(self, caching=False))
        if self.citations and droppable_citations:
            forms.append(replace(self, citations=False))
        if len(forms) == 2:
            forms.append(Form(citations=False, caching=False))
        return tuple(forms)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one turn is asked from: the arguments of Model.turn."""

    system: str
    turns: Sequence[Turn]
    tools: Sequence[Tool] = ()
    must_answer: bool = False

    @property
    def passages(self) -> list[Passage]:
        """All passages, in the order in which they were read: what Cited.index counts."""
        return [passage for turn in self.turns for passage in conversation_passages(turn)]


def conversation_passages(turn: Turn) -> list[Passage]:
    """The passages of one turn, in the order in which the model sees them."""
    match turn:
        case UserTurn(_, passages):
            return list(passages)
        case ToolTurn(results):
            return [passage for result in results for passage in result.passages]
    return []


Basis = tuple[str, bool]
"""What shapes all messages of a conversation: the system prompt, and whether passages are search results."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A model's message exactly as it came. Its signed reasoning may only be given back unchanged, and only
    while what stood before it is unchanged (platform.claude.com, "Preserved thinking"): under one `basis`."""

    basis: Basis
    blocks: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class SearchResultSource:
    """One search result of a request: the passage's index and, for each text block, the Block's index."""

    passage: int
    blocks: tuple[int, ...]


def sources(conversation: Conversation) -> tuple[SearchResultSource, ...]:
    """The search results of `request_body(conversation, …)` in the order in which the endpoint counts them."""
    numbered = ((index, _shown(passage)) for index, passage in enumerate(conversation.passages))
    return tuple(SearchResultSource(index, blocks) for index, blocks in numbered if blocks)


def basis(conversation: Conversation, form: Form) -> Basis:
    return conversation.system, form.citations


def request_body(conversation: Conversation, form: Form) -> Json:
    """The fields `system`, `messages`, `tools` and `tool_choice`. Tools stay listed when they may no longer
    be called, because the history holds calls of them."""
    body: Json = {"messages": _messages(conversation, form)}
    if conversation.system.strip():
        body["system"] = _texts(conversation.system) if form.caching else conversation.system
    if conversation.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
            for tool in conversation.tools
        ]
        body["tool_choice"] = {"type": "none" if conversation.must_answer else "auto"}
    if form.caching:
        _set_breakpoints(body, grows=bool(conversation.tools) and not conversation.must_answer)
    return _encodable(body)


def _encodable(body: Json) -> Json:
    """Halves of broken characters (lone surrogates) cannot be sent: a question mark goes in their place."""
    sound: Json = json.loads(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
    return sound


def _set_breakpoints(body: Json, *, grows: bool) -> None:
    """Behind tools and system, which no question changes. Where the conversation `grows`: behind the last user message, for
    the next turn, and behind the one before it, where the turn before this one wrote (a lookup only goes 20 blocks back).
    A turn after which none comes would pay for writing what nobody reads; nor does it find what was written, because
    another tool_choice is another prompt ("What invalidates the cache"). What is shorter than a model caches (1,024
    tokens, 4,096 of some) the endpoint passes over, and it costs nothing."""
    user = [message["content"] for message in body["messages"] if message["role"] == "user"]
    for content in [body.get("system") or body.get("tools"), *(user[-2:] if grows else [])]:
        if content:
            content[-1]["cache_control"] = {"type": "ephemeral"}


def _messages(conversation: Conversation, form: Form) -> list[Json]:
    messages: list[Json] = []
    for turn in conversation.turns:
        role = "assistant" if isinstance(turn, ModelTurn) else "user"
        content = _content(turn, form, basis(conversation, form))
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += content
        elif content:
            messages.append({"role": role, "content": content})
    return messages


def _content(turn: Turn, form: Form, now: Basis) -> list[Json]:
    match turn:
        case UserTurn(text, ()):
            return _texts(text)
        case UserTurn(text, passages):
            given = _search_results(passages) if form.citations else _texts(_plain(passages))
            return [*given, *_texts(text)]
        case ModelTurn(echo=Verbatim(then, blocks)) if then == now:
            return [dict(block) for block in blocks]
        case ModelTurn(text, calls):
            used = [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)} for call in calls
            ]
            return [*_texts(text), *used]
        case ToolTurn(results, note):
            remarks = [result.text for result in results if result.passages]
            return [*(_result(result, form) for result in results), *_texts(*remarks, note)]


def _result(result: ToolResult, form: Form) -> Json:
    """A remark that came with passages stands behind all results: a result of search results holds nothing else."""
    content: str | list[Json] = result.text.strip() and result.text
    if result.passages:
        content = _search_results(result.passages) if form.citations else _plain(result.passages)
    block: Json = {"type": "tool_result", "tool_use_id": result.call_id, "content": content or "(nothing)"}
    if result.error:
        block["is_error"] = True
    return block


def _search_results(passages: Sequence[Passage]) -> list[Json]:
    return [
        {
            "type": "search_result",
            "source": passage.link,
            "title": _path(passage),
            "content": _texts(*(given_text(passage.blocks[index]) for index in _shown(passage))),
            "citations": {"enabled": True},
        }
        for passage in passages
        if _shown(passage)
    ]


def _plain(passages: Sequence[Passage]) -> str:
    sections = [
        "\n\n".join([f"[{passage.number}] {_path(passage)}", *(given_text(passage.blocks[i]) for i in _shown(passage))])
        for passage in passages
    ]
    return "\n\n\n".join([HOW_TO_CITE.format(number=passages[0].number), *sections])


def _path(passage: Passage) -> str:
    return " › ".join(passage.path) or passage.link


def _shown(passage: Passage) -> tuple[int, ...]:
    """The blocks with anything to read in them: the API takes no blank text."""
    return tuple(index for index, block in enumerate(passage.blocks) if given_text(block).strip())


def _texts(*texts: str) -> list[Json]:
    return [{"type": "text", "text": text} for text in texts if text.strip()]
