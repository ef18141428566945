"""`ritbot doctor`: is everything there, and if not, what to do."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from deploy.commands.command_line import Config, Folder, console, no_index, run, settings_of
from deploy.commands.display import Finding, show_findings
from deploy.log import HIDDEN, SECRET_TEXT
from deploy.settings.known_sites import KnownSites, known_sites
from deploy.settings.root import Settings, config_file
from deploy.wiring.events import dead_letters_waiting, events_waiting, open_events
from deploy.wiring.navigation import anthropic_model
from deploy.wiring.stores import Stores, open_fetcher, open_stores, open_trees
from ingest.concurrency import for_each
from ingest.counted import counted, verb
from ingest.embedding.weights import MINILM, check_folder, packaged_minilm
from ingest.errors import FetchFailed, FolderBusy, IngestError, ModelMissing
from ingest.events.topics import PAGES
from ingest.indexing.reindex import is_outdated
from ingest.indexing.service import MAX_DEAD_LETTERS_IN_A_ROW, recently_given_up
from ingest.model import PARSER_VERSION, Site
from ingest.ports import Fetcher, PageState, TreeStore
from ingest.watch.report import watch_report

Reach = Callable[[Site], AbstractAsyncContextManager[Fetcher]]
"""Opens what a site is read through."""
open_once: Reach = partial(open_fetcher, attempts=1)
MAX_SITES_AT_ONCE = 8
"""That are asked whether they answer."""
MIN_FREE_BYTES = 500_000_000
"""Bytes; with less room left than this an index may not be written."""


def command(config: Config = None, folder: Folder = None) -> None:
    raise typer.Exit(run(doctor(settings_of(config, folder), console, config)))


async def doctor(settings: Settings, console: Console, config: Path | None, reach: Reach = open_once) -> int:
    """Print the findings as they come; 0 if there is no fault. Each site is asked once for its start, by `reach`."""
    unwell = False

    async def findings() -> AsyncIterator[Finding]:
        nonlocal unwell
        async for finding in _findings(settings, config, reach):
            unwell = unwell or finding.unwell
            yield finding

    faults = await show_findings(findings(), console)
    well = "Some pages fail, too few and not long enough to act." if unwell else "Everything is in order."
    console.print()
    console.print(well if not faults else f"{counted(faults, 'thing')} to mend.")
    return 1 if faults else 0


async def _findings(settings: Settings, config: Path | None, reach: Reach) -> AsyncIterator[Finding]:
    path = config_file(config)
    yield Finding(
        True, f"Settings: {path.resolve() if path else 'defaults and variables; there is no ritbot.toml here'}"
    )
    yield _weights(settings)
    yield _disk(settings.index.folder)
    async for finding in _index(settings):
        yield finding
    async for finding in _reached(settings, reach):
        yield finding
    async for finding in _events(settings):
        yield finding
    async for finding in _model(settings):
        yield finding
    if settings.slack.wanted:
        from deploy.commands.upkeep.slack_check import slack_findings  # its libraries take a moment to import

        async for finding in slack_findings(settings):
            yield finding


def _weights(settings: Settings) -> Finding:
    model = settings.embedding.model
    if model != MINILM:
        there = Path(model).expanduser().is_dir()
        try:
            check_folder(Path(model).expanduser())
        except ModelMissing as error:
            return Finding(False, f"Embedding model: {model} is of no use here", str(error))
        if there or settings.embedding.allow_download:
            return Finding(True, f"Embedding model: {model}")
        return Finding(
            False, f"Embedding model: no folder {model}", "Name a folder in embedding.model, or allow_download."
        )
    try:
        packaged_minilm()
    except ModelMissing as error:
        return Finding(False, "Embedding model: its weights are missing", str(error))
    return Finding(True, f"Embedding model: {model}, weights installed and as published")


def _disk(folder: Path) -> Finding:
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    what = f"Data folder: {folder} ({free / 1e9:.1f} GB free)"
    return (
        Finding(True, what)
        if free > MIN_FREE_BYTES
        else Finding(False, what, "Make room, or set index.folder elsewhere.")
    )


async def _index(settings: Settings) -> AsyncIterator[Finding]:
    if no_index(settings):
        yield Finding(False, "Index: none yet", "Make one: ritbot index FOLDER or URL.")
        return
    try:
        known = known_sites(settings, settings.index.folder)
        if not known.sites:
            yield Finding(False, "Index: no site yet", "Index one: ritbot index FOLDER or URL.")
        async with open_stores(settings, "ritbot doctor") as stores:
            if settings.stores.kind == "cluster":
                where = f"OpenSearch at {settings.stores.opensearch_url}, Qdrant at {settings.stores.qdrant_url}"
                yield Finding(True, f"Stores: {SECRET_TEXT.sub(HIDDEN, where)}")
            async for finding in _sites(known, stores.trees):
                yield finding
            async for finding in _searched(stores):
                yield finding
    except FolderBusy as error:  # by a healthy `ritbot serve`, as a rule: no fault
        async with open_trees(settings) as trees:
            async for finding in _sites(known, trees):
                yield finding
        yield Finding(None, "Search index: not looked at, since another process works with it", str(error))
    except IngestError as error:
        yield Finding(False, "Index: it cannot be opened", str(error))


async def _sites(known: KnownSites, trees: TreeStore) -> AsyncIterator[Finding]:
    """What is indexed of each site, and what its watcher and its last crawl would have the operator know."""
    states: defaultdict[str, Counter[str]] = defaultdict(Counter)
    async for page in trees.scan():
        states[page.site][page.state] += 1
    for name, site in known.sites.items():
        counts = states[name]
        text = ", ".join(f"{count} {state}" for state, count in counts.most_common()) or "not indexed yet"
        yield Finding(
            bool(counts["live"]),
            f"Site {name} ({site.start}): {text}",
            "" if counts["live"] else f"Run: ritbot index {name}",
        )
        async for finding in _watched(trees, name):
            yield finding
    for name, when in known.interrupted.items():
        what = f"Site {name}: the run of {when:%Y-%m-%d %H:%M} UTC did not end"
        yield Finding(None, what, f"Run: ritbot index {name}")


async def _reached(settings: Settings, reach: Reach) -> AsyncIterator[Finding]:
    """Sites whose start gives nothing now: what is indexed of them is served, and grows old."""
    sites = list(known_sites(settings, settings.index.folder).sites.values())
    wrong: dict[str, str] = {}

    async def look(site: Site) -> None:
        try:
            async with reach(site) as fetcher:
                if not site.is_folder:
                    status = (await fetcher.fetch(site.start)).status
                    if not 200 <= status < 300:
                        raise FetchFailed(f"{site.start} answered with status {status}")
        except IngestError as error:
            wrong[site.name] = str(error)

    await for_each(sites, look, MAX_SITES_AT_ONCE)
    for name, reason in sorted(wrong.items()):
        yield Finding(
            False,
            f"Site {name} cannot be reached: {reason}",
            "See to the site, its start and the network; what is indexed of it is still served.",
        )


async def _searched(stores: Stores) -> AsyncIterator[Finding]:
    """Whether all pages are of today's make, and all their chunks there."""
    analyser = stores.made_by.partition("/")[0]
    pages = sections = listed = read = other = 0
    async for state in stores.trees.scan():
        if state.state == "live":
            old = is_outdated(state, stores.made_by)
            otherwise = old and _read_otherwise(state, analyser)
            read, other = read + otherwise, other + (old and not otherwise)
            pages, sections, listed = pages + 1, sections + state.nodes, listed + state.chunks
    if read:
        yield Finding(
            None,
            f"Versions: {counted(read, 'page')} {verb(read, 'was', 'were')} read by another version of ritbot",
            "Run: ritbot reindex",
        )
    if other:
        what = f"Versions: {counted(other, 'page')} {verb(other, 'was', 'were')} cut and embedded with other settings"
        yield Finding(None, what, "Run: ritbot reembed")
    held = await stores.index.count()
    if listed > held:
        lost = listed - held
        what = f"Search index: {lost:,} of {counted(listed, 'chunk')} {verb(lost, 'is', 'are')} missing"
        yield Finding(False, what, "Run: ritbot reconcile --repair")
    else:
        yield Finding(
            True,
            f"Search index: {counted(held, 'chunk')} of {counted(sections, 'section')} on {counted(pages, 'page')}",
        )


