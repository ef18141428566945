"""Questions and their endings as records of the event log."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.events import (
    MAX_EVENT_TEXT_CHARACTERS,
    QUESTIONS_TOPIC,
    CitedNode,
    Ending,
    dump_ending,
    dump_question,
    ending,
    load_ending,
    load_question,
    outcome,
)
from bot.model import Question
from ingest.errors import Undecodable
from ingest.events.topics import check_size
from tests.fakes.exchanges import NOON, answer, answered, question, waiting

texts = st.text()
times = st.datetimes(timezones=st.just(UTC))
questions = st.builds(
    Question,
    id=texts,
    team=texts,
    channel=texts,
    user=texts,
    text=texts,
    kind=st.sampled_from(["mention", "message", "direct", "command", "shortcut"]),
    asked_at=times,
    thread=texts,
    ts=texts,
    asker_team=texts,
    enterprise=texts,
    response_url=texts,
    attempt=st.integers(1, 9),
)
endings = st.builds(
    Ending,
    question=texts,
    outcome=st.sampled_from(["answered", "not_found", "greeting", "failed", "stopped", "refused"]),
    text=texts,
    read=st.lists(texts).map(tuple),
    cited=st.lists(st.builds(CitedNode, texts, texts)).map(tuple),
    seconds=st.floats(0, 1e6),
    cost=st.none() | st.floats(0, 1e6),
    ended_at=times,
)


@given(questions)
def test_a_question_comes_back_as_it_was(asked: Question) -> None:
    assert load_question(dump_question(asked)) == asked


@given(endings)
def test_an_ending_comes_back_as_it_was(became: Ending) -> None:
    assert load_ending(dump_ending(became)) == became


def test_half_a_surrogate_pair_survives() -> None:
    assert load_question(dump_question(question(text="why \ud83d?"))).text == "why \ud83d?"


@pytest.mark.parametrize("letter", ["x", "\x00", "é", "🦊", "\ud83d"])
def test_a_question_as_long_as_slack_takes_fits_whole(letter: str) -> None:
    asked = question(text=letter * 40_000, response_url="https://hooks.example.org/" + "x" * 500)
    value = dump_question(asked)
    check_size(QUESTIONS_TOPIC, asked.conversation.encode(), value)
    assert load_question(value) == asked


def test_a_longer_text_is_cut_and_says_so() -> None:
    asked = question(text="🦊" * 3_000_000)
    value = dump_question(asked)
    check_size(QUESTIONS_TOPIC, asked.conversation.encode(), value)
    text = load_question(value).text
    assert len(text) == MAX_EVENT_TEXT_CHARACTERS
    assert text.endswith("🦊 … (cut: of 3,000,000 characters)")
    told = dump_ending(replace(ending(answered()), text="🦊" * 50_000))
    check_size("bot.answers", b"k", told)
    assert load_ending(told).text.endswith("🦊 … (cut: of 50,000 characters)")


def test_records_say_their_version_and_unknown_fields_are_passed_over() -> None:
    for value, load in ((dump_question(question()), load_question), (dump_ending(ending(answered())), load_ending)):
        fields = json.loads(value)
        assert fields["v"] == 1
        assert load(json.dumps({**fields, "mood": "good"}).encode()) == load(value)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "shouted"}, "not a question: kind"),
        ({"asked_at": "2026-01-01T00:00:00"}, "not a question: asked_at has no time zone"),
        ({"v": 2}, "version 2"),
        ({"text": None}, "text"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(change: dict[str, object], said: str) -> None:
    value = json.dumps(json.loads(dump_question(question())) | change).encode()
    with pytest.raises(Undecodable, match=said):
        load_question(value)


def test_an_ending_without_a_time_zone_is_undecodable() -> None:
    fields = json.loads(dump_ending(ending(answered()))) | {"ended_at": "2026-01-01T00:00:00"}
    with pytest.raises(Undecodable, match="ended_at has no time zone"):
        load_ending(json.dumps(fields).encode())


@pytest.mark.parametrize("value", [None, b"", b"[]", b"\xff", b"{}", b'{"v": 1}'])
def test_what_is_no_such_record_is_undecodable(value: bytes | None) -> None:
    with pytest.raises(Undecodable, match="not a question"):
        load_question(value)
    with pytest.raises(Undecodable, match="ending of a question"):
        load_ending(value)


def test_an_ending_names_what_was_read_and_cited_with_the_hashes_of_then() -> None:
    done = answered()
    assert ending(done) == Ending(
        question=done.question.id,
        outcome="answered",
        text="Once a year. [1]",
        read=("n1", "n2"),
        cited=(CitedNode("n1", "h1"),),
        seconds=2.5,
        cost=0.0031,
        ended_at=NOON + timedelta(seconds=3),
    )


@pytest.mark.parametrize("state", ["stopped", "refused"])
def test_an_exchange_that_was_not_answered_ends_as_its_state_says(state: str) -> None:
    done = replace(answered(), state=state, answer=None)
    assert outcome(done) == state
    assert ending(done) == Ending(done.question.id, state, "", (), (), 0.0, None, NOON + timedelta(seconds=3))  # type: ignore[arg-type]


def test_what_is_not_over_has_no_ending() -> None:
    for exchange in (waiting(), replace(answered(), state="answering"), replace(answered(), ended_at=None)):
        with pytest.raises(ValueError, match="is not over"):
            ending(exchange)
    assert outcome(replace(answered(), state="answering")) is None
    assert outcome(replace(answered(), answer=replace(answer(), outcome="not_found"))) == "not_found"
