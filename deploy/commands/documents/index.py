"""`ritbot index`: bring the index in step with a folder or a website, whichever the column: all pages are looked at and
handled in this process (ingest/watch/crawl.py), beside watchers and indexers that may run. Questions of `ritbot ask` are
answered meanwhile."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from io import StringIO
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.text import Text

from deploy.commands.command_line import Config, Folder, Target, console, fail, named_sites, run, settings_of
from deploy.commands.display import AGAIN, page_bar
from deploy.commands.documents.sites import take_out
from deploy.serving.local_answers import Work, answering_meanwhile
from deploy.serving.local_socket import INDEX, Fields, NotAnswered, listens, request
from deploy.settings.known_sites import KnownSites, known_sites
from deploy.settings.root import Settings
from deploy.wiring.events import open_telling
from deploy.wiring.stores import Stores, open_fetcher, open_stores
from ingest.counted import counted
from ingest.errors import SiteUnusable
from ingest.model import Site
from ingest.watch.crawl import Crawl, CrawlSummary
from ingest.watch.cycle_summary import Everything
from ingest.watch.removal_guard import Guard

MAX_PAGES_SHOWN = 10
"""Of a list of pages."""
MAX_SAID_COLUMNS = 1_000
"""Of what the holder of the folder says for another terminal, which wraps it."""


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What `ritbot index` is to do, for the process that holds the data folder."""

    sites: tuple[Site, ...]
    accept: bool = False


INDEX_REQUEST = TypeAdapter(IndexRequest)


