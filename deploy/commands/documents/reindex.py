"""`ritbot reindex`: after an upgrade, read the pages again that an older parser or analyser made; questions are
answered meanwhile."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.text import Text

from deploy.commands.command_line import Config, Folder, OneSite, console, needs_index, run, settings_of
from deploy.commands.display import page_bar, tell_interrupted
from deploy.commands.documents.index import MAX_PAGES_SHOWN
from deploy.serving.local_answers import answering_meanwhile
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.wiring.events import open_events, open_telling
from deploy.wiring.stores import Stores, open_fetcher, open_stores
from ingest.counted import counted, verb
from ingest.errors import SiteUnusable
from ingest.events.announce import Announcer, to_log
from ingest.indexing.reindex import ReindexSummary, announce, outdated, reread
from ingest.model import Site
from ingest.ports import PageState


def command(site: OneSite = None, config: Config = None, folder: Folder = None) -> None:
    settings = settings_of(config, folder)
    needs_index(settings)
    raise typer.Exit(run(reindex(settings, site, console)))


async def reindex(settings: Settings, name: str | None, console: Console) -> int:
    """One site, or all. 0: every page is of this version, or announced to the indexers; 1: some are left; 130:
    interrupted. Raises IngestError, SettingsError."""
    known = known_sites(settings, settings.index.folder)
    known.need(name)
    async with (
        open_stores(settings, "ritbot reindex", upgrade=True) as stores,
        answering_meanwhile(stores, known.languages()),
    ):
        found = await outdated(stores.trees, stores.made_by, name)
        if not found:
            console.print("Every page was made by this version: nothing to do.")
            return 0
        pages = by_site(found, known.sites, console)
        unknown = len(found) - sum(map(len, pages.values()))
        if settings.events.kind == "kafka":
            await announce_pages(stores, pages, console)
            console.print("ritbot doctor says how many are left.")
            return 1 if unknown else 0
        try:
            for site, those in pages.items():
                await reread_site(stores, known.sites[site], those, console)
        except asyncio.CancelledError:
            return tell_interrupted(console)
        left = len(await outdated(stores.trees, stores.made_by, name))
        console.print(
            f"{counted(left, 'page')} {verb(left, 'is', 'are')} left." if left else "Every page is of this version now."
        )
        return 1 if left else 0


def by_site(pages: Iterable[PageState], sites: Mapping[str, Site], console: Console) -> dict[str, list[PageState]]:
    """The pages of each of the sites; how many are of no site is told."""
    found: defaultdict[str, list[PageState]] = defaultdict(list)
    for page in pages:
        found[page.site].append(page)
    unknown = sum(len(found.pop(site)) for site in found.keys() - sites.keys())
    if unknown:
        console.print(f"{counted(unknown, 'page')} of sites that no settings name: left as before.", style="yellow")
    return found


async def announce_pages(stores: Stores, pages: Mapping[str, Sequence[PageState]], console: Console) -> None:
    """Leave it to the indexers to read the pages again."""
    async with open_events(stores.settings) as events:
        announcer = Announcer(stores.trees, to_log(events), stores.clock)
        for site, those in pages.items():
            await announce(those, announcer, stores.trees)
            console.print(f"{site}: {counted(len(those), 'page')} announced; the indexers read again at their pace.")


async def reread_site(stores: Stores, site: Site, pages: Sequence[PageState], console: Console) -> None:
    """Read the pages of a site again, in this process."""
    with page_bar(console) as bar:
        task = bar.add_task(site.name, total=len(pages), detail="")
        try:
            summary = await _read(stores, site, pages, bar, task)
        except SiteUnusable as error:  # the other sites have their turn all the same
            console.print(Text(f"{site.name}: {error}", style="red"), soft_wrap=True)
            return
    console.print(
        f"{site.name}: {counted(summary.done, 'page')} read again, {counted(summary.embedded, 'text')} embedded."
    )
    for url, why in summary.left[:MAX_PAGES_SHOWN]:
        console.print(Text(f"  left: {url}  ({why})"), soft_wrap=True)
    if len(summary.left) > MAX_PAGES_SHOWN:
        console.print(f"  and {len(summary.left) - MAX_PAGES_SHOWN:,} more")
    if summary.left:
        console.print(f"  What moved or went is settled by: ritbot index {site.name}")


async def _read(stores: Stores, site: Site, pages: Sequence[PageState], bar: Progress, task: TaskID) -> ReindexSummary:
    async with open_fetcher(site) as fetcher, open_telling(stores.settings) as tell:
        indexer = stores.indexer(site, stores.reader(site, fetcher), tell)
        return await reread(
            pages,
            indexer,
            stores.trees,
            stores.clock,
            workers=stores.settings.index.concurrency,
            show=lambda summary: bar.update(
                task, completed=summary.done, detail=f"{counted(summary.embedded, 'text')} embedded"
            ),
        )
