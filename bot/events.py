"""What goes through the event log of people's questions: a record for each question, and one for what became of it.

The values are small JSON as those of ingest.events.codec: with a version, unknown fields passed over, Undecodable for
what is none. No text is longer than `MAX_EVENT_TEXT_CHARACTERS`, and what is cut says so; so every record fits into the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from pydantic import TypeAdapter

from bot.model import Exchange, Question
from ingest.events.codec import dumped, loaded

QUESTIONS_TOPIC = "bot.questions"
"""Question; the key is Question.conversation."""
ANSWERS_TOPIC = "bot.answers"
"""Ending; the key is the question's id."""

MAX_EVENT_TEXT_CHARACTERS = 40_000
"""Characters of a text, as many as Slack takes. JSON needs up to 12 bytes for one: 480,000 of topics.MAX_BYTES."""

EndingOutcome = Literal["answered", "not_found", "greeting", "failed", "stopped", "refused"]


@dataclass(frozen=True, slots=True)
class CitedNode:
    """A node, and its hash as it was when it was read: whoever knows its hash of today knows whether it changed."""

    node: str
    hash: str


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a question. `read` and `cited` are nodes in the order in which they were read and numbered; `cost`
    in US dollars, None where it is not known."""

    question: str
    outcome: EndingOutcome
    text: str
    read: tuple[str, ...]
    cited: tuple[CitedNode, ...]
    seconds: float
    cost: float | None
    ended_at: datetime


_QUESTION_ADAPTER = TypeAdapter(Question)
_ENDING_ADAPTER = TypeAdapter(Ending)


def outcome(exchange: Exchange) -> EndingOutcome | None:
    """None while it is not over."""
    if exchange.state == "stopped" or exchange.state == "refused" or exchange.state == "failed":
        return exchange.state
    return exchange.answer.outcome if exchange.state == "done" and exchange.answer else None


def ending(exchange: Exchange) -> Ending:
    """Of an exchange that is over. Raises ValueError for any other."""
    became, answer = outcome(exchange), exchange.answer
    if became is None or exchange.ended_at is None:
        raise ValueError(f"the exchange of {exchange.question.id} is not over")
    sources = answer.sources if answer else ()
    return Ending(
        question=exchange.question.id,
        outcome=became,
        text=answer.text if answer else "",
        read=tuple(dict.fromkeys(p.node_id for p in answer.trace.passages)) if answer else (),
        cited=tuple(CitedNode(source.first.node_id, source.first.node_hash) for source in sources),
        seconds=answer.trace.seconds if answer else 0.0,
        cost=answer.trace.usage.cost if answer else None,
        ended_at=exchange.ended_at,
    )


def dump_question(question: Question) -> bytes:
    return dumped(_QUESTION_ADAPTER.dump_python(replace(question, text=_cut(question.text)), mode="json"))


def load_question(value: bytes | None) -> Question:
    """Raises Undecodable."""
    return loaded(value, "question", _question)


def dump_ending(ending: Ending) -> bytes:
    return dumped(_ENDING_ADAPTER.dump_python(replace(ending, text=_cut(ending.text)), mode="json"))


def load_ending(value: bytes | None) -> Ending:
    """Raises Undecodable."""
    return loaded(value, "ending of a question", _ending)


def _question(fields: Mapping[str, Any]) -> Question:
    question = _QUESTION_ADAPTER.validate_python(fields)
    if question.asked_at.tzinfo is None:
        raise ValueError("asked_at has no time zone")
    return question


def _ending(fields: Mapping[str, Any]) -> Ending:
    ending = _ENDING_ADAPTER.validate_python(fields)
    if ending.ended_at.tzinfo is None:
        raise ValueError("ended_at has no time zone")
    return ending


def _cut(text: str) -> str:
    if len(text) <= MAX_EVENT_TEXT_CHARACTERS:
        return text
    note = f" … (cut: of {len(text):,} characters)"
    return text[: MAX_EVENT_TEXT_CHARACTERS - len(note)] + note