def command(
    target: Target = None,
    name: Annotated[str | None, typer.Option(help="What to call the site.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Where a folder's files are published.")] = None,
    include: Annotated[list[str] | None, typer.Option(help="Only pages whose URL holds this pattern.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="No pages whose URL holds this pattern.")] = None,
    language: Annotated[str | None, typer.Option(help="The language of the pages.")] = None,
    delay: Annotated[float | None, typer.Option(help="Seconds between two requests.")] = None,
    allow_private: Annotated[bool, typer.Option("--allow-private", help="Fetch from private addresses too.")] = False,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="Fetch all pages and write them to the search index anew, changed or not; ids stay."
        ),
    ] = False,
    accept_removals: Annotated[bool, typer.Option(help="Let many pages go at once.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    options = {
        "name": name,
        "base_url": base_url,
        "include": include,
        "exclude": exclude,
        "language": language,
        "delay": delay,
        "allow_private": allow_private,
    }
    given = {option: value for option, value in options.items() if value}
    if target is None and given:
        fail(f"Name the folder, URL or site that {', '.join(sorted(given))} is for.")
    sites = named_sites(settings, target, given)
    if not rebuild:
        status = run(by_holder(settings, IndexRequest(tuple(sites), accept_removals), console))
        if status is not None:
            raise typer.Exit(status)
    summaries = run(index_sites(settings, sites, console, accept=accept_removals, rebuild=rebuild))
    raise typer.Exit(exit_status(summaries, asked=len(sites)))


async def by_holder(settings: Settings, wanted: IndexRequest, console: Console) -> int | None:
    """The exit status of the work where the process that holds the data folder has done it; None where none holds it that
    does such work. Raises NotAnswered."""
    folder = settings.index.folder
    if settings.stores.kind == "cluster" or not await listens(folder):
        return None
    console.print("Asking the process that holds the data folder …", style="dim")
    done = await request(folder, INDEX, INDEX_REQUEST.dump_python(wanted, mode="json"))
    if not done:
        return None
    console.print(Text(done["said"].rstrip()), soft_wrap=True)
    return int(done["status"])


def indexing(stores: Stores, added: Callable[[Site], None]) -> Work:
    """What the socket does with an IndexRequest, one after the other; `added` hears of each site that is known then."""
    turn = asyncio.Lock()

    async def work(fields: Fields) -> Fields:
        try:
            wanted = INDEX_REQUEST.validate_python(fields)
        except ValidationError:
            raise NotAnswered("the request is not understood") from None
        said = StringIO()
        async with turn:
            before = known_sites(stores.settings, stores.settings.index.folder)
            console = Console(file=said, width=MAX_SAID_COLUMNS)
            known, summaries = await _crawled(stores, before, wanted.sites, console, accept=wanted.accept)
        for site in wanted.sites:
            if site.name in known.sites:
                added(site)
        return {"said": said.getvalue(), "status": exit_status(summaries, asked=len(wanted.sites))}

    return work


async def index_sites(
    settings: Settings, sites: Sequence[Site], console: Console, *, accept: bool = False, rebuild: bool = False
) -> list[CrawlSummary]:
    """One crawl of each site; the summaries of what was done, also after an interruption. The sites are
    remembered in the data folder, unless they are new and gave nothing: of those nothing is left behind. Raises IngestError, SettingsError."""
    known = known_sites(settings, settings.index.folder)
    was_there = settings.index.folder.exists()
    console.print("Loading the embedding model …", style="dim")
    languages = tuple(dict.fromkeys((*known.languages(), *(site.language for site in sites))))
    async with (
        open_stores(settings, "ritbot index", rebuild=rebuild) as stores,
        answering_meanwhile(stores, languages),
    ):
        if rebuild:
            for site in sites:
                known = known.ended(site.name)  # what an earlier crawl had done does not count
        known, summaries = await _crawled(stores, known, sites, console, accept=accept)
    if not was_there and not known.sites and settings.index.folder.exists():
        await asyncio.to_thread(shutil.rmtree, settings.index.folder)
    return summaries


def exit_status(summaries: Sequence[CrawlSummary], asked: int) -> int:
    """0: all is well; 1: some pages failed or were held back; 3: a site gave nothing; 130: interrupted."""
    if not all(summary.finished for summary in summaries):
        return 130
    cycles = [summary.cycle for summary in summaries]
    if len(summaries) < asked or any(cycle.empty for cycle in cycles):
        return 3
    if any((s.cycle.failed or s.cycle.blocked) and not s.outcomes.total() for s in summaries):
        return 3
    return 1 if any(cycle.failed or cycle.held or cycle.astray for cycle in cycles) else 0


async def _crawled(
    stores: Stores, before: KnownSites, sites: Sequence[Site], console: Console, *, accept: bool
) -> tuple[KnownSites, list[CrawlSummary]]:
    """One crawl of each site over open stores, and what is known then."""
    known, summaries = before, list[CrawlSummary]()
    for site in sites:
        try:
            known, summary = await _one(stores, known, site, console, accept)
        except SiteUnusable as error:  # the other sites have their turn all the same
            console.print(Text(f"{site.name}: {error}", style="red"), soft_wrap=True)
            if site.name not in before.sites:
                await take_out(stores, site.name)
            continue
        if summary.cycle.empty and site.name not in before.sites:
            known = known.without(site.name).save()
            await take_out(stores, site.name)
        summaries.append(summary)
        print_summary(console, summary)
        if not summary.finished:
            break
    return known, summaries


async def _one(
    stores: Stores, known: KnownSites, site: Site, console: Console, accept: bool
) -> tuple[KnownSites, CrawlSummary]:
    since: datetime | None = known.interrupted.get(site.name)
    if since:
        console.print(f"Going on with the run of {since:%Y-%m-%d %H:%M} UTC, which was interrupted.", style="dim")
    began = stores.clock.now()
    noted: list[KnownSites] = []
    index = stores.settings.index
    with page_bar(console) as bar:
        task = bar.add_task(site.name, total=None, detail="")
        started = asyncio.get_running_loop().time()

        def show(summary: CrawlSummary) -> None:
            if not noted:  # pages were found, so it is a site: remembered from now on
                noted.append(known.with_site(site).began(site.name, began).save())
            seconds = max(asyncio.get_running_loop().time() - started, 0.001)
            bar.update(
                task,
                total=summary.cycle.found,
                completed=summary.cycle.done,
                detail=f"{counted(summary.nodes, 'node')} · {counted(summary.chunks, 'chunk')} · {summary.cycle.done / seconds:.1f} pages/s",
            )

        async with open_fetcher(site) as fetcher, open_telling(stores.settings) as tell:
            crawl = Crawl(
                site,
                trees=stores.trees,
                fetcher=fetcher,
                parser=stores.parser,
                make_indexer=partial(stores.indexer, tell=tell),
                clock=stores.clock,
                guard=Guard(index.guard_share),
                everything=Everything(since, accept),
                notes=stores.notes,
                workers=index.concurrency,
                progress=show,
            )
            try:
                summary = await crawl.run()
            except asyncio.CancelledError:
                return (noted or [known])[0], crawl.summary
    return noted[0].ended(site.name).save(), summary


def print_summary(console: Console, summary: CrawlSummary) -> None:
    """What the crawl did, and what the operator should know or do."""
    cycle = summary.cycle
    counts = {
        **{kind: summary.outcomes[kind] for kind in ("new", "changed", "unchanged", "moved", "alias")},
        "handled before": cycle.looked_at_before,
        "gone": len(cycle.gone),
        "not found": summary.outcomes["gone"],
        "skipped": sum(summary.skipped.values()) + len(cycle.blocked),
        "failed": len(cycle.failed),
    }
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count) or "nothing to do"
    made = f"{counted(summary.nodes, 'node')}, {counted(summary.chunks, 'chunk')}, {summary.embedded:,} embedded."
    console.print(Text.assemble((cycle.site, "bold"), f": {counted(cycle.done, 'page')} — {kinds}; {made}"))
    for reason, count in [*summary.skipped.most_common(), ("not allowed", len(cycle.blocked))]:
        if count:
            console.print(f"  skipped, {reason}: {count:,}")
    if summary.skipped and not cycle.empty:
        console.print(Text(f"  See which: ritbot sites {cycle.site} --pages skipped", style="dim"), soft_wrap=True)
    _pages(console, "gone", cycle.gone)
    _pages(console, "not found", [] if cycle.empty and cycle.done == 1 else summary.not_found)
    if not (cycle.empty and cycle.done == 1):  # else the warning says all
        _pages(console, "failed", cycle.failed)
        _pages(console, "not allowed", cycle.blocked)
    for warning in cycle.warnings:
        console.print(Text(f"  {warning}", style="yellow"))
    if cycle.stopped:
        _pages(console, "something else", cycle.held)
    elif cycle.held:
        console.print(
            Text(
                f"  {len(cycle.held):,} of {counted(cycle.live, 'page')} would go; that is so many that nothing was "
                f"removed. If it is right, run: ritbot index {cycle.site} --accept-removals",
                style="bold yellow",
            )
        )
        _pages(console, "would go", cycle.held)
    if not summary.finished:
        console.print(Text(f"  Interrupted: this ends in seconds, and nothing is lost. {AGAIN}", style="yellow"))


def _pages(console: Console, what: str, pages: Sequence[tuple[str, str]]) -> None:
    for url, reason in pages[:MAX_PAGES_SHOWN]:
        console.print(Text(f"  {what}: {url}  ({reason})"), soft_wrap=True)
    if len(pages) > MAX_PAGES_SHOWN:
        console.print(f"  and {len(pages) - MAX_PAGES_SHOWN:,} more")
