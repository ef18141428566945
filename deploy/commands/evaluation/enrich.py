"""`ritbot enrich`: let the model write, once for each content, what helps to find it: summaries, keywords, titles inside
long sections.

Titles come first, since the sections under them want summaries too. Pages that are split are read again, by this
process or, on Kafka, by the indexers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from deploy.commands.command_line import (
    Config,
    DryRun,
    Folder,
    OneSite,
    console,
    needs_index,
    positive,
    run,
    settings_of,
)
from deploy.commands.display import page_bar
from deploy.commands.documents.reindex import announce_pages, by_site, reread_site
from deploy.settings.known_sites import KnownSites, known_sites
from deploy.settings.messages import SettingsError, did_you_mean
from deploy.settings.root import Settings
from deploy.wiring.navigation import anthropic_model, prices_of
from deploy.wiring.stores import Stores, open_stores
from ingest.indexing.reindex import undivided
from ingest.model import Node
from ingest.notes import NoteKind
from navigator.enrichment import outlines, summaries
from navigator.enrichment.budget import Budget, price
from navigator.enrichment.question import OUTPUT_TOKENS, NotePrompt
from navigator.enrichment.run import CEILING, Asking, Asks, EnrichmentPlan, Progress, left, planned
from navigator.ports import Model

NAMES: Mapping[NoteKind, str] = {"outline": "Long sections without headings", "summary": "Sections without a summary"}


def command(
    site: OneSite = None,
    summaries: Annotated[bool, typer.Option("--summaries", help="Summaries and keywords; no outlines.")] = False,
    outlines: Annotated[bool, typer.Option("--outlines", help="Titles inside long sections; no summaries.")] = False,
    max_cost: Annotated[
        float | None, typer.Option(help="US dollars that this run may cost; else enrichment.max_cost.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Tokens that this run may take; else enrichment.max_tokens.")
    ] = None,
    dry_run: DryRun = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    positive(max_cost, "--max-cost")
    positive(max_tokens, "--max-tokens")
    needs_index(settings)
    ceilings = {"max_cost": max_cost, "max_tokens": max_tokens}
    settings = bounded(settings, {name: value for name, value in ceilings.items() if value is not None})
    both = summaries == outlines
    wanted = EnrichOptions(site, both or summaries, both or outlines, dry_run)
    raise typer.Exit(run(enrich(settings, wanted, console)))


@dataclass(frozen=True, slots=True)
class EnrichOptions:
    site: str | None = None
    summaries: bool = True
    outlines: bool = True
    dry_run: bool = False

    @property
    def kinds(self) -> list[NoteKind]:
        """In the order in which they are asked."""
        kinds: list[tuple[NoteKind, bool]] = [("outline", self.outlines), ("summary", self.summaries)]
        return [kind for kind, wanted in kinds if wanted]


def bounded(settings: Settings, ceilings: Mapping[str, float]) -> Settings:
    """The settings with other ceilings."""
    return settings.model_copy(update={"enrichment": settings.enrichment.model_copy(update=dict(ceilings))})


async def enrich(settings: Settings, wanted: EnrichOptions, console: Console) -> int:
    """0: nothing is left to ask, or a dry run; 1: something is left; 130: interrupted. Raises IngestError,
    SettingsError."""
    known = known_sites(settings, settings.index.folder)
    if wanted.site is not None and wanted.site not in known.sites:
        raise SettingsError(f"there is no site called {wanted.site}{did_you_mean(wanted.site, known.sites)}")
    if not wanted.dry_run:
        _needs_model_and_ceiling(settings)
    async with open_stores(settings, "ritbot enrich") as stores:
        for kind in wanted.kinds:
            console.print(f"{NAMES[kind]}: {_told(await _plan(stores, wanted.site, kind))}", soft_wrap=True)
        if wanted.dry_run:
            return 0
        try:
            return await _Run(stores, known, wanted, console).run()
        except asyncio.CancelledError:
            console.print("Interrupted; nothing is lost. Run the same command again and it goes on.", style="yellow")
            return 130


def _needs_model_and_ceiling(settings: Settings) -> None:
    if settings.model.chosen != "anthropic":
        raise SettingsError(
            "ritbot enrich needs a language model, and none is set: set ANTHROPIC_API_KEY or model.api_key, and leave "
            "model.provider at auto or anthropic"
        )
    if price(prices_of(settings), 1, 1) is None and settings.enrichment.max_tokens is None:
        raise SettingsError(
            f"what {settings.model.name} costs is not known, so that dollars are no ceiling: set model.prices.input and "
            "model.prices.output, or a ceiling in tokens with --max-tokens or enrichment.max_tokens"
        )


def _asks(kind: NoteKind) -> Asks:
    def of(nodes: Sequence[Node]) -> list[NotePrompt]:
        if kind == "outline":
            return outlines.questions(nodes)
        return summaries.questions(nodes)

    return of


async def _plan(stores: Stores, site: str | None, kind: NoteKind) -> EnrichmentPlan:
    return await planned(_left(stores, site, kind), prices_of(stores.settings))


def _left(stores: Stores, site: str | None, kind: NoteKind) -> AsyncIterator[NotePrompt]:
    return left(stores.trees, stores.notes, _asks(kind), site)


def _told(plan: EnrichmentPlan) -> str:
    if not plan.questions:
        return "none."
    cost = "of unknown cost" if plan.cost is None else f"estimated cost {_dollars(plan.cost)}"
    return f"{plan.questions:,}, {plan.input_tokens:,} tokens to read and {plan.output_tokens:,} to write, {cost}."


def _dollars(cost: float) -> str:
    return "less than $0.01" if 0 < cost < 0.01 else f"${cost:.2f}"


class _Run:
    """One run over open stores, within one budget."""

    def __init__(self, stores: Stores, known: KnownSites, wanted: EnrichOptions, console: Console) -> None:
        self._stores = stores
        self._known = known
        self._wanted = wanted
        self._console = console

    async def run(self) -> int:
        settings = self._stores.settings
        enrichment, prices = settings.enrichment, prices_of(settings)
        dollars = enrichment.max_cost if price(prices, 1, 1) is not None else None
        budget = Budget(prices, dollars=dollars, tokens=enrichment.max_tokens)
        brief = settings.model.model_copy(update={"max_tokens": min(OUTPUT_TOKENS, settings.model.max_tokens)})
        complete = True
        async with anthropic_model(settings.model_copy(update={"model": brief})) as model:
            for kind in self._wanted.kinds:
                progress = await self._ask(kind, model, budget)
                complete &= not (progress.ended or progress.useless or progress.failed)
                if kind == "outline":
                    complete &= await self._divide()
                if progress.ended:
                    break
        return 0 if complete else 1

    async def _ask(self, kind: NoteKind, model: Model, budget: Budget) -> Progress:
        stores, site = self._stores, self._wanted.site
        total = (await _plan(stores, site, kind)).questions
        if not total:
            return Progress()
        with page_bar(self._console, "sections") as bar:
            task = bar.add_task("titles" if kind == "outline" else "summaries", total=total, detail="")

            def show(progress: Progress) -> None:
                detail = _spent(progress) + (f" · {progress.useless} of no use" if progress.useless else "")
                bar.update(task, completed=progress.done, detail=detail)

            asking = Asking(model, stores.notes, budget, workers=stores.settings.enrichment.concurrency, show=show)
            progress = await asking.run(_left(stores, site, kind))
        self._tell(kind, progress)
        return progress

    def _tell(self, kind: NoteKind, progress: Progress) -> None:
        what = "Outlines" if kind == "outline" else "Summaries"
        self._console.print(f"{what} written: {progress.kept:,}, for {_spent(progress)}.")
        if progress.useless:
            again = f"{progress.useless} replies were of no use (the last: {progress.useless_reason})"
            self._console.print(Text(f"  {again}; the next run asks again, a few times."), soft_wrap=True)
        if progress.failed:
            failed = f"{progress.failed} calls failed (the last: {progress.failed_reason})."
            self._console.print(Text(f"  {failed}", style="yellow"), soft_wrap=True)
        if progress.ended == CEILING:
            self._console.print("Stopped: the ceiling is reached. Run the same command again and it goes on.")
        elif progress.ended:
            self._console.print("Stopped: the model fails. Run the same command again and it goes on.", style="yellow")

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


def _spent(progress: Progress) -> str:
    spent = progress.spent
    tokens = f"{spent.input_tokens + spent.output_tokens:,} tokens"
    return tokens if spent.unpriced else f"{tokens}, {_dollars(spent.cost)}"
