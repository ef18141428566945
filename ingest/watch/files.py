"""When something changes in a folder, as the operating system tells it (watchfiles)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from watchfiles import awatch

from ingest.errors import SiteUnusable


async def folder_changes(folder: str, stop: asyncio.Event, quiet: float = 2.0) -> AsyncIterator[int]:
    """After each burst of changes, once nothing more has changed for `quiet` seconds (at most ten times as long), how
    many files it touched. Ends when `stop` is set. Raises SiteUnusable where the folder is not there or
    cannot be watched (a network share, too few watches): then it must be scanned."""
    pause = int(quiet * 1000)
    try:
        async for changes in awatch(
            folder,
            step=pause,
            debounce=10 * pause,
            stop_event=stop,
            rust_timeout=1000,
            recursive=True,
            ignore_permission_denied=True,
        ):
            yield len(changes)
    except (OSError, RuntimeError) as error:
        raise SiteUnusable(f"The folder {folder} cannot be watched ({error}); it is scanned instead") from error
