"""A backup: one gzip file of JSON lines, written and read line by line.

    {"ritbot_backup": 1, "ritbot": "0.1.0", "made_at": "2026-05-01T12:00:00+00:00"}
    {"records": {…}}                    one line a thing, under the name of its section
    {"watch": {…}}
    {"end": {"counts": {"records": 1, "watch": 1}, "sha256": "…"}}

The digest is of all lines before the last, so that a file that was cut short or spoilt is known before anything of it is
put back. A section is a name, the lines that there are, and what makes a thing of a line and puts it back; the stores bring their own. Any
section may be put back again after it was interrupted.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, BinaryIO, Generic, TypeVar

from ingest.concurrency import for_each
from ingest.errors import BackupUnusable

BACKUP_FORMAT = 1
_END = "end"
_LINES_AT_ONCE = 16


Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class BackupSection(Generic[Thing]):
    """`lines`: what there is, each thing as JSON in one line. `load` makes the thing of a line, and raises ValueError,
    LookupError or TypeError for one that cannot be put back. `put` stores a thing, and does nothing where it is stored
    already."""

    name: str
    lines: AsyncIterator[bytes]
    load: Callable[[bytes], Thing]
    put: Callable[[Thing], Awaitable[None]]


Sections = Sequence[BackupSection[Any]]


async def write(
    file: BinaryIO,
    sections: Sections,
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

        def add(line: bytes) -> None:
            digest.update(line)
            packed.write(line)

        add(_json({"ritbot_backup": BACKUP_FORMAT, "ritbot": version, "made_at": now.isoformat()}))
        for section in sections:
            async for line in section.lines:
                add(b'{"%s":%s}\n' % (section.name.encode(), line))
                counts[section.name] += 1
                progress(counts)
        packed.write(_json({_END: {"counts": counts, "sha256": digest.hexdigest()}}))
    return counts


def check(
    file: BinaryIO, sections: Sections, seen: Callable[[str, Any], None] = lambda name, thing: None
) -> Counter[str]:
    """Read the whole file; how many lines each section has. `seen` is told each thing with the name of its section. Raises
    BackupUnusable unless all of it can be put back."""
    loads = {section.name: section.load for section in sections}
    counts: Counter[str] = Counter()
    for name, line in lines(file):
        if name not in loads:
            raise BackupUnusable(f"the backup holds {name!r}, which this ritbot cannot put back: upgrade ritbot")
        counts[name] += 1
        try:
            seen(name, loads[name](line))
        except (ValueError, LookupError, TypeError) as error:
            raise BackupUnusable(f"line {counts[name]} of {name!r} in the backup cannot be read: {error}") from error
    return counts


async def put_back(
    file: BinaryIO, sections: Sections, progress: Callable[[Counter[str]], None] = lambda counts: None
) -> None:
    """Store what the file holds, section by section as they stand in it. Raises store errors; then it can be done
    again."""
    by_name = {section.name: section for section in sections}
    counts: Counter[str] = Counter()

    async def put(name: str, line: bytes) -> None:
        await by_name[name].put(by_name[name].load(line))
        counts[name] += 1
        progress(counts)

    for name, group in groupby(lines(file), key=itemgetter(0)):
        await for_each(_each(group), partial(put, name), _LINES_AT_ONCE)


async def _each(group: Iterable[tuple[str, bytes]]) -> AsyncIterator[bytes]:
    for _, line in group:
        yield line


def lines(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Every line with the name of its section, from the file's beginning. Raises BackupUnusable, at the latest at the
    end."""
    file.seek(0)
    digest = hashlib.sha256()
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
            first = unpacked.readline()
            digest.update(first)
            _check_header(json.loads(first))
            for raw in unpacked:
                # As `write` made it. To parse every line here would cost more than all the rest of a restore.
                name, _, line = raw.removeprefix(b'{"').removesuffix(b"}\n").partition(b'":')
                if name == _END.encode():
                    _check_end(json.loads(line), digest.hexdigest(), rest=unpacked.read())
                    return
                digest.update(raw)
                yield name.decode(), line
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError, AttributeError, LookupError, TypeError) as error:
        raise BackupUnusable(f"this is no whole backup of ritbot ({error}): use another file") from error
    raise BackupUnusable("the backup was cut short: its end is missing. Use another file")


def _json(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _check_header(header: Mapping[str, Any]) -> None:
    found = header["ritbot_backup"]
    if found != BACKUP_FORMAT:
        raise BackupUnusable(
            f"the backup has format {found}, this ritbot reads {BACKUP_FORMAT}: use the ritbot that made it"
        )


def _check_end(end: Mapping[str, Any], digest: str, rest: bytes) -> None:
    if rest or end["sha256"] != digest:
        raise BackupUnusable("the backup is damaged: its lines are not those that were written. Use another file")
