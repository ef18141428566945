"""The navigator's loop (RIT-RAG section 4): search for where to look, choose what to read, read it,
answer with citations. One question at a time; any number of questions side by side.

Bounds: B tool calls, at most B_s of them GetToC; never both tools in one turn; no answer before a
Read. Everything the model gets wrong comes back to it as a tool error, and every way ends in an
Answer: answered, not found, a greeting, or failed with a plain reason.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import structlog

from ingest.errors import INSTALLATION, IngestError
from ingest.model import Scope
from navigator.answer import Answer, Outcome, Passage, Source, Step, Trace, Usage
from navigator.conversation import Earlier, Understand, by_rule
from navigator.errors import ModelError
from navigator.greeting import needs_no_reading
from navigator.links import without_foreign_links
from navigator.marks import Draft, from_marks, settled
from navigator.ports import Called, Cited, Ended, Model, ModelTurn, Said, Turn, UserTurn
from navigator.rules import NOT_FOUND, READ_FIRST, TOOLS, Rules, opening, system_prompt
from navigator.tools import Toolbox
from navigator.versions import Versions

log = structlog.get_logger()

QUESTION_CHARACTERS = 8_000
"""Of a longer question the beginning is asked; the answer says so."""

GREETING = (
    "Hello! Ask me something about the documentation and I will look it up, read the sections that matter, and answer "
    "with links to exactly what I read."
)
NOTHING_FOUND = "I found nothing in the documentation that answers this."


class Listener(Protocol):
    """Whoever asked, while the answer is on its way."""

    def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        """A tool call was done; `passages` is all that was read until now."""
        ...

    def wrote(self, text: str) -> None:
        """The answer so far, as Markdown with marks: whole paragraphs only, and only grown since the last time. What
        the finished answer says counts: where it does not begin with this, it replaces it."""
        ...


@dataclass(slots=True)
class Way:
    """The state of one question on its way."""

    question: str
    toolbox: Toolbox
    turns: list[Turn]
    usage: Usage = Usage()
    context_tokens: int = 0
    model_turns: int = 0
    nudges: int = 0
    told: int = 0
    """How much of the answer the listener knows, in characters of what the model said in this turn."""
    started: float = field(default_factory=time.monotonic)


class Navigator:
    """Answers questions over one index with one model."""

    def __init__(
        self,
        toolbox: Callable[[Scope], Toolbox],
        model: Model,
        rules: Rules,
        understand: Understand = by_rule,
        versions: Versions | None = None,
    ) -> None:
        """`versions`: where questions may name one, and are answered from it."""
        self._toolbox = toolbox
        self._versions = versions
        self._model = model
        self._rules = rules
        self._understand = understand

    async def ask(
        self,
        question: str,
        scope: Scope | None = None,
        listener: Listener | None = None,
        *,
        earlier: Sequence[Earlier] = (),
        language: str = "",
    ) -> Answer:
        """The answer; raises nothing for what a model, a store or a question does wrong, only errors of the
        installation (ingest.errors.INSTALLATION). `earlier`: what was said before in the conversation, oldest first;
        what those answers cited is at hand. `language`: in which to answer, by its name; "": the question's."""
        trace_id = uuid.uuid4().hex[:12]
        with structlog.contextvars.bound_contextvars(trace_id=trace_id):
            log.info("question_asked", characters=len(question), earlier=len(earlier), model=self._model.name)
            asked, note = question.strip(), ""
            if needs_no_reading(asked):
                return Answer(question, GREETING, "greeting", model=self._model.name, trace_id=trace_id)
            if len(asked) > QUESTION_CHARACTERS:
                asked = asked[:QUESTION_CHARACTERS]
                note = f"Your question was very long: I read its first {QUESTION_CHARACTERS:,} characters."
            answer = await self._answered(asked, scope or Scope(), listener, earlier, language)
            notes = " ".join(part for part in (answer.note, note) if part)
            answer = replace(answer, question=question, note=notes, trace_id=trace_id, model=self._model.name)
            log.info(
                "question_answered",
                outcome=answer.outcome,
                calls=answer.trace.calls,
                read=len(answer.trace.passages),
                cited=len(answer.sources),
                seconds=round(answer.trace.seconds, 2),
            )
            return answer

    async def _answered(
        self, question: str, scope: Scope, listener: Listener | None, earlier: Sequence[Earlier], language: str
    ) -> Answer:
        understood = await self._understand(question, earlier)
        way = Way(understood.question, self._toolbox(scope), [], understood.usage)
        try:
            if self._versions:
                way.toolbox = self._toolbox(await self._versions.narrowed(scope, way.question))
            at_hand = await way.toolbox.offer(node for one in reversed(earlier) for node in one.nodes)
            way.turns.append(UserTurn(opening(way.question, self._rules, at_hand, language)))
            answer = await self._travel(way, listener)
        except INSTALLATION:
            raise
        except IngestError as error:
            log.warning("store_failed", kind=type(error).__name__, reason=str(error))
            answer = self._end(way, "failed", str(error))
        return replace(answer, understood="" if way.question == question else way.question)

    async def _travel(self, way: Way, listener: Listener | None) -> Answer:
        try:
            while True:
                said = await self._turn(way, listener)
                if isinstance(said, Answer):
                    return said
                way.turns.append(said)
                if said.calls:
                    done = await way.toolbox.run(said, self._context_share(way))
                    way.turns.append(done)
                    if listener:
                        for step in way.toolbox.steps[-len(said.calls) :]:
                            listener.stepped(step, way.toolbox.passages)
                else:
                    way.turns.append(UserTurn(READ_FIRST))
        except ModelError as error:
            log.warning("model_failed", kind=type(error).__name__, reason=str(error))
            return self._end(way, "failed", str(error))

    async def _turn(self, way: Way, listener: Listener | None) -> ModelTurn | Answer:
        """One model turn: what it wants done, or the answer that ends the way."""
        must_answer = bool(way.toolbox.passages) and (
            way.toolbox.exhausted or self._context_share(way) >= self._rules.context_share
        )
        if way.toolbox.exhausted and not way.toolbox.passages:
            return self._end(way, "not_found", NOTHING_FOUND)
        draft, calls, ended = Draft(), [], Ended("end")
        way.told = 0
        system = system_prompt(self._rules, model_cites=self._model.cites)
        async for event in self._model.turn(system, way.turns, TOOLS, must_answer=must_answer):
            match event:
                case Said(text):
                    draft.say(text)
                    if listener:
                        self._tell(way, draft, listener)
                case Cited():
                    self._cite(way, draft, event)
                case Called(call):
                    calls.append(call)
                case Ended():
                    ended = event
        way.usage += ended.usage
        way.context_tokens = ended.context_tokens
        way.model_turns += 1
        if calls and not must_answer and ended.reason != "max_tokens":
            return ModelTurn(draft.said, tuple(calls), ended.echo)
        if ended.reason == "refusal":
            return self._end(way, "failed", "The model declined to answer this question.")
        if not way.toolbox.has_read:
            way.nudges += 1
            if way.nudges > 2:
                return self._end(way, "not_found", NOTHING_FOUND)
            return ModelTurn(draft.said or "…", echo=ended.echo)
        return self._answer(way, draft, cut_short=ended.reason == "max_tokens")

    def _cite(self, way: Way, draft: Draft, event: Cited) -> None:
        passages = way.toolbox.passages
        try:
            draft.cite(passages[event.index].cite(event.first, event.last, event.quote))
        except IndexError:
            log.warning("citation_dropped", index=event.index, first=event.first, passages=len(passages))

    def _tell(self, way: Way, draft: Draft, listener: Listener) -> None:
        """Pass on the paragraphs that are settled, from the first one that cites something: before that, it may be
        reasoning that leads to another tool call."""
        border = settled(draft.said)
        if border <= way.told or not way.toolbox.has_read:
            return
        way.told = border
        text, sources, _ = self._written(way, draft.until(border))
        if sources and NOT_FOUND not in text:
            listener.wrote(text)

    def _written(self, way: Way, draft: Draft) -> tuple[str, tuple[Source, ...], tuple[str, ...]]:
        """What was said as an answer's text, its sources, and its claims without one."""
        if self._model.cites:
            return without_foreign_links(draft.text, way.toolbox.passages), draft.sources, ()
        by_number = {passage.number: passage for passage in way.toolbox.passages}
        text, sources, unsupported = from_marks(draft.said, by_number)
        return without_foreign_links(text, way.toolbox.passages), sources, unsupported

    def _answer(self, way: Way, draft: Draft, *, cut_short: bool) -> Answer:
        """The last turn's words as an answer. Without one citation there is no answer to give."""
        text, sources, unsupported = self._written(way, draft)
        if NOT_FOUND in text or not sources:
            reason = text.replace(NOT_FOUND, "").strip(" :\n") if NOT_FOUND in text else ""
            return self._end(way, "not_found", f"{NOTHING_FOUND} {reason}".strip())
        note = "The answer was cut short: it grew too long." if cut_short else ""
        return self._end(way, "answered", text, sources, unsupported, note)

    def _end(
        self,
        way: Way,
        outcome: Outcome,
        text: str,
        sources: tuple[Source, ...] = (),
        unsupported: tuple[str, ...] = (),
        note: str = "",
    ) -> Answer:
        trace = Trace(
            steps=tuple(way.toolbox.steps),
            shown=way.toolbox.shown,
            passages=way.toolbox.passages,
            usage=way.usage,
            turns=way.model_turns,
            seconds=time.monotonic() - way.started,
        )
        nearest = way.toolbox.nearest if outcome == "not_found" else ()
        version = way.toolbox.version_of({source.first.node_id for source in sources})
        return Answer(way.question, text, outcome, sources, nearest, unsupported, trace, version=version, note=note)

    def _context_share(self, way: Way) -> float:
        return way.context_tokens / self._model.context_window
