"""The window over a partition: any order of work keeps its invariants."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ingest.events.window import Window
from ingest.ports import Record

NOW = datetime(2026, 1, 1, tzinfo=UTC)
START = 7


def record(offset: int, key: str = "k") -> Record:
    return Record("t", 0, offset, key, b"", NOW)


def test_an_empty_window_commits_nothing() -> None:
    window = Window(START)
    assert (window.committable, window.span, window.done) == (START, 0, True)


def test_gaps_in_the_offsets_hold_nothing_back() -> None:
    window = Window(START)
    found = record(40)
    window.add([found])
    assert window.committable == 40
    window.hand_out(found)
    window.finish(found)
    assert window.committable == 41


def test_what_was_read_before_is_passed_over() -> None:
    window = Window(START)
    window.add([record(7), record(8)])
    window.add([record(6), record(8), record(9)])
    assert window.next == 10
    assert window.span == 3


def test_a_record_that_was_read_again_is_not_the_one_in_hand() -> None:
    window = Window(START)
    found = record(7)
    window.add([found])
    window.hand_out(found)
    assert window.holds(found)
    assert not window.holds(record(7))


class WindowMachine(RuleBasedStateMachine):
    """Against a model that keeps every record that was added and is not finished."""

    def __init__(self) -> None:
        super().__init__()
        self.window = Window(START)
        self.end = START
        self.unfinished: dict[int, Record] = {}
        self.in_hand: list[Record] = []

    @rule(keys=st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=6))
    def read(self, keys: list[tuple[int, str]]) -> None:
        added = []
        for gap, key in keys:
            added.append(record(self.end + gap, key))
            self.end += gap + 1
        self.window.add(added)
        self.unfinished |= {each.offset: each for each in added}

    @rule(most=st.integers(1, 4))
    def hand_out(self, most: int) -> None:
        ready = list(self.window.ready())[:most]
        for each in ready:
            earlier = [other for other in self.unfinished.values() if other.key == each.key]
            assert min(earlier, key=lambda other: other.offset) == each
            self.window.hand_out(each)
        self.in_hand += ready

    @precondition(lambda self: self.in_hand)
    @rule(data=st.data(), finished=st.booleans())
    def end_work(self, data: st.DataObject, finished: bool) -> None:
        chosen = data.draw(st.sampled_from(self.in_hand))
        self.in_hand.remove(chosen)
        if finished:
            self.window.finish(chosen)
            del self.unfinished[chosen.offset]
        else:
            self.window.give_back(chosen)

    @invariant()
    def only_what_is_finished_is_committable(self) -> None:
        assert self.window.committable == min(self.unfinished, default=self.end)
        assert self.window.span == self.end - self.window.committable

    @invariant()
    def a_key_is_in_one_hand(self) -> None:
        keys = [each.key for each in self.in_hand]
        assert len(keys) == len(set(keys))
        assert not {each.key for each in self.window.ready()} & set(keys)
        assert all(self.window.holds(each) for each in self.in_hand)

    @invariant()
    def nothing_is_stuck(self) -> None:
        """As long as something is unfinished, something is in hand or ready."""
        assert not self.unfinished or self.in_hand or list(self.window.ready())


TestWindow = WindowMachine.TestCase
