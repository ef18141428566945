"""A permalink: the address of a section that stays when the documentation changes. Pure.

/n/4f0c…e7                  the section, whatever it says today
/n/4f0c…e7@873ae3e99dec     the section as it read when its own_hash began so
…@873ae3e99dec?at=3         and of that text the fourth block
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PREFIX = "/n/"
NAMED_HASH_CHARACTERS = 12
"""Of a section's hash, as many as `ritbot tree` shows: two texts of one section share them once in 10^14."""
_REFERENCE = re.compile(
    r"(?P<node>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:@(?P<hash>[0-9a-f]{6,64}))?", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True, slots=True)
class Permalink:
    """`hash`: how the own_hash of the text begins that the link names; "" names none."""

    node: str
    hash: str = ""

    @property
    def path(self) -> str:
        return f"{PREFIX}{self.node}" + (f"@{self.hash[:NAMED_HASH_CHARACTERS]}" if self.hash else "")

    def address(self, public_url: str, block: int = 0) -> str:
        """Where people reach it; "" where it is not known where they reach ritbot. `block`: of the section, on which a
        browser lands while the text is the one that the link names."""
        at = f"?at={block}" if block else ""
        return f"{public_url.rstrip('/')}{self.path}{at}" if public_url else ""

    def names(self, node_hash: str) -> bool:
        """Whether that is the text it names."""
        return bool(self.hash) and node_hash.startswith(self.hash)


def parse_reference(reference: str) -> Permalink | None:
    """Of what stands behind /n/ in an address; None where it is none."""
    found = _REFERENCE.fullmatch(reference)
    return Permalink(found["node"].lower(), (found["hash"] or "").lower()) if found else None


def reference_in(url: str, public_url: str) -> Permalink | None:
    """The permalink that an address is; None for any other."""
    before = f"{public_url.rstrip('/')}{PREFIX}"
    if not public_url or not url.startswith(before):
        return None
    return parse_reference(re.split(r"[?#]", url.removeprefix(before), maxsplit=1)[0])
