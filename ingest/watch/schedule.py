"""When a page is looked at next, and how: what the watch state says after each look. Pure.

Pages that change are looked at sooner, pages that do not later and later. Validators and lastmod lie in
both directions: they are hints, and now and then a page is fetched in full whatever they say.
`chance` is a number from 0 to 1 that spreads the looks.

A clock may be set back. A time later than now was written before that, and tells nothing: what it would put off is done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ingest.model import Site
from ingest.ports import WatchState

MAX_LISTING_PAUSE_SECONDS = 3_600.0
"""However long a listing takes, a new page is found after an hour."""

MAX_WASTED_HINTS = 3
"""After so many hints in a row that led to nothing, a page's hints are passed over until it changes."""


@dataclass(frozen=True, slots=True)
class Pace:
    """In seconds. A page is looked at every `soonest` to `slowest`, `first` to begin with; fetched in full every
    `full`; gone after `misses` looks in a row that found nothing, over `missing_for` at least (a file of a folder: when it
    has been absent for `absent_for`, since a build may be under way). Removals within `window` are weighed together.
    `jitter`: share by which pauses differ. At most `listing_share` of the time goes into listing a site and reading all that
    is known of it: a site of a few pages is listed in every cycle, one of 100,000 once or twice an hour."""

    first: float = 3_600.0
    soonest: float = 300.0
    slowest: float = 86_400.0
    full: float = 604_800.0
    misses: int = 3
    missing_for: float = 86_400.0
    absent_for: float = 60.0
    window: float = 86_400.0
    jitter: float = 0.2
    listing_share: float = 0.02


def site_key(site: str) -> str:
    """The key of the watch state of a site as a whole; no page has such a key."""
    return f"site:{site}"


def is_listing_due(whole: WatchState, now: datetime) -> bool:
    """Whether it is time to look at the site as a whole: what is listed, what is absent, what moved."""
    due = whole.due_at is None or now >= whole.due_at or _is_ahead(whole.full_at, now)
    return due or _later(_asked(now, whole), whole.full_at)


def after_listing(
    whole: WatchState, began: datetime, seconds: float, problem: str | None, pace: Pace, *, soon: bool
) -> WatchState:
    """The site was looked at as a whole, and listing it took so long. `soon`: the next cycle does so again."""
    pause = timedelta(seconds=min(seconds / pace.listing_share, MAX_LISTING_PAUSE_SECONDS))
    return replace(whole, fetched_at=began, full_at=began, due_at=None if soon else began + pause, error=problem)


def is_asked(state: WatchState, whole: WatchState, now: datetime) -> bool:
    """Someone said, after the last look, that this page or the whole site changed."""
    asked = _asked(now, state, whole)
    return _later(asked, state.fetched_at) or (asked is not None and _is_ahead(state.fetched_at, now))


def is_hinted(state: WatchState, lastmod: str | None, site: Site) -> bool:
    """The listing says something new of the page. A folder's file times are believed always: looking is cheap."""
    return lastmod is not None and lastmod != state.lastmod and (site.is_folder or state.wasted < MAX_WASTED_HINTS)


def is_due(state: WatchState, whole: WatchState, now: datetime) -> bool:
    due = state.due_at is None or now >= state.due_at or _is_ahead(state.fetched_at, now)
    return due or is_asked(state, whole, now)


def is_settled(state: WatchState, since: datetime) -> bool:
    """Looked at since then, and the look told what is there."""
    return state.fetched_at is not None and state.fetched_at >= since and not (state.failures or state.misses)


def wants_full(state: WatchState, whole: WatchState, now: datetime, pace: Pace) -> bool:
    """Whether the next look must not trust validators."""
    if state.full_at is None or _is_ahead(state.full_at, now) or _later(_asked(now, state, whole), state.full_at):
        return True
    return now - state.full_at >= timedelta(seconds=pace.full)


def looked(state: WatchState, now: datetime, *, full: bool, lastmod: str | None, hinted: bool) -> WatchState:
    """After any answer: `now` is when the look began. A hint counts as wasted until the look proves it right."""
    return replace(
        state,
        fetched_at=now,
        full_at=now if full else state.full_at,
        failures=0,
        error=None,
        failing_since=None,
        lastmod=state.lastmod if lastmod is None else lastmod,
        wasted=state.wasted + hinted,
    )


