"""Summaries, evaluation, proposed questions and every strategy with the index on servers: a real OpenSearch and Kafka,
vectors behind Qdrant's API. What these commands refuse, and how they go on after a kill, is tested with files."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from deploy.settings.root import load
from deploy.wiring.stores import open_notes, open_trees
from ingest.urls import page_key
from navigator.evaluation.questions import load_questions
from navigator.evaluation.results import load_result
from tests.e2e.commands import lay_out, ritbot
from tests.e2e.roles import running, until
from tests.fakes.annotator import Annotator
from tests.fakes.messages_api import Answer, MessagesApi, Request, Scripted, cited, tool
from tests.fakes.proposer import Proposer
from tests.fakes.site import html
from tests.integration.navigator.evaluation.setting import Endpoint
from tests.integration.navigator.strategies.rdr2_scripts import Script, ans, is_router
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import own_name

SITE = "https://pumpkin.example/docs/"
ROTATE = "How often should I rotate the signing keys?"
STEPS = "".join(
    f"<p>Step {n}: turn handle {n} by a quarter and write down what gauge {n} shows.</p>" for n in range(80)
)
PAGES = {
    "install": html(
        "Installing Pumpkin",
        "<p>Pumpkin runs on Linux and needs two gigabytes of memory for itself. The package comes from the repository of "
        "the distribution and starts a service of its own. After an update the service starts again by itself, and open "
        "connections are kept for another minute.</p><h2 id='port'>Changing the port</h2><p>Pumpkin listens on port 8080 "
        "unless something else is set. Write another number into PUMPKIN_PORT and restart the service, which closes the "
        "old port at once. Numbers below 1024 need the right to bind them, which the package does not give to it.</p>",
    ),
    "keys": html(
        "Signing keys",
        "<p>Every release is signed with a key that the release team keeps offline. The public half stands beside the "
        "downloads, so that anybody can check that a package was not changed on its way. The installer refuses a package "
        "without a valid signature.</p><h2 id='rotate'>Rotating keys</h2><p>Rotate the signing keys once a year with "
        "pumpkin-keys rotate, or at once after somebody has left the release team. The old key stays valid for thirty "
        "days, so that mirrors have time to follow. Whoever checks packages by hand fetches the new key.</p>",
    ),
    "backup": html(
        "Backups",
        "<p>Copy the folder /var/lib/pumpkin while nothing runs, and keep the copy on another machine. A backup holds all "
        "data and settings, but no keys, which the release team keeps. To go back, stop the service, put the folder in "
        "its place and start the service again.</p>",
    ),
    "manual": html("Manual", STEPS),
}
QUESTIONS: list[dict[str, Any]] = [
    {"id": "port", "question": "How do I change the port?", "answer": "8080", "sections": ["install.html#port"]},
    {"id": "keys", "question": ROTATE, "answer": "Once a year.", "page": "keys.html", "anchor": "rotate"},
    {"id": "data", "question": "What does a backup hold?", "answer": "All data.", "pages": [f"{SITE}backup.html"]},
]


@dataclass(frozen=True)
class Servers:
    """Where the index may be kept, and a folder for working directories."""

    top: Path
    stores: str
    kafka: str

    def place(self, name: str, *, embedded: bool = False, kafka: bool = False) -> Path:
        """A working directory with the site indexed in stores of its own."""
        place = self.top / name
        place.mkdir()
        unique = own_name()
        (place / "ritbot.toml").write_text(
            f'[index]\nfolder = "data"\n[embedding]\nthreads = 1\n[[sites]]\nname = "pumpkin"\nstart = "{self.top}/html"\n'
            f'base_url = "{SITE}"\n'
            + ("" if embedded else f'[stores]\nkind = "cluster"\nname = "{unique}"\n{self.stores}')
            + (f'[events]\nkind = "kafka"\nservers = "{self.kafka}"\nprefix = "{unique}."\n' if kafka else ""),
            encoding="utf-8",
        )
        (place / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")
        done = ritbot(place, "index")
        assert "4 new" in done.stdout, done.stdout + done.stderr
        return place


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, opensearch: OpenSearch, qdrant: str, kafka: Kafka) -> Servers:
    top = tmp_path_factory.mktemp("evaluation")
    lay_out(top, PAGES, "")
    return Servers(top, f'opensearch_url = "{opensearch.url}"\nqdrant_url = "{qdrant}"\n', kafka.address)


@pytest.fixture(scope="module")
def plain(servers: Servers) -> Path:
    """A place on the cluster that no model has written to. No test changes it."""
    return servers.place("plain")


async def run(place: Path, api: MessagesApi, *arguments: str, status: int = 0) -> CompletedProcess[str]:
    """A command with the scripted model, at a dollar for a million tokens."""
    prices = {f"PRICES__{kind}": "1" for kind in ("INPUT", "OUTPUT", "CACHE_READ", "CACHE_WRITE")}
    model = {"API_KEY": "test", "BASE_URL": api.url, "CITATIONS": "true", **prices}
    env = {f"RITBOT_MODEL__{name}": value for name, value in model.items()}
    done = await asyncio.to_thread(ritbot, place, *arguments, env=env)
    assert done.returncode == status, done.stdout + done.stderr
    return done


async def found(place: Path) -> Mapping[str, int]:
    """How many contents have a note, by its kind, as the servers say."""
    async with open_notes(load(place / "ritbot.toml", {})) as notes:
        return {kind: total.found for kind, total in (await notes.totals()).items()}


async def manual(place: Path) -> Mapping[str, str]:
    """The ids of the sections of the page without headings, by title."""
    async with open_trees(load(place / "ritbot.toml", {})) as trees:
        stored = await trees.get(page_key(f"{SITE}manual.html"))
    assert stored
    assert stored.record.page
    return {node.title: node.id for node in stored.record.page.nodes}


async def test_summaries_and_titles_are_written_once_and_shown_then(servers: Servers, api: MessagesApi) -> None:
    place, annotator = await asyncio.to_thread(servers.place, "noted"), Annotator()
    api.always(annotator)
    first = await run(place, api, "enrich")
    assert "pumpkin: 1 page read again" in first.stdout
    assert await found(place) == {"outline": 1, "summary": len(annotator.asked) - 1}
    assert {"outline Manual", "summary Rotating keys", "summary Part from 11"} <= set(annotator.asked)
    asked = len(annotator.asked)
    assert "Sections without a summary: none." in (await run(place, api, "enrich")).stdout
    assert len(annotator.asked) == asked
    assert not (place / "data" / "notes.sqlite").exists()

    api.call("get_toc", {"query": "what does gauge 25 show"})
    api.call("read", {"sections": [1]})
    api.say("NOT_FOUND Nothing.")
    way = await run(place, api, "ask", "--trace", "What does gauge 25 show?", status=1)
    assert re.search(r"Part from 21 \[\d+w\] \(All about Part from 21\.; Part from 21\)", way.stdout)
    nodes = await manual(place)
    tree = await run(place, api, "tree", nodes["Manual"])
    assert f"Part from 21   {nodes['Part from 21']}   (title by a model)" in tree.stdout


async def test_on_kafka_the_indexers_split_what_is_announced(servers: Servers, api: MessagesApi) -> None:
    place, annotator = await asyncio.to_thread(servers.place, "kafka", kafka=True), Annotator()
    api.always(annotator)
    with running(place, "indexer") as indexer:
        titles = await run(place, api, "enrich", "--outlines")
        assert "pumpkin: 1 page announced" in titles.stdout
        assert annotator.asked == ["outline Manual"]
        await until(lambda: indexer.handled("changed"), "the page is split", indexer)
        summaries = await run(place, api, "enrich", "--summaries")
        assert {"summary Part from 11", "summary Part from 71"} <= set(annotator.asked)
        assert f"Summaries written: {len(annotator.asked) - 1}" in summaries.stdout
        assert await found(place) == {"outline": 1, "summary": len(annotator.asked) - 1}
        again = await run(place, api, "enrich")
    assert "announced" not in again.stdout, "what is split is not announced again"


async def test_scripted_readers_read_the_same_as_with_files(servers: Servers, plain: Path) -> None:
    files = await asyncio.to_thread(servers.place, "files", embedded=True)
    figures, read = [], []
    for place in (plain, files):
        done = await asyncio.to_thread(ritbot, place, "eval", "questions.jsonl", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        rows = json.loads(done.stdout)["rows"]
        figures.append({row["contender"]["label"]: (row["precision"], row["recall"]) for row in rows})
        lines = (place / "eval" / "questions" / "results.jsonl").read_bytes().splitlines()
        read.append(
            {(r.question_id, r.contender): [p.path for p in r.answer.trace.passages] for r in map(load_result, lines)}
        )
    assert len(figures[0]) == 12
    assert figures[0] == figures[1]
    assert figures[0]["rit, oracle reader"] == (1.0, 1.0)
    assert read[0] == read[1]
    assert len(read[0]) == 12 * len(QUESTIONS)


async def test_strategies_are_answered_judged_and_reported(plain: Path, api: MessagesApi) -> None:
    api.always(Endpoint(right=lambda said: "rotate" in said))
    wanted = ("--strategy", "vanilla", "--strategy", "rit", "--out", "judged", "--max-cost", "1")
    await run(plain, api, "eval", "questions.jsonl", *wanted)
    folder = plain / "judged"
    assert {path.name for path in folder.iterdir()} >= {"report.md", "report.json", "report.html"}
    rows = json.loads((folder / "report.json").read_text(encoding="utf-8"))["rows"]
    assert [(row["contender"]["label"], row["accuracy"]["hits"], row["accuracy"]["of"]) for row in rows] == [
        ("vanilla", 1, 3),
        ("rit", 1, 3),
    ]
    asked = len(api.requests)
    again = await run(plain, api, "eval", "questions.jsonl", *wanted)
    assert "6 answers, 6 of them there already" in again.stdout
    assert len(api.requests) == asked


async def test_questions_are_proposed_from_its_sections(plain: Path, api: MessagesApi) -> None:
    api.always(Proposer())
    await run(plain, api, "questions", "pumpkin", "--out", "proposed.jsonl", "--count", "4")
    proposed = load_questions((plain / "proposed.jsonl").read_text(encoding="utf-8"))
    assert {question.kind for question in proposed} == {"single-section", "multi-section", "multi-page"}
    assert all(question.synthetic and question.gold for question in proposed)


CALLS: Mapping[str, Sequence[Sequence[dict[str, Any]]]] = {
    "agentic": [[tool("search", {"query": ROTATE})]],
    "pageindex": [[tool("read", {"sections": [2]})]],
    "interact": [
        [tool("entity", {"name": "gauge 25"}), tool("keyword", {"query": "PUMPKIN_PORT"})],
        [tool("around", {"passage": 1}), tool("page", {"passage": 1, "query": "gauge 70"})],
        [tool("search", {"query": ROTATE})],
    ],
    "rdr2": [],
}
"""What the model of each calls, turn by turn, before it answers: every call gives it something that it has not read. That
of rdr2 calls nothing: it is given what the router chose to read."""


def answer_or_route(request: Request) -> Scripted:
    """Of all that is read or shown, the sentence about the keys."""
    if is_router(request):
        return Script({"Signing keys": [[ans("Rotate the signing keys")]]})(request)
    (place,) = (n for n, read in enumerate(request.search_results) if "Rotate the" in read["content"][0]["text"])
    return Answer((cited("Yearly.", (place, 0, 0)),))


@pytest.mark.parametrize("strategy", CALLS)
async def test_every_strategy_answers(plain: Path, api: MessagesApi, strategy: str) -> None:
    for turn in CALLS[strategy]:
        api.send(*turn)
    api.always(answer_or_route)
    answer = json.loads((await run(plain, api, "ask", "--strategy", strategy, "--json", ROTATE)).stdout)
    assert (answer["strategy"], answer["outcome"], answer["text"]) == (strategy, "answered", "Yearly. [1]")
    (citation,) = answer["sources"][0]["citations"]
    assert citation["node_link"] == f"{SITE}keys.html#rotate"
    called = [step for step in answer["trace"]["steps"] if step["tool"] not in ("pick_page", "route")]
    assert [step["tool"] for step in called] == (
        [call["name"] for turn in CALLS[strategy] for call in turn] or ["read"]
    )
    assert all(step["numbers"] and not step["error"] for step in called), called
