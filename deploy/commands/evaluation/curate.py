"""`ritbot curate`: examples to train a router for the strategy rdr2 with, from questions alone; the model that is set makes
them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from deploy.commands.command_line import (
    Config,
    Folder,
    Limit,
    MaxTokens,
    QuestionsFile,
    Sites,
    Version,
    console,
    needs_index,
    positive,
    run,
    settings_of,
)
from deploy.commands.display import page_bar
from deploy.commands.evaluation.eval import questions_in
from deploy.serving.answer_source import check_scope
from deploy.settings.known_sites import known_sites
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.wiring.navigation import anthropic_model, ground_of, is_priced, unpriced
from deploy.wiring.stores import Stores, open_stores
from ingest.model import Scope
from navigator.evaluation.ledger import Ledger, tokens_of
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.report.formats import money
from navigator.evaluation.routing.curated import HELD_OUT, TRAIN, CuratedFolder, CurationSummary
from navigator.evaluation.routing.curation import Curation, Progress

MAX_COST = 5.0
"""US dollars that a run may cost where nothing else is said."""
OUTPUT_TOKENS = 2_048
"""What a reply may take; actions take a few dozen."""


def command(
    questions_file: QuestionsFile,
    out: Annotated[Path, typer.Option(help="The folder that the examples go to.")],
    held_out: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="The share of the questions that is held out.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Another number: other questions are held out.")] = 0,
    limit: Limit = None,
    site: Sites = None,
    version: Version = None,
    max_cost: Annotated[
        float | None, typer.Option(help="US dollars that this run may cost; else 5, where prices are known.")
    ] = None,
    max_tokens: MaxTokens = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    positive(max_cost, "--max-cost")
    needs_index(settings)
    known = known_sites(settings, settings.index.folder)
    wanted = CurateOptions(questions_file, out, held_out, seed, limit, max_cost, max_tokens)
    raise typer.Exit(run(curate(settings, wanted, known.scope(site or (), version), known.languages(), console)))


@dataclass(frozen=True, slots=True)
class CurateOptions:
    """`held_out`: a share of the questions."""

    questions: Path
    out: Path
    held_out: float = 0.1
    seed: int = 0
    limit: int | None = None
    max_cost: float | None = None
    max_tokens: int | None = None


async def curate(
    settings: Settings, wanted: CurateOptions, scope: Scope, languages: Sequence[str], console: Console
) -> int:
    """0: every question was asked; 1: something is left; 130: interrupted. Raises IngestError, SettingsError, OSError."""
    questions = questions_in(wanted.questions)[: wanted.limit]
    _needs_model_and_ceiling(settings, wanted)
    with CuratedFolder(wanted.out) as folder:
        if folder.unreadable:
            _say(console, f"{folder.unreadable} lines in {wanted.out} cannot be read: they are passed over.", "yellow")
        async with open_stores(settings, "ritbot curate") as stores:
            await check_scope(stores, scope)
            most = len(questions) * settings.strategies.chunks
            _say(console, f"{len(questions)} questions, at most {most:,} calls. Into {wanted.out}.")
            status = await _run(stores, wanted, scope, languages, questions, folder, console)
        _tell(console, wanted, folder.write(held_out=wanted.held_out, seed=wanted.seed))
    return status


def _needs_model_and_ceiling(settings: Settings, wanted: CurateOptions) -> None:
    if settings.model.chosen != "anthropic":
        raise SettingsError(
            "ritbot curate needs a language model, and none is set: set ANTHROPIC_API_KEY or model.api_key, and leave "
            "model.provider at auto or anthropic"
        )
    if not is_priced(settings) and (wanted.max_tokens is None or wanted.max_cost is not None):
        raise SettingsError(
            f"{unpriced(settings, 'model.prices')}, or a ceiling in tokens with --max-tokens alone",
        )


async def _run(
    stores: Stores,
    wanted: CurateOptions,
    scope: Scope,
    languages: Sequence[str],
    questions: Sequence[EvalQuestion],
    folder: CuratedFolder,
    console: Console,
) -> int:
    settings = stores.settings
    ledger = Ledger(dollars=(wanted.max_cost or MAX_COST) if is_priced(settings) else None, tokens=wanted.max_tokens)
    brief = settings.model.model_copy(update={"max_tokens": min(OUTPUT_TOKENS, settings.model.max_tokens)})
    with page_bar(console, "questions") as bar:
        task = bar.add_task("curate", total=len(questions), detail="")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.done, detail=f"{progress.asked:,} pages, {_spent(ledger)}")

        async with anthropic_model(settings.model_copy(update={"model": brief})) as model:
            curation = Curation(
                ground_of(stores, languages),
                model,
                folder,
                ledger,
                scope=scope,
                workers=settings.evaluation.concurrency,
                show=show,
            )
            try:
                progress = await curation.run(questions)
            except asyncio.CancelledError:
                _say(console, "Interrupted; nothing is lost. Run the same command again and it goes on.", "yellow")
                return 130
    return _told(console, progress, ledger)


def _told(console: Console, progress: Progress, ledger: Ledger) -> int:
    """How the run went, and its exit status."""
    known = f", {progress.known:,} were known" if progress.known else ""
    _say(console, f"{progress.asked:,} pages looked at{known}, for {_spent(ledger)}.")
    if progress.failed:
        _say(console, f"  {progress.failed} calls failed (the last: {progress.failed_reason}).", "yellow")
    if progress.ended:
        _say(console, f"Stopped: {progress.ended.rstrip('.')}. Run the same command again and it goes on.", "yellow")
    return 1 if progress.ended or progress.failed else 0


def _tell(console: Console, wanted: CurateOptions, summary: CurationSummary) -> None:
    actions = ", ".join(f"{count:,} {kind}" for kind, count in summary.actions.items())
    _say(console, f"{wanted.out / TRAIN}: {summary.train:,} examples. {wanted.out / HELD_OUT}: {summary.held_out:,}.")
    _say(console, f"Actions: {actions}. {summary.expelled:,} lines did not count.")
    if summary.collapsed or summary.useless:
        _say(
            console,
            f"No example: {summary.collapsed:,} replies without an action, {summary.useless:,} without a legal one.",
        )
    if wanted.held_out and summary.train and not summary.held_out:
        _say(console, "No question is held out: ask more questions, or raise --held-out.", "yellow")


def _spent(ledger: Ledger) -> str:
    tokens = f"{tokens_of(ledger.used):,} tokens"
    return tokens if ledger.used.cost is None else f"{tokens}, {money(ledger.used.cost)}"


def _say(console: Console, line: str, style: str = "") -> None:
    console.print(Text(line, style=style), soft_wrap=True)
