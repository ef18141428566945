"""The version that a question is about: named in it, or the scope's own. DESIGN "Sites": an answer stays in one version.

A question names a version as people do: "v2", "version 2.1", "in 2.9.0"; a bare number is a count, not a version. Of
several that fit, the newest is meant.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection

from ingest.model import Scope
from ingest.ports import TreeStore

VERSIONS_BELIEVED_SECONDS = 600.0
"""How old the list of versions may be."""
_NAMED = re.compile(
    r"(?<![\w.])(?:(?:version|release)\s+v?|v(?=\d))(\d+(?:\.\d+)*)|(?<![\w.])(\d+(?:\.\d+)+)(?![\w.]*\w)",
    re.IGNORECASE,
)


class Versions:
    """The versions that pages of a store have."""

    def __init__(self, trees: TreeStore) -> None:
        self._trees = trees
        self._known: frozenset[str] = frozenset()
        self._read_at: float | None = None

    async def narrowed(self, scope: Scope, question: str) -> Scope:
        """The scope in the version that the question names, the scope itself where it names none that is there. Raises
        StoreUnavailable."""
        if not _NAMED.search(question):
            return scope
        named = version_named(question, await self._versions())
        return Scope(scope.sites, frozenset({named, ""})) if named else scope

    async def _versions(self) -> frozenset[str]:
        now = time.monotonic()
        if self._read_at is None or now - self._read_at > VERSIONS_BELIEVED_SECONDS:
            self._known = frozenset([s.version async for s in self._trees.scan() if s.version and s.state == "live"])
            self._read_at = now
        return self._known


def version_named(question: str, versions: Collection[str]) -> str | None:
    """The newest of the versions that fit the first one named; None where none fits."""
    for match in _NAMED.finditer(question):
        wanted = match[1] or match[2]
        fitting = [version for version in versions if f"{_number(version)}.".startswith(f"{wanted}.")]
        if fitting:
            return max(fitting, key=lambda version: [int(part) for part in re.findall(r"\d+", version)])
    return None


def _number(version: str) -> str:
    """ "v2.0" -> "2.0"; what is no number stays."""
    return re.sub(r"^v(?=\d)", "", version, flags=re.IGNORECASE)
