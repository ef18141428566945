"""The Messages API's wire form, without a wire: what requests look like, what replies mean."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator.agent.prompts import RIT_TOOLS
from navigator.answer import Usage
from navigator.models.given_text import given_text
from navigator.models.messages import Conversation, Form, SearchResultSource, Verbatim, request_body, sources
from navigator.models.prices import PUBLISHED, Prices
from navigator.models.reply import StreamedReply, replayed
from navigator.ports import (
    CitationDelta,
    ModelEvent,
    ModelTurn,
    TextDelta,
    ToolCall,
    ToolCallEvent,
    ToolResult,
    ToolTurn,
    Turn,
    TurnEnd,
    UserTurn,
)
from tests.fakes.messages_rules import search_results, violation
from tests.fakes.turns import passage, read_turns

FULL = Form(citations=True, caching=True)
FORMS = [Form(citations, caching) for citations in (True, False) for caching in (True, False)]


def body(conversation: Conversation, form: Form = FULL) -> dict[str, Any]:
    return {"max_tokens": 10, **request_body(conversation, form)}


def heard(events: Iterable[dict[str, Any]], known: tuple[SearchResultSource, ...] = ()) -> list[ModelEvent]:
    reply = StreamedReply(known, ("Rules.", True))
    return [*(out for event in events for out in reply.feed(event)), *reply.close()]


blanks = st.sampled_from(["", " ", "\n\t"])
words = st.text(min_size=0, max_size=30)
blocks = st.builds(Block, st.sampled_from(["text", "code", "table"]), words | blanks)
passages = st.builds(
    lambda number, some, path: passage(number, *some, path=tuple(path)),
    st.integers(1, 999),
    st.lists(blocks, max_size=4),
    st.lists(words, max_size=3),
)
results = st.tuples(words, st.lists(passages, max_size=3), st.booleans())


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    turns: list[Any] = [UserTurn("Why?" + draw(words), tuple(draw(st.lists(passages, max_size=3))))]
    for number in range(draw(st.integers(0, 4))):
        answers = draw(st.lists(results, min_size=1, max_size=3))
        calls = tuple(ToolCall(f"t{number}_{i}", "read", {"sections": [1]}) for i in range(len(answers)))
        turns.append(ModelTurn(draw(words), calls))
        given_back = (
            ToolResult(call.id, said, passages=tuple(read), error=error)
            for call, (said, read, error) in zip(calls, answers, strict=True)
        )
        turns.append(ToolTurn(tuple(given_back), draw(words)))
        if draw(st.booleans()):
            turns += [ModelTurn(draw(words)), UserTurn("Go on.")]
    return Conversation(draw(st.sampled_from(["Rules.", " "])), turns, RIT_TOOLS, draw(st.booleans()))


@given(conversations(), st.sampled_from(FORMS))
def test_no_conversation_becomes_a_request_that_the_api_refuses(conversation: Conversation, form: Form) -> None:
    assert violation(body(conversation, form)) is None


@given(conversations())
def test_every_citable_block_of_a_request_leads_back_to_the_block_that_was_read(conversation: Conversation) -> None:
    found = search_results(body(conversation))
    known = sources(conversation)
    assert len(found) == len(known)
    for sent, source in zip(found, known, strict=True):
        read = conversation.passages[source.passage]
        assert sent["source"] == read.link
        assert [each["text"] for each in sent["content"]] == [given_text(read.blocks[i]) for i in source.blocks]


def test_a_citation_leads_past_blank_blocks_and_passages_without_text() -> None:
    read = (passage(1, " "), passage(2, "", "One.", "Two."))
    known = sources(Conversation("", read_turns(read)))
    citation = {
        "type": "search_result_location",
        "search_result_index": 0,
        "start_block_index": 0,
        "end_block_index": 2,
    }
    message = {"content": [{"type": "text", "text": "Both.", "citations": [citation]}]}
    assert heard(replayed(message), known)[1] == CitationDelta(1, 1, 2, "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "char_location"},
        {"search_result_index": 1},
        {"search_result_index": -1},
        {"search_result_index": None},
        {"start_block_index": 2, "end_block_index": 3},
        {"start_block_index": 1, "end_block_index": 1},
        {"start_block_index": -1},
        {"end_block_index": "2"},
    ],
)
def test_a_citation_of_anything_but_what_was_read_is_dropped(wrong: dict[str, Any]) -> None:
    citation = {
        "type": "search_result_location",
        "search_result_index": 0,
        "start_block_index": 0,
        "end_block_index": 2,
    }
    message = {"content": [{"type": "text", "text": "So.", "citations": [citation | wrong]}]}
    events = heard(replayed(message), (SearchResultSource(0, (0, 1)),))
    assert events[0] == TextDelta("So.")
    assert not [event for event in events if isinstance(event, CitationDelta)]


def test_a_citation_that_comes_before_its_words_is_given_behind_them() -> None:
    citation = {
        "type": "search_result_location",
        "search_result_index": 0,
        "start_block_index": 0,
        "end_block_index": 1,
    }
    events = heard(
        [
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": citation}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "So."}},
            {"type": "content_block_stop", "index": 0},
        ],
        (SearchResultSource(4, (2,)),),
    )
    assert events[:2] == [TextDelta("So."), CitationDelta(4, 2, 2, "")]


def test_passages_given_with_a_question_stand_before_it_and_count_before_those_that_are_read_later() -> None:
    turns = read_turns((passage(3, " "), passage(4, "D.", "", "E.")))
    turns[0] = UserTurn("Why?", (passage(1, "A."), passage(2, "B.", "C.")))
    conversation = Conversation("", turns)
    first = body(conversation)["messages"][0]["content"]
    assert [block["type"] for block in first] == ["search_result", "search_result", "text"]
    assert [result["content"][0]["text"] for result in search_results(body(conversation))] == ["A.", "B.", "D."]
    assert sources(conversation) == (
        SearchResultSource(0, (0,)),
        SearchResultSource(1, (0, 1)),
        SearchResultSource(3, (0, 2)),
    )
    plain = body(conversation, Form(citations=False, caching=False))["messages"][0]["content"]
    assert [block["type"] for block in plain] == ["text", "text"]
    assert "[2] Manual › Section\n\nB.\n\nC." in plain[0]["text"]
    assert plain[1]["text"] == "Why?"


def test_passages_without_citations_carry_their_number_and_the_way_to_cite_them() -> None:
    table = Block("table", "a\tb")
    turns = read_turns((passage(12, "Text.", table, path=("Manual", "Ports")), passage(13, "More.")))
    content = body(Conversation("", turns), Form(citations=False, caching=False))["messages"][2]["content"]
    said = content[0]["content"]
    assert "like [12]" in said
    assert "[12] Manual › Ports\n\nText.\n\na | b\n\n\n[13] Manual › Section\n\nMore." in said


def test_a_broken_character_does_not_stop_a_request() -> None:
    turns = [UserTurn("What is \udcff?"), *read_turns((passage(1, "a\ud800b"),))[1:]]
    made = body(Conversation("", turns))
    json.dumps(made, ensure_ascii=False).encode()
    assert made["messages"][2]["content"][0]["content"][0]["content"][0]["text"] == "a?b"


def test_the_loops_remarks_stand_behind_all_results() -> None:
    calls = (ToolCall("a", "read", {}), ToolCall("b", "read", {}))
    results = (ToolResult("a", "Read before: 3.", passages=(passage(1, "x"),)), ToolResult("b", "No such.", error=True))
    turns: list[Turn] = [UserTurn("?"), ModelTurn("", calls), ToolTurn(results, "[Left: 1.]")]
    content = body(Conversation("", turns), Form(citations=True, caching=False))["messages"][2]["content"]
    assert [block.get("tool_use_id") or block["text"] for block in content] == [
        "a",
        "b",
        "Read before: 3.",
        "[Left: 1.]",
    ]
    assert content[1]["content"] == "No such."
    assert content[1]["is_error"] is True


def test_breakpoints_stand_behind_the_system_prompt_and_the_last_two_user_messages() -> None:
    turns = read_turns(*[(passage(n, "x"),) for n in range(6)])
    made = body(Conversation("Rules.", turns, RIT_TOOLS))
    marked = [i for i, m in enumerate(made["messages"]) if any("cache_control" in block for block in m["content"])]
    assert marked == [10, 12]
    assert "cache_control" in made["system"][-1]
    for last in (Conversation("Rules.", turns, RIT_TOOLS, must_answer=True), Conversation("Rules.", turns[:1])):
        ended = body(last)
        assert "cache_control" in ended["system"][-1]
        assert "cache_control" not in json.dumps(ended["messages"]), "no turn comes that would read it"
    assert "cache_control" not in json.dumps(body(Conversation("Rules.", turns, RIT_TOOLS), Form(True, caching=False)))


def test_signed_reasoning_is_given_back_exactly_and_in_its_place() -> None:
    content = [
        {"type": "thinking", "thinking": "", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "Reading."},
        {"type": "tool_use", "id": "t", "name": "read", "input": {"sections": [1]}},
    ]
    called, ended = heard(replayed({"content": content}))[-2:]
    assert isinstance(called, ToolCallEvent)
    assert isinstance(ended, TurnEnd)
    turns: list[Turn] = [
        UserTurn("?"),
        ModelTurn("Reading.", (called.call,), ended.echo),
        ToolTurn((ToolResult("t", "x"),)),
    ]
    assert body(Conversation("Rules.", turns))["messages"][1]["content"] == content
    for changed in (body(Conversation("Other rules.", turns)), body(Conversation("Rules.", turns), Form(False, True))):
        assert changed["messages"][1]["content"] == content[2:], "reasoning made on another basis would be refused"


def test_what_another_adapter_wanted_back_is_left_out() -> None:
    turns: list[Turn] = [UserTurn("?"), ModelTurn("Said.", echo="of another"), UserTurn("!")]
    assert body(Conversation("", turns))["messages"][1]["content"] == [{"type": "text", "text": "Said."}]


def test_reasoning_alone_is_not_given_back() -> None:
    ended = heard(replayed({"content": [{"type": "thinking", "thinking": "", "signature": "s"}]}))[-1]
    assert isinstance(ended, TurnEnd)
    assert not isinstance(ended.echo, Verbatim)


NAMES = st.sampled_from(
    "type text citations citation input id name stop_reason usage partial_json thinking signature input_tokens".split()
)
VALUES = st.sampled_from(
    "text tool_use thinking text_delta citations_delta input_json_delta signature_delta search_result_location".split()
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
KINDS = "message_start content_block_start content_block_delta content_block_stop message_delta message_stop x".split()
FIELDS = dict.fromkeys(("index", "message", "content_block", "delta", "usage"), json_values)


@given(st.lists(st.fixed_dictionaries({"type": st.sampled_from(KINDS)}, optional=FIELDS), max_size=8))
def test_no_event_however_malformed_raises(events: list[dict[str, Any]]) -> None:
    assert isinstance(heard(events)[-1], TurnEnd)


def test_the_price_of_a_turn_counts_every_kind_of_token() -> None:
    usage = Usage(1_000_000, 2_000_000, 3_000_000, 4_000_000)
    assert Prices(1, 2, 0.5, 1.5).cost(usage) == pytest.approx(1 + 4 + 1.5 + 6)


def test_a_price_that_is_unknown_makes_the_cost_unknown_only_where_it_is_needed() -> None:
    assert Prices(input=1, output=1).cost(Usage(10, 10)) == pytest.approx(0.00002)
    assert Prices(input=1).cost(Usage(10, 0)) == pytest.approx(0.00001)
    assert Prices(input=1).cost(Usage(10, 10)) is None
    assert Prices(output=1).cost(Usage(cache_read_tokens=1)) is None


def test_tokens_of_a_cache_without_a_price_cost_what_they_can_cost_at_most() -> None:
    unsaid = Prices(input=8, output=1)
    assert unsaid.cost(Usage(cache_read_tokens=1_000_000)) == pytest.approx(8)
    assert unsaid.cost(Usage(cache_write_tokens=1_000_000)) == pytest.approx(10)
    for known in PUBLISHED.values():
        usage = Usage(10, 10, 10, 10)
        assert (Prices(known.input, known.output).cost(usage) or 0) > (known.cost(usage) or 0)


def test_the_worst_is_the_dearest_way_to_bill_what_is_read() -> None:
    assert Prices(8, 1).worst(1_000_000, 1_000_000) == pytest.approx(11)
    assert Prices(8, 1, 9, 2).worst(1_000_000, 0) == pytest.approx(9)
    assert Prices(8, 1, 1, 1).worst(1_000_000, 0) == pytest.approx(8)
    assert Prices(8).worst(1, 1) is None


def test_long_requests_are_billed_at_their_own_prices() -> None:
    haiku = PUBLISHED["claude-haiku-5-5"]
    assert haiku.cost(Usage(100_000)) == pytest.approx(0.01)
    assert haiku.cost(Usage(1, cache_read_tokens=100_000)) == pytest.approx((0.5 + 0.05 * 100_000) / 1_000_000)
