"""Where sections stand in the site tree, from the site's root down to each."""

from __future__ import annotations

from collections.abc import Iterable

from bot.gaps.gap import Lineage, Place
from ingest.ports import Outline, SiteAncestor, TreeStore
from navigator.retrieval.passages import path_of, section_link


async def lineages(trees: TreeStore, nodes: Iterable[str]) -> dict[str, Lineage]:
    """Of those sections that are there. Raises StoreUnavailable."""
    located = await trees.nodes(nodes)
    above = await trees.place({each.page.key for each in located.values()})
    pages = await trees.outlines({step.key for steps in above.values() for step in steps if step.key})
    found: dict[str, Lineage] = {}
    for node, each in located.items():
        steps = [_ancestor(step, pages.get(step.key or "")) for step in above.get(each.page.key, ())]
        places = [*steps, *(_section(each.page, one) for one in _line(each.page, node))]
        found[node] = tuple(_below(places))
    return found


def _line(page: Outline, node: str) -> list[str]:
    """The page's own section and what stands on the way down to the node."""
    parents = {heading.id: heading.parent for heading in page.headings}
    line: list[str] = []
    current: str | None = node
    while current is not None:
        line.insert(0, current)
        current = parents.get(current)
    return line


def _ancestor(step: SiteAncestor, page: Outline | None) -> Place:
    return (
        Place(page.headings[0].id, (step.title,), page.canonical) if page else Place("", (step.title,), step.url or "")
    )


def _section(page: Outline, node: str) -> Place:
    return Place(node, path_of(page, node)[-1:], section_link(page, node))


def _below(places: Iterable[Place]) -> Iterable[Place]:
    """Each under the path of those before it; one called like what is right above it is no further step of a path."""
    path: tuple[str, ...] = ()
    for place in places:
        path = path if path[-1:] == place.path else (*path, *place.path)
        yield Place(place.node, path, place.link)
