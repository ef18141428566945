"""Every command that asks a model about many things keeps to its ceiling where the endpoint bills tokens of a cache, and only
the prices of input and output are set: with many calls side by side, far more asked for than the ceiling pays."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from rich.console import Console

from deploy.commands.documents.index import index_sites
from deploy.commands.evaluation.curate import CurateOptions, curate
from deploy.commands.evaluation.enrich import EnrichOptions, enrich
from deploy.commands.evaluation.eval import evaluate
from deploy.commands.evaluation.questions import ProposeOptions, propose
from deploy.commands.evaluation.router_score import RouterScoreOptions, score
from deploy.settings.index import EmbeddingSettings, IndexSettings
from deploy.settings.model import ModelSettings
from deploy.settings.root import Settings
from deploy.settings.site import SiteSettings
from deploy.wiring.evaluation import EvalOptions
from ingest.model import Scope
from navigator.strategies.rdr2.examples import dump_example
from tests.fakes.annotator import Annotator
from tests.fakes.messages_api import Answer, MessagesApi, Request, Scripted, text
from tests.fakes.proposer import Proposer
from tests.fakes.site import html
from tests.fakes.tiny_model import tiny_model
from tests.integration.navigator.evaluation.setting import Endpoint
from tests.unit.navigator.strategies.test_rdr2_examples import EXAMPLE

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = 60
BILLED = {
    "input_tokens": 10,
    "output_tokens": 10,
    "cache_read_input_tokens": 20_000,
    "cache_creation_input_tokens": 4_000,
}
COST = (10 * 1 + 10 * 5 + 20_000 * 1 + 4_000 * 1.25) / 1e6
"""US dollars of a call at 1 and 5 for a million of input and output."""
CEILING = 12.5 * COST


@dataclass
class Place:
    """A site with many sections, questions about it, examples of routing."""

    folder: Path
    settings: Settings

    async def enrich(self, settings: Settings, console: Console) -> int:
        return await enrich(settings, EnrichOptions(max_cost=CEILING), console)

    async def questions(self, settings: Settings, console: Console) -> int:
        wanted = ProposeOptions("house", self.folder / "proposed.jsonl", count=MANY, max_cost=CEILING)
        return await propose(settings, wanted, console)

    async def curate(self, settings: Settings, console: Console) -> int:
        wanted = CurateOptions(self.folder / "questions.jsonl", self.folder / "curated", max_cost=CEILING)
        return await curate(settings, wanted, Scope(), ("en",), console)

    async def eval(self, settings: Settings, console: Console) -> int:
        file, out = self.folder / "questions.jsonl", self.folder / "eval"
        wanted = EvalOptions(file, ("vanilla", "rdr2"), out=out, max_cost=CEILING)
        return await evaluate(settings, wanted, Scope(), ("en",), console)

    async def router(self, settings: Settings, console: Console) -> int:
        wanted = RouterScoreOptions(self.folder / "examples.jsonl", max_cost=CEILING)
        return await score(settings, wanted, console, as_json=False)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("ceilings")
    (folder / "html").mkdir()
    for n in range(MANY):
        words = " ".join(f"pump{n}x{word}" for word in range(30))
        page = html(f"Pump {n}", f"<p>{words}. It is set to what is in the list, and can be on or off for a day.</p>")
        (folder / "html" / f"{n}.html").write_text(page, encoding="utf-8")
    asked = [{"question": f"How is pump {n} set?", "answer": "To the list."} for n in range(MANY)]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    (folder / "examples.jsonl").write_text(f"{dump_example(EXAMPLE)}\n" * MANY, encoding="utf-8")
    settings = Settings(
        index=IndexSettings(folder=folder / "data"),
        embedding=EmbeddingSettings(model=str(tiny_model(folder / "tiny"))),
        sites=(SiteSettings(name="house", start=str(folder / "html"), base_url="https://house.example/docs/"),),
    )
    await index_sites(settings, [settings.site("house")], Console(file=StringIO()))
    return Place(folder, settings)


def routes_nowhere(request: Request) -> Scripted:
    return Answer((text("[REF]"),))


def reads_or_routes(request: Request) -> Scripted:
    return routes_nowhere(request) if "Reply with actions" in str(request.body.get("system")) else Endpoint()(request)


Command = Callable[[Place, Settings, Console], Awaitable[int]]


@pytest.mark.parametrize(
    ("command", "endpoint"),
    [
        (Place.enrich, Annotator()),
        (Place.questions, Proposer()),
        (Place.curate, routes_nowhere),
        (Place.eval, reads_or_routes),
        (Place.router, routes_nowhere),
    ],
    ids=["enrich", "questions", "curate", "eval", "router"],
)
async def test_the_ceiling_holds_and_most_of_it_is_used(
    place: Place, command: Command, endpoint: Callable[[Request], Scripted]
) -> None:
    def billed(request: Request) -> Scripted:
        said = endpoint(request)
        assert isinstance(said, Answer)
        return replace(said, usage=BILLED, delay=0.01)

    told = StringIO()
    async with MessagesApi() as api:
        api.always(billed)
        fields: dict[str, Any] = {"api_key": "k", "base_url": api.url, "citations": True, "max_tokens": 200}
        model = ModelSettings.model_validate({**fields, "prices": {"input": 1.0, "output": 5.0}})
        settings = place.settings.model_copy(update={"model": model})
        assert await command(place, settings, Console(file=told, width=160)) == 1
        assert 6 <= len(api.requests) <= 12
    assert "Stopped: the ceiling is reached." in told.getvalue()
