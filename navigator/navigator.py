"""A question as people ask it, answered: understood in its conversation, kept in its version, handed to a strategy.

One question at a time; any number of questions side by side. Every question ends in an Answer: answered, not found, a
greeting, or failed with a plain reason.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import structlog

from ingest.errors import INSTALLATION, IngestError
from ingest.model import Scope
from ingest.ports import TreeStore
from navigator.agent.ceiling import AnswerCeiling
from navigator.agent.run import AnswerRun, Listener, RunQuestion
from navigator.answer import Answer
from navigator.batch.ledger import AnswerCeilingReached
from navigator.citations.landing import with_landing_links
from navigator.errors import ModelError
from navigator.ports import Model
from navigator.question.rewrite import Earlier, Understand, by_rule
from navigator.question.versions import Versions
from navigator.strategies.strategy import Strategy

log = structlog.get_logger()

MAX_QUESTION_CHARACTERS = 8_000
"""Of a longer question the beginning is asked; the answer says so."""

GREETING = (
    "Hello! Ask me something about the documentation and I will look it up, read the sections that matter, and answer "
    "with links to exactly what I read."
)

_GREETINGS = frozenset(
    """hello hi hey hiya howdy yo greetings hallo hei hej moin servus salut bonjour bonsoir hola buenas ciao salve ola olá
    oi привет здравствуйте здравствуй こんにちは 你好 您好 안녕하세요 안녕 สวัสดี नमस्ते مرحبا سلام שלום merhaba selam ahoj cześć
    thanks thank thx danke merci gracias grazie obrigado спасибо ありがとう 谢谢 감사합니다 cheers bye goodbye tschüss""".split()
)
_FILLERS = frozenset(
    """good morning afternoon evening day night guten morgen tag abend buenos dias días tardes noches there all everyone
    team bot ritbot you so much very nice to meet how are doing today again dear friend folks vielen dank buen día""".split()
)
_OPENERS = frozenset({"good", "guten", "buenos", "buen", "vielen"})

StrategyOf = Callable[[Scope], str]
"""The name of the strategy for questions in a scope."""


class Navigator:
    """Answers questions over one index with one model."""

    def __init__(
        self,
        strategies: Mapping[str, Strategy],
        model: Model,
        strategy_of: StrategyOf,
        understand: Understand = by_rule,
        versions: Versions | None = None,
        trees: TreeStore | None = None,
        *,
        ceiling: AnswerCeiling | None = None,
    ) -> None:
        """`strategies` by name. `versions`: where questions may name one, and are answered from it. `trees`: the pages by
        which links are made to land on what is cited. `ceiling`: what one answer may cost."""
        self._trees = trees
        self._ceiling = ceiling
        self._strategies = strategies
        self._model = model
        self._strategy_of = strategy_of
        self._understand = understand
        self._versions = versions

    async def ask(
        self,
        question: str,
        scope: Scope | None = None,
        listener: Listener | None = None,
        *,
        earlier: Sequence[Earlier] = (),
        language: str = "",
        strategy: str = "",
        version_given: bool = False,
    ) -> Answer:
        """The answer; raises nothing for what a model, a store or a question does wrong, only errors of the
        installation (ingest.errors.INSTALLATION). `earlier`: what was said before in the conversation, oldest first;
        what those answers cited is at hand. `language`: in which to answer, by its name; "": the question's.
        `strategy`: by its name; "": the scope's. `version_given`: the scope's versions count, whatever the question
        names."""
        trace_id = uuid.uuid4().hex[:12]
        with structlog.contextvars.bound_contextvars(trace_id=trace_id):
            asked, note = question.strip(), ""
            chosen = self._strategy(strategy, scope or Scope())
            log.info(
                "question_asked",
                characters=len(question),
                earlier=len(earlier),
                model=self._model.name,
                strategy=chosen.name,
            )
            if needs_no_reading(asked):
                return Answer(question, GREETING, "greeting", model=self._model.name, trace_id=trace_id)
            if len(asked) > MAX_QUESTION_CHARACTERS:
                asked = asked[:MAX_QUESTION_CHARACTERS]
                note = f"Your question was very long: I read its first {MAX_QUESTION_CHARACTERS:,} characters."
            versions = None if version_given else self._versions
            answer = await self._answered(chosen, asked, scope or Scope(), listener, earlier, language, versions)
            notes = " ".join(part for part in (answer.note, note) if part)
            answer = replace(
                answer,
                question=question,
                note=notes,
                trace_id=trace_id,
                strategy=chosen.name,
                model=self._model.name,
            )
            usage = answer.trace.usage
            log.info(
                "question_answered",
                outcome=answer.outcome,
                strategy=chosen.name,
                calls=answer.trace.calls,
                read=len(answer.trace.passages),
                cited=len(answer.sources),
                seconds=round(answer.trace.seconds, 2),
                tokens_read=usage.read_tokens,
                tokens_written=usage.output_tokens,
                cost=usage.cost,
            )
            return answer

    def _strategy(self, wanted: str, scope: Scope) -> Strategy:
        """A channel may have kept the name of a strategy that this installation does not offer (any more)."""
        if wanted and wanted not in self._strategies:
            log.warning("strategy_unknown", strategy=wanted)
        return self._strategies.get(wanted) or self._strategies[self._strategy_of(scope)]

    async def _answered(
        self,
        strategy: Strategy,
        question: str,
        scope: Scope,
        listener: Listener | None,
        earlier: Sequence[Earlier],
        language: str,
        versions: Versions | None,
    ) -> Answer:
        understood = await self._understand(question, earlier)
        at_hand = tuple(node for one in reversed(earlier) for node in one.nodes)
        asked = RunQuestion(understood.question, scope, at_hand, language)
        run = AnswerRun(asked, self._model, listener, self._ceiling)
        run.understood(understood.usage)
        try:
            if versions:
                narrowed = await versions.narrowed(scope, understood.question)
                run.asked = replace(run.asked, scope=narrowed)
            answer = await strategy.answer(run)
            answer = await with_landing_links(answer, self._trees) if self._trees else answer
        except INSTALLATION:
            raise
        except AnswerCeilingReached:
            answer = run.over_ceiling()
        except (IngestError, ModelError) as error:
            log.warning("question_failed", kind=type(error).__name__, reason=str(error))
            answer = run.end("failed", str(error))
        return replace(answer, understood="" if understood.question == question else understood.question)


def needs_no_reading(question: str) -> bool:
    """True for an empty question, punctuation only, or a greeting with nothing after it."""
    words = re.findall(r"[^\W_]+", question.casefold())
    if not words:
        return True
    greets = words[0] in _GREETINGS or (words[0] in _OPENERS and len(words) > 1)
    return greets and all(word in _GREETINGS or word in _FILLERS for word in words)
