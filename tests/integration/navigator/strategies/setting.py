"""What tests of the strategies share: a small site, and a model behind a scripted Messages API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from ingest.model import Scope
from ingest.text.chunks import Sizes
from navigator.agent.prompts import RitBounds
from navigator.agent.run import Listener
from navigator.answer import Answer
from navigator.models.anthropic import AnthropicModel
from navigator.navigator import Navigator
from navigator.question.rewrite import Earlier
from navigator.retrieval.passages import ChunkPassages
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.build import StrategyDeps, build
from navigator.strategies.strategy import StrategyBounds
from tests.fakes.messages_api import MessagesApi
from tests.fakes.site import IndexedSite, html

BASE = "https://docs.example.test"
PUMPS = f"{BASE}/pumps.html"
VALVES = f"{BASE}/valves.html"
QUESTION = "How do I prime the pump?"

PAGES: Mapping[str, str | int | tuple[int, str]] = {
    PUMPS: html(
        "Pumps",
        "<p>A pump moves water.</p><h2 id='prime'>Priming</h2><p>Prime the pump: fill it with water first.</p>"
        "<pre>pump --prime</pre><h2 id='seal'>Seals</h2><p>Grease the seal twice a year.</p>"
        "<h3 id='ring'>Rings</h3><p>The ring XR-200 is a spare part.</p><h2>Empty</h2>",
    ),
    VALVES: html("Valves", "<p>Valves open and shut.</p><h2 id='stuck'>Stuck</h2><p>Oil what is stuck.</p>"),
}
TOOLS_OF = {
    "agentic": ("search",),
    "interact": ("search", "keyword", "entity", "page", "around"),
    "pageindex": ("read",),
}


@dataclass
class Asking:
    """One strategy on one site, with one model."""

    site: IndexedSite
    api: MessagesApi
    model: AnthropicModel
    strategy: str
    bounds: StrategyBounds
    rules: RitBounds

    async def ask(
        self,
        question: str = QUESTION,
        scope: Scope | None = None,
        *,
        earlier: tuple[Earlier, ...] = (),
        language: str = "",
        listener: Listener | None = None,
    ) -> Answer:
        site = self.site
        retriever = Retriever(site.trees, site.index, site.embedder, Recipe())
        deps = StrategyDeps(retriever, site.trees, parts_of(site), self.rules, self.bounds)
        navigator = Navigator({self.strategy: build(self.strategy, deps)}, self.model, lambda _: self.strategy)
        answer = await navigator.ask(question, scope, listener, earlier=earlier, language=language)
        assert self.api.refused == []
        return answer


@asynccontextmanager
async def asking(
    site: IndexedSite,
    strategy: str,
    bounds: StrategyBounds | None = None,
    rules: RitBounds | None = None,
    *,
    api: MessagesApi | None = None,
    **model: Any,
) -> AsyncIterator[Asking]:
    """`model`: options of AnthropicModel."""
    options: dict[str, Any] = {"citations": True, "retry_wait": 0.0, "timeout": 5.0, **model}
    async with (
        api or MessagesApi() as scripted,
        AnthropicModel(api_key="key", base_url=scripted.url, **options) as open_model,
    ):
        yield Asking(site, scripted, open_model, strategy, bounds or StrategyBounds(), rules or RitBounds())


def parts_of(site: IndexedSite) -> ChunkPassages:
    return ChunkPassages(site.trees, Sizes.fit(site.embedder.window, 60, 20), site.embedder.count)


def first_call(strategy: str) -> tuple[str, dict[str, Any]]:
    """What a model of this strategy does first that gives it text."""
    return ("read", {"sections": [2]}) if strategy == "pageindex" else ("search", {"query": "prime the pump"})


def first_number(strategy: str) -> int:
    """The number of the first passage that this gives."""
    return 2 if strategy == "pageindex" else 1
