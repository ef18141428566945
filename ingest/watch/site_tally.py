"""What a site's records and its watcher say, counted for whoever runs ritbot. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ingest.counted import counted
from ingest.ports import PageState
from ingest.watch.report import WatchReport

PageKind = Literal["skipped", "failing", "missing", "all"]
"""Which pages are listed: left out; without an answer; not found (links that lead nowhere, too); all that are known."""


@dataclass(slots=True)
class SiteTally:
    """What a site's records say, one after the other: live pages, their sections, the oldest look at one; by address and with
    the reason, pages that were left out and that are gone, and all of them where these are `wanted`."""

    wanted: PageKind | None
    pages: int = 0
    sections: int = 0
    checked_at: datetime | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)
    all: dict[str, str] = field(default_factory=dict)

    def add(self, state: PageState) -> None:
        if state.state == "live":
            self.pages += 1
            self.sections += state.nodes
            self.checked_at = min(self.checked_at or state.checked_at, state.checked_at)
        elif state.state == "skipped":
            self.skipped[state.key] = state.reason or "unknown"
        elif state.state == "gone":
            self.gone[state.key] = state.reason or "not found"
        if self.wanted == "all":
            self.all[state.key] = _described(state)


def pages_of(kind: PageKind, tally: SiteTally, report: WatchReport | None) -> list[tuple[str, str]]:
    """The pages of a kind, by address, each with the reason."""
    known = {"all": tally.all, "skipped": tally.skipped, "missing": tally.gone, "failing": {}}
    found = dict(known[kind])
    if report and kind in ("missing", "all"):
        found |= not_found(report)
    if report and kind in ("failing", "all"):
        found |= dict(report.failing)
    return sorted(found.items())


def not_found(report: WatchReport) -> dict[str, str]:
    return dict.fromkeys(report.missing, "not found, but not taken for gone yet")


def _described(state: PageState) -> str:
    if state.state == "live":
        return counted(state.nodes, "section")
    if state.target:
        return f"{'the same as' if state.state == 'alias' else 'moved to'} {state.target}"
    return f"{state.state}: {state.reason or 'unknown'}"
