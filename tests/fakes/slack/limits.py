"""What Slack refuses, one function a rule, and how often an app may call. A rule is pure and looks at the arguments of one
call.

Sizes are those of facts (Slack's documentation, slack_sdk's models, limits seen in public issues); how the refusals
read is Slack's. `first` gives the first rule that is broken. Calls are counted per workspace and method,
chat.postMessage per channel too; sources: facts (postMessage about 1 a second a channel, startStream 20 and appendStream
100 a minute, chat.update tier 3) and docs.slack.dev "Rate limits" (tier 3: 50, tier 4: 100 a minute).
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes.slack.block_kit import block_faults, view_faults
from tests.fakes.slack.state import Clock

TEXT = 40_000
UPDATE_BYTES = 4_000
MARKDOWN = 12_000
PAYLOAD = 13_200
BLOCKS = 50
TABLE_WORDS = 10_000
VIEW_BYTES = 250_000
MAX_PROMPTS = 4
LOADING_MESSAGES = 10
CHUNKS = ("markdown_text", "task_update", "plan_update", "blocks")
TASK_STATES = ("pending", "in_progress", "complete", "error")
SESSION_STATES = ("active", "processing", "suspended", "closed")


@dataclass(frozen=True)
class Refusal:
    """`messages` stand in response_metadata."""

    error: str
    messages: tuple[str, ...] = ()


Arguments = Mapping[str, Any]
Rule = Callable[[Arguments], Refusal | None]


def first(rules: Iterable[Rule], arguments: Arguments) -> Refusal | None:
    return next((refusal for rule in rules if (refusal := rule(arguments))), None)


def nothing_to_show(arguments: Arguments) -> Refusal | None:
    given = any(arguments.get(name) for name in ("text", "markdown_text", "blocks", "attachments"))
    return None if given else Refusal("no_text")


def long_text(arguments: Arguments) -> Refusal | None:
    return Refusal("msg_too_long") if len(arguments.get("text") or "") > TEXT else None


def long_update(arguments: Arguments) -> Refusal | None:
    size = len((arguments.get("text") or "").encode())
    return Refusal("msg_too_long") if size > UPDATE_BYTES else None


def long_markdown(arguments: Arguments) -> Refusal | None:
    return Refusal("msg_too_long") if len(arguments.get("markdown_text") or "") > MARKDOWN else None


def markdown_beside_others(arguments: Arguments) -> Refusal | None:
    both = arguments.get("markdown_text") and (arguments.get("text") or arguments.get("blocks"))
    return Refusal("markdown_text_conflict") if both else None


def blocks_no_list(arguments: Arguments) -> Refusal | None:
    return None if isinstance(arguments.get("blocks") or [], list) else Refusal("invalid_blocks_format")


def many_blocks(arguments: Arguments) -> Refusal | None:
    if len(arguments.get("blocks") or []) <= BLOCKS:
        return None
    return Refusal("invalid_blocks", (f"[ERROR] no more than {BLOCKS} items allowed [json-pointer:/blocks]",))


def malformed_blocks(arguments: Arguments) -> Refusal | None:
    return _invalid(block_faults(arguments.get("blocks") or []))


def two_tables(arguments: Arguments) -> Refusal | None:
    tables = [block for block in arguments.get("blocks") or [] if block.get("type") == "table"]
    return Refusal("invalid_blocks", ("[ERROR] only_one_table_allowed",)) if len(tables) > 1 else None


def large_table(arguments: Arguments) -> Refusal | None:
    tables = [block for block in arguments.get("blocks") or [] if block.get("type") == "table"]
    size = sum(len(text) for table in tables for text in _texts(table))
    message = f"[ERROR] must be less than {TABLE_WORDS + 1} characters in all cells [json-pointer:/blocks]"
    return Refusal("invalid_blocks", (message,)) if size > TABLE_WORDS else None


def markdown_in_all(arguments: Arguments) -> Refusal | None:
    """12,000 characters in all markdown blocks of a payload together."""
    blocks = [block for block in arguments.get("blocks") or [] if block.get("type") == "markdown"]
    return Refusal("msg_blocks_too_long") if sum(len(block["text"]) for block in blocks) > MARKDOWN else None


def blocks_in_all(arguments: Arguments) -> Refusal | None:
    """All that blocks of any kind say together (slackapi/bolt-js#2509)."""
    size = sum(len(text) for block in arguments.get("blocks") or [] for text in _texts(block))
    return Refusal("msg_blocks_too_long") if size > PAYLOAD else None


def malformed_chunks(arguments: Arguments) -> Refusal | None:
    chunks = arguments.get("chunks") or []
    if not isinstance(chunks, list):
        return Refusal("invalid_chunks", ("[ERROR] must be an array [json-pointer:/chunks]",))
    wrong = tuple(
        f"[ERROR] {words} [json-pointer:/chunks/{index}]"
        for index, chunk in enumerate(chunks)
        for words in _chunk_faults(chunk)
    )
    return Refusal("invalid_chunks", wrong) if wrong else None


def long_append(arguments: Arguments) -> Refusal | None:
    return Refusal("msg_too_long") if len(streamed(arguments)) > MARKDOWN else None


def empty_append(arguments: Arguments) -> Refusal | None:
    return None if arguments.get("markdown_text") or arguments.get("chunks") else Refusal("no_text")


def malformed_chunk_blocks(arguments: Arguments) -> Refusal | None:
    for index, chunk in enumerate(arguments.get("chunks") or []):
        if chunk.get("type") == "blocks" and (
            refusal := _invalid(block_faults(chunk["blocks"], f"/chunks/{index}/blocks"))
        ):
            return refusal
    return None


def malformed_view(arguments: Arguments) -> Refusal | None:
    refusal = _invalid(view_faults(arguments.get("view")))
    return Refusal("invalid_arguments", refusal.messages) if refusal else None


def large_view(arguments: Arguments) -> Refusal | None:
    return Refusal("view_too_large") if len(str(arguments.get("view")).encode()) > VIEW_BYTES else None


def many_loading_messages(arguments: Arguments) -> Refusal | None:
    many = len(arguments.get("loading_messages") or []) > LOADING_MESSAGES
    return Refusal("invalid_arguments", (f"[ERROR] no more than {LOADING_MESSAGES} items allowed [json-pointer:/loading_messages]",)) if many else None  # fmt: skip


def malformed_prompts(arguments: Arguments) -> Refusal | None:
    prompts = arguments.get("prompts")
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= MAX_PROMPTS:
        return Refusal("invalid_arguments", (f"[ERROR] 1 to {MAX_PROMPTS} items allowed [json-pointer:/prompts]",))
    if all(isinstance(one, dict) and one.get("title") and one.get("message") for one in prompts):
        return None
    return Refusal("invalid_arguments", ("[ERROR] title and message are required [json-pointer:/prompts]",))


def unknown_session_status(arguments: Arguments) -> Refusal | None:
    known = arguments.get("status") in SESSION_STATES
    return None if known else Refusal("invalid_arguments", ("[ERROR] must be one of: " + ", ".join(SESSION_STATES),))


BLOCK_RULES: Sequence[Rule] = (blocks_no_list, many_blocks, malformed_blocks, two_tables, large_table)
SIZES: Sequence[Rule] = (markdown_in_all, blocks_in_all)
POST: Sequence[Rule] = (
    nothing_to_show, long_text, markdown_beside_others, long_markdown, *BLOCK_RULES, *SIZES,
)  # fmt: skip
UPDATE: Sequence[Rule] = (nothing_to_show, long_update, markdown_beside_others, long_markdown, *BLOCK_RULES, *SIZES)
RESPONSE: Sequence[Rule] = (nothing_to_show, long_text, *BLOCK_RULES, markdown_in_all)
START: Sequence[Rule] = (malformed_chunks, long_append, malformed_chunk_blocks)
APPEND: Sequence[Rule] = (empty_append, *START)
STOP: Sequence[Rule] = (*START, *BLOCK_RULES, *SIZES)
VIEW: Sequence[Rule] = (malformed_view, large_view)


def streamed(arguments: Arguments) -> str:
    """The Markdown that a call adds to a stream."""
    chunks = [chunk["text"] for chunk in arguments.get("chunks") or [] if chunk.get("type") == "markdown_text"]
    return (arguments.get("markdown_text") or "") + "".join(chunks)


def _invalid(faults: Iterator[str]) -> Refusal | None:
    messages = tuple(f"[ERROR] {words}" for words in faults)
    return Refusal("invalid_blocks", messages) if messages else None


def _chunk_faults(chunk: Any) -> Iterator[str]:
    match chunk:
        case {"type": "markdown_text", "text": str()} | {"type": "plan_update", "title": str()}:
            return
        case {"type": "blocks", "blocks": list()}:
            return
        case {"type": "task_update", "id": str(), "title": str(), "status": status}:
            if status not in TASK_STATES:
                yield f"status must be one of: {', '.join(TASK_STATES)}"
            for source in chunk.get("sources") or []:
                if not (isinstance(source, dict) and source.get("type") == "url" and source.get("url")):
                    yield "sources must be objects of type url"
        case {"type": str() as kind} if kind in CHUNKS:
            yield f"missing required field in {kind}"
        case _:
            yield f"unsupported type: {chunk.get('type') if isinstance(chunk, dict) else chunk}"


def _texts(value: Any) -> Iterator[str]:
    """All strings called `text` in a block, however deep."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name == "text" and isinstance(one, str):
                yield one
            else:
                yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


# --- how often

MINUTE = 60.0
A_MINUTE: Mapping[str, int] = {
    "chat.startStream": 20,
    "chat.appendStream": 100,
    "chat.stopStream": 50,
    "chat.update": 50,
    "chat.unfurl": 50,
    "chat.postEphemeral": 100,
    "assistant.threads.setStatus": 600,
    "assistant.threads.setSuggestedPrompts": 100,
    "agents.sessions.setStatus": 50,
    "conversations.info": 50,
    "conversations.replies": 50,
    "conversations.members": 100,
    "users.info": 100,
    "views.open": 100,
    "views.update": 100,
    "views.publish": 100,
}
BURST = 4
"""Posts to a channel that may come at once before it is one a second."""


class Rates:
    """`on` False: everything may be called as often as one likes."""

    def __init__(self, clock: Clock, *, on: bool) -> None:
        self.on = on
        self._clock = clock
        self._calls: defaultdict[tuple[str, ...], deque[float]] = defaultdict(deque)

    def take(self, team: str, method: str, channel: str) -> int | None:
        """Count a call; seconds to wait, as Retry-After, where it is one too many."""
        if not self.on:
            return None
        if method == "chat.postMessage":
            return self._within((team, method, channel), BURST, float(BURST))
        if method in A_MINUTE:
            return self._within((team, method), A_MINUTE[method], MINUTE)
        return None

    def _within(self, key: tuple[str, ...], most: int, window: float) -> int | None:
        now, calls = self._clock.now(), self._calls[key]
        while calls and now - calls[0] >= window:
            calls.popleft()
        if len(calls) >= most:
            return max(1, math.ceil(calls[0] + window - now))
        calls.append(now)
        return None
