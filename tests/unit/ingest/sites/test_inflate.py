"""ingest.sites.inflate: gzip that cannot blow up."""

from __future__ import annotations

import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sites.inflate import MAX_MEMBERS, Gunzip, TooLarge, gunzip


@given(st.lists(st.binary(max_size=200), max_size=4), st.integers(1, 50))
def test_pieces_of_any_size_give_the_whole_of_all_members(members: list[bytes], step: int) -> None:
    packed = b"".join(map(gzip.compress, members))
    decoder = Gunzip(1000)
    body = b"".join(decoder.feed(packed[at : at + step]) for at in range(0, len(packed), step))
    assert body == b"".join(members)
    assert decoder.complete


def test_the_limit_itself_is_allowed_and_one_more_is_not() -> None:
    packed = gzip.compress(b"x" * 100)
    assert gunzip(packed, 100) == b"x" * 100
    with pytest.raises(TooLarge):
        gunzip(packed, 99)


def test_the_limit_counts_all_members_together() -> None:
    with pytest.raises(TooLarge):
        gunzip(gzip.compress(b"x" * 60) * 2, 100)


def test_what_follows_the_last_member_is_ignored() -> None:
    assert gunzip(gzip.compress(b"page") + b"\0\0\0", 100) == b"page"


@pytest.mark.parametrize("data", [gzip.compress(b"x" * 100, mtime=0)[:-9], b"\x1f\x8bnot gzip at all", b"plain"])
def test_damaged_and_cut_data_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="gzip data"):
        gunzip(data, 1000)


def test_empty_members_are_counted_and_cost_no_more_than_their_bytes() -> None:
    empty = gzip.compress(b"")
    start = time.process_time()
    assert gunzip(empty * MAX_MEMBERS, 100) == b""
    with pytest.raises(ValueError, match="gzip data of more than 10,000 members"):
        gunzip(empty * 500_000, 100)
    assert time.process_time() - start < 5


def test_what_came_out_before_the_limit_is_given() -> None:
    with pytest.raises(TooLarge) as caught:
        Gunzip(100).feed(gzip.compress(b"x" * 60 + b"y" * 60))
    assert caught.value.decoded == b"x" * 60 + b"y" * 40
