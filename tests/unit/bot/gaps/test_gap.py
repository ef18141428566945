"""Which gap a question belongs to, and where a gap is pinned."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.gaps.gap import ALIKE, ALIKE_THERE, Gap, Place, best_supported, nearest_gap, new_id, shares
from tests.fakes.exchanges import NOON

SITE = Place("", ("Pump",))
KEYS = Place("keys", ("Pump", "Keys"), "https://docs.example.test/keys")
EXPIRY = Place("expiry", (*KEYS.path, "Expiry"), f"{KEYS.link}#expiry")
CREATE = Place("create", (*KEYS.path, "Create"), f"{KEYS.link}#create")
BACKUP = Place("backup", ("Pump", "Backup"), "https://docs.example.test/backup")
LINEAGES = {
    "keys": (SITE, KEYS),
    "expiry": (SITE, KEYS, EXPIRY),
    "create": (SITE, KEYS, CREATE),
    "backup": (SITE, BACKUP),
}


def towards(likeness: float) -> tuple[float, float]:
    """A vector of length 1 as like (1, 0)."""
    return likeness, math.sqrt(1 - likeness**2)


def gap(gap_id: str, likeness: float, *sections: str) -> Gap:
    met = tuple(shares([sections]).items())
    return Gap(gap_id, NOON, "q", "model", towards(likeness), shares=met)


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([], None),
        ([gap("a", ALIKE + 0.01)], "a"),
        ([gap("a", ALIKE - 0.01)], None),
        ([gap("a", ALIKE_THERE + 0.01, "expiry", "keys")], "a"),
        ([gap("a", ALIKE_THERE + 0.01, "backup", "create")], None),
        ([gap("a", ALIKE_THERE - 0.01, "expiry", "keys")], None),
        ([gap("a", 0.7), gap("b", 0.8), gap("c", 0.9)], "c"),
        ([replace(gap("a", 0.9), vector=())], None),
        ([replace(gap("a", 0.9), vector=(1.0, 0.0, 0.0))], None),
    ],
    ids=["none", "alike", "not alike", "alike there", "alike elsewhere", "not alike there", "most alike", "gone", "other model"],
)  # fmt: skip
def test_a_question_joins_the_gap_whose_question_is_like_it(gaps: Sequence[Gap], expected: str | None) -> None:
    found = nearest_gap((1.0, 0.0), ("expiry", "keys", "create"), gaps)
    assert (found and found.id) == expected


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ([["expiry"]], EXPIRY),
        ([["expiry", "create", "keys"]], EXPIRY),
        ([["expiry", "create", "keys"], ["create", "expiry", "keys"]], KEYS),
        ([["expiry", "backup"], ["expiry", "create"]], EXPIRY),
        ([["expiry", "backup"], ["backup", "create"]], SITE),
        ([["keys"], ["expiry"], ["create"], ["backup"]], KEYS),
        ([["gone"]], None),
        ([["gone", "create"]], CREATE),
        ([[]], None),
    ],
)
def test_a_gap_is_pinned_to_the_smallest_subtree_with_most_of_what_was_met(
    needs: list[list[str]], expected: Place | None
) -> None:
    met = shares(needs)
    there = {node: lineage for node, lineage in LINEAGES.items() if node in met}
    assert best_supported(met, there) == expected


needs = st.lists(st.lists(st.sampled_from([*LINEAGES, "gone"]), unique=True, max_size=5), max_size=6)


@given(needs)
def test_neither_order_nor_gone_sections_move_a_pin_from_where_most_stands(given: list[list[str]]) -> None:
    met = shares(given)
    there = {node: lineage for node, lineage in LINEAGES.items() if node in met}
    pins = {best_supported(shares(order), there) for order in itertools.islice(itertools.permutations(given), 24)}
    assert len(pins) == 1
    assert sum(met.values()) == pytest.approx(1.0 if any(given) else 0.0)
    (pin,) = pins
    assert (pin is None) == (not there)
    if pin is not None:
        under = sum(met[node] for node, lineage in there.items() if pin in lineage)
        assert under > sum(met[node] for node in there) / 2


def test_ids_come_from_the_place_whoever_asks_first() -> None:
    first = new_id(EXPIRY, "q1", ())
    assert first == new_id(EXPIRY, "q2", ())
    second = new_id(EXPIRY, "q3", {first})
    assert len({first, second, new_id(KEYS, "q1", ()), new_id(None, "q1", ()), new_id(None, "q2", ())}) == 5
