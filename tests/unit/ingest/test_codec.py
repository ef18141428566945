"""Records as JSON and back (ingest/codec.py)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import codec
from ingest.model import Block, BlockKind, Claims, Crumb, Node, NodeKind, Page, PageRecord, RecordState, TrailSource

text = st.text(max_size=20)
optional_text = st.none() | text


def tuples(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(of, max_size=3).map(tuple)


times = st.datetimes(min_value=datetime(1, 1, 2), timezones=st.just(UTC))


@st.composite
def marked_blocks(draw: st.DrawFn) -> Block:
    lines = draw(text)
    marks = draw(st.none() | text)
    count = lines.count("\n") + 1
    return Block(
        draw(st.sampled_from(get_args(BlockKind))), lines, draw(optional_text), (marks,) * count if marks else ()
    )


nodes = st.builds(
    Node,
    id=text,
    parent=optional_text,
    level=st.integers(0, 9),
    title=text,
    anchor=optional_text,
    aliases=tuples(text),
    blocks=tuples(marked_blocks()),
    kind=st.sampled_from(get_args(NodeKind)),
)
crumbs = st.builds(Crumb, text, optional_text)
claims = st.builds(Claims, tuples(crumbs), st.sampled_from(get_args(TrailSource)), tuples(text))
pages = st.builds(Page, text, text, text, text, tuples(nodes), claims, optional_text, text)
records = st.builds(
    PageRecord,
    key=text,
    site=text,
    state=st.sampled_from(get_args(RecordState)),
    seq=st.integers(0, 2**62),
    checked_at=times,
    changed_at=times,
    version=text,
    page=st.none() | pages,
    target=optional_text,
    reason=optional_text,
    chunk_ids=tuples(text),
    analyser_version=text,
)


def with_unknown_fields(value: Any) -> Any:
    """The same JSON with one more field in every object."""
    if isinstance(value, dict):
        return {"of_a_later_version": [1], **{name: with_unknown_fields(field) for name, field in value.items()}}
    return [with_unknown_fields(item) for item in value] if isinstance(value, list) else value


@given(records)
def test_a_record_comes_back_equal(record: PageRecord) -> None:
    assert codec.RECORD.load(codec.RECORD.dump(record)) == record


@given(records)
def test_unknown_fields_are_passed_over_at_every_depth(record: PageRecord) -> None:
    later = json.dumps(with_unknown_fields(json.loads(codec.RECORD.dump(record)))).encode()
    assert codec.RECORD.load(later) == record


@given(pages)
def test_a_page_comes_back_equal_with_all_its_hashes(page: Page) -> None:
    back = codec.PAGE.load(codec.PAGE.dump(page))
    assert back == page
    assert [node.own_hash for node in back.nodes] == [node.own_hash for node in page.nodes]


@given(nodes)
def test_a_node_comes_back_equal_and_hashable(node: Node) -> None:
    assert hash(codec.NODE.load(codec.NODE.dump(node))) == hash(node)


@pytest.mark.parametrize("data", [b"", b"{}", b"null", b"[]", b"\xff", b'{"key": 1', b'{"key": "k"}'])
def test_bytes_that_are_no_record_raise_value_error(data: bytes) -> None:
    for load in (codec.RECORD.load, codec.PAGE.load, codec.NODE.load):
        with pytest.raises(ValueError, match="validation error"):
            load(data)


def test_text_that_is_not_unicode_raises_value_error() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        codec.NODE.dump(Node("0", None, 1, "half a pair: \ud83d"))
