"""A file of JSON lines that only grows, for one process at a time.

What was appended is in the file when `append` returns, so that a process that is killed loses nothing but the line
it was writing; whoever opens the file next takes that torn line away.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from io import BufferedRandom
from pathlib import Path
from typing import Self, TypeVar

if sys.platform != "win32":
    import fcntl


Row = TypeVar("Row")


class JsonLines:
    """`with` opens the file, made with its folder where it is not there, and holds it. Raises OSError, so where another
    process holds it. `found`: the lines that were there; `unreadable`: how many of them `rows` passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.found: tuple[bytes, ...] = ()
        self.unreadable = 0

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BufferedRandom = open(self._path, "ab+")
        try:
            self._hold()
            self.found = self._mended()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def rows(self, load: Callable[[bytes], Row]) -> Iterator[Row]:
        """What `load` makes of the lines that were there. One that it cannot read (ValueError, KeyError, TypeError) counts as
        not there."""
        self.unreadable = 0
        for line in self.found:
            try:
                yield load(line)
            except (ValueError, KeyError, TypeError, RecursionError):
                self.unreadable += 1

    def append(self, line: str) -> None:
        """Without its line break. Raises OSError, and ValueError for what is not one line of Unicode."""
        if "\n" in line:
            raise ValueError("a line holds no line break")
        self._file.write(line.encode() + b"\n")
        self._file.flush()

    def _hold(self) -> None:
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(errno.EWOULDBLOCK, "another process writes here", str(self._path)) from None

    def _mended(self) -> tuple[bytes, ...]:
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._file.truncate(whole)
        self._file.seek(0, os.SEEK_END)
        return tuple(data[:whole].split(b"\n")[:-1])
