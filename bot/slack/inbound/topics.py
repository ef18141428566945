"""What the documentation is about, in a few titles: its own top sections."""

from __future__ import annotations

from collections import Counter

from ingest.ports import TreeStore

SEEN = 2_000
"""Of a large site so many pages are looked at."""


async def top_sections(trees: TreeStore, most: int = 8) -> tuple[str, ...]:
    """Titles of the sections right under the roots of the sites, those with most pages first; where a site has no
    structure between its pages, titles of its longest pages. Raises StoreUnavailable."""
    states = []
    async for state in trees.scan():
        if state.state == "live":
            states.append(state)
        if len(states) >= SEEN:
            break
    keys = [state.key for state in states]
    places, outlines = await trees.place(keys), await trees.outlines(keys)
    under: Counter[str] = Counter()
    for key, outline in outlines.items():
        trail = [place.title for place in places.get(key, ())]
        if trail:
            under[(*trail, outline.title)[1]] += 1
    if under:
        return tuple(title for title, _ in under.most_common(most))
    longest = sorted(states, key=lambda state: (-state.nodes, state.key))
    return tuple(outlines[state.key].title for state in longest[:most] if state.key in outlines)
