"""`ritbot reembed`: bring the search index to the embedding model that is set, from the trees, without fetching."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from deploy.commands.command_line import Config, Folder, console, needs_index, run, settings_of
from deploy.commands.display import page_bar, tell_interrupted
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.wiring.stores import open_successor
from ingest.counted import counted
from ingest.indexing.reembed import Reembedding, ReembedProgress


def command(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the index of the model before, for a way back.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    needs_index(settings)
    raise typer.Exit(run(reembed(settings, console, keep=keep)))


async def reembed(settings: Settings, console: Console, *, keep: bool = False) -> int:
    """0 when the new index is live and complete, 130 when interrupted; `keep` leaves what was live before. Raises
    IngestError, SettingsError."""
    known = known_sites(settings, settings.index.folder)
    console.print("Loading the embedding model …", style="dim")
    async with open_successor(settings, "ritbot reembed") as (stores, successor):
        what = (
            "live already; what does not fit is brought in step" if successor.live else "filled beside the live index"
        )
        console.print(Text(f"Index of {stores.embedder.name}: {what}."))
        started = asyncio.get_running_loop().time()
        with page_bar(console) as bar:
            task = bar.add_task("filling", total=None, detail="")

            def show(progress: ReembedProgress) -> None:
                seconds = max(asyncio.get_running_loop().time() - started, 0.001)
                bar.update(
                    task,
                    description=progress.phase,
                    total=progress.pages,
                    completed=progress.done,
                    detail=f"{counted(progress.embedded, 'text')} embedded · {progress.embedded / seconds:.1f}/s",
                )

            run = Reembedding(
                stores.trees,
                successor,
                stores.embedder,
                stores.sizes,
                {name: site.language for name, site in known.sites.items()},
                workers=settings.index.concurrency,
                show=show,
            )
            try:
                done = await run.run()
            except asyncio.CancelledError:
                return tell_interrupted(console)
        dropped = False if keep else await successor.drop_before()
        rest = "removed" if dropped else "kept" if keep else "not there"
        console.print(
            f"Done: {counted(done.pages, 'page')}, {counted(done.chunks, 'chunk')}, {counted(done.embedded, 'text')} embedded."
            f" The index before: {rest}."
        )
    return 0
