"""Scripted readers play every strategy's game to its end, and the oracle reads gold and nothing else."""

from pathlib import Path

import pytest

from navigator.evaluation.folder import RunFolder
from navigator.evaluation.gold import Library
from navigator.evaluation.questions import EvalQuestion, Gold
from navigator.evaluation.readers import TOP_SECTIONS, OracleReader, RoutedPages, TopReader
from navigator.evaluation.report.summary import RunSummary, summarise
from navigator.evaluation.results import Contender, Result
from navigator.evaluation.runner import Candidate, EvalRun
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.build import FOR_PEOPLE, StrategyDeps, build
from navigator.strategies.strategy import StrategyBounds
from tests.fakes.site import IndexedSite
from tests.integration.navigator.evaluation.setting import QUESTIONS
from tests.integration.navigator.strategies.setting import PUMPS, parts_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

RING = EvalQuestion("ring", "Which spare part is the ring?", (), (), (Gold(page=PUMPS, anchor="ring"),))
ABSENT = EvalQuestion("absent", "What is the pump made of?", (), (), (Gold(page=PUMPS, anchor="nowhere"),))


async def read_by(
    site: IndexedSite,
    path: Path,
    strategy: str,
    reader: str,
    questions: tuple[EvalQuestion, ...] = (*QUESTIONS, RING),
    bounds: StrategyBounds | None = None,
) -> tuple[list[Result], RunSummary]:
    keys = [state.key async for state in site.trees.scan() if state.state == "live"]
    outlines = await site.trees.outlines(keys)
    pages, library = RoutedPages(outlines, site.trees), Library(outlines)
    retriever = Retriever(site.trees, site.index, site.embedder, Recipe())
    ground = StrategyDeps(retriever, site.trees, parts_of(site), bounds=bounds or StrategyBounds())
    entrant = Candidate(
        Contender(f"{strategy}, {reader} reader", strategy, reader=reader),
        build(strategy, ground),
        lambda question: TopReader(pages) if reader == "top" else OracleReader(pages, library.resolve(question).nodes),
        "index",
        told_gold=reader == "oracle",
    )
    with RunFolder(path) as folder:
        run = EvalRun(questions, [entrant], folder)
        progress = await run.run()
        assert progress.ended == ""
        assert run.complete
        results = run.results()
    return results, summarise(questions, run.contenders, results, outlines=outlines)


@pytest.mark.parametrize("strategy", FOR_PEOPLE)
async def test_the_top_reader_answers_and_says_nothing(site: IndexedSite, tmp_path: Path, strategy: str) -> None:
    results, summary = await read_by(site, tmp_path, strategy, "top")
    assert {result.answer.outcome for result in results} == {"answered"}
    for result in results:
        assert result.answer.text == ""
        assert result.answer.sources
        assert result.answer.model == "top reader"
        assert all(step.error is None for step in result.answer.trace.steps)
        assert result.answer.trace.usage.input_tokens > 100
    (row,) = summary.rows
    assert row.recall
    assert row.token_recall is None, "a reader that says nothing is not measured by its words"
    assert row.accuracy is None


@pytest.mark.parametrize("strategy", ["rit", "pageindex", "rdr2"])
async def test_the_oracle_reads_just_the_gold_where_it_can_choose(
    site: IndexedSite, tmp_path: Path, strategy: str
) -> None:
    results, summary = await read_by(site, tmp_path, strategy, "oracle")
    (row,) = summary.rows
    assert row.recall
    assert row.precision == row.recall, "whatever was read was gold, and what was not read was not offered"
    reached = [result for result in results if result.answer.trace.passages]
    assert len(reached) == row.recall * len(results)
    assert {result.answer.outcome for result in reached} == {"answered"}
    assert all(step.error is None for result in results for step in result.answer.trace.steps)
    if strategy == "rit":
        assert row.recall == 1.0
        assert row.calls == {"get_toc": 1.0, "read": 1.0}


@pytest.mark.parametrize("strategy", ["vanilla", "agentic", "interact"])
async def test_where_a_search_gives_text_the_oracle_reads_what_it_gave(
    site: IndexedSite, tmp_path: Path, strategy: str
) -> None:
    top, _ = await read_by(site, tmp_path / "top", strategy, "top", bounds=StrategyBounds(chunks=1, search_chunks=1))
    oracle, _ = await read_by(
        site, tmp_path / "oracle", strategy, "oracle", bounds=StrategyBounds(chunks=1, search_chunks=1)
    )
    for first, second in zip(top, oracle, strict=True):
        assert [p.node_id for p in first.answer.trace.passages] == [p.node_id for p in second.answer.trace.passages]
    assert {result.answer.outcome for result in top} == {"answered"}


@pytest.mark.parametrize("strategy", FOR_PEOPLE)
async def test_the_oracle_finds_nothing_where_there_is_no_gold(
    site: IndexedSite, tmp_path: Path, strategy: str
) -> None:
    results, _ = await read_by(site, tmp_path, strategy, "oracle", (ABSENT,))
    assert [result.answer.outcome for result in results] == ["not_found"]


async def test_the_oracle_reads_all_of_a_page_that_is_gold(site: IndexedSite, tmp_path: Path) -> None:
    whole = EvalQuestion("all", "What is there to know of pumps, priming, seals, rings?", (), (), (Gold(page=PUMPS),))
    results, summary = await read_by(site, tmp_path, "rit", "oracle", (whole,))
    (row,) = summary.rows
    assert (row.precision, row.recall) == (1.0, 1.0)
    assert len(results[0].answer.trace.passages) == 4


async def test_the_router_of_the_oracle_unfolds_the_gold_heading(site: IndexedSite, tmp_path: Path) -> None:
    """One chunk is retrieved, that of another section: only unfolding reaches the gold."""
    asked = EvalQuestion("far", "Fill it with water", (), (), (Gold(page=PUMPS, anchor="ring"),))
    folded, _ = await read_by(site, tmp_path / "0", "rdr2", "oracle", (asked,), StrategyBounds(chunks=1, expansions=0))
    assert folded[0].answer.outcome == "not_found"
    unfolded, _ = await read_by(
        site, tmp_path / "1", "rdr2", "oracle", (asked,), StrategyBounds(chunks=1, expansions=1)
    )
    assert [passage.path[-1] for passage in unfolded[0].answer.trace.passages] == ["Rings"]
    assert [step.tool for step in unfolded[0].answer.trace.steps] == ["route", "route", "read"]


@pytest.mark.parametrize("reader", ["top", "oracle"])
async def test_readers_route_without_structure_too(site: IndexedSite, tmp_path: Path, reader: str) -> None:
    results, _ = await read_by(site, tmp_path, "rdr2", reader, QUESTIONS, StrategyBounds(structure=False))
    assert {result.answer.outcome for result in results} == {"answered"}
    assert all(step.error is None for result in results for step in result.answer.trace.steps)


async def test_the_top_reader_reads_at_most_so_many_sections(site: IndexedSite, tmp_path: Path) -> None:
    results, _ = await read_by(site, tmp_path, "pageindex", "top")
    assert max(len(result.answer.trace.passages) for result in results) <= TOP_SECTIONS
