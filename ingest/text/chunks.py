"""A page's nodes cut into chunks: what is embedded and searched. Pure.

A chunk is consecutive text of one node (RIT-RAG section 4: a chunk never spans two nodes). The chunk
texts of a node, concatenated, are exactly the node's text. Cuts fall between blocks, then between
sentences (lines in code, lists and tables), then between words; a code block stays whole while it
fits. Sizes are in tokens of the embedding model; a fixed reserve is kept for the path in front, so
that borders do not move when titles do.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from ingest.model import Block, Chunk, Node, Page, embedded_input, sha256
from ingest.text.languages import page_language
from ingest.text.sentences import sentences
from ingest.text.words import language_term, terms

PATH_TITLES = 3
"""How many titles inside the page stand in front of a chunk."""

Count = Callable[[str], int]


class Titled(Protocol):
    """A node, with its text or without."""

    @property
    def title(self) -> str: ...

    @property
    def parent(self) -> str | None: ...


PATH_TOKENS = 64
"""Of a chunk, kept free for the titles above it: what three titles of documentation take (RIT-RAG B.1 names no number)."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """`text` and `path` in tokens. Their sum is at most what the embedding model reads."""

    text: int
    path: int

    @classmethod
    def fit(cls, window: int, text: int, path: int = PATH_TOKENS) -> Sizes:
        """The wanted sizes, made to fit a model that reads `window` tokens (at most 512: RIT-RAG B.1)."""
        window = min(512, window)
        path = min(path, window // 4)
        return cls(text=max(1, min(text, window - path)), path=path)


def chunk_page(page: Page, site: str, version: str, sizes: Sizes, count: Count, language: str = "en") -> list[Chunk]:
    """The chunks of all readable nodes, in document order. `language`: the site's; it says how sentences end. Words are
    analysed in the page's own."""
    by_id = {node.id: node for node in page.nodes}
    spoken = page_language(page, language)
    chunks: list[Chunk] = []
    for node in page.nodes:
        if not node.readable:
            continue
        titles = titles_above(node, by_id)
        path = path_text(node, by_id, sizes.path, count)
        for chunk_id, text in node_chunks(node, path, sizes, count, language):
            words = " ".join((*terms(f"{titles}\n{text}", spoken), language_term(spoken)))
            chunks.append(Chunk(chunk_id, node.id, page.key, site, version, path, text, words))
    return chunks


def node_chunks(node: Node, path: str, sizes: Sizes, count: Count, language: str = "en") -> Iterator[tuple[str, str]]:
    """The chunks of one node in document order: id and text. The texts, joined, are the node's text."""
    seen: Counter[str] = Counter()
    for text in cut(node.blocks, sizes.text, count, language):
        digest = sha256(embedded_input(path, text))
        yield str(uuid.uuid5(uuid.UUID(node.id), f"{digest}:{seen[digest]}")), text
        seen[digest] += 1


def path_text(node: Titled, by_id: Mapping[str, Titled], limit: int, count: Count) -> str:
    """The last titles from the page down to the node, cut from the left to `limit` tokens."""
    path = titles_above(node, by_id)
    while path and count(path) > limit:
        _, _, path = path.partition(" ")
    return path


def titles_above(node: Titled, by_id: Mapping[str, Titled]) -> str:
    """The last titles from the page down to the node, whole: a name may stand in a title only, and at its beginning."""
    titles: list[str] = []
    current: Titled | None = node
    while current is not None and len(titles) < PATH_TITLES:
        if not titles or titles[-1] != current.title:
            titles.append(current.title)
        current = by_id[current.parent] if current.parent is not None else None
    return " › ".join(title for title in reversed(titles) if title)


def cut(blocks: tuple[Block, ...], limit: int, count: Count, language: str = "en") -> list[str]:
    """The text of a node's blocks as pieces of at most `limit` tokens; joined with nothing between
    they give back "\\n".join(block.text). A single character that takes more tokens stays whole."""
    pieces: list[str] = []
    current, used = "", 0
    for unit, size in _units(blocks, limit, count, language):
        if current and used + size > limit:
            pieces.append(current)
            current, used = "", 0
        current += unit
        used += size
    if current:
        pieces.append(current)
    return [part for piece in pieces for part in _within(piece, limit, count)]


def _units(blocks: tuple[Block, ...], limit: int, count: Count, language: str) -> Iterator[tuple[str, int]]:
    """Pieces that should not be broken, with their sizes: whole blocks, else sentences, lines, words."""
    for position, block in enumerate(blocks):
        text = block.text + ("\n" if position < len(blocks) - 1 else "")
        size = count(text)
        if size <= limit:
            yield text, size
            continue
        for part in _parts(block, text, language):
            size = count(part)
            if size <= limit:
                yield part, size
            else:
                yield from ((half, count(half)) for half in _within(part, limit, count))


def _parts(block: Block, text: str, language: str) -> list[str]:
    if block.kind in ("text", "quote"):
        return sentences(text, language)
    return text.splitlines(keepends=True)


def _within(text: str, limit: int, count: Count) -> Iterator[str]:
    """Halve a text, at a space near its middle where there is one, until every part fits."""
    if len(text) <= 1 or count(text) <= limit:
        yield text
        return
    middle = len(text) // 2
    space = text.rfind(" ", 1, middle)
    border = space + 1 if space > 0 else middle
    yield from _within(text[:border], limit, count)
    yield from _within(text[border:], limit, count)
