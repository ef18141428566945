"""The crash test of the command itself: `ritbot watch`, with the real embedding model, in a folder of its own."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from deploy.settings.root import load
from deploy.wiring.events import open_events
from deploy.wiring.stores import open_stores
from tests.chaos.columns import Stores
from tests.chaos.runs import Plan, Rig, run
from tests.chaos.storm import Report
from tests.fakes.docsite import DocSite

SETTINGS = """
[index]
folder = "{folder}/data"
guard_share = 1.0
[watch]
every = 1
[http]
port = 0
[log]
level = "debug"
format = "json"
[[sites]]
name = "docs"
start = "{start}"
sitemap = "{start}sitemap.xml"
allow_private = true
obey_robots = false
"""
RITBOT = (sys.executable, "-c", "from deploy.commands.cli import main; main()")


async def run_commands(plan: Plan) -> Report:
    return await run(plan, partial(commands, plan), {})


def commands(plan: Plan, docs: DocSite) -> Rig:
    config = plan.folder / "ritbot.toml"
    config.write_text(SETTINGS.format(folder=plan.folder, start=docs.url("/")), encoding="utf-8")
    settings = load(config, {})

    @asynccontextmanager
    async def stores() -> AsyncIterator[Stores]:
        async with open_stores(settings, "the crash test") as opened:
            yield Stores(opened.trees, opened.index, opened.embedder, opened.sizes)

    @asynccontextmanager
    async def scratch() -> AsyncIterator[Stores]:
        folder = plan.folder / "scratch"
        command = [*RITBOT, "index", "--config", str(config), "--folder", str(folder)]
        process = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=DEVNULL)
        assert await process.wait() == 0, "ritbot index failed"
        fresh = settings.model_copy(update={"index": settings.index.model_copy(update={"folder": folder})})
        async with open_stores(fresh, "the crash test") as opened:
            yield Stores(opened.trees, opened.index, opened.embedder, opened.sizes)

    return Rig(
        everyone={"ritbot watch": [sys.executable, "-m", "tests.chaos.quick_watch", str(config)]},
        no_watcher={},
        open_stores=stores,
        open_events=partial(open_events, settings),
        open_scratch=scratch,
    )
