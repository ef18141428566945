"""Curating examples for a router: from questions to files, stopped and begun again, within a ceiling."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from navigator.batch.ledger import CEILING, Ledger, MeteredModel
from navigator.batch.runner import Progress
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.routing.curated import HELD_OUT, REPLIES, TRAIN, CuratedFolder, is_held_out
from navigator.evaluation.routing.curation import QUESTIONS_TAKEN_UP, Curation
from navigator.models.anthropic import AnthropicModel
from navigator.models.prices import Prices
from navigator.strategies.build import StrategyDeps
from navigator.strategies.rdr2.examples import load_examples
from navigator.strategies.strategy import StrategyBounds
from tests.fakes.messages_api import Answer, Failure, MessagesApi, text
from tests.fakes.site import IndexedSite, indexed_site
from tests.integration.navigator.strategies.rdr2_scripts import (
    PAGES,
    QUESTION,
    REF,
    Script,
    ans,
    exp,
    page_of,
    parts_of,
    retriever_of,
    said_by,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUESTIONS = [EvalQuestion(f"q{n}", f"{QUESTION} ({n})") for n in range(4)]
PRICES = Prices(10_000.0, 10_000.0, 10_000.0, 10_000.0)
"""A cent a token, so that a few pages make dollars."""
MAX_OUTPUT_TOKENS = 50


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path_factory.mktemp("site"), PAGES) as open_site:
        yield open_site


async def curate(
    site: IndexedSite,
    api: MessagesApi,
    folder: Path,
    questions: Sequence[EvalQuestion] = QUESTIONS,
    *,
    ledger: Ledger | None = None,
    workers: int = 1,
) -> Progress:
    deps = StrategyDeps(retriever_of(site), site.trees, parts_of(site), bounds=StrategyBounds())
    options: dict[str, Any] = {"max_retries": 0, "prices": PRICES, "max_tokens": MAX_OUTPUT_TOKENS}
    async with AnthropicModel(api_key="k", base_url=api.url, **options) as model:
        metered = MeteredModel(model, ledger or Ledger(), PRICES, MAX_OUTPUT_TOKENS)
        with CuratedFolder(folder) as open_folder:
            return await Curation(deps, metered, open_folder, workers=workers).run(questions)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_every_page_of_every_question_becomes_an_example_in_one_file(site: IndexedSite, tmp_path: Path) -> None:
    script = Script({"Pumps": [["[ANS] 99: x", ans("Fill the"), exp("Seals")]], "Tanks": [["A tank, I think."]]})
    async with MessagesApi() as api:
        api.always(script)
        progress = await curate(site, api, tmp_path / "out", workers=3)
    assert (progress.outcomes[QUESTIONS_TAKEN_UP], progress.done, progress.ended) == (4, 12, "")
    with CuratedFolder(tmp_path / "out") as folder:
        summary = folder.write(held_out=0.5, seed=1)
    assert (summary.train + summary.held_out, summary.collapsed, summary.useless) == (8, 4, 0)
    assert summary.actions == {"ANS": 4, "EXP": 4, "REF": 4}
    assert summary.expelled == 8
    files = {name: rows(tmp_path / "out" / name) for name in (TRAIN, HELD_OUT)}
    questions = {name: {row["metadata"]["question_id"] for row in found} for name, found in files.items()}
    assert questions[TRAIN].isdisjoint(questions[HELD_OUT])
    assert questions[TRAIN] | questions[HELD_OUT] == {"q0", "q1", "q2", "q3"}
    for row in files[TRAIN] + files[HELD_OUT]:
        system, user, assistant = (message["content"] for message in row["messages"])
        assert "[EXP]" in system
        assert user.startswith(f"<question>\n{QUESTION}")
        assert assistant in ("[REF]", "[ANS] 4: Fill the casing.\n[EXP] 9: Seals")
        assert "[ANS] 99" not in assistant
    assert sorted(page_of(request) for request in script.looks) == ["Pumps"] * 4 + ["Tanks"] * 4 + ["Valves"] * 4


async def test_what_is_there_is_not_asked_again_and_a_torn_line_is_mended(site: IndexedSite, tmp_path: Path) -> None:
    first, second = Script({}), Script({})
    async with MessagesApi() as api:
        api.always(first)
        await curate(site, api, tmp_path, QUESTIONS[:2])
        replies = tmp_path / REPLIES
        whole = replies.read_bytes()
        replies.write_bytes(whole[:-40])  # killed while it wrote the sixth line
        api.always(second)
        progress = await curate(site, api, tmp_path)
    assert (len(first.looks), len(second.looks)) == (6, 7)
    assert (progress.known, progress.done) == (5, 7)
    assert said_by(second.looks[0]) == said_by(first.looks[-1])
    with CuratedFolder(tmp_path) as folder:
        assert folder.unreadable == 0
        assert folder.write(held_out=0.0, seed=0).train == 12


async def test_a_page_that_changed_is_asked_about_again_and_its_old_example_goes(tmp_path: Path) -> None:
    url = next(iter(PAGES))
    (tmp_path / "site").mkdir()
    async with MessagesApi() as api, indexed_site(tmp_path / "site", {url: PAGES[url]}) as own:
        api.always(Script({"Pumps": [[ans("Fill the")]]}))
        await curate(own, api, tmp_path / "out", QUESTIONS[:1])
        await own.update({url: str(PAGES[url]).replace("Fill the casing.", "Fill the whole casing.")})
        await curate(own, api, tmp_path / "out", QUESTIONS[:1])
    with CuratedFolder(tmp_path / "out") as folder:
        assert folder.write(held_out=0.0, seed=0).train == 1
    assert "Fill the whole" in rows(tmp_path / "out" / TRAIN)[0]["messages"][2]["content"]


async def test_a_run_stops_at_its_ceiling_and_goes_on_later(site: IndexedSite, tmp_path: Path) -> None:
    script = Script({})
    async with MessagesApi() as api:
        api.always(script)
        ledger = Ledger(dollars=15.0)
        stopped = await curate(site, api, tmp_path, ledger=ledger)
        assert (stopped.ended, stopped.outcomes[QUESTIONS_TAKEN_UP] < 4) == (CEILING, True)
        assert 0 < len(script.looks) < 12
        assert ledger.used.cost is not None
        assert ledger.used.cost <= 15.0 + 10.0
        finished = await curate(site, api, tmp_path)
    assert (finished.outcomes[QUESTIONS_TAKEN_UP], finished.ended, finished.known + finished.done) == (4, "", 12)
    assert len(script.looks) == 12


async def test_a_call_that_fails_is_asked_again_by_the_next_run(site: IndexedSite, tmp_path: Path) -> None:
    async with MessagesApi() as api:
        api.always(Script({"Tanks": [Failure(500), REF]}))
        failed = await curate(site, api, tmp_path, QUESTIONS[:1])
        assert (failed.failed, failed.done, failed.ended) == (1, 2, "")
        again = await curate(site, api, tmp_path, QUESTIONS[:1])
    assert (again.failed, again.done, again.known) == (0, 1, 2)


async def test_a_reply_without_a_legal_line_makes_no_example(site: IndexedSite, tmp_path: Path) -> None:
    async with MessagesApi() as api:
        api.always(Script({"Pumps": [["[ANS] 99: x"]], "Tanks": [Answer((text("No."),), stop="refusal")]}))
        await curate(site, api, tmp_path, QUESTIONS[:1])
    with CuratedFolder(tmp_path) as folder:
        summary = folder.write(held_out=0.0, seed=0)
    assert (summary.train, summary.useless, summary.collapsed) == (1, 1, 1)
    assert len(load_examples((tmp_path / TRAIN).read_text())) == 1


async def test_one_run_at_a_time_and_only_its_own_files(tmp_path: Path) -> None:
    with CuratedFolder(tmp_path), pytest.raises(BlockingIOError), CuratedFolder(tmp_path):
        pass
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / TRAIN).write_text("mine")
    with pytest.raises(FileExistsError), CuratedFolder(tmp_path / "other"):
        pass
    assert (tmp_path / "other" / TRAIN).read_text() == "mine"


async def test_a_question_stays_on_its_side_whatever_else_is_asked() -> None:
    names = [f"Question {n}?" for n in range(1000)]
    held_out = [name for name in names if is_held_out(name, 0.1, 0)]
    assert 60 < len(held_out) < 140
    assert set(held_out) != {name for name in names if is_held_out(name, 0.1, 1)}
    assert all(is_held_out(name, 0.2, 0) for name in held_out)
    assert all(is_held_out(f"  {name.upper()} ", 0.1, 0) for name in held_out)
    assert not any(is_held_out(name, 0.0, 0) for name in names)
