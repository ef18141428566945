"""What is known of sections beside their text: summaries and keywords, where a model has written any.

They are hints where to look, never evidence, and always of what a section says now: they are found by its content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ingest.notes import Notes, SectionSummary, summaries_of
from ingest.ports import TreeStore


async def node_summaries(trees: TreeStore, notes: Notes, node_ids: Iterable[str]) -> Mapping[str, SectionSummary]:
    """By node id, for those of the nodes that have a summary. Raises store errors."""
    if not await notes.any("summary"):
        return {}
    located = await trees.nodes(node_ids)
    hashes = {node_id: found.node.own_hash for node_id, found in located.items()}
    summaries = await summaries_of(notes, set(hashes.values()))
    return {node_id: summaries[own] for node_id, own in hashes.items() if own in summaries}
