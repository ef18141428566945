"""Which pages would go, and whether so many may. Pure.

Shared by the round over a site (rounds.py) and by its watcher (watch/): a site that is half broken must
not take the index with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ingest.ports import PageState


@dataclass(frozen=True, slots=True)
class Guard:
    """Nothing goes if more than `share` of a site's live pages, and more than `pages`, would go."""

    share: float = 0.10
    pages: int = 5

    def holds(self, going: int, live: int) -> bool:
        return going > self.pages and going > self.share * live


NOT_IN_FOLDER = "no longer in the folder"
NOT_OF_SITE = "no longer part of the site"


def absent(source: str, complete: bool, states: Iterable[PageState], seen: Collection[str]) -> list[str]:
    """Keys of the pages that a whole listing has not. Of a folder that was listed whole, absence is enough; of a
    website only the page itself can say that it is gone."""
    if source != "folder" or not complete:
        return []
    return [state.key for state in states if state.state not in ("gone", "moved") and state.key not in seen]
