"""Where RDR2 begins (RDR2 section 3.1, Retrieve): the k best chunks, and the pages they come from as trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ingest.model import Scope
from ingest.ports import Hit, Located, TreeStore
from navigator.answer import Passage
from navigator.retrieval.forest import Numbering
from navigator.retrieval.passages import ChunkPassages, blocks_within, passage, path_of
from navigator.retrieval.retriever import Retriever
from navigator.strategies.rdr2.tree import DocumentTree, Subtree


@dataclass(frozen=True, slots=True)
class Anchored:
    """A page, and which of its blocks were retrieved. `above`: the titles over it in the site; `nodes`: its sections."""

    key: str
    tree: DocumentTree
    retrieved: tuple[int, ...]
    above: tuple[str, ...]
    nodes: Mapping[str, Located]

    def begin(self, *, structure: bool) -> Subtree:
        """What the router sees first. Without `structure` it is given what was retrieved, nothing else (RDR2 5.2.2)."""
        return self.tree.lit(self.retrieved) if structure else self.tree.alone(self.retrieved)

    @property
    def title(self) -> str:
        return " › ".join((*self.above, self.tree.nodes[0].text))

    def path(self, node_id: str) -> tuple[str, ...]:
        return (*self.above, *path_of(self.nodes[node_id].page, node_id))

    def passages(self, chosen: Iterable[int], numbering: Numbering) -> list[Passage]:
        """Blocks as passages, in document order: consecutive blocks of one section are one passage. A section's first
        passage has the section's number."""
        runs: list[tuple[str, range]] = []
        for node in map(self.tree.nodes.__getitem__, sorted(set(chosen))):
            if node.block is None:
                raise ValueError(f"{node.id} is a heading: it has no text to read")
            if runs and runs[-1] == (node.node_id, range(runs[-1][1].start, node.block)):
                runs[-1] = (node.node_id, range(runs[-1][1].start, node.block + 1))
            else:
                runs.append((node.node_id, range(node.block, node.block + 1)))
        first = {node_id: run.start for node_id, run in reversed(runs)}
        return [
            self._passage(
                node_id, run, numbering.of(node_id if run.start == first[node_id] else f"{node_id}:{run.start}")
            )
            for node_id, run in runs
        ]

    def _passage(self, node_id: str, run: range, number: int) -> Passage:
        whole = passage(self.nodes[node_id], number, self.path(node_id))
        return replace(whole, at=run.start, blocks=whole.blocks[run.start : run.stop])


@dataclass(frozen=True, slots=True)
class RetrievedPages:
    """Chunks, best first, and their pages in the order in which they were retrieved."""

    hits: tuple[Hit, ...]
    pages: tuple[Anchored, ...]


async def anchored(
    retriever: Retriever, trees: TreeStore, parts: ChunkPassages, question: str, scope: Scope, k: int
) -> RetrievedPages:
    """The k best chunks. Raises IngestError."""
    found = await retriever.hybrid(question, scope, k)
    hits: dict[str, list[Hit]] = {}
    for hit in found.hits:
        hits.setdefault(hit.page_key, []).append(hit)
    wanted = {heading.id for key in hits for heading in found.pages[key].headings}
    located = await trees.nodes(wanted) if wanted else {}
    places = await trees.place(hits)
    pages = []
    for key, chunks in hits.items():
        standing = [hit for hit in chunks if hit.node_id in located]
        if standing:
            above = tuple(place.title for place in places.get(key, ()))
            pages.append(_anchored(key, standing, located, parts, above))
    return RetrievedPages(found.hits, tuple(pages))


def _anchored(
    key: str, hits: Sequence[Hit], located: Mapping[str, Located], parts: ChunkPassages, above: tuple[str, ...]
) -> Anchored:
    headings = located[hits[0].node_id].page.headings
    nodes = {heading.id: located[heading.id] for heading in headings if heading.id in located}
    tree = DocumentTree.of(headings, {node_id: found.node.blocks for node_id, found in nodes.items()})
    touched = {(hit.node_id, block) for hit in hits for block in _touched(nodes[hit.node_id], hit, parts)}
    retrieved = tuple(node.id for node in tree.nodes if (node.node_id, node.block) in touched)
    return Anchored(key, tree, retrieved, above, nodes)


def _touched(located: Located, hit: Hit, parts: ChunkPassages) -> Iterable[int]:
    """The blocks of a section that a chunk is cut from, whole; of a chunk that is cut from it no more, all."""
    span = parts.text_of(located, hit.chunk_id)
    if span is None:
        return range(len(located.node.blocks))
    at, blocks = blocks_within(located.node.blocks, *span)
    return range(at, at + len(blocks))
