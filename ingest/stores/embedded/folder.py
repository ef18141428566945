"""The data folder of one installation: what lies where, by which models it was made, and who holds it.

    FOLDER/lock             held by the one process that writes; says which
    FOLDER/meta.json        the Stamp: format, embedding model, analyser
    FOLDER/trees.sqlite     the TreeStore; may be opened without the lock, by any number of processes
    FOLDER/notes.sqlite     the Notes; like the trees
    FOLDER/chunks/NAME/     the ChunkIndex, one folder for each embedding model; only under the lock

The folder is for its owner alone (0700): it holds what people asked. The lock is the operating system's own (flock):
it ends with the process, however that ends, and a lock file that a dead process left behind holds nobody up.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from ingest.errors import FolderBusy, IndexMismatch, StoreUnavailable
from ingest.model import sha256

if sys.platform != "win32":
    import fcntl

FOLDER_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an index was made by. Vectors and terms of another make do not fit it."""

    embedder: str
    dimensions: int
    analyser: str
    format: int = FOLDER_FORMAT

    @property
    def slug(self) -> str:
        """A name for what one embedding model made: a person can tell the model, and any two differ."""
        return slug(self.embedder, str(self.dimensions))

    def same_model(self, other: Stamp) -> bool:
        return (self.embedder, self.dimensions) == (other.embedder, other.dimensions)


def slug(embedder: str, dimensions: str) -> str:
    """As Stamp.slug; `dimensions` "*": a pattern for it, where they are not known."""
    readable = re.sub(r"[^a-z0-9]+", "-", embedder.lower()).strip("-")[-60:]
    return f"{readable}-{dimensions}-{sha256(embedder)[:8]}"


class DataFolder:
    """`async with` holds the folder for this process and makes it where it is not there yet; `command` is what
    others are told about the holder. Raises FolderBusy, StoreUnavailable. All else works without holding."""

    def __init__(self, path: Path, command: str = "ritbot") -> None:
        self._path = path
        self._command = command
        self._lock: int | None = None

    async def __aenter__(self) -> Self:
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            with suppress(PermissionError):  # a volume that somebody else owns and shares with us
                self._path.chmod(0o700)
            self._lock = self._locked()
        except OSError as error:
            raise StoreUnavailable(f"the data folder {self._path} cannot be used: {error}") from error
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    @property
    def trees(self) -> Path:
        return self._path / "trees.sqlite"

    @property
    def notes(self) -> Path:
        return self._path / "notes.sqlite"

    def chunks(self, stamp: Stamp) -> Path:
        return self._path / "chunks" / stamp.slug

    def remove_other_chunks(self, stamp: Stamp) -> bool:
        """Remove what other embedding models made; whether there was any."""
        others = [path for path in (self._path / "chunks").glob("*") if path != self.chunks(stamp)]
        try:
            for path in others:
                shutil.rmtree(path)
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be removed: {error}") from error
        return bool(others)

    def stamp(self) -> Stamp | None:
        """None where nothing was indexed yet. Raises StoreUnavailable where it cannot be read."""
        path = self._path / "meta.json"
        try:
            fields = json.loads(path.read_bytes())
            known = {name: fields[name] for name in Stamp.__dataclass_fields__}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise StoreUnavailable(
                f"{path} cannot be read ({error}): put a backup in its place, or use another data folder"
            ) from error
        if known["format"] != FOLDER_FORMAT:
            raise StoreUnavailable(
                f"{self._path} has index format {known['format']}, this ritbot reads {FOLDER_FORMAT}:"
                " use the ritbot that made it, or another data folder"
            )
        return Stamp(**known)

    def check(self, wanted: Stamp, *, analyser: bool = True) -> None:
        """Raises IndexMismatch where the folder was made by another embedding model or, if that counts, `analyser`."""
        found = self.stamp()
        if found is None:
            return
        if not found.same_model(wanted):
            raise IndexMismatch(
                f"{self._path} was indexed with the embedding model {found.embedder} ({found.dimensions} numbers a"
                f" vector); now {wanted.embedder} ({wanted.dimensions}) is set: run `ritbot reembed`, set it back, or use"
                " another data folder"
            )
        if analyser and found.analyser != wanted.analyser:
            raise IndexMismatch(
                f"{self._path} was indexed with version {found.analyser} of the word analyser; this ritbot has"
                f" {wanted.analyser}: run `ritbot reindex`, use the ritbot that made it, or another data folder"
            )

    def write(self, stamp: Stamp) -> None:
        """Say from now on that the folder was made by `stamp`; only while holding it. Whole or not at all."""
        if self._lock is None:
            raise StoreUnavailable(f"the data folder {self._path} is not held by this process")
        unfinished = self._path / "meta.json.new"
        try:
            with unfinished.open("w") as file:
                json.dump(asdict(stamp), file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self._path / "meta.json")
        except OSError as error:
            raise StoreUnavailable(f"the data folder {self._path} cannot be written: {error}") from error

    def _locked(self) -> int:
        if sys.platform == "win32":
            raise StoreUnavailable("the embedded stores need a Unix system: on Windows use WSL or a container")
        lock = os.open(self._path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(lock, 0)
            os.pwrite(lock, json.dumps({"pid": os.getpid(), "command": self._command}).encode(), 0)
        except BlockingIOError:
            holder = self._holder(lock)
            os.close(lock)
            raise FolderBusy(f"{self._path} is in use by {holder}: stop it first, or use another data folder") from None
        except OSError:
            os.close(lock)
            raise
        return lock

    def _holder(self, lock: int) -> str:
        try:
            holder = json.loads(os.pread(lock, 4096, 0))
            since = datetime.fromtimestamp(os.fstat(lock).st_mtime, UTC)
            return f"`{holder['command']}` (process {holder['pid']}, since {since:%Y-%m-%d %H:%M} UTC)"
        except (ValueError, LookupError, TypeError):  # it has locked the file and not yet signed it
            return "another process"
