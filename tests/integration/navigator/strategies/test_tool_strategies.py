"""What holds for every strategy that works with tools, whatever the model does: each question ends, nothing unread is
cited, and the way is kept."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ingest.model import Scope
from navigator.agent.prompts import RitBounds, question_of
from navigator.answer import Answer
from navigator.question.rewrite import Earlier
from navigator.strategies.strategy import StrategyBounds
from tests.fakes.messages_api import Answer as Reply
from tests.fakes.messages_api import MessagesApi, Request, cited, tool
from tests.fakes.site import IndexedSite
from tests.integration.navigator.strategies.setting import (
    PUMPS,
    TOOLS_OF,
    asking,
    first_call,
    first_number,
)

FIRST = (0, 0, 0)
"""The first block of the first passage."""


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(params=sorted(TOOLS_OF))
def strategy(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def texts(request: Request) -> str:
    """All that stands as text in the last message."""
    blocks = [inner for block in request.last for inner in [block, *contents(block)]]
    return "\n".join(block["text"] for block in blocks if block.get("type") == "text")


def contents(block: dict[str, Any]) -> list[dict[str, Any]]:
    content = block.get("content", [])
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def tools_used(answer: Answer) -> list[str]:
    return [step.tool for step in answer.trace.steps if step.tool != "pick_page"]


async def test_what_was_read_is_cited_at_its_block(site: IndexedSite, strategy: str) -> None:
    call = first_call(strategy)
    async with asking(site, strategy) as asked:
        asked.api.call(*call, say="I know nothing yet.")
        asked.api.say(cited("Fill it first.", FIRST), " Then ", cited("run it.", (0, 1, 1)))
        answer = await asked.ask()
    assert (answer.outcome, answer.strategy) == ("answered", strategy)
    assert answer.text == "Fill it first. [1] Then run it. [1]"
    (source,) = answer.sources
    assert [citation.quote for citation in source.citations] == [
        "Prime the pump: fill it with water first.",
        "pump --prime",
    ]
    assert source.first.link.startswith(f"{PUMPS}#prime:~:text=")
    assert source.first.path == ("Pumps", "Priming")
    assert tools_used(answer) == [call[0]]
    assert answer.trace.steps[-1].reasoning == "I know nothing yet."
    read = [passage.number for passage in answer.trace.passages]
    assert list(answer.trace.steps[-1].numbers) == read
    assert {number for number, *_ in answer.trace.shown} >= set(read)
    assert answer.nearest == ()


async def test_without_citations_of_the_endpoint_marks_are_checked(site: IndexedSite, strategy: str) -> None:
    api, number = MessagesApi(ignores=["citations"]), first_number(strategy)
    async with asking(site, strategy, api=api, citations=None) as asked:
        api.call(*first_call(strategy))
        api.say(f"Fill it [{number}]. Sing to it [99].\n\nIt flies.")
        answer = await asked.ask()
    assert f"[{number}] Pumps › Priming" in texts(api.requests[-1])
    assert answer.text == "Fill it [1]. Sing to it.\n\nIt flies."
    assert answer.unsupported == ("It flies.",)
    assert answer.sources[0].first.path == ("Pumps", "Priming")


async def test_several_calls_in_one_turn_all_count_and_all_are_answered(site: IndexedSite, strategy: str) -> None:
    name, arguments = first_call(strategy)
    other = {"sections": [3]} if strategy == "pageindex" else {"query": "valves"}
    async with asking(site, strategy) as asked:
        asked.api.send(tool(name, arguments), tool(name, other))
        last = 1 if strategy == "pageindex" else 4
        asked.api.say(cited("So.", (last, 0, 0)))
        answer = await asked.ask()
    assert len(tools_used(answer)) == 2
    passage = answer.trace.passages[last]
    assert answer.sources[0].first.quote == passage.blocks[0].text
    assert asked.api.requests[-1].search_results[last]["title"] == " › ".join(passage.path)


async def test_an_unknown_tool_comes_back_as_an_error_with_the_tools_there_are(
    site: IndexedSite, strategy: str
) -> None:
    async with asking(site, strategy) as asked:
        asked.api.call("get_toc", {"query": "pump"})
        asked.api.call(*first_call(strategy))
        asked.api.say(cited("So.", FIRST))
        answer = await asked.ask()
    assert all(name in (answer.trace.steps[-2].error or "") for name in TOOLS_OF[strategy])
    assert asked.api.requests[1].last[0]["is_error"] is True
    assert answer.outcome == "answered"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": "", "sections": []},
        {"query": 7, "sections": ["abc"]},
        {"query": [1], "sections": [{}]},
        "{not json",
    ],
)
async def test_wrong_arguments_come_back_as_an_error(site: IndexedSite, strategy: str, arguments: Any) -> None:
    name, right = first_call(strategy)
    async with asking(site, strategy) as asked:
        asked.api.call(name, arguments)
        asked.api.call(name, right)
        asked.api.say(cited("So.", FIRST))
        answer = await asked.ask()
    assert f"{name} takes" in (answer.trace.steps[-2].error or "")
    assert (answer.outcome, len(tools_used(answer))) == ("answered", 2)


async def test_a_model_that_never_reads_is_sent_back_twice_and_says_nothing(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        for _ in range(3):
            asked.api.say("I know this by heart: use oil.")
        answer = await asked.ask()
    assert (answer.outcome, answer.sources) == ("failed", ())
    assert "oil" not in answer.text
    assert [f"`{TOOLS_OF[strategy][0]}`" in texts(request) for request in asked.api.requests] == [False, True, True]


async def test_a_model_that_never_stops_must_answer_when_the_budget_is_used(site: IndexedSite, strategy: str) -> None:
    name, arguments = first_call(strategy)

    def endless(request: Request) -> Reply:
        if request.body["tool_choice"]["type"] == "none":
            return Reply((cited("So.", FIRST),))
        return Reply((tool(name, arguments),))

    async with asking(site, strategy, StrategyBounds(budget=4)) as asked:
        asked.api.always(endless)
        answer = await asked.ask()
    assert (answer.outcome, len(tools_used(answer))) == ("answered", 4)
    assert [request.body["tool_choice"]["type"] for request in asked.api.requests] == ["auto"] * 4 + ["none"]
    assert "Left: 4 tool calls" in texts(asked.api.requests[0])
    assert "No calls are left" in texts(asked.api.requests[-1])
    assert len(asked.api.requests[-1].search_results) == len(answer.trace.passages), "nothing was given twice"
    assert "already" in texts(asked.api.requests[-1])


async def test_a_model_that_only_errs_ends_as_not_found_at_the_budget(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy, StrategyBounds(budget=3)) as asked:
        asked.api.always(lambda _: Reply((tool("browse", {}),)))
        answer = await asked.ask()
    assert (answer.outcome, len(tools_used(answer)), len(asked.api.requests)) == ("not_found", 3, 3)


async def test_more_calls_in_a_turn_than_are_left_are_refused(site: IndexedSite, strategy: str) -> None:
    call = tool(*first_call(strategy))
    async with asking(site, strategy, StrategyBounds(budget=2)) as asked:
        asked.api.send(call, call, call)
        asked.api.say(cited("So.", FIRST))
        answer = await asked.ask()
    assert [bool(step.error) for step in answer.trace.steps[-3:]] == [False, False, True]
    assert asked.api.requests[-1].body["tool_choice"]["type"] == "none"


async def test_a_model_that_reads_and_says_nothing_has_failed(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        asked.api.send()
        asked.api.call(*first_call(strategy))
        asked.api.send()
        answer = await asked.ask()
    assert (answer.outcome, answer.sources) == ("failed", ())
    assert "gave no answer" in answer.text


async def test_what_is_not_found_says_what_was_looked_for_and_offers_whole_sections(
    site: IndexedSite, strategy: str
) -> None:
    async with asking(site, strategy) as asked:
        asked.api.call(*first_call(strategy))
        asked.api.say("NOT_FOUND I looked for the price.")
        answer = await asked.ask()
    assert answer.text.endswith("I looked for the price.")
    assert answer.nearest[0].path == ("Pumps", "Priming")
    assert len(answer.nearest[0].blocks) == 2


async def test_a_refusal_is_told_plainly(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        asked.api.call(*first_call(strategy))
        asked.api.say("No.", stop="refusal")
        answer = await asked.ask()
    assert answer.outcome == "failed"
    assert "declined" in answer.text


async def test_an_answer_that_was_cut_short_says_so(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        asked.api.call(*first_call(strategy))
        asked.api.say(cited("Fill it.", FIRST), stop="max_tokens")
        answer = await asked.ask()
    assert (answer.outcome, answer.text) == ("answered", "Fill it. [1]")
    assert "cut short" in answer.note


async def test_a_fault_of_the_model_gives_a_plain_reason_and_keeps_the_way(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy, max_retries=0) as asked:
        asked.api.call(*first_call(strategy))
        asked.api.fail(500, "out of order")
        answer = await asked.ask()
    assert answer.outcome == "failed"
    assert "Traceback" not in answer.text
    assert len(tools_used(answer)) == 1
    assert answer.trace.passages


async def test_a_nearly_full_context_ends_the_reading(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy, context_window=1_000) as asked:
        asked.api.call(*first_call(strategy), usage={"input_tokens": 850, "output_tokens": 1})
        asked.api.say(cited("Fill it.", FIRST))
        answer = await asked.ask()
    assert "nearly full" in texts(asked.api.requests[-1])
    assert asked.api.requests[-1].body["tool_choice"]["type"] == "none"
    assert answer.outcome == "answered"


async def test_a_share_of_the_context_is_a_setting(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy, rules=RitBounds(context_share=0.9), context_window=1_000) as asked:
        asked.api.call(*first_call(strategy), usage={"input_tokens": 850, "output_tokens": 1})
        asked.api.say(cited("Fill it.", FIRST))
        await asked.ask()
    assert asked.api.requests[-1].body["tool_choice"]["type"] == "auto"


async def test_a_question_stays_in_its_scope(site: IndexedSite, strategy: str) -> None:
    async with asking(site, strategy) as asked:
        if strategy != "pageindex":
            for name in ("search", "search"):
                asked.api.call(name, {"query": "prime the pump"})
            asked.api.say("NOT_FOUND Nothing.")
        answer = await asked.ask(scope=Scope(sites=frozenset({"another"})))
    assert answer.outcome == "not_found"
    assert (answer.trace.shown, answer.trace.passages, answer.nearest) == ((), (), ())


async def test_an_empty_index_ends_as_not_found(empty_site: IndexedSite, strategy: str) -> None:
    async with asking(empty_site, strategy) as asked:
        if strategy != "pageindex":
            asked.api.call("search", {"query": "prime the pump"})
            asked.api.say("NOT_FOUND I looked for pumps.")
        answer = await asked.ask()
        if strategy != "pageindex":
            assert "Nothing matches" in texts(asked.api.requests[-1])
    assert (answer.outcome, answer.nearest) == ("not_found", ())


async def test_a_follow_up_is_asked_as_it_is_understood_and_nothing_is_at_hand_unread(
    site: IndexedSite, strategy: str
) -> None:
    cited_before = (await site.trees.find(""))[0]
    earlier = Earlier("How do I prime the pump?", "Fill it [1].", (cited_before, "gone"))
    async with asking(site, strategy) as asked:
        asked.api.call(*first_call(strategy))
        asked.api.say(cited("Mit Wasser.", FIRST))
        answer = await asked.ask("with what?", earlier=(earlier,), language="German")
    opened = texts(asked.api.requests[0])
    assert question_of(opened) == answer.understood == "How do I prime the pump? – with what?"
    assert "Answer in German." in opened
    assert "earlier answers" not in opened
    assert asked.api.requests[0].search_results == []
    assert answer.outcome == "answered"


async def test_questions_side_by_side_do_not_mix(site: IndexedSite, strategy: str) -> None:
    name, arguments = first_call(strategy)

    def reply(request: Request) -> Reply:
        return Reply((tool(name, arguments),)) if len(request.body["messages"]) == 1 else Reply((cited("So.", FIRST),))

    async with asking(site, strategy) as asked:
        asked.api.always(reply)
        answers = await asyncio.gather(*[asked.ask() for _ in range(3)])
    assert [answer.outcome for answer in answers] == ["answered"] * 3
    assert all(answer.trace.shown == answers[0].trace.shown for answer in answers)
    assert all(len(tools_used(answer)) == 1 for answer in answers)
