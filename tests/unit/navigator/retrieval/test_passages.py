"""Chunks as passages: what was indexed is what is read, block by block, and a citation of a part leads to its place."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import cast
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block, BlockKind, Chunk, Node, Page, PageRecord
from ingest.ports import Hit, Located, Outline, OutlineHeading, SiteAncestor, TreeStore, VersionedRecord
from ingest.text.chunks import Sizes, chunk_page
from navigator.answer import Passage
from navigator.retrieval.forest import Numbering
from navigator.retrieval.passages import ChunkPassages, blocks_within
from tests.fakes.turns import READ_AT

KEY = "https://docs.example.test/p"


def words(text: str) -> int:
    return len(text.split())


class OnePage:
    """What ChunkPassages needs of a TreeStore, for one page."""

    def __init__(self, page: Page, chunk_ids: tuple[str, ...] = ()) -> None:
        self.page = page
        self.chunk_ids = chunk_ids

    async def get(self, key: str) -> VersionedRecord | None:
        record = PageRecord(KEY, "docs", "live", 1, READ_AT, READ_AT, page=self.page, chunk_ids=self.chunk_ids)
        return VersionedRecord(record, "1") if key == KEY else None

    async def nodes(self, ids: Iterable[str]) -> Mapping[str, Located]:
        headings = tuple(
            OutlineHeading(node.id, node.parent, node.level, node.title, node.anchor, node.kind, node.readable)
            for node in self.page.nodes
        )
        outline = Outline(KEY, "docs", "", self.page.title, KEY, headings, frozenset(), READ_AT)
        wanted = set(ids)
        return {node.id: Located(node, outline) for node in self.page.nodes if node.id in wanted}

    async def place(self, keys: Iterable[str]) -> Mapping[str, tuple[SiteAncestor, ...]]:
        return {key: (SiteAncestor("Manual"),) for key in keys}


def page(*sections: tuple[Block, ...]) -> Page:
    nodes = [
        Node(
            str(uuid.UUID(int=n + 1)),
            str(uuid.UUID(int=1)) if n else None,
            min(n, 1),
            f"Title {n}",
            f"a{n}",
            blocks=blocks,
        )
        for n, blocks in enumerate(sections)
    ]
    return Page(KEY, KEY, KEY, "Title 0", tuple(nodes))


def chunks_of(made: Page, size: int, language: str = "en") -> list[Chunk]:
    return chunk_page(made, "docs", "", Sizes(size, 4), words, language)


def hits(chunks: Iterable[Chunk]) -> list[Hit]:
    return [Hit(chunk.id, chunk.node_id, KEY, 1.0) for chunk in chunks]


def parts(
    made: Page, size: int, languages: tuple[str, ...] = ("en",), chunk_ids: tuple[str, ...] = ()
) -> ChunkPassages:
    return ChunkPassages(cast(TreeStore, OnePage(made, chunk_ids)), Sizes(size, 4), words, languages)


async def apart(reader: ChunkPassages, chunks: Iterable[Chunk]) -> list[Passage]:
    """Each chunk as it is read alone."""
    read = [await reader.passages(hits([chunk]), Numbering()) for chunk in chunks]
    return [passage for passages, _ in read for passage in passages]


KINDS: tuple[BlockKind, ...] = ("text", "code", "list", "table", "quote")
LINES = st.lists(st.text(alphabet="abc .é漢!?", min_size=1, max_size=25), min_size=1, max_size=6)


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    kind = draw(st.sampled_from(KINDS))
    lines = draw(LINES)
    marks = tuple(f"{n}. " for n in range(len(lines))) if kind == "list" else ()
    return Block(kind, "\n".join(lines), None, marks)


SECTIONS = st.lists(st.lists(blocks(), min_size=1, max_size=4).map(tuple), min_size=1, max_size=3)


@given(SECTIONS, st.integers(1, 12))
async def test_the_parts_of_a_node_joined_are_its_text_block_by_block(
    sections: list[tuple[Block, ...]], size: int
) -> None:
    made = page(*sections)
    read = await apart(parts(made, size), chunks_of(made, size))
    for node in made.nodes:
        position = [0] * len(node.blocks)
        for passage in (each for each in read if each.node_id == node.id):
            for index, piece in enumerate(passage.blocks, start=passage.at):
                text, at = node.blocks[index].text, position[index]
                found = text.find(piece.text, at)
                assert not text[at:found].strip(), "only white space stands between two parts"
                assert found >= at
                position[index] = found + len(piece.text)
        assert not any(block.text[end:].strip() for block, end in zip(node.blocks, position, strict=True))


@given(SECTIONS, st.integers(1, 12))
async def test_a_citation_of_a_part_quotes_the_block_that_it_points_at(
    sections: list[tuple[Block, ...]], size: int
) -> None:
    made = page(*sections)
    nodes = {node.id: node for node in made.nodes}
    for passage in await apart(parts(made, size), chunks_of(made, size)):
        for index in range(len(passage.blocks)):
            citation = passage.cite(index)
            block = nodes[citation.node_id].blocks[citation.block]
            assert citation.quote in block.text
            assert citation.node_hash == nodes[citation.node_id].own_hash
            _, _, directive = citation.link.partition(":~:text=")
            assert all(unquote(term) in block.text for term in directive.split(","))
            assert citation.node_link.endswith(f"#{nodes[citation.node_id].anchor}")


@given(SECTIONS, st.integers(1, 12))
async def test_every_line_of_a_part_keeps_its_mark_unless_its_beginning_is_cut_off(
    sections: list[tuple[Block, ...]], size: int
) -> None:
    made = page(*sections)
    nodes = {node.id: node for node in made.nodes}
    for passage in await apart(parts(made, size), chunks_of(made, size)):
        for index, piece in enumerate(passage.blocks, start=passage.at):
            whole = nodes[passage.node_id].blocks[index].shown.split("\n")
            first, *others = piece.shown.split("\n")
            assert any(first in line for line in whole)
            assert all(any(line.startswith(other) for line in whole) for other in others)


async def test_a_list_cut_between_its_items_keeps_the_numbers_of_the_items() -> None:
    items = Block("list", "fill the pump\nopen the valve\nstart it up", None, ("1. ", "2. ", "3. "))
    made = page((items,))
    first, second = await apart(parts(made, 6), chunks_of(made, 6))
    assert first.blocks[0].shown == "1. fill the pump\n2. open the valve"
    assert second.blocks[0].shown == "3. start it up"


async def test_a_list_cut_inside_an_item_gives_the_rest_of_it_no_number() -> None:
    items = Block("list", "one two three four five six\nseven", None, ("1. ", "2. "))
    made = page((items,))
    read = await apart(parts(made, 3), chunks_of(made, 3))
    assert [passage.blocks[0].shown for passage in read] == ["1. one two three ", "four five six", "2. seven"]


async def test_a_citation_deep_in_a_node_counts_from_the_nodes_first_block() -> None:
    made = page(tuple(Block("text", f"Sentence number {n} says quite enough.") for n in range(6)))
    read = await apart(parts(made, 12), chunks_of(made, 12))
    assert [(passage.at, len(passage.blocks)) for passage in read] == [(0, 2), (2, 2), (4, 2)]
    citation = read[2].cite(1)
    assert (citation.block, citation.quote) == (5, "Sentence number 5 says quite enough.")
    assert "Sentence%20number%205" in citation.link
    assert citation.path == ("Manual", "Title 0")


def shown(passages: Iterable[Passage]) -> list[tuple[int, list[str]]]:
    return [(passage.number, [block.text for block in passage.blocks]) for passage in passages]


async def test_sections_come_in_the_order_of_the_hits_and_neighbours_of_one_are_one_passage() -> None:
    lines = tuple(Block("text", text) for text in ("one two", "three four", "five six", "seven eight"))
    made = page(lines, (Block("text", "nine"),))
    a, b, _, d, e = chunks_of(made, 2)
    numbering, reader = Numbering(), parts(made, 2)
    read, again = await reader.passages(hits([e, d, b, a]), numbering)
    assert shown(read) == [(1, ["nine"]), (2, ["one two", "three four"]), (3, ["seven eight"])]
    assert again == []
    assert numbering.ids(2) == (a.id, b.id)
    assert numbering.ids(1) == (made.nodes[1].id, e.id)


async def test_what_was_read_is_named_and_what_stands_beside_it_is_given_alone() -> None:
    made = page(tuple(Block("text", text) for text in ("one two", "three four", "five six")))
    a, b, c = chunks_of(made, 2)
    numbering, reader = Numbering(), parts(made, 2)
    first, _ = await reader.passages(hits([b]), numbering)
    rest, again = await reader.passages(hits([a, b, c]), numbering, first)
    assert (shown(rest), again) == ([(2, ["one two"]), (3, ["five six"])], [1])
    assert await reader.passages(hits([c, b]), numbering, [*first, *rest]) == ([], [3, 1])


async def test_all_chunks_of_a_section_are_the_section_and_none_of_it_is_given_again() -> None:
    made = page((Block("text", "one two"), Block("text", "three four")))
    chunks, numbering = chunks_of(made, 2), Numbering()
    read, _ = await parts(made, 2).passages(hits(reversed(chunks)), numbering)
    assert numbering.node(read[0].number) == made.nodes[0].id
    assert read[0].blocks == made.nodes[0].blocks
    assert await parts(made, 2).passages(hits(chunks[:1]), numbering, read) == ([], [1])


async def test_equal_text_is_given_once() -> None:
    twins = (Block("text", "same words"), Block("code", "x = 1", "python"))
    made = page(twins, twins, (Block("text", "other"),))
    numbering = Numbering()
    read, again = await parts(made, 9).passages(hits(chunks_of(made, 9)), numbering)
    assert ([passage.node_id for passage in read], again) == ([made.nodes[0].id, made.nodes[2].id], [])
    second = [chunk for chunk in chunks_of(made, 9) if chunk.node_id == made.nodes[1].id]
    assert await parts(made, 9).passages(hits(second), numbering, read) == ([], [1])


@given(SECTIONS, st.integers(1, 12), st.data())
async def test_however_chunks_are_found_no_text_is_given_twice_and_none_is_lost(
    sections: list[tuple[Block, ...]], size: int, data: st.DataObject
) -> None:
    made = page(*sections)
    chunks = data.draw(st.permutations(chunks_of(made, size)))
    border = data.draw(st.integers(0, len(chunks)))
    numbering, reader, read = Numbering(), parts(made, size), list[Passage]()
    for some in (chunks[:border], chunks[border:], chunks):
        read += (await reader.passages(hits(some), numbering, read))[0]
    assert len({passage.number for passage in read}) == len(read)
    said = ["\n".join(block.text for block in passage.blocks) for passage in read]
    assert all(any(line in text for text in said) for chunk in chunks for line in chunk.text.split("\n"))


async def test_where_the_settings_of_chunking_changed_the_whole_node_is_read_once() -> None:
    made = page((Block("text", "one two three"), Block("text", "four five six")))
    indexed = chunks_of(made, 2)
    ((read,), _) = await parts(made, 4).passages(hits(indexed), Numbering())
    assert (read.at, read.blocks) == (0, made.nodes[0].blocks)


async def test_a_chunk_that_is_all_of_its_node_has_the_nodes_number() -> None:
    made = page((Block("text", "one two"),))
    numbering = Numbering()
    ((read,), _) = await parts(made, 5).passages(hits(chunks_of(made, 5)), numbering)
    assert numbering.node(read.number) == made.nodes[0].id


async def test_chunks_of_any_of_the_sites_languages_are_found() -> None:
    text = "Die Pumpe läuft am 3. Oktober wieder an. Danach läuft sie."
    made = page((Block("text", text),))
    english, german = chunks_of(made, 4), chunks_of(made, 4, "de")
    assert [chunk.id for chunk in english] != [chunk.id for chunk in german]
    reader = parts(made, 4, ("en", "de"), tuple(chunk.id for chunk in german))
    for cut in (english, german):
        read = await apart(reader, cut)
        assert [passage.blocks[0].text.strip() for passage in read] == [chunk.text.strip() for chunk in cut]
    assert await reader.of_page(KEY) == german


async def test_a_node_that_is_gone_is_left_out_and_so_is_a_page() -> None:
    made = page((Block("text", "one two"),))
    reader = parts(made, 5)
    assert await reader.passages([Hit("c", str(uuid.UUID(int=99)), KEY, 1.0)], Numbering()) == ([], [])
    assert await reader.passages([], Numbering()) == ([], [])
    assert await reader.of_page("https://docs.example.test/gone") == []


async def test_sections_are_whole_nodes_each_once_the_best_first() -> None:
    made = page(
        (Block("text", "one two"), Block("text", "three four")), (Block("text", "five"),), (Block("text", "six"),)
    )
    one, two, five, six = hits(chunks_of(made, 2))
    read = await parts(made, 2).sections([two, five, one, six], Numbering(), 2)
    assert [[block.text for block in passage.blocks] for passage in read] == [["one two", "three four"], ["five"]]
    assert len(await parts(made, 2).sections([two, five, one, six], Numbering(), 3)) == 3


def test_a_blank_piece_says_nothing() -> None:
    code = Block("code", "a\n\n\nb")
    assert blocks_within((code,), 2, 4) == (0, ())
    assert blocks_within((code,), 0, 2) == (0, (Block("code", "a"),))
    assert blocks_within((code, Block("text", "c")), 4, 7) == (0, (Block("code", "b"), Block("text", "c")))


def test_what_ends_before_a_block_holds_nothing_of_it() -> None:
    both = (Block("text", "ab"), Block("text", "cd"))
    assert blocks_within(both, 0, 3) == (0, (both[0],))
    assert blocks_within(both, 3, 5) == (1, (both[1],))
    assert blocks_within(both, 1, 4) == (0, (Block("text", "b"), Block("text", "c")))
