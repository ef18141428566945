"""What is told of sections that changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ingest.events.announce import MAX_CHANGES_AN_EVENT, nodes_events
from ingest.events.codec import dump_nodes
from ingest.events.topics import NODES, check_size
from ingest.model import NodeChange, PageRecord
from ingest.tree.node_changes import MAX_PARTS

AT = datetime(2026, 1, 1, tzinfo=UTC)
CHANGES = (NodeChange("a", "split", ("b",)), NodeChange("c", "went"))
RECORD = PageRecord("https://d.example/a", "docs", "live", 3, AT, AT, node_changes=CHANGES)


def test_it_is_the_same_event_whenever_it_is_told() -> None:
    [event] = nodes_events(RECORD)
    assert (event.changes, event.seq, event.at) == (CHANGES, 3, AT)
    assert [event] == list(nodes_events(replace(RECORD, checked_at=AT + timedelta(1), chunk_ids=("x",))))


@pytest.mark.parametrize(
    "other",
    [
        replace(RECORD, seq=4),
        replace(RECORD, key="https://d.example/b"),
        replace(RECORD, state="moved", target="https://d.example/b"),
        replace(RECORD, node_changes=CHANGES[:1]),
        replace(RECORD, node_changes=(NodeChange("a", "split"), NodeChange("b", "went"))),
    ],
)
def test_what_is_another_event_has_another_id(other: PageRecord) -> None:
    assert next(nodes_events(other)).id != next(nodes_events(RECORD)).id


def test_of_a_page_of_many_sections_each_event_fits_into_the_log() -> None:
    long = "6f0c0f0e-5d4b-5c63-9a58-2a1d3b6c7e91/12"
    changes = tuple(NodeChange(f"{n:040}", "went", (long,) * MAX_PARTS) for n in range(2 * MAX_CHANGES_AN_EVENT + 1))
    events = list(nodes_events(replace(RECORD, node_changes=changes)))
    assert [change for event in events for change in event.changes] == list(changes)
    assert len({event.id for event in events}) == len(events) == 3
    for event in events:
        check_size(NODES, event.key.encode(), dump_nodes(event))


def test_where_nothing_changed_nothing_is_told() -> None:
    assert not list(nodes_events(replace(RECORD, node_changes=())))
