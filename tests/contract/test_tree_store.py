"""What every TreeStore does with pages (ingest.ports.TreeStore); sites have a suite of their own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ingest.errors import Conflict
from ingest.model import Block, Node, PageRecord
from ingest.ports import Outline, OutlineHeading, TreeStore, VersionedRecord, WatchState
from tests.contract.conftest import OpenTrees
from tests.contract.records import BASE, NOON, RICH, live, page, without_page

# --- get and put


async def test_an_unknown_page_has_no_record(trees: TreeStore) -> None:
    assert await trees.get(BASE + "nothing") is None


@pytest.mark.parametrize(
    "record",
    [
        RICH,
        replace(RICH, page=replace(page("rich"), language="de", parser_version="0", nodes=())),
        without_page("a", "alias", target=BASE + "b"),
        without_page("m", "moved", target=BASE + "b", reason="301"),
        without_page("g", "gone", reason="410", version="2", seq=2**40),
        without_page("s", "skipped", reason="noindex: meta robots"),
    ],
    ids=lambda record: f"{record.state}-{len(record.page.nodes) if record.page else 'pageless'}",
)
async def test_a_record_comes_back_as_it_was_put(trees: TreeStore, record: PageRecord) -> None:
    revision = await trees.put(record, None)
    assert await trees.get(record.key) == VersionedRecord(record, revision)


async def test_a_page_of_13500_nodes_comes_back_as_it_was_put(trees: TreeStore) -> None:
    root = Node("0", None, 0, "All")
    nodes = [
        Node(str(i), "0", 2, f"Section {i}", f"s{i}", (), (Block("text", f"text {i} " * 20),)) for i in range(1, 13_500)
    ]
    record = live("big", root, *nodes, chunk_ids=tuple(map(str, range(20_000))))
    await trees.put(record, None)
    stored = await trees.get(record.key)
    assert stored is not None
    assert stored.record == record
    assert len((await trees.outlines([record.key]))[record.key].headings) == 13_500
    assert (await trees.nodes(["13499"]))["13499"].node == nodes[-1]


async def test_every_put_gives_a_new_revision(trees: TreeStore) -> None:
    first = await trees.put(live("p"), None)
    second = await trees.put(live("p"), first)
    third = await trees.put(live("p"), second)
    assert len({first, second, third}) == 3


async def test_a_put_replaces_the_whole_record(trees: TreeStore) -> None:
    revision = await trees.put(RICH, None)
    other = live("rich", Node("m0", None, 1, "New"), site="other")
    await trees.put(other, revision)
    stored = await trees.get(RICH.key)
    assert stored is not None
    assert stored.record == other
    assert await trees.nodes(["n0", "n1", "n2"]) == {}


@pytest.mark.parametrize("expected", [None, "stale", "no revision at all", ""])
async def test_a_put_on_anything_but_the_revision_conflicts_and_changes_nothing(
    trees: TreeStore, expected: str | None
) -> None:
    stale = await trees.put(live("p", Node("old", None, 1, "Old")), None)
    current = live("p", Node("now", None, 1, "Now"))
    revision = await trees.put(current, stale)
    with pytest.raises(Conflict, match=r"docs\.example\.org/p"):
        await trees.put(live("p", Node("late", None, 1, "Late")), stale if expected == "stale" else expected)
    assert await trees.get(current.key) == VersionedRecord(current, revision)
    assert list(await trees.nodes(["old", "now", "late"])) == ["now"]
    assert [heading.id for heading in (await trees.outlines([current.key]))[current.key].headings] == ["now"]


async def test_a_put_that_expects_a_record_where_none_is_conflicts(trees: TreeStore) -> None:
    with pytest.raises(Conflict):
        await trees.put(live("p"), "1")
    assert await trees.get(BASE + "p") is None


async def test_of_two_puts_on_one_revision_exactly_one_wins(open_trees: OpenTrees) -> None:
    async with open_trees() as one, open_trees() as two:
        revision = await one.put(live("p"), None)
        records = [live("p", seq=2), live("p", seq=3)]
        results = await asyncio.gather(
            one.put(records[0], revision), two.put(records[1], revision), return_exceptions=True
        )
        winner = next(i for i, result in enumerate(results) if isinstance(result, str))
        assert isinstance(results[1 - winner], Conflict)
        stored = await one.get(BASE + "p")
        assert stored == VersionedRecord(records[winner], str(results[winner]))


async def test_no_update_is_lost_among_many_that_start_over_on_conflict(open_trees: OpenTrees) -> None:
    async with open_trees() as one, open_trees() as two:
        await one.put(live("p", seq=0), None)

        async def increment(trees: TreeStore) -> None:
            while True:
                stored = await trees.get(BASE + "p")
                assert stored is not None
                try:
                    await trees.put(replace(stored.record, seq=stored.record.seq + 1), stored.revision)
                except Conflict:
                    continue
                return

        await asyncio.gather(*(increment(trees) for trees in [one, two] * 8))
        stored = await one.get(BASE + "p")
        assert stored is not None
        assert stored.record.seq == 16


async def test_what_was_put_is_there_after_closing_and_opening(open_trees: OpenTrees) -> None:
    async with open_trees() as trees:
        revision = await trees.put(RICH, None)
        await trees.watch(WatchState("w", "docs", etag="e"))
    async with open_trees() as trees:
        assert await trees.get(RICH.key) == VersionedRecord(RICH, revision)
        assert set(await trees.nodes(["n0", "n1"])) == {"n0", "n1"}
        assert await trees.watched("w") == WatchState("w", "docs", etag="e")


async def test_a_put_is_seen_by_another_opener_at_once(open_trees: OpenTrees) -> None:
    async with open_trees() as writer, open_trees() as reader:
        revision = await writer.put(live("p"), None)
        assert await reader.get(BASE + "p") == VersionedRecord(live("p"), revision)
        assert list(await reader.outlines([BASE + "p"])) == [BASE + "p"]
        assert list(await reader.nodes(["p-1"])) == ["p-1"]


# --- outlines and nodes


async def test_an_outline_has_all_of_a_page_but_its_texts(trees: TreeStore) -> None:
    await trees.put(RICH, None)
    assert await trees.outlines([RICH.key]) == {
        RICH.key: Outline(
            key=RICH.key,
            site="Bücher & mehr",
            version="1.2",
            title="T:rich",
            canonical=RICH.key,
            headings=(
                OutlineHeading("n0", None, 0, "Übersicht – 概要 🦊", None, "page", True),
                OutlineHeading("n1", "n0", 1, "", "a b", "heading", True, links_only=True),
                OutlineHeading("n2", "n1", 6, "container", "c", "definition", False),
            ),
            chunk_ids=frozenset({"c1", "c2", "c3"}),
            checked_at=NOON + timedelta(days=1),
        )
    }


async def test_headings_keep_document_order(trees: TreeStore) -> None:
    ids = [f"{i * 7919 % 1000:03}" for i in range(200)]
    await trees.put(live("p", *(Node(node_id, None, 1, "") for node_id in ids)), None)
    assert [heading.id for heading in (await trees.outlines([BASE + "p"]))[BASE + "p"].headings] == ids


async def test_outlines_and_nodes_are_of_live_pages_only(trees: TreeStore) -> None:
    await trees.put(live("here"), None)
    revision = await trees.put(live("was"), None)
    await trees.put(without_page("was", "gone"), revision)
    await trees.put(without_page("alias", "alias", target=BASE + "here"), None)
    keys = [BASE + path for path in ("here", "was", "alias", "never")]
    assert set(await trees.outlines(keys)) == {BASE + "here"}
    assert set(await trees.nodes(["here-0", "here-1", "was-0", "was-1", "never-0"])) == {"here-0", "here-1"}


async def test_a_page_that_comes_back_has_its_outline_and_nodes_again(trees: TreeStore) -> None:
    first = await trees.put(live("p"), None)
    second = await trees.put(without_page("p", "gone"), first)
    await trees.put(live("p"), second)
    assert set(await trees.outlines([BASE + "p"])) == {BASE + "p"}
    assert set(await trees.nodes(["p-0", "p-1"])) == {"p-0", "p-1"}


async def test_nothing_asked_is_nothing_given(trees: TreeStore) -> None:
    await trees.put(live("p"), None)
    assert await trees.outlines([]) == {}
    assert await trees.nodes([]) == {}
    assert await trees.place([]) == {}
    assert await trees.outlines(iter([BASE + "p", BASE + "p"])) == await trees.outlines([BASE + "p"])


async def test_a_node_comes_with_its_text_and_the_outline_of_its_page(trees: TreeStore) -> None:
    await trees.put(RICH, None)
    await trees.put(live("p"), None)
    located = await trees.nodes(["n1", "p-1", "n0"])
    assert RICH.page is not None
    assert located["n0"].node == RICH.page.nodes[0]
    assert located["n1"].node == RICH.page.nodes[1]
    assert located["n1"].page == (await trees.outlines([RICH.key]))[RICH.key]
    assert located["p-1"].page.key == BASE + "p"


async def test_a_thousand_pages_and_nodes_can_be_asked_for_at_once(trees: TreeStore) -> None:
    await trees.put(live("p"), None)
    assert set(await trees.outlines([BASE + "p", *(f"{BASE}{i}" for i in range(40_000))])) == {BASE + "p"}
    assert set(await trees.nodes(["p-1", *map(str, range(40_000))])) == {"p-1"}


async def test_while_a_page_moves_its_nodes_are_found_on_the_page_written_last(trees: TreeStore) -> None:
    node = Node("moving", None, 1, "Section")
    old = await trees.put(live("old", node), None)
    await trees.put(live("new", node), None)
    assert (await trees.nodes(["moving"]))["moving"].page.key == BASE + "new"
    await trees.put(without_page("old", "moved", target=BASE + "new"), old)
    assert (await trees.nodes(["moving"]))["moving"].page.key == BASE + "new"


async def test_a_change_of_freshness_alone_shows_in_record_and_outline(trees: TreeStore) -> None:
    revision = await trees.put(live("p"), None)
    later = live("p", seq=2, checked_at=NOON + timedelta(hours=1))
    await trees.put(later, revision)
    stored = await trees.get(BASE + "p")
    assert stored is not None
    assert stored.record == later
    assert (await trees.outlines([BASE + "p"]))[BASE + "p"].checked_at == NOON + timedelta(hours=1)


# --- find


async def test_find_gives_ids_of_live_nodes_that_start_with_the_prefix_sorted(trees: TreeStore) -> None:
    ids = ["ab2", "ab10", "ab", "b", "aB3", "a", "ab%", "ab_"]
    await trees.put(live("p", *(Node(node_id, None, 1, "") for node_id in ids)), None)
    revision = await trees.put(live("q", Node("abq", None, 1, ""), Node("abz", None, 1, "")), None)
    assert list(await trees.find("ab")) == sorted(["ab", "ab%", "ab10", "ab2", "ab_", "abq", "abz"])
    assert list(await trees.find("ab%")) == ["ab%"]
    assert list(await trees.find("ab_")) == ["ab_"]
    assert list(await trees.find("*")) == []
    await trees.put(without_page("q", "gone"), revision)
    assert "abq" not in await trees.find("ab")


async def test_find_gives_at_most_twenty_ids_each_once(trees: TreeStore) -> None:
    nodes = [Node(f"x{i:02}", None, 1, "") for i in range(30)]
    await trees.put(live("p", *nodes), None)
    await trees.put(live("q", *nodes), None)
    assert list(await trees.find("x")) == [f"x{i:02}" for i in range(20)]
    assert list(await trees.find("")) == [f"x{i:02}" for i in range(20)]
    assert list(await trees.find("x07")) == ["x07"]
