"""The strategies of one call: `vanilla` reads the best chunks, `none` reads nothing and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.model import Scope
from navigator.agent.prompts import question_of
from navigator.extracts.model import ExtractiveModel
from navigator.navigator import Navigator
from navigator.question.rewrite import Earlier
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.build import FOR_PEOPLE, STRATEGIES, StrategyDeps, build
from navigator.strategies.single_call import NOTHING_READ
from navigator.strategies.strategy import StrategyBounds
from tests.fakes.messages_api import MessagesApi, cited, tool
from tests.fakes.site import IndexedSite, html, indexed_site
from tests.integration.navigator.strategies.setting import BASE, PUMPS, QUESTION, asking, parts_of


async def test_vanilla_reads_the_best_chunks_and_cites_them_in_one_call(site: IndexedSite) -> None:
    async with asking(site, "vanilla", StrategyBounds(chunks=3)) as asked:
        asked.api.say(cited("Fill it.", (0, 0, 0)), " Or not.")
        answer = await asked.ask()
    (request,) = asked.api.requests
    assert [block["type"] for block in request.last] == ["search_result"] * 3 + ["text"]
    assert question_of(request.last[-1]["text"]) == QUESTION
    assert "tools" not in request.body
    assert (answer.outcome, answer.text) == ("answered", "Fill it. [1] Or not.")
    assert answer.sources[0].first.link.startswith(f"{PUMPS}#prime:~:text=")
    (step,) = answer.trace.steps
    assert (step.tool, step.query, step.numbers) == ("search", QUESTION, (1, 2, 3))
    assert [passage.number for passage in answer.trace.passages] == [1, 2, 3]
    assert [number for number, *_ in answer.trace.shown] == [1, 2, 3]
    assert answer.trace.turns == 1


async def test_vanilla_reads_five_chunks_unless_told_otherwise(site: IndexedSite) -> None:
    async with asking(site, "vanilla") as asked:
        asked.api.say(cited("So.", (4, 0, 0)))
        answer = await asked.ask()
    assert len(answer.trace.passages) == 5
    assert answer.sources[0].first.path == answer.trace.passages[4].path


async def test_vanilla_checks_marks_where_the_endpoint_gives_no_citations(site: IndexedSite) -> None:
    api = MessagesApi(ignores=["citations"])
    async with asking(site, "vanilla", api=api, citations=None) as asked:
        api.say("Fill it [1]. Sing [9].\n\nIt flies.")
        answer = await asked.ask()
    assert "[1] Pumps › Priming" in api.requests[0].last[0]["text"]
    assert (answer.text, answer.unsupported) == ("Fill it [1]. Sing.\n\nIt flies.", ("It flies.",))


async def test_vanilla_shows_an_answer_without_a_citation_as_not_supported(site: IndexedSite) -> None:
    async with asking(site, "vanilla") as asked:
        asked.api.say("By heart: use oil.")
        answer = await asked.ask()
    assert (answer.outcome, answer.unsupported) == ("answered", ("By heart: use oil.",))
    assert answer.sources[0].first.path == ("Pumps", "Priming")


async def test_vanilla_says_what_it_did_not_find(site: IndexedSite) -> None:
    async with asking(site, "vanilla") as asked:
        asked.api.say("NOT_FOUND I looked for prices.")
        answer = await asked.ask()
    assert answer.text.endswith("I looked for prices.")
    assert 1 <= len(answer.nearest) <= 3


async def test_vanilla_asks_no_model_where_nothing_was_retrieved(site: IndexedSite, empty_site: IndexedSite) -> None:
    async with asking(empty_site, "vanilla") as asked:
        empty = await asked.ask()
    async with asking(site, "vanilla") as asked:
        elsewhere = await asked.ask(scope=Scope(versions=frozenset({"v9"})))
    for answer in (empty, elsewhere):
        assert (answer.outcome, answer.trace.turns, answer.nearest) == ("not_found", 0, ())
        assert [(step.tool, step.numbers) for step in answer.trace.steps] == [("search", ())]


async def test_vanilla_reads_only_what_the_question_finds_in_a_conversation_too(site: IndexedSite) -> None:
    earlier = Earlier(QUESTION, "Fill it [1].", tuple(await site.trees.find("")))
    async with asking(site, "vanilla", StrategyBounds(chunks=1)) as asked:
        asked.api.say(cited("Mit Wasser.", (0, 0, 0)))
        answer = await asked.ask("with what?", earlier=(earlier,), language="German")
    text = asked.api.requests[0].last[-1]["text"]
    assert question_of(text) == answer.understood == f"{QUESTION} – with what?"
    assert "Answer in German." in text
    assert len(answer.trace.passages) == 1


async def test_vanilla_reads_a_long_section_by_its_best_part(tmp_path: Path) -> None:
    body = "".join(f"<p>Valve number {n} is checked on day {n} of the month by two people.</p>" for n in range(20))
    page = html("Checks", body + "<p>The boiler is drained in May.</p>" + body)
    async with (
        indexed_site(tmp_path, {f"{BASE}/checks.html": page}) as site,
        asking(site, "vanilla", StrategyBounds(chunks=1)) as asked,
    ):
        asked.api.say(cited("In May.", (0, 0, 0)))
        answer = await asked.ask("When is the boiler drained?")
    (read,) = answer.trace.passages
    texts = [block.text for block in read.blocks]
    assert read.at > 0
    assert "The boiler is drained in May." in texts
    assert answer.sources[0].first.block == read.at
    assert answer.sources[0].first.quote == texts[0]


@pytest.mark.parametrize("strategy", ["vanilla", "none"])
async def test_a_refusal_is_told_plainly(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        asked.api.say("No.", stop="refusal")
        answer = await asked.ask()
    assert answer.outcome == "failed"
    assert "declined" in answer.text


@pytest.mark.parametrize(("strategy", "steps"), [("vanilla", ["search"]), ("none", [])])
async def test_a_fault_of_the_model_gives_a_plain_reason(site: IndexedSite, strategy: str, steps: list[str]) -> None:
    async with asking(site, strategy, max_retries=0) as asked:
        asked.api.fail(500)
        answer = await asked.ask()
    assert answer.outcome == "failed"
    assert [step.tool for step in answer.trace.steps] == steps


@pytest.mark.parametrize("strategy", ["vanilla", "none"])
async def test_an_answer_that_was_cut_short_says_so(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        asked.api.say(cited("Fill it", (0, 0, 0)) if strategy == "vanilla" else "Fill it", stop="max_tokens")
        answer = await asked.ask()
    assert answer.outcome == "answered"
    assert "cut short" in answer.note


@pytest.mark.parametrize("strategy", ["vanilla", "none"])
async def test_a_reply_without_words_is_no_answer(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        asked.api.send()
        answer = await asked.ask()
    assert (answer.outcome, answer.sources) == ("failed" if strategy == "vanilla" else "not_found", ())


@pytest.mark.parametrize("strategy", ["vanilla", "none"])
async def test_a_tool_that_was_never_offered_is_not_called(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        asked.api.send(tool("search", {"query": "pump"}))
        answer = await asked.ask()
    assert (answer.outcome, answer.trace.turns) == ("failed" if strategy == "vanilla" else "not_found", 1)


@pytest.mark.parametrize("strategy", ["vanilla", "none"])
async def test_a_greeting_costs_no_call(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        assert (await asked.ask("hello")).outcome == "greeting"


async def test_none_answers_from_the_model_alone_and_says_that_nothing_was_read(empty_site: IndexedSite) -> None:
    async with asking(empty_site, "none") as asked:
        asked.api.say("Fill it with [water](https://evil.test) [1].\n\nThen run `pump`.")
        answer = await asked.ask(language="German")
    (request,) = asked.api.requests
    assert (answer.outcome, answer.strategy, answer.note) == ("answered", "none", NOTHING_READ)
    assert answer.text == "Fill it with water.\n\nThen run `pump`."
    assert answer.unsupported == ("Fill it with water.", "Then run `pump`."), "no claim has a source"
    assert (answer.sources, answer.nearest, answer.trace.steps, answer.trace.passages) == ((), (), (), ())
    assert answer.trace.turns == 1
    assert "tools" not in request.body
    assert request.search_results == []
    assert "Answer in German." in request.last[0]["text"]


@pytest.mark.parametrize("word", ["NOT_FOUND", "NOT_FOUND:", "**NOT_FOUND**\n\n", "`NOT_FOUND`:"])
async def test_none_admits_what_the_model_does_not_know(empty_site: IndexedSite, word: str) -> None:
    async with asking(empty_site, "none") as asked:
        asked.api.say(f"{word} I do not know this pump.")
        answer = await asked.ask()
    assert answer.outcome == "not_found"
    assert answer.text == "The model does not know this by itself, and nothing was read. I do not know this pump."


async def test_none_may_speak_of_the_word_for_not_knowing(empty_site: IndexedSite) -> None:
    async with asking(empty_site, "none") as asked:
        asked.api.say("The status NOT_FOUND is number 5.")
        answer = await asked.ask("What is the status NOT_FOUND of gRPC?")
    assert answer.outcome == "answered"


def test_people_are_never_offered_the_model_alone() -> None:
    assert set(STRATEGIES) - set(FOR_PEOPLE) == {"none"}
    assert {"vanilla", "agentic", "interact", "pageindex", "rit"} <= set(FOR_PEOPLE)


async def test_vanilla_works_without_a_model(site: IndexedSite) -> None:
    ground = StrategyDeps(Retriever(site.trees, site.index, site.embedder, Recipe()), site.trees, parts_of(site))
    navigator = Navigator({"vanilla": build("vanilla", ground)}, ExtractiveModel(site.embedder), lambda _: "vanilla")
    answer = await navigator.ask(QUESTION)
    assert answer.outcome == "answered"
    assert answer.sources[0].first.path == ("Pumps", "Priming")
    assert "fill it with water" in answer.text
