"""What every TreeStore does (ingest.ports.TreeStore). An adapter joins by its line in ADAPTERS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import Conflict
from ingest.model import Block, Claims, Crumb, Node, Page, PageRecord, RecordState
from ingest.ports import Heading, Outline, PageState, Place, Stored, TreeStore, WatchState
from ingest.stores.sqlite import SqliteTreeStore

Opener = Callable[[], AbstractAsyncContextManager[TreeStore]]


def sqlite(folder: Path) -> AbstractAsyncContextManager[TreeStore]:
    return SqliteTreeStore(folder / "trees.sqlite")


ADAPTERS = [pytest.param(sqlite, id="sqlite")]
"""From an empty folder of the test's own to a store; the same folder gives the same store again."""


@pytest.fixture(params=ADAPTERS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    return partial(request.param, tmp_path)


@pytest.fixture
async def store(opened: Opener) -> AsyncIterator[TreeStore]:
    async with opened() as store:
        yield store


NOON = datetime(2026, 5, 1, 12, 0, 0, 123456, UTC)
BASE = "https://docs.example.org/"


def page(path: str, *nodes: Node, **fields: Any) -> Page:
    """A page at BASE + path; by default a page node and one section, with ids made from the path."""
    own = (
        Node(f"{path}-0", None, 0, f"T:{path}"),
        Node(f"{path}-1", f"{path}-0", 2, "S", "s", (), (Block("text", path),)),
    )
    key = BASE + path
    return Page(**{"key": key, "url": key, "canonical": key, "title": f"T:{path}", "nodes": nodes or own, **fields})


def live(path: str, *nodes: Node, site: str = "docs", claims: Claims | None = None, **fields: Any) -> PageRecord:
    """The record of a live page."""
    tree = page(path, *nodes, claims=claims or Claims())
    defaults = {"seq": 1, "checked_at": NOON, "changed_at": NOON, "chunk_ids": (f"{path}-chunk",)}
    return PageRecord(BASE + path, site, "live", page=tree, **{**defaults, **fields})


def without_page(path: str, state: RecordState, site: str = "docs", **fields: Any) -> PageRecord:
    return PageRecord(BASE + path, site, state, **{"seq": 1, "checked_at": NOON, "changed_at": NOON, **fields})


RICH = live(
    "rich",
    Node("n0", None, 0, "Übersicht – 概要 🦊", None, ("old", "älter"), (Block("text", "nul\x00 tab\t\u2028 \ufeff e\u0301"),), "page"),
    Node("n1", "n0", 1, "", "a b", (), (Block("code", "x = 1\n\n\ty\r\n", "python"), Block("list", "a\nb", marks=("1. ", "2. ")))),
    Node("n2", "n1", 6, "container", "c", (), (), "definition"),
    version="1.2",
    site="Bücher & mehr",
    claims=Claims((Crumb("Home", BASE), Crumb("Unlinked")), "breadcrumb", (BASE + "x", BASE + "y")),
    chunk_ids=("c1", "c2", "c3"),
    analyser_version="7/x",
    checked_at=NOON + timedelta(days=1),
)  # fmt: skip


# --- get and put


async def test_an_unknown_page_has_no_record(store: TreeStore) -> None:
    assert await store.get(BASE + "nothing") is None


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
async def test_a_record_comes_back_as_it_was_put(store: TreeStore, record: PageRecord) -> None:
    revision = await store.put(record, None)
    assert await store.get(record.key) == Stored(record, revision)


async def test_a_page_of_13500_nodes_comes_back_as_it_was_put(store: TreeStore) -> None:
    root = Node("0", None, 0, "All")
    nodes = [
        Node(str(i), "0", 2, f"Section {i}", f"s{i}", (), (Block("text", f"text {i} " * 20),)) for i in range(1, 13_500)
    ]
    record = live("big", root, *nodes, chunk_ids=tuple(map(str, range(20_000))))
    await store.put(record, None)
    stored = await store.get(record.key)
    assert stored is not None
    assert stored.record == record
    assert len((await store.outlines([record.key]))[record.key].headings) == 13_500
    assert (await store.nodes(["13499"]))["13499"].node == nodes[-1]


async def test_every_put_gives_a_new_revision(store: TreeStore) -> None:
    first = await store.put(live("p"), None)
    second = await store.put(live("p"), first)
    third = await store.put(live("p"), second)
    assert len({first, second, third}) == 3


async def test_a_put_replaces_the_whole_record(store: TreeStore) -> None:
    revision = await store.put(RICH, None)
    other = live("rich", Node("m0", None, 1, "New"), site="other")
    await store.put(other, revision)
    stored = await store.get(RICH.key)
    assert stored is not None
    assert stored.record == other
    assert await store.nodes(["n0", "n1", "n2"]) == {}


@pytest.mark.parametrize("expected", [None, "stale", "no revision at all", ""])
async def test_a_put_on_anything_but_the_revision_conflicts_and_changes_nothing(
    store: TreeStore, expected: str | None
) -> None:
    stale = await store.put(live("p", Node("old", None, 1, "Old")), None)
    current = live("p", Node("now", None, 1, "Now"))
    revision = await store.put(current, stale)
    with pytest.raises(Conflict, match=r"docs\.example\.org/p"):
        await store.put(live("p", Node("late", None, 1, "Late")), stale if expected == "stale" else expected)
    assert await store.get(current.key) == Stored(current, revision)
    assert list(await store.nodes(["old", "now", "late"])) == ["now"]
    assert [heading.id for heading in (await store.outlines([current.key]))[current.key].headings] == ["now"]


async def test_a_put_that_expects_a_record_where_none_is_conflicts(store: TreeStore) -> None:
    with pytest.raises(Conflict):
        await store.put(live("p"), "1")
    assert await store.get(BASE + "p") is None


async def test_of_two_puts_on_one_revision_exactly_one_wins(opened: Opener) -> None:
    async with opened() as one, opened() as two:
        revision = await one.put(live("p"), None)
        records = [live("p", seq=2), live("p", seq=3)]
        results = await asyncio.gather(
            one.put(records[0], revision), two.put(records[1], revision), return_exceptions=True
        )
        winner = next(i for i, result in enumerate(results) if isinstance(result, str))
        assert isinstance(results[1 - winner], Conflict)
        stored = await one.get(BASE + "p")
        assert stored == Stored(records[winner], str(results[winner]))


async def test_no_update_is_lost_among_many_that_start_over_on_conflict(opened: Opener) -> None:
    async with opened() as one, opened() as two:
        await one.put(live("p", seq=0), None)

        async def increment(store: TreeStore) -> None:
            while True:
                stored = await store.get(BASE + "p")
                assert stored is not None
                try:
                    await store.put(replace(stored.record, seq=stored.record.seq + 1), stored.revision)
                except Conflict:
                    continue
                return

        await asyncio.gather(*(increment(store) for store in [one, two] * 8))
        stored = await one.get(BASE + "p")
        assert stored is not None
        assert stored.record.seq == 16


async def test_what_was_put_is_there_after_closing_and_opening(opened: Opener) -> None:
    async with opened() as store:
        revision = await store.put(RICH, None)
        await store.watch(WatchState("w", "docs", etag="e"))
    async with opened() as store:
        assert await store.get(RICH.key) == Stored(RICH, revision)
        assert set(await store.nodes(["n0", "n1"])) == {"n0", "n1"}
        assert await store.watched("w") == WatchState("w", "docs", etag="e")


async def test_a_put_is_seen_by_another_opener_at_once(opened: Opener) -> None:
    async with opened() as writer, opened() as reader:
        revision = await writer.put(live("p"), None)
        assert await reader.get(BASE + "p") == Stored(live("p"), revision)
        assert list(await reader.outlines([BASE + "p"])) == [BASE + "p"]
        assert list(await reader.nodes(["p-1"])) == ["p-1"]


# --- outlines and nodes


async def test_an_outline_has_all_of_a_page_but_its_texts(store: TreeStore) -> None:
    await store.put(RICH, None)
    assert await store.outlines([RICH.key]) == {
        RICH.key: Outline(
            key=RICH.key,
            site="Bücher & mehr",
            version="1.2",
            title="T:rich",
            canonical=RICH.key,
            headings=(
                Heading("n0", None, 0, "Übersicht – 概要 🦊", None, "page", True),
                Heading("n1", "n0", 1, "", "a b", "heading", True),
                Heading("n2", "n1", 6, "container", "c", "definition", False),
            ),
            chunk_ids=frozenset({"c1", "c2", "c3"}),
            checked_at=NOON + timedelta(days=1),
        )
    }


async def test_headings_keep_document_order(store: TreeStore) -> None:
    ids = [f"{i * 7919 % 1000:03}" for i in range(200)]
    await store.put(live("p", *(Node(node_id, None, 1, "") for node_id in ids)), None)
    assert [heading.id for heading in (await store.outlines([BASE + "p"]))[BASE + "p"].headings] == ids


async def test_outlines_and_nodes_are_of_live_pages_only(store: TreeStore) -> None:
    await store.put(live("here"), None)
    revision = await store.put(live("was"), None)
    await store.put(without_page("was", "gone"), revision)
    await store.put(without_page("alias", "alias", target=BASE + "here"), None)
    keys = [BASE + path for path in ("here", "was", "alias", "never")]
    assert set(await store.outlines(keys)) == {BASE + "here"}
    assert set(await store.nodes(["here-0", "here-1", "was-0", "was-1", "never-0"])) == {"here-0", "here-1"}


async def test_a_page_that_comes_back_has_its_outline_and_nodes_again(store: TreeStore) -> None:
    first = await store.put(live("p"), None)
    second = await store.put(without_page("p", "gone"), first)
    await store.put(live("p"), second)
    assert set(await store.outlines([BASE + "p"])) == {BASE + "p"}
    assert set(await store.nodes(["p-0", "p-1"])) == {"p-0", "p-1"}


async def test_nothing_asked_is_nothing_given(store: TreeStore) -> None:
    await store.put(live("p"), None)
    assert await store.outlines([]) == {}
    assert await store.nodes([]) == {}
    assert await store.place([]) == {}
    assert await store.outlines(iter([BASE + "p", BASE + "p"])) == await store.outlines([BASE + "p"])


async def test_a_node_comes_with_its_text_and_the_outline_of_its_page(store: TreeStore) -> None:
    await store.put(RICH, None)
    await store.put(live("p"), None)
    located = await store.nodes(["n1", "p-1", "n0"])
    assert RICH.page is not None
    assert located["n0"].node == RICH.page.nodes[0]
    assert located["n1"].node == RICH.page.nodes[1]
    assert located["n1"].page == (await store.outlines([RICH.key]))[RICH.key]
    assert located["p-1"].page.key == BASE + "p"


async def test_a_thousand_pages_and_nodes_can_be_asked_for_at_once(store: TreeStore) -> None:
    await store.put(live("p"), None)
    assert set(await store.outlines([BASE + "p", *(f"{BASE}{i}" for i in range(40_000))])) == {BASE + "p"}
    assert set(await store.nodes(["p-1", *map(str, range(40_000))])) == {"p-1"}


async def test_while_a_page_moves_its_nodes_are_found_on_the_page_written_last(store: TreeStore) -> None:
    node = Node("moving", None, 1, "Section")
    old = await store.put(live("old", node), None)
    await store.put(live("new", node), None)
    assert (await store.nodes(["moving"]))["moving"].page.key == BASE + "new"
    await store.put(without_page("old", "moved", target=BASE + "new"), old)
    assert (await store.nodes(["moving"]))["moving"].page.key == BASE + "new"


async def test_a_change_of_freshness_alone_shows_in_record_and_outline(store: TreeStore) -> None:
    revision = await store.put(live("p"), None)
    later = live("p", seq=2, checked_at=NOON + timedelta(hours=1))
    await store.put(later, revision)
    stored = await store.get(BASE + "p")
    assert stored is not None
    assert stored.record == later
    assert (await store.outlines([BASE + "p"]))[BASE + "p"].checked_at == NOON + timedelta(hours=1)


# --- find


async def test_find_gives_ids_of_live_nodes_that_start_with_the_prefix_sorted(store: TreeStore) -> None:
    ids = ["ab2", "ab10", "ab", "b", "aB3", "a", "ab%", "ab_"]
    await store.put(live("p", *(Node(node_id, None, 1, "") for node_id in ids)), None)
    revision = await store.put(live("q", Node("abq", None, 1, ""), Node("abz", None, 1, "")), None)
    assert list(await store.find("ab")) == sorted(["ab", "ab%", "ab10", "ab2", "ab_", "abq", "abz"])
    assert list(await store.find("ab%")) == ["ab%"]
    assert list(await store.find("ab_")) == ["ab_"]
    assert list(await store.find("*")) == []
    await store.put(without_page("q", "gone"), revision)
    assert "abq" not in await store.find("ab")


async def test_find_gives_at_most_twenty_ids_each_once(store: TreeStore) -> None:
    nodes = [Node(f"x{i:02}", None, 1, "") for i in range(30)]
    await store.put(live("p", *nodes), None)
    await store.put(live("q", *nodes), None)
    assert list(await store.find("x")) == [f"x{i:02}" for i in range(20)]
    assert list(await store.find("")) == [f"x{i:02}" for i in range(20)]
    assert list(await store.find("x07")) == ["x07"]


# --- place


def under(*crumbs: Crumb) -> Claims:
    return Claims(crumbs, "breadcrumb")


async def test_places_come_from_the_claims_of_the_whole_site(store: TreeStore) -> None:
    await store.put(live("home"), None)
    await store.put(live("guide", claims=under(Crumb("Home", BASE + "home"))), None)
    await store.put(live("leaf", claims=under(Crumb("Guide", BASE + "guide"), Crumb("Chapter"))), None)
    assert await store.place([BASE + "leaf", BASE + "home", BASE + "unknown"]) == {
        BASE + "home": (),
        BASE + "leaf": (
            Place("T:home", BASE + "home", BASE + "home"),
            Place("T:guide", BASE + "guide", BASE + "guide"),
            Place("Chapter"),
        ),
    }


async def test_sites_do_not_place_each_others_pages(store: TreeStore) -> None:
    await store.put(live("home", site="other"), None)
    await store.put(live("p", claims=under(Crumb("Home", BASE + "home"))), None)
    placed = await store.place([BASE + "p", BASE + "home"])
    assert placed == {BASE + "p": (Place("Home", None, BASE + "home"),), BASE + "home": ()}


async def test_places_follow_every_change_of_the_site_whoever_made_it(opened: Opener) -> None:
    async with opened() as reader, opened() as writer:

        async def titles() -> list[str]:
            placed = await reader.place([BASE + "p"])
            return [above.title for above in placed[BASE + "p"]]

        await writer.put(live("p", claims=under(Crumb("Crumb", BASE + "home"))), None)
        assert await titles() == ["Crumb"]
        alias = await writer.put(without_page("home", "alias", target=BASE + "start"), None)
        start = await writer.put(live("start"), None)
        assert await titles() == ["T:start"]
        renamed = replace(live("start"), page=replace(page("start"), title="Renamed"))
        start = await writer.put(renamed, start)
        assert await titles() == ["Renamed"]
        await writer.put(without_page("start", "gone"), start)
        assert await titles() == ["Crumb"]
        await writer.put(live("home"), alias)
        assert await titles() == ["T:home"]
        await writer.forget("docs")
        assert await reader.place([BASE + "p"]) == {}
        await writer.put(live("p"), None)
        assert await titles() == []


async def test_places_of_pages_that_are_not_live_are_left_out(store: TreeStore) -> None:
    revision = await store.put(live("p"), None)
    await store.put(live("q"), None)
    assert set(await store.place([BASE + "p", BASE + "q"])) == {BASE + "p", BASE + "q"}
    await store.put(without_page("p", "skipped"), revision)
    assert set(await store.place([BASE + "p", BASE + "q"])) == {BASE + "q"}


# --- scan, copies, aliases, forget


async def test_scan_gives_all_records_in_the_order_of_their_keys(store: TreeStore) -> None:
    await store.put(without_page("c", "alias", target=BASE + "b", seq=4), None)
    await store.put(RICH, None)
    await store.put(without_page("B", "gone", site="other", reason="404"), None)
    states = [state async for state in store.scan()]
    assert [state.key for state in states] == sorted([BASE + "c", RICH.key, BASE + "B"])
    assert states[0] == PageState(BASE + "B", "other", "", "gone", 1, None, "404", 0, 0, NOON, NOON)
    assert states[1] == PageState(BASE + "c", "docs", "", "alias", 4, BASE + "b", None, 0, 0, NOON, NOON)
    rich = PageState(RICH.key, RICH.site, "1.2", "live", 1, None, None, 3, 3, NOON + timedelta(days=1), NOON)
    assert states[2] == rich
    assert [state async for state in store.scan("other")] == states[:1]
    assert [state async for state in store.scan("nowhere")] == []


async def test_a_scan_of_many_records_misses_none_and_lets_its_caller_write_meanwhile(store: TreeStore) -> None:
    paths = [f"p{i:03}" for i in range(520)]
    revisions = await asyncio.gather(*(store.put(without_page(path, "gone"), None) for path in paths))
    seen = []
    async for state in store.scan("docs"):
        seen.append(state.key.removeprefix(BASE))
        if len(seen) in (1, 499, 510):
            index = len(seen) - 1
            await store.put(without_page(paths[index], "skipped"), revisions[index])
    assert seen == paths


async def test_a_scan_may_be_left_half_way(store: TreeStore) -> None:
    first = await store.put(live("a"), None)
    await store.put(live("b"), None)
    async for state in store.scan():
        assert state.key == BASE + "a"
        break
    await store.put(live("a", seq=2), first)


async def test_copies_are_live_pages_of_one_site_and_version_with_exactly_this_content(store: TreeStore) -> None:
    same = (Node("0", None, 1, "Title", "a", (), (Block("text", "words"),)),)
    for path, version, site in (("b", "", "docs"), ("a", "", "docs"), ("v2", "2", "docs"), ("site", "", "other")):
        record = live(path, *(replace(node, id=f"{path}-{node.id}") for node in same), version=version, site=site)
        assert record.page is not None
        await store.put(replace(record, page=replace(record.page, title="Title")), None)
    was = await store.put(replace(live("was"), page=replace(page("was", *same), title="Title")), None)
    await store.put(live("different"), None)
    content = replace(page("x", *same), title="Title").content_hash
    assert list(await store.copies("docs", "", content)) == [BASE + "a", BASE + "b", BASE + "was"]
    await store.put(without_page("was", "gone"), was)
    assert list(await store.copies("docs", "", content)) == [BASE + "a", BASE + "b"]
    assert list(await store.copies("docs", "2", content)) == [BASE + "v2"]
    assert list(await store.copies("nowhere", "", content)) == []
    assert list(await store.copies("docs", "", "0" * 64)) == []


async def test_aliases_are_the_alias_and_moved_records_that_point_at_a_page(store: TreeStore) -> None:
    await store.put(live("p"), None)
    await store.put(without_page("m", "moved", target=BASE + "p"), None)
    await store.put(without_page("a", "alias", target=BASE + "p"), None)
    await store.put(without_page("other", "alias", target=BASE + "q"), None)
    await store.put(without_page("gone", "gone", target=BASE + "p"), None)
    assert list(await store.aliases(BASE + "p")) == [BASE + "a", BASE + "m"]
    assert list(await store.aliases(BASE + "nothing")) == []


async def test_forget_removes_a_sites_records_and_watch_state_and_nothing_else(store: TreeStore) -> None:
    for site in ("docs", "other"):
        await store.put(live(f"{site}-p", site=site), None)
        await store.put(without_page(f"{site}-g", "gone", site=site), None)
        await store.reserve(f"{site}-watched", site)
    assert await store.forget("docs") == 2
    assert [state.key for state in [state async for state in store.scan()]] == [BASE + "other-g", BASE + "other-p"]
    assert await store.get(BASE + "docs-p") is None
    assert set(await store.nodes(["docs-p-0", "other-p-0"])) == {"other-p-0"}
    assert await store.watched("docs-watched") is None
    assert await store.watched("other-watched") is not None
    assert await store.forget("docs") == 0
    assert await store.forget("never there") == 0


async def test_a_revision_from_before_a_forget_fits_no_later_record(store: TreeStore) -> None:
    revision = await store.put(live("p"), None)
    await store.forget("docs")
    await store.put(live("p"), None)
    with pytest.raises(Conflict):
        await store.put(live("p"), revision)


# --- reserve and watch


async def test_reserved_numbers_of_a_page_go_up_by_one(store: TreeStore) -> None:
    assert [await store.reserve("p", "docs") for _ in range(3)] == [1, 2, 3]
    assert await store.reserve("q", "docs") == 1


async def test_fifty_reservations_at_once_get_fifty_numbers(opened: Opener) -> None:
    async with opened() as one, opened() as two:
        numbers = await asyncio.gather(*(store.reserve("p", "docs") for store in [one, two] * 25))
        assert sorted(numbers) == list(range(1, 51))


async def test_reservations_go_on_after_closing_and_opening(opened: Opener) -> None:
    async with opened() as store:
        assert await store.reserve("p", "docs") == 1
    async with opened() as store:
        assert await store.reserve("p", "docs") == 2
        watched = await store.watched("p")
        assert watched is not None
        assert watched.seq == 2


async def test_neither_watching_nor_putting_moves_the_reserved_number(store: TreeStore) -> None:
    await store.reserve(BASE + "p", "docs")
    await store.reserve(BASE + "p", "docs")
    await store.watch(WatchState(BASE + "p", "docs", seq=0, etag="x"))
    await store.watch(WatchState(BASE + "p", "docs", seq=99))
    await store.put(live("p", seq=2), None)
    assert await store.reserve(BASE + "p", "docs") == 3


async def test_a_number_that_a_record_has_handled_is_not_given_again_where_the_watch_state_is_lost(
    store: TreeStore,
) -> None:
    await store.put(live("p", seq=7), None)
    assert await store.reserve(BASE + "p", "docs") == 8
    assert await store.reserve(BASE + "p", "docs") == 9


async def test_watch_state_comes_back_as_stored_but_for_its_seq(store: TreeStore) -> None:
    assert await store.watched("p") is None
    state = WatchState("p", "docs", 5, 'W/"é"', "Fri, 01 May 2026", 3, NOON, NOON + timedelta(seconds=1))
    await store.watch(state)
    assert await store.watched("p") == replace(state, seq=0)
    cleared = WatchState("p", "other")
    await store.watch(cleared)
    assert await store.watched("p") == cleared


async def test_watch_state_makes_no_record(store: TreeStore) -> None:
    await store.watch(WatchState(BASE + "p", "docs"))
    await store.reserve(BASE + "q", "docs")
    assert await store.get(BASE + "p") is None
    assert [state async for state in store.scan()] == []
