"""Chunks: never of two nodes, never too large, never a character lost."""

import uuid
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block, Node, Page
from ingest.text.chunks import Sizes, chunk_page, cut, path_text


def words(text: str) -> int:
    return len(text.split())


def node(number: int, parent: int | None, title: str, *blocks: Block) -> Node:
    return Node(ident(number), None if parent is None else ident(parent), 1, title, blocks=blocks)


def ident(number: int) -> str:
    return str(uuid.UUID(int=number + 1))


def page(*nodes: Node) -> Page:
    return Page("https://d.test/p", "https://d.test/p", "https://d.test/p", nodes[0].title, nodes)


def text(*parts: str) -> tuple[Block, ...]:
    return tuple(Block("text", part) for part in parts)


BLOCKS = st.lists(
    st.builds(
        Block,
        st.sampled_from(["text", "code", "list", "table", "quote"]),
        st.text(alphabet="ab .\n\té漢!?", min_size=1, max_size=120),
    ),
    max_size=6,
).map(tuple)


@given(BLOCKS, st.integers(1, 12))
def test_pieces_joined_give_back_the_text_and_none_is_too_large(blocks: tuple[Block, ...], limit: int) -> None:
    pieces = cut(blocks, limit, words)
    assert "".join(pieces) == "\n".join(block.text for block in blocks)
    assert all(words(piece) <= limit for piece in pieces)
    assert all(pieces)


@given(BLOCKS, st.integers(1, 6))
def test_sizes_hold_for_a_count_that_is_not_additive(blocks: tuple[Block, ...], limit: int) -> None:
    def characters_and_one(piece: str) -> int:
        return len(piece) + 1 if len(piece) > 1 else 1

    assert all(characters_and_one(piece) <= max(limit, 1) for piece in cut(blocks, limit, characters_and_one))


def test_cuts_fall_between_blocks_where_they_can() -> None:
    assert cut(text("one two three", "four five", "six"), 5, words) == ["one two three\nfour five\n", "six"]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    assert cut(text("One two three. Four five six. Seven eight."), 5, words) == [
        "One two three. ",
        "Four five six. Seven eight.",
    ] or cut(text("One two three. Four five six. Seven eight."), 5, words) == [
        "One two three. ",
        "Four five six. ",
        "Seven eight.",
    ]


def test_code_stays_whole_while_it_fits_and_is_cut_at_lines_when_not() -> None:
    code = Block("code", "a b\nc d\ne f")
    assert cut((*text("one two three"), code), 6, words) == ["one two three\n", "a b\nc d\ne f"]
    assert cut((code,), 4, words) == ["a b\nc d\n", "e f"]


def test_one_endless_word_is_cut_anyway() -> None:
    assert "".join(cut(text("x" * 5_000), 10, len)) == "x" * 5_000


def test_a_node_without_text_has_no_chunk_and_no_chunk_spans_two_nodes() -> None:
    chunks = chunk_page(
        page(node(0, None, "P"), node(1, 0, "A", *text("a")), node(2, 0, "B", *text("b"))),
        "s",
        "",
        Sizes(50, 20),
        words,
    )
    assert [(chunk.node_id, chunk.text) for chunk in chunks] == [(ident(1), "a"), (ident(2), "b")]


def test_the_path_is_the_last_three_titles_and_long_ones_lose_their_beginning() -> None:
    nodes = [node(0, None, "One"), node(1, 0, "Two"), node(2, 1, "Three"), node(3, 2, "Four")]
    by_id = {n.id: n for n in nodes}
    assert path_text(nodes[3], by_id, 50, words) == "Two › Three › Four"
    assert path_text(nodes[3], by_id, 2, words) == "› Four"


def test_borders_do_not_move_when_titles_do() -> None:
    body = text(*(f"Sentence number {n} is here." for n in range(20)))
    short = chunk_page(page(node(0, None, "P", *body)), "s", "", Sizes(12, 5), words)
    long = chunk_page(page(node(0, None, "A much longer title of the page", *body)), "s", "", Sizes(12, 5), words)
    assert [c.text for c in short] == [c.text for c in long]
    assert {c.id for c in short}.isdisjoint(c.id for c in long)


def test_equal_chunks_of_one_node_have_different_ids_and_the_same_input() -> None:
    chunks = chunk_page(page(node(0, None, "P", *text("same", "same"))), "s", "", Sizes(1, 1), words)
    assert len({c.id for c in chunks}) == 2
    assert len({c.text.strip() for c in chunks}) == 1


def test_ids_are_the_same_every_time() -> None:
    made = [chunk_page(page(node(0, None, "P", *text("a", "b"))), "s", "", Sizes(1, 1), words) for _ in range(2)]
    assert made[0] == made[1]


def test_sizes_fit_what_the_model_reads() -> None:
    assert Sizes.fit(254, 160, 64) == Sizes(160, 63)
    assert Sizes.fit(254, 512, 64) == Sizes(191, 63)
    assert Sizes.fit(8192, 512, 64) == Sizes(448, 64)


@given(st.lists(st.tuples(st.text(max_size=30), BLOCKS), min_size=1, max_size=5))
def test_the_chunks_of_each_node_give_back_its_text(sections: list[tuple[str, tuple[Block, ...]]]) -> None:
    nodes = [node(i, None if i == 0 else 0, title, *blocks) for i, (title, blocks) in enumerate(sections)]
    joined: defaultdict[str, str] = defaultdict(str)
    chunks = chunk_page(page(*nodes), "s", "", Sizes(7, 5), words)
    for chunk in chunks:
        joined[chunk.node_id] += chunk.text
        assert words(chunk.path_text) <= 5
    assert all(joined[n.id] == n.text for n in nodes)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
