"""What a watch cycle is told and what it tells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from ingest.counted import counted
from ingest.model import Site


@dataclass(frozen=True, slots=True)
class Everything:
    """A cycle in which every page is due: each is looked at in full and announced, changed or not. Those that a cycle
    which was interrupted has looked at `since` it began are left out. `accept`: the guard holds nothing back. A site that
    gives nothing is an error."""

    since: datetime | None = None
    accept: bool = False


@dataclass(slots=True)
class CycleSummary:
    """What a cycle did. `found` pages of which it has been through `done`; `live` when it began; `counts`: pages looked at
    by verdict (`failed`: no answer). With the reason: `failed`, `blocked` and the first `unread` page
    (not there, no HTML, noindex, …; until the site gives one), those that were announced as `gone`,
    and those `held` that would go, but the guard keeps them. `warnings`: why pages could not be listed as usual. `stopped`:
    so many pages answer with something else that nothing was believed. `empty`: the site gave no page, and none was known.
    `astray`: its list of pages, or its start, led nowhere. `wants_listing`: of pages that were named, one may be new, may
    have moved or may go, and was left to a cycle that looks at the whole site."""

    site: str
    found: int = 0
    done: int = 0
    live: int = 0
    looked_at_before: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[str, str]] = field(default_factory=list)
    blocked: list[tuple[str, str]] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    gone: list[tuple[str, str]] = field(default_factory=list)
    held: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    stopped: bool = False
    empty: bool = False
    astray: bool = False
    wants_listing: bool = False

    @property
    def problem(self) -> str | None:
        return " ".join(self.warnings) or None


def no_page(site: Site, summary: CycleSummary) -> str:
    """Of a site that gave none: a sentence for the operator."""
    wrong = [reason.rstrip(".") for _, reason in (*summary.failed, *summary.blocked, *summary.unread)][:1]
    if summary.done == 1 and wrong:  # its start says all
        return f"Site {site.name} gave no page: {wrong[0]}."
    because = f" ({wrong[0]})" if wrong else ""
    return f"Site {site.name} gave no page at all{because}; check its start, {site.start}, and include and exclude."


def one_text(site: Site, same: int, looked: int) -> str:
    """Of a first index in which so many pages say the same."""
    return (
        f"{same:,} of {counted(looked, 'page')} of site {site.name} say one text. If a part of the site is down, index it"
        " again when it is well; if the pages are copies, leave them out by exclude."
    )


def led_away(site: Site, key: str, target: str) -> str:
    """Of a start that redirects."""
    return (
        f"The start of site {site.name}, {key}, redirects to {target}, which is outside the site; set that address as"
        " start."
    )


def no_text(url: str, reason: str, detail: str) -> str:
    """Why an address that answered gives no page: a sentence's end."""
    kind = detail.partition(";")[0].strip()
    if reason == "not_html":
        return f"{url} is no HTML but {kind or 'of an unknown kind'}; start at a page of HTML"
    if reason.startswith("HTTP"):
        return f"{url} is not there ({reason})"
    return f"{url} is left out as {reason.replace('_', ' ')}{f' ({detail})' if detail else ''}"
