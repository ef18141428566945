"""What is read, as passages with path and link: whole nodes, and the parts of nodes that strategies without trees read.

A chunk's text is not stored apart: it is cut from its node again, as the index cut it. A chunk that cannot be found so
(the settings of chunking changed and the index was not brought in step) is read as its whole node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ingest.model import Block, Chunk
from ingest.ports import Hit, Located, Outline, OutlineHeading, TreeStore
from ingest.text.chunks import Count, Sizes, chunk_page, node_chunks, path_text
from ingest.urls import node_link
from navigator.answer import Passage
from navigator.retrieval.forest import Numbering


def section_passages(
    located: Mapping[str, Located], wanted: Mapping[str, tuple[int, tuple[str, ...]]]
) -> list[Passage]:
    """`wanted`: node id -> (number, path). Pages come in the order in which they are first wanted,
    sections of a page in document order; nodes that are not located (any more) are left out."""
    pages: dict[str, list[str]] = {}
    for node_id in wanted:
        if node_id in located:
            pages.setdefault(located[node_id].page.key, []).append(node_id)
    found: list[Passage] = []
    for ids in pages.values():
        order = {heading.id: position for position, heading in enumerate(located[ids[0]].page.headings)}
        for node_id in sorted(ids, key=lambda i: order[i]):
            number, path = wanted[node_id]
            found.append(passage(located[node_id], number, path))
    return found


def passage(located: Located, number: int, path: tuple[str, ...]) -> Passage:
    node, page = located.node, located.page
    return Passage(
        number=number,
        node_id=node.id,
        node_hash=node.own_hash,
        page_key=page.key,
        page_url=page.canonical,
        link=section_link(page, node.id),
        path=path,
        blocks=node.blocks,
        checked_at=page.checked_at,
        version=page.version,
    )


def path_of(page: Outline, node_id: str) -> tuple[str, ...]:
    """The titles from the page down to the node."""
    return tuple(heading.title for heading in reversed(_lineage(page, node_id)))


def section_link(page: Outline, node_id: str) -> str:
    """The node link: the page's URL and the node's own anchor, else its nearest ancestor's, else the
    bare URL (html cases 30, 34)."""
    return node_link(page.canonical, [heading.anchor for heading in _lineage(page, node_id)])


def _lineage(page: Outline, node_id: str) -> list[OutlineHeading]:
    """The node and what stands above it on its page, nearest first; empty for a node of another page."""
    by_id = {heading.id: heading for heading in page.headings}
    found: list[OutlineHeading] = []
    current = by_id.get(node_id)
    while current is not None:
        found.append(current)
        current = by_id.get(current.parent) if current.parent is not None else None
    return found


class ChunkPassages:
    """Reads chunks. `languages` are those of the sites, as they were chunked. All methods raise IngestError."""

    def __init__(self, trees: TreeStore, sizes: Sizes, count: Count, languages: Sequence[str] = ("en",)) -> None:
        self._trees = trees
        self._sizes = sizes
        self._count = count
        self._languages = languages

    async def passages(
        self, hits: Sequence[Hit], numbering: Numbering, read: Sequence[Passage] = ()
    ) -> tuple[list[Passage], list[int]]:
        """The chunks as passages, sections in the order of the hits, and the numbers of those that are in `read` already.
        Neighbouring chunks of a section are one passage under one number, that of the section where they are all of it.
        Equal text is given once; what is no longer there is left out."""
        again: dict[int, None] = {}
        sections: dict[str, dict[str, tuple[Located, Passage]]] = {}
        done = {passage.number for passage in read}
        for hit, node, whole in await self._nodes(hits):
            known = {numbering.known(hit.node_id), numbering.known(hit.chunk_id)} & done
            if known:
                again.update(dict.fromkeys(number for number in known if number))
            else:
                sections.setdefault(hit.node_id, {})[hit.chunk_id] = node, whole
        found = [
            replace(part, number=numbering.of(*ids)) for chunks in sections.values() for part, ids in self._runs(chunks)
        ]
        fresh, twins = distinct(found, read)
        return fresh, [*again, *(number for number in twins.values() if number in done and number not in again)]

    def _runs(self, chunks: Mapping[str, tuple[Located, Passage]]) -> Iterator[tuple[Passage, tuple[str, ...]]]:
        """Chunks of one section as passages without a number, in document order; the ids of each."""
        node, whole = next(iter(chunks.values()))
        spans = {chunk_id: self.text_of(node, chunk_id) for chunk_id in chunks}
        if None in spans.values():
            yield whole, (whole.node_id, *chunks)
            return
        runs: list[tuple[int, int, list[str]]] = []
        for chunk_id, span in sorted(spans.items(), key=lambda item: item[1] or (0, 0)):
            begin, end = span or (0, 0)
            if runs and runs[-1][1] == begin:
                runs[-1] = (runs[-1][0], end, [*runs[-1][2], chunk_id])
            else:
                runs.append((begin, end, [chunk_id]))
        for begin, end, ids in runs:
            part = self._part(whole, (begin, end))
            if part is not None:
                yield part, (whole.node_id, *ids) if part.blocks == whole.blocks else tuple(ids)

    async def read(self, hits: Sequence[Hit]) -> list[tuple[Hit, Passage, bool]]:
        """What each chunk says, as a passage without a number (0), and whether that is all of its node."""
        found: list[tuple[Hit, Passage, bool]] = []
        for hit, node, whole in await self._nodes(hits):
            part = self._part(whole, self.text_of(node, hit.chunk_id))
            if part is not None:
                found.append((hit, part, part.blocks == whole.blocks))
        return found

    async def sections(self, hits: Sequence[Hit], numbering: Numbering, count: int) -> tuple[Passage, ...]:
        """The whole nodes that the best chunks are of, at most `count` of them, in the order of the hits."""
        best: dict[str, Hit] = {}
        for hit in hits:
            best.setdefault(hit.node_id, hit)
        nodes = await self._nodes(list(best.values())[:count])
        return tuple(replace(whole, number=numbering.of(hit.node_id)) for hit, _, whole in nodes)

    async def of_page(self, key: str) -> list[Chunk]:
        """All chunks of a live page in document order."""
        stored = await self._trees.get(key)
        if stored is None or stored.record.page is None:
            return []
        record, page = stored.record, stored.record.page
        cuts = [
            chunk_page(page, record.site, record.version, self._sizes, self._count, language)
            for language in self._languages
        ]
        listed = set(record.chunk_ids)
        return max(cuts, key=lambda chunks: sum(chunk.id in listed for chunk in chunks))

    async def _nodes(self, hits: Sequence[Hit]) -> list[tuple[Hit, Located, Passage]]:
        """Each hit with its node and that node as a passage; those whose node is no longer there are left out."""
        located = await self._trees.nodes({hit.node_id for hit in hits})
        places = await self._trees.place({found.page.key for found in located.values()})
        found: list[tuple[Hit, Located, Passage]] = []
        for hit in hits:
            if hit.node_id not in located:
                continue
            node = located[hit.node_id]
            above = tuple(place.title for place in places.get(node.page.key, ()))
            found.append((hit, node, passage(node, 0, (*above, *path_of(node.page, hit.node_id)))))
        return found

    def text_of(self, located: Located, chunk_id: str) -> tuple[int, int] | None:
        """Where in its node's text a chunk begins and ends; None for a chunk that is not cut from it."""
        for language in self._languages:
            begin = 0
            for found, text in self._chunks(located, language):
                if found == chunk_id:
                    return begin, begin + len(text)
                begin += len(text)
        return None

    def _chunks(self, located: Located, language: str) -> Iterator[tuple[str, str]]:
        headings = {heading.id: heading for heading in located.page.headings}
        path = path_text(headings[located.node.id], headings, self._sizes.path, self._count)
        return node_chunks(located.node, path, self._sizes, self._count, language)

    @staticmethod
    def _part(whole: Passage, span: tuple[int, int] | None) -> Passage | None:
        """None for a chunk of blank text: there is nothing to read in it."""
        at, blocks = (0, whole.blocks) if span is None else blocks_within(whole.blocks, *span)
        return replace(whole, at=at, blocks=blocks) if blocks else None


