"""When pages are looked at again (ingest/watch/schedule.py)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Site
from ingest.ports import WatchState
from ingest.watch import schedule
from ingest.watch.schedule import Pace

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PACE = Pace(jitter=0.0)
NEW = WatchState("p", "docs")
WHOLE = WatchState(schedule.site_key("docs"), "docs")
WEB = Site("docs", "https://docs.example.test/")
chances = st.floats(0, 1)


def pause(state: WatchState, since: datetime = NOW) -> float:
    assert state.due_at is not None
    return (state.due_at - since).total_seconds()


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_a_page_never_looked_at_is_due_and_fetched_in_full() -> None:
    assert schedule.is_due(NEW, WHOLE, NOW)
    assert schedule.wants_full(NEW, WHOLE, NOW, PACE)


def test_pauses_double_while_nothing_changes_up_to_the_slowest() -> None:
    state, pauses = NEW, []
    for _ in range(8):
        state = schedule.kept(state, NOW, PACE, 0.0)
        pauses.append(pause(state))
    assert pauses == [3600, 7200, 14400, 28800, 57600, 86400, 86400, 86400]


def test_a_change_brings_the_next_look_forward_down_to_the_soonest() -> None:
    state, pauses = replace(NEW, interval=86_400.0), []
    for number in range(5):
        state = schedule.announced(state, f"hash {number}", NOW, PACE, 0.0)
        pauses.append(pause(state))
    assert pauses == [21600, 5400, 1350, 337.5, 300]


def test_what_was_sent_before_is_sent_ever_later_and_vouched_for_by_nothing() -> None:
    state = replace(NEW, etag="e", last_modified="l", hash="h", interval=600.0)
    first = schedule.announced(state, "new", NOW, PACE, 0.0)
    again = schedule.announced(first, "new", NOW, PACE, 0.0)
    assert (first.etag, first.last_modified, first.hash) == (None, None, None)
    assert pause(again) == 2 * pause(first)


def test_a_page_is_gone_after_enough_misses_over_enough_time() -> None:
    state, gone = NEW, []
    for look in range(5):
        state = schedule.missed(state, after(look * 28_800), PACE, 0.0)
        gone.append(schedule.is_gone(state, after(look * 28_800), PACE))
    assert gone == [False, False, False, True, True]
    assert pause(state, after(4 * 28_800)) == 28_800


def test_many_misses_in_a_short_time_are_not_enough() -> None:
    state = NEW
    for second in range(10):
        state = schedule.missed(state, after(second), PACE, 0.0)
    assert not schedule.is_gone(state, after(10), PACE)


def test_misses_are_forgotten_when_the_page_is_there_again() -> None:
    state = schedule.kept(schedule.missed(NEW, NOW, PACE, 0.0), NOW, PACE, 0.0)
    assert (state.misses, state.missed_since) == (0, None)


def test_failures_wait_longer_and_longer_and_as_long_as_the_server_asks() -> None:
    state, pauses = NEW, []
    for _ in range(12):
        state = schedule.failed(state, "503", None, NOW, PACE, 0.0)
        pauses.append(pause(state))
    assert pauses[:4] == [300, 600, 1200, 2400]
    assert pauses[-1] == PACE.slowest
    assert pause(schedule.failed(NEW, "503", 200_000.0, NOW, PACE, 0.0)) == 200_000
    assert state.misses == 0


def test_an_answer_ends_the_failures() -> None:
    failing = schedule.failed(NEW, "503", None, NOW, PACE, 0.0)
    state = schedule.looked(failing, after(300), full=True, lastmod=None, hinted=False)
    assert (state.failures, state.error, state.full_at) == (0, None, after(300))


@pytest.mark.parametrize("whom", ["page", "site"])
def test_who_is_asked_for_is_due_in_full_until_looked_at(whom: str) -> None:
    page = schedule.kept(schedule.looked(NEW, NOW, full=True, lastmod=None, hinted=False), NOW, PACE, 0.0)
    whole = WHOLE
    assert not schedule.is_due(page, whole, after(10))
    if whom == "page":
        page = replace(page, asked_at=after(5))
    else:
        whole = replace(whole, asked_at=after(5))
    assert schedule.is_due(page, whole, after(10))
    assert schedule.wants_full(page, whole, after(10), PACE)
    page = schedule.kept(schedule.looked(page, after(10), full=True, lastmod=None, hinted=False), after(10), PACE, 0.0)
    assert not schedule.is_due(page, whole, after(11))
    assert not schedule.wants_full(page, whole, after(11), PACE)


def test_a_failed_look_leaves_the_wish_for_a_full_one_but_not_the_hurry() -> None:
    asked = replace(NEW, asked_at=NOW, full_at=after(-100), fetched_at=after(-100))
    state = schedule.failed(asked, "503", None, after(1), PACE, 0.0)
    assert not schedule.is_due(state, WHOLE, after(2))
    assert schedule.wants_full(state, WHOLE, after(2), PACE)


def test_validators_are_trusted_for_a_while_only() -> None:
    state = replace(NEW, full_at=NOW)
    assert not schedule.wants_full(state, WHOLE, after(PACE.full - 1), PACE)
    assert schedule.wants_full(state, WHOLE, after(PACE.full), PACE)


def test_hints_that_lead_to_nothing_are_not_believed_until_the_page_changes() -> None:
    state = NEW
    for number in range(schedule.MAX_WASTED_HINTS):
        assert schedule.is_hinted(state, f"day {number}", WEB)
        state = schedule.looked(state, NOW, full=False, lastmod=f"day {number}", hinted=True)
        state = schedule.kept(state, NOW, PACE, 0.0)
    assert not schedule.is_hinted(state, "another day", WEB)
    assert schedule.is_hinted(state, "another day", Site("docs", "/srv/html"))
    assert schedule.is_hinted(schedule.announced(state, "new", NOW, PACE, 0.0), "another day", WEB)


def test_no_news_is_no_hint() -> None:
    state = replace(NEW, lastmod="day 1")
    assert not schedule.is_hinted(state, "day 1", WEB)
    assert not schedule.is_hinted(state, None, WEB)


@given(chances, st.lists(st.sampled_from(["kept", "announced", "held", "left"]), min_size=1, max_size=60))
def test_no_history_leads_out_of_the_bounds(chance: float, history: list[str]) -> None:
    pace, state = Pace(jitter=0.3), NEW
    for name in history:
        match name:
            case "kept":
                state = schedule.kept(state, NOW, pace, chance)
            case "announced":
                state = schedule.announced(state, "x", NOW, pace, chance)
            case "held":
                state = schedule.held(state, "HTTP 410", None, NOW, pace, chance)
            case _:
                state = schedule.left(state, "HTTP 410", NOW, pace, chance)
        assert pace.soonest <= state.interval <= pace.slowest
        assert pace.soonest * 0.69 <= pause(state) <= pace.slowest


@pytest.mark.parametrize("whom", ["page", "site"])
def test_after_the_clock_is_set_back_every_page_is_due_once_and_who_asks_is_heard(whom: str) -> None:
    back = after(-7_200)
    page = schedule.kept(schedule.looked(NEW, NOW, full=True, lastmod=None, hinted=False), NOW, PACE, 0.0)
    whole = schedule.after_listing(replace(WHOLE, asked_at=NOW), NOW, 60.0, None, PACE, soon=False)
    assert schedule.is_listing_due(whole, back)
    assert schedule.is_due(page, whole, back)
    assert schedule.wants_full(page, whole, back, PACE)
    page = schedule.kept(schedule.looked(page, back, full=True, lastmod=None, hinted=False), back, PACE, 0.0)
    whole = schedule.after_listing(whole, back, 60.0, None, PACE, soon=False)
    soon = back + timedelta(seconds=10)
    assert not schedule.is_listing_due(whole, soon)
    assert not schedule.is_due(page, whole, soon)
    page, whole = (replace(page, asked_at=soon), whole) if whom == "page" else (page, replace(whole, asked_at=soon))
    assert schedule.is_due(page, whole, soon)
    assert schedule.wants_full(page, whole, soon, PACE)


def test_a_page_that_was_missed_before_the_clock_was_set_back_is_missing_from_now_on() -> None:
    state = schedule.missed(schedule.missed(NEW, NOW, PACE, 0.0), after(-86_400 * 30), PACE, 0.0)
    assert state.missed_since == after(-86_400 * 30)
