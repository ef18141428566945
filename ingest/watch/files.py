"""When something changes in a folder, as the operating system tells it (watchfiles)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

from watchfiles import awatch

from ingest.errors import SiteUnusable


async def folder_changes(folder: str, stop: asyncio.Event, quiet: float = 2.0) -> AsyncIterator[int]:
    """After each burst of changes, once nothing more has changed for `quiet` seconds (at most ten times as long), how
    many files it touched. Ends when `stop` is set, and when another folder has taken this one's place (a build that
    is swapped in): listen anew then. Raises SiteUnusable where the folder is not there or cannot be watched (too
    few watches): then it must be scanned."""
    pause = int(quiet * 1000)
    watched = await asyncio.to_thread(_identity, folder)
    if watched is None:
        raise SiteUnusable(f"The folder {folder} is not there and cannot be watched")
    try:
        async for changes in awatch(
            folder,
            step=pause,
            debounce=10 * pause,
            stop_event=stop,
            rust_timeout=1000,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            replaced = await asyncio.to_thread(_identity, folder) != watched
            if changes or replaced:
                yield max(len(changes), 1)
            if replaced:
                return
    except (OSError, RuntimeError) as error:
        raise SiteUnusable(f"The folder {folder} cannot be watched ({error}); it is scanned instead") from error


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino
