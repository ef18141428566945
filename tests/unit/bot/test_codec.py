"""Exchanges, channel settings and installations as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import codec
from bot.model import ChannelSettings, Exchange, Feedback, Posted
from navigator.codec import dump_answer
from tests.fakes.exchanges import answer, answered, installation, question

times = st.datetimes(timezones=st.just(UTC))
exchanges = st.builds(
    Exchange,
    question=st.just(question()),
    state=st.sampled_from(["waiting", "answering", "done", "stopped", "refused"]),
    owner=st.text(),
    lease_until=st.none() | times,
    attempts=st.integers(0, 9),
    posted=st.none() | st.builds(Posted, st.text(), st.text(), st.booleans(), st.lists(st.text()).map(tuple)),
    stop=st.booleans(),
    standalone=st.text(),
    answer=st.none() | st.just(answer()),
    feedback=st.lists(st.builds(Feedback, st.text(), st.sampled_from(["good", "bad"]), times, st.text())).map(tuple),
    begun_at=st.none() | times,
    ended_at=st.none() | times,
)


@given(exchanges)
def test_an_exchange_comes_back_as_it_was(exchange: Exchange) -> None:
    assert codec.load_exchange(codec.dump_exchange(exchange)) == exchange


def test_settings_and_installations_come_back_as_they_were() -> None:
    settings = ChannelSettings("T1", "C1", ("docs", "Bücher"), "questions", True, "de", True, False, "U1")
    assert codec.load_channel(codec.dump_channel(settings)) == settings
    assert codec.load_installation(codec.dump_installation(installation())) == installation()


def test_an_answer_in_an_exchange_looks_as_the_navigator_writes_it() -> None:
    assert json.loads(codec.dump_exchange(answered()))["answer"] == json.loads(dump_answer(answer()))


def test_half_a_surrogate_pair_becomes_a_question_mark_and_nothing_else_changes() -> None:
    odd = replace(answered(text="a\ud83db é 🦊"), standalone="\udc00")
    whole = replace(answered(text="a?b é 🦊"), standalone="?")
    assert codec.load_exchange(codec.dump_exchange(odd)) == whole


def test_unknown_fields_are_passed_over() -> None:
    fields = json.loads(codec.dump_exchange(answered())) | {"mood": "good"}
    assert codec.load_exchange(json.dumps(fields).encode()) == answered()


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b'{"question": 3}'])
def test_what_is_no_such_thing_raises_value_error(data: bytes) -> None:
    for load in (codec.load_exchange, codec.load_channel, codec.load_installation):
        with pytest.raises(ValueError, match="validation error"):
            load(data)
