"""A backup: one gzip file of JSON lines, written and read line by line.

    {"ritbot_backup": 1, "ritbot": "0.1.0", "made_at": "2026-05-01T12:00:00+00:00"}
    {"records": {…}}                    one line a thing, under the name of its section
    {"watch": {…}}
    {"end": {"counts": {"records": 1, "watch": 1}, "sha256": "…"}}

The digest is of all lines before the last, so that a file that was cut short or spoilt is known before anything of it is
put back. A section is a name, the lines that there are, and what puts a line back; the stores bring their own. Any
section may be put back again after it was interrupted.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from ingest.concurrency import for_each
from ingest.errors import BackupUnusable

BACKUP_FORMAT = 1
_END = "end"
_LINES_AT_ONCE = 16

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BackupSection:
    """`lines`: what there is. `check` raises ValueError, KeyError or TypeError for a line that cannot be put back, and
    writes nothing. `put` stores a line, and does nothing where it is stored already."""

    name: str
    lines: AsyncIterator[Json]
    check: Callable[[Json], object]
    put: Callable[[Json], Awaitable[None]]


async def write(
    file: BinaryIO,
    sections: Sequence[BackupSection],
    *,
    version: str,
    now: datetime,
    progress: Callable[[Counter[str]], None] = lambda counts: None,
) -> Counter[str]:
    """Write all sections; how many lines each has. `version` is ritbot's. `file` stays open, and stays the caller's to
    bring to the disk."""
    counts = Counter({section.name: 0 for section in sections})
    digest = hashlib.sha256()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed:

        def add(line: Json) -> None:
            raw = json.dumps(line, separators=(",", ":")).encode() + b"\n"
            digest.update(raw)
            packed.write(raw)

        add({"ritbot_backup": BACKUP_FORMAT, "ritbot": version, "made_at": now.isoformat()})
        for section in sections:
            async for line in section.lines:
                add({section.name: line})
                counts[section.name] += 1
                progress(counts)
        add({_END: {"counts": counts, "sha256": digest.hexdigest()}})
    return counts


def check(file: BinaryIO, sections: Sequence[BackupSection]) -> Counter[str]:
    """Read the whole file; how many lines each section has. Raises BackupUnusable unless all of it can be put back."""
    checks = {section.name: section.check for section in sections}
    counts: Counter[str] = Counter()
    for name, line in lines(file):
        if name not in checks:
            raise BackupUnusable(f"the backup holds {name!r}, which this ritbot cannot put back: upgrade ritbot")
        counts[name] += 1
        try:
            checks[name](line)
        except (ValueError, LookupError, TypeError) as error:
            raise BackupUnusable(f"line {counts[name]} of {name!r} in the backup cannot be read: {error}") from error
    return counts


async def put_back(
    file: BinaryIO, sections: Sequence[BackupSection], progress: Callable[[Counter[str]], None] = lambda counts: None
) -> None:
    """Store what the file holds, section by section. Raises store errors; then it can be done again."""
    counts: Counter[str] = Counter()
    for section in sections:
        put, name = section.put, section.name

        async def one(line: Json, put: Callable[[Json], Awaitable[None]] = put, name: str = name) -> None:
            await put(line)
            counts[name] += 1
            progress(counts)

        await for_each(_of(file, name), one, _LINES_AT_ONCE)


async def _of(file: BinaryIO, section: str) -> AsyncIterator[Json]:
    for name, line in lines(file):
        if name == section:
            yield line


def lines(file: BinaryIO) -> Iterator[tuple[str, Json]]:
    """Every line with its section, from the file's beginning. Raises BackupUnusable, at the latest at the end."""
    file.seek(0)
    digest = hashlib.sha256()
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
            first = unpacked.readline()
            digest.update(first)
            _check_header(json.loads(first))
            for raw in unpacked:
                ((name, line),) = json.loads(raw).items()
                if name == _END:
                    _check_end(line, digest.hexdigest(), rest=unpacked.read())
                    return
                digest.update(raw)
                yield name, line
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError, AttributeError, LookupError, TypeError) as error:
        raise BackupUnusable(f"this is no whole backup of ritbot ({error}): use another file") from error
    raise BackupUnusable("the backup was cut short: its end is missing. Use another file")


def _check_header(header: Json) -> None:
    found = header["ritbot_backup"]
    if found != BACKUP_FORMAT:
        raise BackupUnusable(
            f"the backup has format {found}, this ritbot reads {BACKUP_FORMAT}: use the ritbot that made it"
        )


def _check_end(end: Json, digest: str, rest: bytes) -> None:
    if rest or end["sha256"] != digest:
        raise BackupUnusable("the backup is damaged: its lines are not those that were written. Use another file")