def kept(state: WatchState, now: datetime, pace: Pace, chance: float) -> WatchState:
    """The page is as it is indexed."""
    calm = replace(state, misses=0, missed_since=None, sent=None, going=None, going_to=None, turned=None)
    return _paused(calm, now, 2 * state.interval if state.interval else pace.first, pace, chance)


def announced(state: WatchState, sent: str, now: datetime, pace: Pace, chance: float) -> WatchState:
    """A change was announced. What was sent before and is still not indexed is sent again, ever later. Validators are
    forgotten: they would vouch for what is not indexed yet."""
    again = state.sent == sent
    pause = (2 if again else 0.25) * (state.interval or pace.first)
    forgotten = replace(state, etag=None, last_modified=None, hash=None, sent=sent, wasted=0)
    calm = replace(forgotten, misses=0, missed_since=None, going=None, going_to=None, turned=None)
    return _paused(calm, now, pause, pace, chance)


def missed(state: WatchState, now: datetime, pace: Pace, chance: float) -> WatchState:
    """Nothing was found where the page was. Looks follow so that the period is enough for all of them."""
    missing = replace(state, misses=state.misses + 1, missed_since=min(state.missed_since or now, now))
    pause = pace.missing_for / max(pace.misses, 1)
    return replace(_paused(missing, now, pause, pace, chance), interval=state.interval)


def is_gone(state: WatchState, now: datetime, pace: Pace) -> bool:
    """Missed often enough, and long enough."""
    return state.misses >= pace.misses and _missing_for(state, now) >= pace.missing_for


def is_absent(state: WatchState, now: datetime, pace: Pace) -> bool:
    """A file that has been missing from its folder long enough."""
    return _missing_for(state, now) >= pace.absent_for


def _missing_for(state: WatchState, now: datetime) -> float:
    return (now - state.missed_since).total_seconds() if state.missed_since else -1.0


def held(state: WatchState, reason: str, to: str | None, now: datetime, pace: Pace, chance: float) -> WatchState:
    """The page would go, and the guard keeps it."""
    return _paused(replace(state, going=reason, going_to=to), now, 2 * state.interval or pace.first, pace, chance)


def turned(state: WatchState, reason: str, to: str | None, now: datetime, pace: Pace, chance: float) -> WatchState:
    """The page answers with something else, as so many do that nothing is believed. An outage passes: it is looked at
    again as soon as a new page."""
    held_back = replace(state, going=reason, going_to=to)
    return replace(_paused(held_back, now, pace.first, pace, chance), interval=state.interval)


def rested(state: WatchState, now: datetime, pace: Pace, chance: float) -> WatchState:
    """Nobody looks at a page that is gone or has moved, until a listing or a link names it again."""
    return _paused(state, now, pace.slowest, pace, chance)


def left(state: WatchState, reason: str, now: datetime, pace: Pace, chance: float) -> WatchState:
    """The guard let the page go."""
    return replace(removal_accepted(state, reason, now, pace, chance), left_at=now)


def removal_accepted(state: WatchState, reason: str, now: datetime, pace: Pace, chance: float) -> WatchState:
    """Someone accepted that the page goes."""
    return announced(state, f"left: {reason}", now, pace, chance)


def failed(
    state: WatchState, error: str, retry_after: float | None, now: datetime, pace: Pace, chance: float
) -> WatchState:
    """No answer: nothing is known. The pause doubles, and is never shorter than the server asks for."""
    failures, since = state.failures + 1, min(state.failing_since or now, now)
    pause = max(pace.soonest * 2.0 ** min(failures - 1, 30), retry_after or 0.0)
    pause = max(min(pause, pace.slowest), retry_after or 0.0) * (1 + pace.jitter * chance)
    due = now + timedelta(seconds=pause)
    return replace(state, failures=failures, failing_since=since, error=error, fetched_at=now, due_at=due)


def _paused(state: WatchState, now: datetime, pause: float, pace: Pace, chance: float) -> WatchState:
    interval = min(max(pause, pace.soonest), pace.slowest)
    due = now + timedelta(seconds=interval * (1 - pace.jitter * chance))
    return replace(state, interval=interval, due_at=due)


def _asked(now: datetime, *states: WatchState) -> datetime | None:
    """When someone asked last."""
    return max((s.asked_at for s in states if s.asked_at and s.asked_at <= now), default=None)


def _later(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and (other is None or one >= other)


def _is_ahead(time: datetime | None, now: datetime) -> bool:
    return time is not None and time > now
