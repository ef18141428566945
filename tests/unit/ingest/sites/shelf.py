"""A Fetcher over a dict, and a clock that passes only while somebody sleeps."""

from __future__ import annotations

import asyncio

from ingest.errors import FetchFailed
from ingest.ports import Fetched


class Shelf:
    """URL -> body, status, or the failure to raise; 404 for what is not there. `asked` in order."""

    def __init__(self, files: dict[str, bytes | str | int | FetchFailed]) -> None:
        self.files = files
        self.asked: list[str] = []

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
        self.asked.append(url)
        found = self.files.get(url, 404)
        if isinstance(found, FetchFailed):
            raise found
        if isinstance(found, int):
            return Fetched(url, found, b"")
        return Fetched(url, 200, found.encode() if isinstance(found, str) else found)


class SleepClock:
    """`sleep` takes no real time, but lets other tasks run."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)
