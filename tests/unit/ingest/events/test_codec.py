"""Page events and dead letters as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import Undecodable
from ingest.events.codec import DeadLetter, dump_dead, dump_event, dump_nodes, load_dead, load_event, load_nodes
from ingest.model import NodeChange, NodesEvent, PageEvent
from ingest.ports import Record

NOW = datetime(2026, 1, 1, 12, 30, 0, 123456, tzinfo=UTC)
EVENT = PageEvent("https://d.example/a", "docs", 3, "changed", "https://d.example/a#x", NOW)

texts = st.text()
times = st.datetimes(timezones=st.just(UTC))
events = st.builds(
    PageEvent,
    key=texts,
    site=texts,
    seq=st.integers(0, 2**60),
    kind=st.sampled_from(["changed", "removed"]),
    url=texts,
    observed_at=times,
    moved_from=st.none() | texts,
    reason=st.none() | texts,
)
letters = st.builds(
    DeadLetter,
    record=st.builds(
        Record,
        topic=texts,
        partition=st.integers(0, 99),
        offset=st.integers(0, 2**60),
        key=st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")),
        value=st.none() | st.binary(),
        timestamp=times,
    ),
    reason=texts,
)


nodes_events = st.builds(
    NodesEvent,
    id=texts,
    key=texts,
    site=texts,
    seq=st.integers(0, 2**60),
    state=st.sampled_from(["live", "alias", "moved", "gone", "skipped"]),
    at=times,
    changes=st.lists(
        st.builds(
            NodeChange,
            node=texts,
            kind=st.sampled_from(["changed", "moved", "split", "went", "extended"]),
            parts=st.lists(texts, max_size=3).map(tuple),
        ),
        max_size=3,
    ).map(tuple),
    target=st.none() | texts,
)


@given(nodes_events)
def test_a_node_event_comes_back_as_it_was(event: NodesEvent) -> None:
    assert load_nodes(dump_nodes(event)) == event


@given(events)
def test_an_event_comes_back_as_it_was(event: PageEvent) -> None:
    assert load_event(dump_event(event)) == event


@given(letters)
def test_a_dead_letter_comes_back_as_it_was(letter: DeadLetter) -> None:
    assert load_dead(dump_dead(letter)) == letter


def test_an_event_is_small_and_says_its_version() -> None:
    fields = json.loads(dump_event(EVENT))
    assert fields == {
        "v": 1,
        "key": EVENT.key,
        "site": "docs",
        "seq": 3,
        "kind": "changed",
        "url": EVENT.url,
        "observed_at": "2026-01-01T12:30:00.123456Z",
    }


def test_unknown_fields_are_passed_over() -> None:
    fields = json.loads(dump_event(EVENT)) | {"priority": 9, "trace": {"id": "x"}}
    assert load_event(json.dumps(fields).encode()) == EVENT


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seq": "three"}, "seq"),
        ({"kind": "exploded"}, "kind"),
        ({"observed_at": "yesterday"}, "observed_at"),
        ({"observed_at": "2026-01-01T00:00:00"}, "time zone"),
        ({"v": 2}, "version 2"),
        ({"v": None}, "version None"),
        ({"v": True}, "version True"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, object], said: str) -> None:
    fields = json.loads(dump_event(EVENT)) | change
    with pytest.raises(Undecodable, match=said):
        load_event(json.dumps(fields).encode())


@pytest.mark.parametrize("missing", ["key", "site", "seq", "kind", "url", "observed_at"])
def test_a_missing_field_is_named(missing: str) -> None:
    fields = json.loads(dump_event(EVENT))
    del fields[missing]
    with pytest.raises(Undecodable, match=missing):
        load_event(json.dumps(fields).encode())


WRONG = [None, b"", b"{", b"\xff\xfe\xfa", b"[]", b"3", b"null", b"[" * 200_000, b'{"v":' + b"9" * 9999 + b"}", b"{}"]


@pytest.mark.parametrize("value", WRONG, ids=range(len(WRONG)))
def test_what_is_no_event_and_no_letter_is_undecodable(value: bytes | None) -> None:
    with pytest.raises(Undecodable, match="not a page event"):
        load_event(value)
    with pytest.raises(Undecodable, match="not a dead letter"):
        load_dead(value)


@given(st.binary())
def test_any_bytes_are_an_event_or_undecodable(value: bytes) -> None:
    with pytest.raises(Undecodable):
        load_event(value)


def test_a_letter_whose_value_is_no_base64_is_undecodable() -> None:
    fields = json.loads(dump_dead(DeadLetter(Record("t", 0, 1, "k", b"x", NOW), "why"))) | {"value": "§"}
    with pytest.raises(Undecodable):
        load_dead(json.dumps(fields).encode())
