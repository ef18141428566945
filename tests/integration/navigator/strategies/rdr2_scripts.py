"""What tests of RDR2 share: a small site, and a router and reader behind a scripted Messages API.

A router's reply is written as `ans("Fill the"), exp("In the cold")`: the ids are looked up in the subtree that it was
shown, so that a reply is right wherever the page's ids are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ingest.text.chunks import Sizes
from navigator.agent.prompts import RitBounds
from navigator.models.anthropic import AnthropicModel
from navigator.navigator import Navigator
from navigator.ports import Model
from navigator.retrieval.passages import ChunkPassages
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.build import StrategyDeps, build
from navigator.strategies.strategy import StrategyBounds
from tests.fakes.messages_api import Answer, Failure, MessagesApi, Request, Scripted, cited, text
from tests.fakes.site import IndexedSite, html

PUMPS = "https://docs.example.test/pumps.html"
VALVES = "https://docs.example.test/valves.html"
TANKS = "https://docs.example.test/tanks.html"
QUESTION = "How do I prime the pump?"
PAGES: Mapping[str, str | int | tuple[int, str]] = {
    PUMPS: html(
        "Pumps",
        "<p>Pumps move water.</p>"
        "<h2 id='prime'>Priming</h2><p>To prime the pump, do this.</p><p>Fill the casing.</p><pre>pump --prime</pre>"
        "<h3 id='cold'>Winter</h3><p>Warm the casing before filling.</p><p>Wait an hour.</p>"
        "<h2 id='seal'>Seals</h2><p>Grease them twice a year.</p>",
    ),
    VALVES: html("Valves", "<p>Valves prime nothing; a pump does.</p><h2>Sizes</h2><p>Two inches.</p>"),
    TANKS: html("Tanks", "<p>A tank feeds the pump.</p><h2>Cleaning</h2><p>Empty it first.</p>"),
}

Line = str | Callable[[Request], str]
Reply = Sequence[Line] | Scripted


def ans(words: str) -> Callable[[Request], str]:
    return lambda request: f"[ANS] {id_of(request, words)}: {words}"


def exp(words: str) -> Callable[[Request], str]:
    return lambda request: f"[EXP] {id_of(request, words)}: {words}"


REF = ("[REF]",)
FILL_IT = Answer((cited("Fill it.", (0, 0, 0)),))


def said_by(request: Request) -> str:
    """The user's words in a request."""
    return "\n".join(block["text"] for block in request.last if block["type"] == "text")


def id_of(request: Request, words: str) -> int:
    found = re.search(rf"^ *([0-9]+): {re.escape(words)}", said_by(request), re.MULTILINE)
    assert found, f"{words!r} is not shown:\n{said_by(request)}"
    return int(found[1])


def page_of(request: Request) -> str:
    """The title of the page that a router is shown."""
    shown = re.search(r"^0: (.*)$", said_by(request), re.MULTILINE)
    return shown[1] if shown else ""


def is_router(request: Request) -> bool:
    return "<page>" in said_by(request)


class Script:
    """Replies by page, one a round, the last again and again; REF for a page without. `answer`: what the reader says."""

    def __init__(self, pages: Mapping[str, Sequence[Reply]], answer: Answer = FILL_IT) -> None:
        self._pages = {title: list(replies) for title, replies in pages.items()}
        self._answer = answer
        self.looks: list[Request] = []
        self.readings: list[Request] = []

    def __call__(self, request: Request) -> Scripted:
        if not is_router(request):
            self.readings.append(request)
            return self._answer
        self.looks.append(request)
        replies = self._pages.get(page_of(request), [REF])
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, (Answer, Failure)) or not isinstance(reply, Sequence):
            return reply
        return Answer((text("\n".join(line if isinstance(line, str) else line(request) for line in reply)),))

    def looks_at(self, title: str) -> list[Request]:
        return [request for request in self.looks if page_of(request) == title]


def model_at(api: MessagesApi, name: str = "claude-haiku-5-5") -> AnthropicModel:
    return AnthropicModel(api_key="k", base_url=api.url, model=name, max_retries=0, citations=True)


def parts_of(site: IndexedSite) -> ChunkPassages:
    return ChunkPassages(site.trees, Sizes.fit(site.embedder.window, 60, 20), site.embedder.count)


def retriever_of(site: IndexedSite) -> Retriever:
    return Retriever(site.trees, site.index, site.embedder, Recipe())


def navigator(
    site: IndexedSite,
    model: Model,
    bounds: StrategyBounds | None = None,
    *,
    router: Model | None = None,
    rules: RitBounds | None = None,
) -> Navigator:
    deps = StrategyDeps(
        retriever_of(site), site.trees, parts_of(site), rules or RitBounds(), bounds or StrategyBounds(), router=router
    )
    return Navigator({"rdr2": build("rdr2", deps)}, model, lambda _: "rdr2")
