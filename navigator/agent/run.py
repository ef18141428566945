"""One question on its way to an answer, whatever the strategy: the model's turns, what was said and cited, what it cost.

A strategy asks for turns and ends the run with an Answer. Nothing can be cited that the run's `session` does not hold.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Protocol

import structlog

from ingest.model import Scope
from navigator.agent.ceiling import AnswerBudget, AnswerCeiling
from navigator.agent.prompts import NEAREST_ONLY, NOT_FOUND
from navigator.answer import Answer, CitedSource, Outcome, Passage, Step, Trace, Usage
from navigator.citations.links import without_foreign_links
from navigator.citations.marks import (
    MAX_UNNAMED_SOURCES,
    AnswerDraft,
    Written,
    cite_claim,
    read_sections_as_sources,
    settled_length,
    written,
)
from navigator.ports import CitationDelta, Model, TextDelta, Tool, ToolCall, ToolCallEvent, Turn, TurnEnd
from navigator.retrieval.forest import Numbering

log = structlog.get_logger()

_GAVE_UP = re.compile(rf"[\s*_]*{NOT_FOUND}\b[\s*_:.–—-]*")
"""How an answer begins that is none. Anywhere else the word is a word: statuses are called so."""
NOTHING_FOUND = "I found nothing in the documentation that answers this."
NO_SOURCE_NAMED = "The answer does not say which section it rests on: the sources are those that were looked at for it."
SAID_NOTHING = "The model looked at the documentation and then gave no answer."
REASONED_TOO_LONG = (
    "The model used up its reply by reasoning before it said anything: whoever runs this can raise model.max_tokens."
)
CUT_BEFORE_READING = (
    "The model's reply was cut off before it looked anything up: whoever runs this can raise model.max_tokens."
)
OVER_CEILING = (
    "An answer to this would have cost more than one answer may: whoever runs this can raise navigator.max_cost or "
    "navigator.max_tokens."
)
CALLED_NOTHING = "The model answered without looking anything up: it called no tool, and may not be able to."


class Listener(Protocol):
    """Whoever asked, while the answer is on its way."""

    def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        """A step was done; `passages` is all that was read until now."""
        ...

    def wrote(self, text: str) -> None:
        """The answer so far, as Markdown with marks: whole paragraphs only, and only grown since the last time. What
        the finished answer says counts: where it does not begin with this, it replaces it."""
        ...


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """A question that stands alone. `at_hand`: ids of nodes that earlier answers of its conversation cite, the newest
    first. `language`: in which to answer, by its name; "": the question's."""

    question: str
    scope: Scope = Scope()
    at_hand: tuple[str, ...] = ()
    language: str = ""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One turn of the model."""

    draft: AnswerDraft
    calls: tuple[ToolCall, ...]
    ended: TurnEnd


class ReadingSession:
    """What one question was shown and what it has read: the memory that its trace is made of. Whatever may be read or
    was read has a number, given once a question. `steps` are those done so far; `nearest` are the sections to offer
    where nothing is found. `affordable`: how much of so many characters may be read, so that an answer to them fits under
    a ceiling."""

    def __init__(self, affordable: Callable[[int], int] | None = None) -> None:
        self.affordable = affordable or (lambda characters: characters)
        self.numbering = Numbering()
        self.steps: list[Step] = []
        self.nearest: tuple[Passage, ...] = ()
        self._offered: dict[int, tuple[str, tuple[str, ...]]] = {}
        self._read: dict[int, Passage] = {}

    def offer(self, number: int, node_id: str, path: tuple[str, ...]) -> None:
        """The number now stands for this node, or for a part of it."""
        self._offered.setdefault(number, (node_id, path))

    def offered(self, number: int) -> tuple[str, tuple[str, ...]] | None:
        """Node id and path behind a number; None for a number that was not shown."""
        return self._offered.get(number)

    def read(self, passages: Iterable[Passage]) -> None:
        """These have been read. What was read was shown."""
        for passage in passages:
            self.offer(passage.number, passage.node_id, passage.path)
            self._read[passage.number] = passage

    def has(self, number: int) -> bool:
        return number in self._read

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Everything read, each once, in the order of reading."""
        return tuple(self._read.values())

    @property
    def shown(self) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
        """Everything that was offered for reading: number, node id, path."""
        return tuple((number, node_id, path) for number, (node_id, path) in self._offered.items())

    def version_of(self, node_ids: Set[str]) -> str:
        """The version that the passages of these nodes are of; "" where they are of none, or of several."""
        versions = {passage.version for passage in self._read.values() if passage.node_id in node_ids}
        return versions.pop() if len(versions) == 1 else ""


