"""What every TreeStore does with sites (ingest.ports.TreeStore): places, scans, duplicates, seqs and watch state."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from ingest.errors import Conflict
from ingest.model import PARSER_VERSION, Block, Claims, Crumb, Node
from ingest.ports import PageState, SiteAncestor, TreeStore, WatchState
from tests.contract.conftest import OpenTrees
from tests.contract.records import BASE, NOON, RICH, live, page, without_page

HOUR = timedelta(hours=1)

# --- place


def under(*crumbs: Crumb) -> Claims:
    return Claims(crumbs, "breadcrumb")


async def test_places_come_from_the_claims_of_the_whole_site(trees: TreeStore) -> None:
    await trees.put(live("home"), None)
    await trees.put(live("guide", claims=under(Crumb("Home", BASE + "home"))), None)
    await trees.put(live("leaf", claims=under(Crumb("Guide", BASE + "guide"), Crumb("Chapter"))), None)
    assert await trees.place([BASE + "leaf", BASE + "home", BASE + "unknown"]) == {
        BASE + "home": (),
        BASE + "leaf": (
            SiteAncestor("T:home", BASE + "home", BASE + "home"),
            SiteAncestor("T:guide", BASE + "guide", BASE + "guide"),
            SiteAncestor("Chapter"),
        ),
    }


async def test_sites_do_not_place_each_others_pages(trees: TreeStore) -> None:
    await trees.put(live("home", site="other"), None)
    await trees.put(live("p", claims=under(Crumb("Home", BASE + "home"))), None)
    placed = await trees.place([BASE + "p", BASE + "home"])
    assert placed == {BASE + "p": (SiteAncestor("Home", None, BASE + "home"),), BASE + "home": ()}


async def test_places_follow_every_change_of_the_site_whoever_made_it(open_trees: OpenTrees) -> None:
    async with open_trees() as reader, open_trees() as writer:

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


async def test_places_of_pages_that_are_not_live_are_left_out(trees: TreeStore) -> None:
    revision = await trees.put(live("p"), None)
    await trees.put(live("q"), None)
    assert set(await trees.place([BASE + "p", BASE + "q"])) == {BASE + "p", BASE + "q"}
    await trees.put(without_page("p", "skipped"), revision)
    assert set(await trees.place([BASE + "p", BASE + "q"])) == {BASE + "q"}


# --- scan, duplicates, aliases, forget


async def test_scan_gives_all_records_in_the_order_of_their_keys(trees: TreeStore) -> None:
    await trees.put(without_page("c", "alias", target=BASE + "b", seq=4), None)
    await trees.put(RICH, None)
    await trees.put(without_page("B", "gone", site="other", reason="404"), None)
    states = [state async for state in trees.scan()]
    assert [state.key for state in states] == sorted([BASE + "c", RICH.key, BASE + "B"])
    assert states[0] == PageState(BASE + "B", "other", "", "gone", 1, None, "404", 0, 0, NOON, NOON)
    assert states[1] == PageState(BASE + "c", "docs", "", "alias", 4, BASE + "b", None, 0, 0, NOON, NOON)
    times = NOON + timedelta(days=1), NOON
    assert states[2] == PageState(
        RICH.key, RICH.site, "1.2", "live", 1, None, None, 3, 3, *times, PARSER_VERSION, "7/x"
    )
    assert [state async for state in trees.scan("other")] == states[:1]
    assert [state async for state in trees.scan("nowhere")] == []


async def test_a_scan_of_many_records_misses_none_and_lets_its_caller_write_meanwhile(trees: TreeStore) -> None:
    paths = [f"p{i:03}" for i in range(520)]
    revisions = await asyncio.gather(*(trees.put(without_page(path, "gone"), None) for path in paths))
    seen = []
    async for state in trees.scan("docs"):
        seen.append(state.key.removeprefix(BASE))
        if len(seen) in (1, 499, 510):
            index = len(seen) - 1
            await trees.put(without_page(paths[index], "skipped"), revisions[index])
    assert seen == paths


async def test_a_scan_may_be_left_half_way(trees: TreeStore) -> None:
    first = await trees.put(live("a"), None)
    await trees.put(live("b"), None)
    async for state in trees.scan():
        assert state.key == BASE + "a"
        break
    await trees.put(live("a", seq=2), first)


async def test_copies_are_live_pages_of_one_site_and_version_with_exactly_this_content(trees: TreeStore) -> None:
    same = (Node("0", None, 1, "Title", "a", (), (Block("text", "words"),)),)
    for path, version, site in (("b", "", "docs"), ("a", "", "docs"), ("v2", "2", "docs"), ("site", "", "other")):
        record = live(path, *(replace(node, id=f"{path}-{node.id}") for node in same), version=version, site=site)
        assert record.page is not None
        await trees.put(replace(record, page=replace(record.page, title="Title")), None)
    was = await trees.put(replace(live("was"), page=replace(page("was", *same), title="Title")), None)
    await trees.put(live("different"), None)
    content = replace(page("x", *same), title="Title").content_hash
    assert list(await trees.duplicates("docs", "", content)) == [BASE + "a", BASE + "b", BASE + "was"]
    await trees.put(without_page("was", "gone"), was)
    assert list(await trees.duplicates("docs", "", content)) == [BASE + "a", BASE + "b"]
    assert list(await trees.duplicates("docs", "2", content)) == [BASE + "v2"]
    assert list(await trees.duplicates("nowhere", "", content)) == []
    assert list(await trees.duplicates("docs", "", "0" * 64)) == []


async def test_aliases_are_the_alias_and_moved_records_that_point_at_a_page(trees: TreeStore) -> None:
    await trees.put(live("p"), None)
    await trees.put(without_page("m", "moved", target=BASE + "p"), None)
    await trees.put(without_page("a", "alias", target=BASE + "p"), None)
    await trees.put(without_page("other", "alias", target=BASE + "q"), None)
    await trees.put(without_page("gone", "gone", target=BASE + "p"), None)
    assert list(await trees.aliases(BASE + "p")) == [BASE + "a", BASE + "m"]
    assert list(await trees.aliases(BASE + "nothing")) == []


async def test_forget_removes_a_sites_records_and_watch_state_and_nothing_else(trees: TreeStore) -> None:
    for site in ("docs", "other"):
        await trees.put(live(f"{site}-p", site=site), None)
        await trees.put(without_page(f"{site}-g", "gone", site=site), None)
        await trees.reserve(f"{site}-watched", site)
    assert await trees.forget("docs") == 2
    assert [state.key for state in [state async for state in trees.scan()]] == [BASE + "other-g", BASE + "other-p"]
    assert await trees.get(BASE + "docs-p") is None
    assert set(await trees.nodes(["docs-p-0", "other-p-0"])) == {"other-p-0"}
    assert await trees.watched("docs-watched") is None
    assert await trees.watched("other-watched") is not None
    assert await trees.forget("docs") == 0
    assert await trees.forget("never there") == 0


async def test_a_revision_from_before_a_forget_fits_no_later_record(trees: TreeStore) -> None:
    revision = await trees.put(live("p"), None)
    await trees.forget("docs")
    await trees.put(live("p"), None)
    with pytest.raises(Conflict):
        await trees.put(live("p"), revision)


# --- reserve and watch


async def test_reserved_numbers_of_a_page_go_up_by_one(trees: TreeStore) -> None:
    assert [await trees.reserve("p", "docs") for _ in range(3)] == [1, 2, 3]
    assert await trees.reserve("q", "docs") == 1


async def test_fifty_reservations_at_once_get_fifty_numbers(open_trees: OpenTrees) -> None:
    async with open_trees() as one, open_trees() as two:
        numbers = await asyncio.gather(*(trees.reserve("p", "docs") for trees in [one, two] * 25))
        assert sorted(numbers) == list(range(1, 51))


async def test_reservations_go_on_after_closing_and_opening(open_trees: OpenTrees) -> None:
    async with open_trees() as trees:
        assert await trees.reserve("p", "docs") == 1
    async with open_trees() as trees:
        assert await trees.reserve("p", "docs") == 2
        watched = await trees.watched("p")
        assert watched is not None
        assert watched.seq == 2


async def test_neither_watching_nor_putting_moves_the_reserved_number(trees: TreeStore) -> None:
    await trees.reserve(BASE + "p", "docs")
    await trees.reserve(BASE + "p", "docs")
    await trees.watch(WatchState(BASE + "p", "docs", seq=0, etag="x"))
    await trees.watch(WatchState(BASE + "p", "docs", seq=99))
    await trees.put(live("p", seq=2), None)
    assert await trees.reserve(BASE + "p", "docs") == 3


async def test_a_number_that_a_record_has_handled_is_not_given_again_where_the_watch_state_is_lost(
    trees: TreeStore,
) -> None:
    await trees.put(live("p", seq=7), None)
    assert await trees.reserve(BASE + "p", "docs") == 8
    assert await trees.reserve(BASE + "p", "docs") == 9


async def test_a_reserved_number_is_above_what_was_given_out_elsewhere(trees: TreeStore) -> None:
    assert await trees.reserve(BASE + "p", "docs", above=40) == 41
    assert await trees.reserve(BASE + "p", "docs", above=7) == 42
    assert await trees.reserve(BASE + "p", "docs") == 43
    await trees.put(live("q", seq=90), None)
    assert await trees.reserve(BASE + "q", "docs", above=40) == 91


async def test_watch_state_comes_back_as_stored_but_for_its_seq(trees: TreeStore) -> None:
    assert await trees.watched("p") is None
    state = WatchState("p", "docs", 5, 'W/"é"', "Fri, 01 May 2026", 3, NOON, NOON + timedelta(seconds=1))
    await trees.watch(state)
    assert await trees.watched("p") == replace(state, seq=0)
    cleared = WatchState("p", "other")
    await trees.watch(cleared)
    assert await trees.watched("p") == cleared


async def test_watch_state_makes_no_record(trees: TreeStore) -> None:
    await trees.watch(WatchState(BASE + "p", "docs"))
    await trees.reserve(BASE + "q", "docs")
    assert await trees.get(BASE + "p") is None
    assert [state async for state in trees.scan()] == []


async def test_every_field_of_a_watch_state_comes_back(trees: TreeStore) -> None:
    state = WatchState(
        "p",
        "docs",
        hash="h",
        full_at=NOON,
        due_at=NOON + timedelta(hours=1),
        asked_at=NOON,
        interval=300.5,
        failures=2,
        error="503 ü",
        lastmod="2026-01-01",
        wasted=1,
        sent="s",
        going="HTTP 410",
        going_to=BASE + "q",
        left_at=NOON,
        begun=1,
        begun_seq=7,
    )
    await trees.watch(state)
    assert await trees.watched("p") == state


async def test_watching_gives_all_watch_states_of_a_site_in_the_order_of_their_keys(trees: TreeStore) -> None:
    await trees.watch(WatchState("site:docs", "docs", error="no sitemap"))
    await trees.watch(WatchState(BASE + "b", "docs", etag="e"))
    await trees.reserve(BASE + "b", "docs")
    await trees.reserve(BASE + "a", "docs")
    await trees.watch(WatchState(BASE + "c", "other"))
    states = [state async for state in trees.watching("docs")]
    assert states == [
        WatchState(BASE + "a", "docs", seq=1),
        WatchState(BASE + "b", "docs", seq=1, etag="e"),
        WatchState("site:docs", "docs", error="no sitemap"),
    ]
    assert [state async for state in trees.watching("nowhere")] == []


async def due(trees: TreeStore, until: datetime) -> set[str]:
    return {state.key async for state in trees.due("docs", until)}


async def test_due_are_the_states_whose_time_has_come_and_those_without_a_time(trees: TreeStore) -> None:
    for name, due_at in (("past", NOON), ("now", NOON + HOUR), ("later", NOON + 2 * HOUR), ("never looked at", None)):
        await trees.watch(WatchState(BASE + name, "docs", due_at=due_at))
    await trees.watch(WatchState(BASE + "elsewhere", "other", due_at=NOON))
    await trees.reserve(BASE + "numbered", "docs")
    assert await due(trees, NOON + HOUR) == {BASE + name for name in ("past", "now", "never looked at", "numbered")}
    assert await due(trees, NOON + 3 * HOUR) >= {BASE + "later"}


async def test_due_follows_every_write_of_a_state(trees: TreeStore) -> None:
    await trees.watch(WatchState(BASE + "p", "docs", due_at=NOON))
    await trees.watch(WatchState(BASE + "p", "docs", due_at=NOON + HOUR, etag="e"))
    await trees.reserve(BASE + "p", "docs")
    assert await due(trees, NOON) == set()
    assert [state async for state in trees.due("docs", NOON + HOUR)] == [
        WatchState(BASE + "p", "docs", seq=1, due_at=NOON + HOUR, etag="e")
    ]
    await trees.watch(WatchState(BASE + "p", "docs"))
    assert await due(trees, NOON) == {BASE + "p"}


async def test_due_gives_many_states_to_a_caller_who_writes_them_meanwhile(trees: TreeStore) -> None:
    keys = [f"{BASE}p{number:03}" for number in range(520)]
    await asyncio.gather(*(trees.watch(WatchState(key, "docs", due_at=NOON)) for key in keys))
    seen = []
    async for state in trees.due("docs", NOON):
        seen.append(state.key)
        if len(seen) in (1, 510):
            await trees.watch(replace(state, due_at=NOON + HOUR))
    assert sorted(seen) == keys


async def test_watching_many_states_misses_none_and_lets_its_caller_write_meanwhile(trees: TreeStore) -> None:
    keys = [f"{BASE}p{number:03}" for number in range(520)]
    await asyncio.gather(*(trees.watch(WatchState(key, "docs")) for key in keys))
    seen = []
    async for state in trees.watching("docs"):
        seen.append(state.key)
        if len(seen) in (1, 510):
            await trees.watch(replace(state, misses=1))
    assert seen == keys