def distinct(passages: Sequence[Passage], read: Sequence[Passage] = ()) -> tuple[list[Passage], dict[int, int]]:
    """Those that say what neither an earlier one nor one in `read` says word for word; and of each other one the number,
    with that of the passage that says it."""
    known = {_words_of(passage): passage.number for passage in read}
    kept: list[Passage] = []
    twins: dict[int, int] = {}
    for passage in passages:
        first = known.setdefault(_words_of(passage), passage.number)
        if first == passage.number:
            kept.append(passage)
        else:
            twins[passage.number] = first
    return kept, twins


def _words_of(passage: Passage) -> tuple[str, ...]:
    return tuple(block.text for block in passage.blocks)


def blocks_within(blocks: Sequence[Block], begin: int, end: int) -> tuple[int, tuple[Block, ...]]:
    """What of a node's text stands between two positions, as blocks, the first and the last cut where they have to be;
    and the index of the first. A blank piece of a block at either end is left out."""
    kept: dict[int, Block] = {}
    start = 0
    for index, block in enumerate(blocks):
        piece = _slice(block, max(0, begin - start), end - start)
        if piece is not None:
            kept[index] = piece
        start += len(block.text) + 1
    return min(kept, default=0), tuple(kept.values())


def _slice(block: Block, begin: int, end: int) -> Block | None:
    """Its text from `begin` to `end`, each line with its mark; a line that is cut at its beginning has none."""
    if begin == 0 and end >= len(block.text):
        return block
    text = block.text[begin:end].removesuffix("\n") if end > 0 else ""
    if not text.strip():
        return None
    if not block.marks:
        return replace(block, text=text)
    first = block.text.count("\n", 0, begin)
    marks = list(block.marks[first : first + text.count("\n") + 1])
    if begin and block.text[begin - 1] != "\n":
        marks[0] = ""
    return replace(block, text=text, marks=tuple(marks))