class AnswerRun:
    """`turns` is the conversation that the model sees; a strategy writes it."""

    def __init__(
        self,
        asked: RunQuestion,
        model: Model,
        listener: Listener | None = None,
        ceiling: AnswerCeiling | None = None,
    ) -> None:
        """`ceiling`: what the answer may cost."""
        self.asked = asked
        self._budget = AnswerBudget(ceiling, model.name) if ceiling else None
        self.model = self.metered(model)
        self.session = ReadingSession(self._budget.characters if self._budget else None)
        self.turns: list[Turn] = []
        self.usage = Usage()
        self._listener = listener
        self._context_tokens = 0
        self._model_turns = 0
        self._told = 0  # characters of the draft up to which the listener knows it
        self._told_text = ""
        self._started = time.monotonic()

    @property
    def context_share(self) -> float:
        """How much of the model's context the last turn took."""
        return self._context_tokens / self.model.context_window

    def step(self, *steps: Step) -> None:
        """Done, and known to whoever asked."""
        self.session.steps.extend(steps)
        if self._listener:
            for step in steps:
                self._listener.stepped(step, self.session.passages)

    def metered(self, model: Model) -> Model:
        """A model that turns of this question go to, kept to its ceiling: a turn may raise AnswerCeilingReached."""
        return self._budget.metered(model) if self._budget else model

    def understood(self, usage: Usage) -> None:
        """What it took to understand the question, before this run."""
        self.usage += usage
        if self._budget:
            self._budget.ledger.used += usage

    def spend(self, usage: Usage) -> None:
        """A turn outside of this conversation: a router's, a rewriting."""
        self.usage += usage
        self._model_turns += 1

    async def ask_model(self, system: str, tools: Sequence[Tool] = (), *, must_answer: bool = False) -> ModelReply:
        """The model's next turn on `turns`. Raises ModelError."""
        draft, calls, ended = AnswerDraft(), list[ToolCall](), TurnEnd("end")
        self._told, self._told_text = 0, ""
        async for event in self.model.turn(system, self.turns, tools, must_answer=must_answer):
            match event:
                case TextDelta(text):
                    draft.say(text)
                    self._tell(draft)
                case CitationDelta():
                    self._cite(draft, event)
                case ToolCallEvent(call):
                    calls.append(call)
                case TurnEnd():
                    ended = event
        self.spend(ended.usage)
        self._context_tokens = ended.context_tokens
        return ModelReply(draft, tuple(calls), ended)

    def _cite(self, draft: AnswerDraft, event: CitationDelta) -> None:
        passages = self.session.passages
        try:
            draft.cite(cite_claim(draft.claim, passages[event.index], event.first, event.last, event.quote))
        except IndexError:
            log.warning("citation_dropped", index=event.index, first=event.first, passages=len(passages))

    def _tell(self, draft: AnswerDraft) -> None:
        """Pass on the paragraphs that are settled, from the first one that cites something: before that, it may be
        reasoning that leads to another tool call."""
        border = settled_length(draft.said)
        if self._listener is None or border <= self._told:
            return
        self._told = border
        made = self._written(draft.until(border))
        if made.sources and not _GAVE_UP.match(made.text) and made.text.startswith(self._told_text):
            self._told_text = made.text
            self._listener.wrote(made.text)

    def _written(self, draft: AnswerDraft) -> Written:
        """What was said as an answer's text, its sources, and its claims without one."""
        passages = self.session.passages
        made = written(draft, passages)
        claims = tuple(without_foreign_links(claim, passages) for claim in made.unsupported)
        return replace(made, text=without_foreign_links(made.text, passages), unsupported=claims)

    def answer(self, reply: ModelReply) -> Answer:
        """A turn's words as the answer. One that names no source of what was read is shown as not supported, with the
        sections that were read; nothing is found only where the model says so, or nothing was read."""
        if reply.ended.reason == "refusal":
            return self.end("failed", "The model declined to answer this question.")
        made, cut = self._written(reply.draft), reply.ended.reason == "max_tokens"
        if gave_up := _GAVE_UP.match(made.text):
            return self.not_found(made.text[gave_up.end() :].strip())
        if made.text.startswith(NEAREST_ONLY):
            return self.end("not_found", made.text.removeprefix(NEAREST_ONLY).strip())
        if not self.session.passages:
            return self.not_found()
        if not made.text:
            return self.end("failed", REASONED_TOO_LONG if cut else SAID_NOTHING)
        notes = ["The answer was cut short: it grew too long."] if cut else []
        sources = made.sources
        if not sources:
            sources = read_sections_as_sources(made.text, self.session.passages)
            notes.append(NO_SOURCE_NAMED)
        return self.end("answered", made.text, sources, made.unsupported, " ".join(notes))

    def reasoned_away(self, reply: ModelReply) -> bool:
        """Whether reasoning used up the turn before anything was said."""
        return reply.ended.reason == "max_tokens" and not self._written(reply.draft).text

    def unread(self, reply: ModelReply, *, called: bool) -> Answer:
        """The end where the model has not read anything, whatever it says. `called`: it tried to."""
        text = self._written(reply.draft).text
        if gave_up := _GAVE_UP.match(text):
            return self.not_found(text[gave_up.end() :].strip())
        if self.reasoned_away(reply):
            return self.end("failed", REASONED_TOO_LONG)
        if reply.ended.reason == "max_tokens":
            return self.end("failed", CUT_BEFORE_READING)
        return self.not_found() if called else self.end("failed", CALLED_NOTHING)

    def over_ceiling(self) -> Answer:
        """The end where not even an answer to what was read fits under the ceiling: with the sections that were."""
        self.session.nearest = self.session.passages[:MAX_UNNAMED_SOURCES] or self.session.nearest
        return self.end("failed", OVER_CEILING)

    def not_found(self, reason: str = "") -> Answer:
        return self.end("not_found", f"{NOTHING_FOUND} {reason}".strip())

    def end(
        self,
        outcome: Outcome,
        text: str,
        sources: tuple[CitedSource, ...] = (),
        unsupported: tuple[str, ...] = (),
        note: str = "",
    ) -> Answer:
        """The run as it stands now, as an Answer."""
        session = self.session
        trace = Trace(
            steps=tuple(session.steps),
            shown=session.shown,
            passages=session.passages,
            usage=self.usage,
            turns=self._model_turns,
            seconds=time.monotonic() - self._started,
        )
        nearest = session.nearest if outcome == "not_found" or text == OVER_CEILING else ()
        version = session.version_of({source.first.node_id for source in sources})
        return Answer(
            self.asked.question, text, outcome, sources, nearest, unsupported, trace, version=version, note=note
        )
