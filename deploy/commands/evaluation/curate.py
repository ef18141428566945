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

from deploy.commands.command_line import (
    Config,
    Folder,
    Limit,
    MaxTokens,
    QuestionsFile,
    SiteNames,
    Version,
    console,
    needs_index,
    positive,
    run,
    settings_of,
)
from deploy.commands.display import say, tell_interrupted
from deploy.commands.evaluation.batch import (
    DEFAULT_RUN_DOLLARS,
    DEFAULT_WORKERS,
    batch_bar,
    ledger_of,
    need_model,
    need_prices,
    questions_in,
    spent,
    tell_end,
)
from deploy.serving.answer_source import check_scope
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.wiring.evaluation import metered_model
from deploy.wiring.navigation import strategy_deps
from deploy.wiring.stores import Stores, open_stores
from ingest.counted import counted
from ingest.model import Scope
from navigator.batch.runner import Progress
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.routing.curated import HELD_OUT, TRAIN, CuratedFolder, CurationSummary
from navigator.evaluation.routing.curation import QUESTIONS_TAKEN_UP, Curation

MAX_ACTIONS_TOKENS = 2_048
"""What a reply may take; actions take a few dozen."""


def command(
    questions_file: QuestionsFile,
    out: Annotated[Path, typer.Option(help="The folder that the examples go to.")],
    held_out: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="The share of the questions that is held out.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Another number: other questions are held out.")] = 0,
    limit: Limit = None,
    site: SiteNames = None,
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
    need_model(settings, "curate")
    if wanted.max_tokens is None or wanted.max_cost is not None:
        need_prices(settings, "a ceiling in tokens with --max-tokens alone")
    with CuratedFolder(wanted.out) as folder:
        if folder.unreadable:
            say(console, f"{folder.unreadable} lines in {wanted.out} cannot be read: they are passed over.", "yellow")
        async with open_stores(settings, "ritbot curate") as stores:
            await check_scope(stores, scope)
            most = len(questions) * settings.strategies.chunks
            say(console, f"{counted(len(questions), 'question')}, at most {counted(most, 'call')}. Into {wanted.out}.")
            try:
                status = await _run(stores, wanted, scope, languages, questions, folder, console)
            except asyncio.CancelledError:
                status = tell_interrupted(console)
        _tell(console, wanted, folder.write(held_out=wanted.held_out, seed=wanted.seed))
    return status


async def _run(
    stores: Stores,
    wanted: CurateOptions,
    scope: Scope,
    languages: Sequence[str],
    questions: Sequence[EvalQuestion],
    folder: CuratedFolder,
    console: Console,
) -> int:
    settings, deps = stores.settings, strategy_deps(stores, languages)
    ledger = ledger_of(settings, wanted.max_cost or DEFAULT_RUN_DOLLARS, wanted.max_tokens)

    def told(progress: Progress) -> tuple[int, str]:
        return progress.outcomes[QUESTIONS_TAKEN_UP], f"{counted(progress.done, 'page')}, {spent(ledger.used)}"

    with batch_bar(console, "questions", len(questions), told) as show:
        async with metered_model(settings, ledger, max_output_tokens=MAX_ACTIONS_TOKENS) as model:
            progress = await Curation(deps, model, folder, scope=scope, workers=DEFAULT_WORKERS, show=show).run(
                questions
            )
    known = f", {progress.known:,} were known" if progress.known else ""
    say(console, f"{counted(progress.done, 'page')} looked at{known}, for {spent(ledger.used)}.")
    tell_end(console, progress)
    return 0 if progress.complete else 1


def _tell(console: Console, wanted: CurateOptions, summary: CurationSummary) -> None:
    actions = ", ".join(f"{count:,} {kind}" for kind, count in summary.actions.items())
    say(
        console,
        f"{wanted.out / TRAIN}: {counted(summary.train, 'example')}. {wanted.out / HELD_OUT}: {summary.held_out:,}.",
    )
    say(console, f"Actions: {actions}. {summary.expelled:,} lines did not count.")
    if summary.collapsed or summary.useless:
        say(
            console,
            f"No example: {summary.collapsed:,} replies without an action, {summary.useless:,} without a legal one.",
        )
    if wanted.held_out and summary.train and not summary.held_out:
        say(console, "No question is held out: ask more questions, or raise --held-out.", "yellow")
