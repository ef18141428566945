"""How a section stands today, in words for people. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from bot.freshness import ago
from bot.model import Edition
from bot.permalinks.standing import Standing
from ingest.counted import counted


@dataclass(frozen=True, slots=True)
class StateLine:
    """One thing that is true of the section: `label` in a word or two, `sentence` for the rest."""

    kind: str
    label: str
    sentence: str


def day(moment: datetime) -> str:
    """As "1 May 2026"."""
    return f"{moment.day} {moment:%B %Y}"


def state_lines(standing: Standing, now: datetime) -> Iterator[StateLine]:
    link, then = standing.link, standing.then
    since = day(then.section.checked_at) if then else ""
    for kind in standing.kinds:
        match kind:
            case "current":
                checked = f"Checked {ago(standing.now.checked_at, now)}." if standing.now else ""
                says = "It says what it said when the link was made." if link.hash else "The section is there."
                yield StateLine(kind, "Current", f"{says} {checked}".strip())
            case "changed" if standing.lost:
                yield StateLine(
                    kind, "Changed", "It says something else now. The text that the link names was not kept."
                )
            case "changed":
                yield StateLine(kind, f"Changed since {since}", "What changed stands below.")
            case "moved" if then:
                yield StateLine(kind, "Moved", f"On {since} it stood under {_place(then)}.")
            case "split":
                yield StateLine(
                    kind,
                    "Split",
                    f"Words of it stand in {counted(len(standing.parts), 'other section')} now, named below.",
                )
            case "merged":
                yield StateLine(
                    kind,
                    "No section of its own any more",
                    f"{gone(standing)} What it said stands elsewhere now, named below.",
                )
            case "removed":
                yield StateLine(kind, "Removed", f"{gone(standing)} Below is what it said last.")


def gone(standing: Standing) -> str:
    """When, as far as it is known, and why."""
    last = f"It was read last on {day(standing.last_seen)}" if standing.last_seen else "It was there"
    if standing.gone_for:
        when = f" on {day(standing.gone_by)}" if standing.gone_by else ""
        return f"{last}; {standing.gone_for}{when}."
    return f"{last}, and was gone by {day(standing.gone_by)}." if standing.gone_by else f"{last}."


def _place(then: Edition) -> str:
    above = " › ".join(then.section.path[:-1])
    return f"“{above}” ({then.section.page_url})" if above else then.section.page_url