def _read_otherwise(state: PageState, analyser: str) -> bool:
    return state.parser_version != PARSER_VERSION or state.analyser_version.partition("/")[0] != analyser


async def _watched(trees: TreeStore, name: str) -> AsyncIterator[Finding]:
    """What the watcher of a site would have its operator know."""
    report = await watch_report(trees, name)
    if report.problem:
        yield Finding(False, f"Watching {name}: {report.problem}", "See to the site; nothing is removed meanwhile.")
    if report.held:
        yield Finding(
            False,
            f"Watching {name}: {counted(len(report.held), 'page')} would go or answer with something else, so many that all are kept",
            f"If it is right, run: ritbot watch --accept {name}",
        )
    if report.astray:
        failing, missing = len(report.failing), len(report.missing)
        yield Finding(
            False if report.alerts else None,
            f"Watching {name}: {counted(failing, 'page')} gave no answer, {missing:,} {verb(missing, 'was', 'were')} not found",
            f"What is known of them is still served. See which: ritbot sites {name}",
            unwell=True,
        )


async def _events(settings: Settings) -> AsyncIterator[Finding]:
    """The event log between watcher and indexer."""
    if no_index(settings):
        return
    what = f"Kafka at {settings.events.servers}" if settings.events.kind == "kafka" else "a file in the data folder"
    try:
        async with open_events(settings) as events:
            behind = (await events_waiting(events, [PAGES]))[PAGES]
            dead = sum((await dead_letters_waiting(events)).values())
            in_a_row = await recently_given_up(events, datetime.now(UTC)) if dead else ()
    except IngestError as error:
        yield Finding(False, f"Event log: {what} does not answer", str(error))
        return
    yield Finding(True, f"Event log: {what}; {counted(behind, 'event')} {verb(behind, 'waits', 'wait')} for an indexer")
    if dead:
        yield Finding(
            False, f"Dead letters: {counted(dead, 'event')} could not be handled", "See why: ritbot dead-letters"
        )
    if len(in_a_row) >= MAX_DEAD_LETTERS_IN_A_ROW - 1:
        yield Finding(
            False,
            f"Indexing: {counted(len(in_a_row), 'page')} {verb(len(in_a_row), 'was', 'were')} given up within a day; the indexer stops rather than give up more",
            "When the cause is mended: ritbot dead-letters --replay all",
        )


async def _model(settings: Settings) -> AsyncIterator[Finding]:
    if settings.model.chosen == "extractive":
        yield Finding(
            True, "Model: none; answers are extracts", "Set model.api_key (RITBOT_MODEL__API_KEY) for written answers."
        )
        return
    async with anthropic_model(settings) as model:
        found = await model.probe()
        usable = found.reachable and found.key_accepted is not False and found.model_known is not False
        yield Finding(usable and found.tools is not False, f"Model: {settings.model.name}", " ".join(found.notes))
