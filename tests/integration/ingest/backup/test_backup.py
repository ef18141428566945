"""Truth written to a file and put back: whole or not at all, in either column of stores."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from ingest.backup.archive import BackupSection, check, lines, put_back, write
from ingest.backup.trees import SEQS_LEFT_OUT, RecordStates, others, tree_sections
from ingest.errors import BackupUnusable, Conflict
from ingest.ports import TreeStore, WatchState
from ingest.stores.embedded.trees import SqliteTreeStore
from tests.contract.records import BASE, NOON, RICH, live, without_page
from tests.fakes.columns import Counted, embedded
from tests.fakes.dying import Dies, Killed
from tests.integration.ingest.indexing.test_reconcile import PAGES, A, on_servers


async def fill(trees: TreeStore) -> None:
    for record in (RICH, live("p", seq=7), without_page("a", "alias", target=BASE + "p"), without_page("g", "gone")):
        await trees.put(record, None)
        await trees.watch(WatchState(record.key, record.site, etag='"é"', due_at=NOON))
    for _ in range(9):
        await trees.reserve(BASE + "p", "docs")
    await trees.watch(WatchState("site:docs", "docs", error="no sitemap"))
    await trees.reserve(BASE + "never indexed", "empty site")


async def saved(trees: TreeStore, *more: BackupSection[Any]) -> io.BytesIO:
    file = io.BytesIO()
    await write(file, [*tree_sections(trees, ["empty site"]), *more], version="1.2", now=NOON)
    return file


async def not_of(file: io.BytesIO, trees: TreeStore) -> dict[str, int]:
    """Records of the store that are not of the backup, by site."""
    states = RecordStates()
    check(file, tree_sections(trees), states)
    return await others(states, trees)


async def everything(trees: TreeStore) -> dict[str, Any]:
    """All records, and all watch states but for their seqs."""
    records = {}
    async for state in trees.scan():
        stored = await trees.get(state.key)
        records[state.key] = stored.record if stored else None
    for site in ("docs", "empty site", RICH.site):
        async for watched in trees.watching(site):
            records[f"watch {watched.key}"] = (watched.etag, watched.due_at, watched.error)  # type: ignore[assignment]
    return records


@pytest.fixture
async def trees(tmp_path: Path) -> AsyncIterator[SqliteTreeStore]:
    async with SqliteTreeStore(tmp_path / "before.sqlite") as trees:
        await fill(trees)
        yield trees


@pytest.fixture
async def empty(tmp_path: Path) -> AsyncIterator[SqliteTreeStore]:
    async with SqliteTreeStore(tmp_path / "after.sqlite") as trees:
        yield trees


# --- there and back


@pytest.mark.parametrize("to", ["embedded", "cluster"])
async def test_a_backup_of_one_column_is_put_back_into_the_other(
    to: str, opensearch: Any, qdrant: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    columns = [embedded(tmp_path), on_servers(request, tmp_path)()]
    async with columns[to == "embedded"] as before, columns[to == "cluster"] as after:
        await before.publish(PAGES)
        await fill(before.trees)
        file = await saved(before.trees)
        sections = tree_sections(after.trees)
        assert check(file, sections) == {"records": 7, "watch": 9}
        await put_back(file, sections)
        assert await everything(after.trees) == await everything(before.trees)
        report = await after.reconciler(repair=True, sites=("docs",)).run("docs")
        assert report["docs"].filled >= 6
        assert (await after.holds())[A] == (await before.holds())[A]


async def test_numbers_given_out_before_and_since_the_backup_are_never_given_again(
    trees: SqliteTreeStore, empty: SqliteTreeStore
) -> None:
    file = await saved(trees)
    given = [await trees.reserve(BASE + "p", "docs") for _ in range(1000)]
    await put_back(file, tree_sections(empty))
    assert await empty.reserve(BASE + "p", "docs") > max(given)
    assert await empty.reserve(BASE + "never indexed", "empty site") > SEQS_LEFT_OUT
    stored = await empty.get(BASE + "p")
    assert stored is not None
    assert stored.record.seq == 7


async def test_an_empty_store_has_a_backup_too(tmp_path: Path, empty: SqliteTreeStore) -> None:
    file = io.BytesIO()
    assert await write(file, tree_sections(empty), version="1", now=NOON) == {"records": 0, "watch": 0}
    assert check(file, tree_sections(empty)) == {}
    await put_back(file, tree_sections(empty))
    assert await everything(empty) == {}


async def test_five_hundred_records_come_back(empty: SqliteTreeStore, trees: SqliteTreeStore) -> None:
    for number in range(500):
        await trees.put(live(f"many-{number}"), None)
    await put_back(await saved(trees), tree_sections(empty))
    assert await everything(empty) == await everything(trees)


async def test_lines_say_in_plain_json_what_they_are(trees: SqliteTreeStore) -> None:
    text = gzip.decompress((await saved(trees)).getvalue()).decode().removesuffix("\n").split("\n")
    assert json.loads(text[0]) == {"ritbot_backup": 1, "ritbot": "1.2", "made_at": NOON.isoformat()}
    assert {key for line in text[1:-1] for key in json.loads(line)} == {"records", "watch"}
    assert json.loads(text[-1])["end"]["counts"] == {"records": 4, "watch": 6}


# --- further sections


async def test_other_stores_add_sections_of_their_own(trees: SqliteTreeStore, empty: SqliteTreeStore) -> None:
    back: list[Any] = []

    async def notes() -> AsyncIterator[bytes]:
        for number in range(3):
            yield json.dumps({"note": number, "text": "ü\u2028🦊"}, ensure_ascii=False).encode()

    async def keep(line: Any) -> None:
        back.append(line)

    section = BackupSection("notes", notes(), json.loads, keep)
    file = await saved(trees, section)
    assert check(file, [*tree_sections(empty), section])["notes"] == 3
    await put_back(file, [*tree_sections(empty), section])
    assert sorted(line["note"] for line in back) == [0, 1, 2]
    assert {line["text"] for line in back} == {"ü\u2028🦊"}
    with pytest.raises(BackupUnusable, match="'notes', which this ritbot cannot put back"):
        check(file, tree_sections(empty))


async def test_a_line_that_cannot_be_read_is_found_before_anything_is_written(empty: SqliteTreeStore) -> None:
    async def bad() -> AsyncIterator[bytes]:
        yield b'{"key": "p", "site": "docs"}'

    async def never(_: Any) -> None:
        raise AssertionError

    file = io.BytesIO()
    await write(file, [BackupSection("records", bad(), dict, never)], version="1", now=NOON)
    with pytest.raises(BackupUnusable, match="line 1 of 'records'"):
        check(file, tree_sections(empty))


# --- files that are no backup


async def test_a_file_that_was_cut_short_anywhere_is_refused(trees: SqliteTreeStore) -> None:
    whole = (await saved(trees)).getvalue()
    for length in range(0, len(whole), 97):
        with pytest.raises(BackupUnusable):
            check(io.BytesIO(whole[:length]), tree_sections(trees))
    check(io.BytesIO(whole), tree_sections(trees))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-1],
        lambda text: [*text, '{"records":{}}'],
        lambda text: [text[0], *text[2:]],
        lambda text: [text[0], text[2], text[1], *text[3:]],
        lambda text: [text[0], text[1].replace("docs", "d0cs"), *text[2:]],
        lambda text: ["{}", *text[1:]],
        lambda text: [text[0], "[1]", *text[1:]],
        lambda text: [text[0], '{"a":1,"b":2}', *text[1:]],
        lambda text: ["<html>", *text[1:]],
    ],
    ids=["no end", "more", "less", "order", "changed", "no header", "no object", "two names", "no json"],
)
async def test_lines_that_are_not_those_that_were_written_are_refused(trees: SqliteTreeStore, spoil: Any) -> None:
    text = gzip.decompress((await saved(trees)).getvalue()).decode().removesuffix("\n").split("\n")
    spoilt = gzip.compress("\n".join(spoil(text)).encode() + b"\n")
    with pytest.raises(BackupUnusable):
        list(lines(io.BytesIO(spoilt)))


async def test_another_format_and_no_gzip_at_all_are_told_apart() -> None:
    newer = gzip.compress(b'{"ritbot_backup": 2}\n')
    with pytest.raises(BackupUnusable, match="has format 2, this ritbot reads 1"):
        list(lines(io.BytesIO(newer)))
    with pytest.raises(BackupUnusable, match="no whole backup of ritbot"):
        list(lines(io.BytesIO(b"PK\x03\x04 something else")))


# --- into a store that is not empty, and half-way


async def test_what_is_not_of_the_backup_is_counted_by_site(trees: SqliteTreeStore, empty: SqliteTreeStore) -> None:
    file = await saved(trees)
    assert await not_of(file, empty) == {}
    assert await not_of(file, trees) == {}
    await trees.put(live("new", site="other"), None)
    stored = await trees.get(BASE + "p")
    assert stored is not None
    await trees.put(live("p", seq=8), stored.revision)
    assert await not_of(file, trees) == {"other": 1, "docs": 1}


@pytest.mark.parametrize("write_number", [1, 2, 4, 5])
async def test_a_restore_that_was_killed_is_finished_by_doing_it_again(
    write_number: int, trees: SqliteTreeStore, empty: SqliteTreeStore
) -> None:
    file = await saved(trees)
    with pytest.raises(Killed):
        await put_back(file, tree_sections(_Dying(empty, write_number)))  # type: ignore[arg-type]
    assert await not_of(file, empty) == {}
    await put_back(file, tree_sections(empty))
    assert await everything(empty) == await everything(trees)


class _Dying:
    """A store over which the process ends at a write of any kind."""

    def __init__(self, store: Any, write_number: int) -> None:
        self._store = Counted(store)
        self._dies = Dies(write_number)

    def __getattr__(self, name: str) -> Any:
        if name in ("put", "watch"):
            self._dies.write()
        return getattr(self._store, name)


async def test_putting_back_what_is_there_already_leaves_the_records_alone(trees: SqliteTreeStore) -> None:
    counted = Counted(trees)
    await put_back(await saved(trees), tree_sections(counted))  # type: ignore[arg-type]
    assert "put" not in counted.writes


async def test_a_record_that_somebody_writes_meanwhile_is_not_overwritten(
    trees: SqliteTreeStore, empty: SqliteTreeStore
) -> None:
    file = await saved(trees)
    await empty.put(live("p", seq=99), None)
    with pytest.raises(Conflict, match="stop every other ritbot"):
        await put_back(file, tree_sections(empty))


async def test_a_backup_beside_a_writer_holds_each_record_whole(trees: SqliteTreeStore, empty: SqliteTreeStore) -> None:
    async def change() -> None:
        stored = await trees.get(BASE + "p")
        assert stored is not None
        await trees.put(without_page("p", "gone", seq=8), stored.revision)

    file = await saved(Counted(trees, {"get": change}))  # type: ignore[arg-type]
    await put_back(file, tree_sections(empty))
    assert (await everything(empty))[BASE + "p"] in (live("p", seq=7), without_page("p", "gone", seq=8))
