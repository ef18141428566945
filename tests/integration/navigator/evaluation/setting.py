"""What tests of evaluation share: a small site, two contenders on it, and an endpoint that plays model and judge."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from navigator.batch.ledger import Ledger, MeteredModel
from navigator.batch.runner import Progress
from navigator.evaluation.folder import RunFolder
from navigator.evaluation.judging.judges import Examination, Judges
from navigator.evaluation.questions import EvalQuestion, Gold
from navigator.evaluation.results import Contender
from navigator.evaluation.runner import Candidate, EvalRun
from navigator.models.anthropic import AnthropicModel
from navigator.models.prices import Prices
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.build import StrategyDeps, build
from tests.fakes.messages_api import Answer, Failure, MessagesApi, Request, Scripted, cited, text, tool
from tests.fakes.site import IndexedSite
from tests.integration.navigator.strategies.setting import PUMPS, VALVES, parts_of

ANSWERER, JUDGE = "answerer", "judge"
PRICES = Prices(1_000.0, 1_000.0, 1_000.0, 1_000.0)
"""A tenth of a cent a token."""
MAX_OUTPUT_TOKENS = 200
QUESTIONS = (
    EvalQuestion(
        "prime", "How do I prime the pump?", ("Fill it with water.",), (), (Gold(page=PUMPS, anchor="prime"),)
    ),
    EvalQuestion("seal", "How often is the seal greased?", ("Twice a year.",), (), (Gold(page=PUMPS, anchor="seal"),)),
    EvalQuestion("stuck", "What do I do with a stuck valve?", ("Oil it.",), (), (Gold(page=VALVES, anchor="stuck"),)),
)


def asked_in(request: Request) -> str:
    """The words of a request's first message, without what stands before them."""
    content = request.body["messages"][0]["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def seal_of(request: Request) -> str:
    found = re.search(r'\{"seal": "([0-9a-f]+)"', asked_in(request))
    assert found
    return found[1]


def judged_answer(request: Request) -> str:
    found = re.search(r"<answer \w+>\n(.*)\n</answer \w+>", asked_in(request), re.DOTALL)
    assert found
    return found[1]


def says(what: Any) -> Answer:
    return Answer((text(what if isinstance(what, str) else json.dumps(what)),))


@dataclass
class Endpoint:
    """Answers like a model that plays each strategy well, and like a judge for whom `right` decides. `fails` answers in the
    place of both, where it gives anything."""

    right: Callable[[str], Any] = lambda said: True
    fails: Callable[[Request], Scripted | None] = lambda request: None
    answered: Counter[str] = field(default_factory=Counter)
    """Model and question (of a judge: the answer) -> requests that got a reply."""

    def __call__(self, request: Request) -> Scripted:
        failure = self.fails(request)
        if failure is not None:
            return failure
        if '{"seal": "' in asked_in(request):
            said = judged_answer(request)
            self.answered[f"judge {said}"] += 1
            if '"grade":' in asked_in(request):
                return says({"seal": seal_of(request), "grade": 7})
            verdict = self.right(said)
            return says(verdict if isinstance(verdict, str) else {"seal": seal_of(request), "right": verdict})
        question = asked_in(request).partition("<question>\n")[2].partition("\n</question>")[0]
        self.answered[question] += 1
        return self._played(request, question)

    def _played(self, request: Request, question: str) -> Answer:
        if request.search_results:
            return Answer((cited(f"So says the page: {question}", (0, 0, 0)),))
        if len(request.body["messages"]) == 1:
            return Answer((tool("get_toc", {"query": question}),))
        return Answer((tool("read", {"sections": [1, 2]}),))


@dataclass
class Bench:
    """A site, and the models at an endpoint."""

    site: IndexedSite
    api: MessagesApi
    model: AnthropicModel
    judge: AnthropicModel

    def candidates(self, *strategies: str, made_from: str = "index 1", ledger: Ledger | None = None) -> list[Candidate]:
        site, model = self.site, metered(self.model, ledger or Ledger())
        ground = StrategyDeps(Retriever(site.trees, site.index, site.embedder, Recipe()), site.trees, parts_of(site))
        return [
            Candidate(Contender(name, name), build(name, ground), lambda question: model, made_from)
            for name in strategies
        ]

    def run(
        self,
        folder: RunFolder,
        strategies: Sequence[str] = ("vanilla", "rit"),
        questions: Sequence[EvalQuestion] = QUESTIONS,
        *,
        judged: bool = True,
        made_from: str = "index 1",
        ledger: Ledger | None = None,
        workers: int = 2,
    ) -> EvalRun:
        ledger = ledger or Ledger()
        examination = Examination(Judges(metered(self.judge, ledger), folder)) if judged else None
        candidates = self.candidates(*strategies, made_from=made_from, ledger=ledger)
        return EvalRun(questions, candidates, folder, examination=examination, ledger=ledger, workers=workers)

    async def ran(self, path: Path, *args: Any, **options: Any) -> tuple[EvalRun, Progress]:
        """A whole run in its folder."""
        with RunFolder(path) as folder:
            run = self.run(folder, *args, **options)
            return run, await run.run()


def metered(model: AnthropicModel, ledger: Ledger) -> MeteredModel:
    return MeteredModel(model, ledger, PRICES, MAX_OUTPUT_TOKENS)


@asynccontextmanager
async def bench(site: IndexedSite, endpoint: Callable[[Request], Scripted]) -> AsyncIterator[Bench]:
    options: dict[str, Any] = {"api_key": "k", "citations": True, "retry_wait": 0.0, "timeout": 5.0, "prices": PRICES}
    options["max_tokens"] = MAX_OUTPUT_TOKENS
    async with MessagesApi() as api:
        api.always(endpoint)
        async with (
            AnthropicModel(base_url=api.url, model=ANSWERER, max_retries=1, **options) as model,
            AnthropicModel(base_url=api.url, model=JUDGE, max_retries=1, **options) as judge,
        ):
            yield Bench(site, api, model, judge)
            assert api.refused == []


def fails_with(status: int, message: str = "") -> Callable[[Request], Scripted]:
    return lambda request: Failure(status, message)
