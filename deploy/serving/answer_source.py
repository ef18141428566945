"""Who answers the question of a command: the process that holds the data folder, through its socket, else this one.

Either way the answer is the same object. What loads a model is imported only where this process has to answer.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from deploy.serving.local_socket import listens, request
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from ingest.counted import counted, verb
from ingest.errors import FolderBusy, SiteUnusable
from ingest.model import Scope
from navigator.answer import Answer
from navigator.codec import load_answer
from navigator.question.rewrite import Earlier

if TYPE_CHECKING:
    from deploy.wiring.stores import Stores
    from navigator.navigator import Navigator

ASK = "ask"
"""What the request is called at the socket."""
MAX_HOLDER_WAIT_SECONDS = 20.0
"""Seconds that a question waits for a process that holds the folder and takes no questions: a reembed, or one that is only
starting."""
HOLDER_RETRY_SECONDS = 0.3
"""Seconds between two tries."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question, where to look, and what was said before. `strategy` "": the scope's. `version_given`: the scope's version
    counts, whatever the question names."""

    question: str
    scope: Scope
    earlier: tuple[Earlier, ...] = ()
    strategy: str = ""
    version_given: bool = False


ASKED = TypeAdapter(AskRequest)

Ask = Callable[[AskRequest], Awaitable[Answer]]
"""Raises IngestError."""


@asynccontextmanager
async def open_asker(settings: Settings) -> AsyncIterator[Ask]:
    """Raises FolderBusy where the holder of the folder takes no questions for as long as patience lasts, and all that
    opening the stores raises."""
    folder, give_up = settings.index.folder, time.monotonic() + MAX_HOLDER_WAIT_SECONDS
    async with AsyncExitStack() as stack:
        while True:
            if settings.stores.kind == "embedded" and await listens(folder):
                ask = _ask_there(folder)
                break
            try:
                ask = await stack.enter_async_context(_open_here(settings))
                break
            except FolderBusy:
                if time.monotonic() >= give_up:
                    raise
                await asyncio.sleep(HOLDER_RETRY_SECONDS)
        yield ask


def asks(stores: Stores, navigator: Navigator) -> Ask:
    """Questions to open stores; where there is nothing to look in they are not asked."""

    async def ask(asked: AskRequest) -> Answer:
        await check_scope(stores, asked.scope)
        return await navigator.ask(
            asked.question,
            asked.scope,
            earlier=asked.earlier,
            strategy=asked.strategy,
            version_given=asked.version_given,
        )

    return ask


def _ask_there(folder: Path) -> Ask:
    async def ask(asked: AskRequest) -> Answer:
        fields = ASKED.dump_python(asked, mode="json")
        return load_answer(json.dumps(await request(folder, ASK, fields)).encode())

    return ask


@asynccontextmanager
async def _open_here(settings: Settings) -> AsyncIterator[Ask]:
    from deploy.wiring.navigation import open_navigator
    from deploy.wiring.stores import open_stores

    languages = known_sites(settings, settings.index.folder).languages()
    async with open_stores(settings, "ritbot ask") as stores, open_navigator(stores, languages) as navigator:
        yield asks(stores, navigator)


async def check_scope(stores: Stores, scope: Scope) -> None:
    """Raises SiteUnusable where there is nothing to look in: an empty index, a version that no page has."""
    if await stores.index.count(scope):
        return
    pages, versions = 0, set[str]()
    async for state in stores.trees.scan():
        if state.state == "live":
            pages += 1
            versions.add(state.version)
    if not pages:
        raise SiteUnusable("Nothing is indexed yet. Run: ritbot index FOLDER or URL.")
    if not await stores.index.count():
        raise SiteUnusable(
            f"The search index is lost; {counted(pages, 'page')} {verb(pages, 'is', 'are')} known. Run: ritbot reconcile --repair"
        )
    told = ", ".join(sorted(filter(None, versions)))
    known = f" Versions there are: {told}." if told else ""
    raise SiteUnusable(f"No page is indexed for the site or version that you named.{known}")
