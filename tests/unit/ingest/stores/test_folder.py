"""The data folder: layout, stamp and lock (ingest/stores/embedded/folder.py)."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.errors import FolderBusy, IndexMismatch, StoreUnavailable
from ingest.stores.embedded.folder import DataFolder, Stamp

STAMP = Stamp("sentence-transformers/all-MiniLM-L6-v2", 384, "3")

HOLDER = """
import asyncio, sys
from pathlib import Path
from ingest.stores.embedded.folder import DataFolder

async def main():
    async with DataFolder(Path(sys.argv[1]), "ritbot serve"):
        print("held", flush=True)
        sys.stdin.read()

asyncio.run(main())
"""


@contextmanager
def held_elsewhere(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield holder
        finally:
            holder.kill()


async def test_opening_makes_the_folder(tmp_path: Path) -> None:
    async with DataFolder(tmp_path / "a" / "b", "ritbot index") as folder:
        assert folder.trees == tmp_path / "a" / "b" / "trees.sqlite"
        assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("there", [False, True])
async def test_the_folder_and_its_lock_are_for_their_owner_alone(there: bool, tmp_path: Path) -> None:
    if there:
        (tmp_path / "data").mkdir(mode=0o755)
    async with DataFolder(tmp_path / "data", "ritbot index"):
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data", tmp_path / "data/lock")]
    assert modes == [0o700, 0o600]


async def test_looking_at_a_folder_neither_makes_nor_holds_it(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "none", "ritbot doctor")
    assert folder.stamp() is None
    folder.check(STAMP)
    assert not (tmp_path / "none").exists()


async def test_a_second_opener_learns_who_holds_the_folder(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as holder:
        with pytest.raises(FolderBusy) as busy:
            async with DataFolder(tmp_path, "ritbot index"):
                pass
        assert f"`ritbot serve` (process {holder.pid}, since 20" in str(busy.value)
        assert str(tmp_path) in str(busy.value)


async def test_a_second_opener_in_the_same_process_is_refused_too_and_harms_nothing(tmp_path: Path) -> None:
    async with DataFolder(tmp_path, "first"):
        for _ in range(2):
            with pytest.raises(FolderBusy, match="`first`"):
                async with DataFolder(tmp_path, "second"):
                    pass


async def test_a_folder_can_be_held_again_once_it_was_let_go(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path, "ritbot index")
    for _ in range(2):
        async with folder:
            pass
    assert (tmp_path / "lock").read_bytes() == b""


async def test_the_lock_file_of_a_killed_process_holds_nobody_up(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as holder:
        holder.kill()
        holder.wait()
        assert b"ritbot serve" in (tmp_path / "lock").read_bytes()
        async with DataFolder(tmp_path, "ritbot index"):
            assert json.loads((tmp_path / "lock").read_bytes())["command"] == "ritbot index"


async def test_a_holder_that_has_not_signed_yet_is_another_process(tmp_path: Path) -> None:
    async with DataFolder(tmp_path, "first"):
        (tmp_path / "lock").write_bytes(b"")
        with pytest.raises(FolderBusy, match="in use by another process"):
            async with DataFolder(tmp_path, "second"):
                pass


async def test_a_path_that_is_no_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="file cannot be used"):
        async with DataFolder(tmp_path / "file", "ritbot index"):
            pass


async def test_a_stamp_comes_back_as_written(tmp_path: Path) -> None:
    async with DataFolder(tmp_path, "ritbot index") as folder:
        folder.write(STAMP)
        assert folder.stamp() == STAMP
        later = replace(STAMP, analyser="4")
        folder.write(later)
        folder.check(later)
    assert DataFolder(tmp_path, "ritbot doctor").stamp() == later


async def test_only_the_holder_writes_the_stamp(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="not held"):
        DataFolder(tmp_path, "ritbot doctor").write(STAMP)
    assert DataFolder(tmp_path, "ritbot doctor").stamp() is None


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            replace(STAMP, embedder="gte"),
            r"all-MiniLM-L6-v2 \(384 numbers .* now gte \(384\) .*`ritbot reembed`",
        ),
        (replace(STAMP, dimensions=768), r"\(384 numbers .* \(768\)"),
        (
            replace(STAMP, analyser="4"),
            r"version 3 of the word analyser; this ritbot has 4: .*`ritbot reindex`",
        ),
    ],
)
async def test_another_make_is_refused_with_both_makes_and_the_remedy(
    tmp_path: Path, wanted: Stamp, message: str
) -> None:
    async with DataFolder(tmp_path, "ritbot index") as folder:
        folder.write(STAMP)
        folder.check(STAMP)
        with pytest.raises(IndexMismatch, match=message):
            folder.check(wanted)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '{"embedder": "x"}', "\x00"])
def test_a_stamp_that_cannot_be_read_says_what_to_do(tmp_path: Path, content: str) -> None:
    (tmp_path / "meta.json").write_text(content)
    with pytest.raises(StoreUnavailable, match=r"meta\.json cannot be read .* backup"):
        DataFolder(tmp_path, "ritbot ask").stamp()


async def test_a_folder_of_a_newer_format_is_refused_and_unknown_fields_are_not(tmp_path: Path) -> None:
    fields = {"embedder": "e", "dimensions": 4, "analyser": "1", "format": 1, "made_by": "ritbot 9"}
    (tmp_path / "meta.json").write_text(json.dumps(fields))
    assert DataFolder(tmp_path, "ritbot ask").stamp() == Stamp("e", 4, "1")
    (tmp_path / "meta.json").write_text(json.dumps({**fields, "format": 2}))
    with pytest.raises(StoreUnavailable, match="index format 2, this ritbot reads 1"):
        DataFolder(tmp_path, "ritbot ask").check(Stamp("e", 4, "1"))


def test_each_embedding_model_has_a_chunk_folder_of_its_own(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path, "ritbot ask")
    stamps = [STAMP, replace(STAMP, dimensions=768), replace(STAMP, embedder="sentence-transformers-all/MiniLM-L6-v2")]
    folders = {folder.chunks(stamp) for stamp in [*stamps, Stamp("日本/模型", 3, ""), Stamp("../../etc", 3, "")]}
    assert len(folders) == 5
    assert {path.parent for path in folders} == {tmp_path / "chunks"}
    assert folder.chunks(STAMP).name.startswith("sentence-transformers-all-minilm-l6-v2-384-")
    assert folder.chunks(replace(STAMP, analyser="9")) == folder.chunks(STAMP)
