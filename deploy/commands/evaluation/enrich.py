"""`ritbot enrich`: let the model write, once for each content, what helps to find it: summaries, keywords, titles inside
long sections.

Titles come first, since the sections under them want summaries too. Pages that are split are read again, by this
process or, on Kafka, by the indexers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console

from deploy.commands.command_line import (
    Config,
    DryRun,
    Folder,
    MaxTokens,
    OneSite,
    console,
    needs_index,
    positive,
    run,
    settings_of,
)
from deploy.commands.display import say, tell_interrupted
from deploy.commands.documents.reindex import announce_pages, by_site, reread_site
from deploy.commands.evaluation.batch import (
    DEFAULT_RUN_DOLLARS,
    batch_bar,
    ledger_of,
    need_model,
    need_prices,
    spent,
    tell_end,
)
from deploy.settings.known_sites import KnownSites, known_sites
from deploy.settings.root import Settings
from deploy.wiring.evaluation import metered_model
from deploy.wiring.navigation import prices_of
from deploy.wiring.stores import Stores, open_stores
from ingest.indexing.reindex import undivided
from ingest.notes import NoteKind
from navigator.batch.runner import Progress
from navigator.enrichment.note_prompts import MAX_NOTE_TOKENS, NotePrompt, outline_prompts, summary_prompts
from navigator.enrichment.run import EnrichmentPlan, NoteWriter, plan_notes, unwritten
from navigator.evaluation.report.formats import money
from navigator.ports import Model

MISSING_NOTES: Mapping[NoteKind, str] = {
    "outline": "Long sections without headings",
    "summary": "Sections without a summary",
}


def command(
    site: OneSite = None,
    summaries: Annotated[bool, typer.Option("--summaries", help="Summaries and keywords; no outlines.")] = False,
    outlines: Annotated[bool, typer.Option("--outlines", help="Titles inside long sections; no summaries.")] = False,
    max_cost: Annotated[
        float | None, typer.Option(help="US dollars that this run may cost; else 5, where prices are known.")
    ] = None,
    max_tokens: MaxTokens = None,
    dry_run: DryRun = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    positive(max_cost, "--max-cost")
    needs_index(settings)
    both = summaries == outlines
    wanted = EnrichOptions(site, both or summaries, both or outlines, max_cost, max_tokens, dry_run)
    raise typer.Exit(run(enrich(settings, wanted, console)))


@dataclass(frozen=True, slots=True)
class EnrichOptions:
    site: str | None = None
    summaries: bool = True
    outlines: bool = True
    max_cost: float | None = None
    max_tokens: int | None = None
    dry_run: bool = False

    @property
    def kinds(self) -> list[NoteKind]:
        """In the order in which they are asked."""
        kinds: list[tuple[NoteKind, bool]] = [("outline", self.outlines), ("summary", self.summaries)]
        return [kind for kind, wanted in kinds if wanted]


async def enrich(settings: Settings, wanted: EnrichOptions, console: Console) -> int:
    """0: nothing is left to ask, or a dry run; 1: something is left; 130: interrupted. Raises IngestError,
    SettingsError."""
    known = known_sites(settings, settings.index.folder)
    known.need(wanted.site)
    if not wanted.dry_run:
        need_model(settings, "enrich")
        if wanted.max_tokens is None:
            need_prices(settings, "a ceiling in tokens with --max-tokens")
    async with open_stores(settings, "ritbot enrich") as stores:
        for kind in wanted.kinds:
            console.print(f"{MISSING_NOTES[kind]}: {_told(await _plan(stores, wanted.site, kind))}", soft_wrap=True)
        if wanted.dry_run:
            return 0
        try:
            return await _EnrichRun(stores, known, wanted, console).run()
        except asyncio.CancelledError:
            return tell_interrupted(console)


async def _plan(stores: Stores, site: str | None, kind: NoteKind) -> EnrichmentPlan:
    return await plan_notes(_unwritten(stores, site, kind), prices_of(stores.settings))


def _unwritten(stores: Stores, site: str | None, kind: NoteKind) -> AsyncIterator[NotePrompt]:
    prompts_of = outline_prompts if kind == "outline" else summary_prompts
    return unwritten(stores.trees, stores.notes, prompts_of, site)


def _told(plan: EnrichmentPlan) -> str:
    if not plan.questions:
        return "none."
    cost = "of unknown cost" if plan.cost is None else f"estimated cost {money(plan.cost)}"
    return f"{plan.questions:,}, {plan.input_tokens:,} tokens to read and {plan.output_tokens:,} to write, {cost}."


class _EnrichRun:
    """One run over open stores, within one budget."""

    def __init__(self, stores: Stores, known: KnownSites, wanted: EnrichOptions, console: Console) -> None:
        self._stores = stores
        self._known = known
        self._wanted = wanted
        self._console = console

    async def run(self) -> int:
        settings, complete = self._stores.settings, True
        ledger = ledger_of(settings, self._wanted.max_cost or DEFAULT_RUN_DOLLARS, self._wanted.max_tokens)
        async with metered_model(settings, ledger, max_output_tokens=MAX_NOTE_TOKENS) as model:
            for kind in self._wanted.kinds:
                progress = await self._ask(kind, model)
                complete &= progress.complete and not progress.outcomes["useless"]
                if kind == "outline":
                    complete &= await self._divide()
                if progress.ended:
                    break
        return 0 if complete else 1

    async def _ask(self, kind: NoteKind, model: Model) -> Progress:
        stores, site = self._stores, self._wanted.site
        total = (await _plan(stores, site, kind)).questions
        if not total:
            return Progress()

        def told(progress: Progress) -> tuple[int, str]:
            useless = progress.outcomes["useless"]
            return progress.done + progress.failed, spent(writer.used) + (f" · {useless} of no use" if useless else "")

        with batch_bar(self._console, "sections", total, told) as show:
            writer = NoteWriter(model, stores.notes, show=show)
            progress = await writer.run(_unwritten(stores, site, kind))
        what = "Outlines" if kind == "outline" else "Summaries"
        say(self._console, f"{what} written: {progress.outcomes['kept']:,}, for {spent(writer.used)}.")
        if useless := progress.outcomes["useless"]:
            again = f"{useless} replies were of no use (the last: {writer.useless_reason})"
            say(self._console, f"  {again}; the next run asks again, a few times.")
        tell_end(self._console, progress)
        return progress

    async def _divide(self) -> bool:
        """Bring pages in step with the outlines; whether all are."""
        stores, site = self._stores, self._wanted.site
        pages = by_site(await undivided(stores.trees, stores.notes, site), self._known.sites, self._console)
        if pages and stores.settings.events.kind == "kafka":
            await announce_pages(stores, pages, self._console)
            return True
        for name, those in pages.items():
            await reread_site(stores, self._known.sites[name], those, self._console)
        return not (pages and await undivided(stores.trees, stores.notes, site))
