"""`ritbot eval`: strategies side by side on one's own questions. Says what it will do, does it, writes the report."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.terminal.console import print_json_text
from deploy.commands.command_line import (
    AsJson,
    Config,
    Folder,
    Limit,
    MaxTokens,
    SiteNames,
    Version,
    console,
    errors,
    fail,
    needs_index,
    positive,
    run,
    settings_of,
)
from deploy.commands.display import INTERRUPTED
from deploy.commands.evaluation.batch import DEFAULT_WORKERS, batch_bar, questions_in, spent
from deploy.commands.evaluation.reports import (
    BLIND_TOLD,
    page_writer,
    people_said,
    print_summary,
    write_blind_form,
    write_reports,
)
from deploy.commands.evaluation.router_score import RouterScoreOptions, score
from deploy.serving.answer_source import check_scope
from deploy.settings.known_sites import known_sites
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.wiring.evaluation import (
    EvalOptions,
    candidates,
    checked_options,
    gold_aliases,
    index_facts,
    metered_model,
    outlines_in,
)
from deploy.wiring.navigation import prices_of
from deploy.wiring.stores import open_stores
from deploy.wiring.variants import sweeps_of
from ingest.counted import counted
from ingest.model import Scope
from navigator.batch.ledger import Ledger
from navigator.batch.runner import Progress
from navigator.evaluation.estimate import Estimate, estimate
from navigator.evaluation.folder import RunFolder
from navigator.evaluation.judging.judges import Examination, Judges
from navigator.evaluation.report.formats import money
from navigator.evaluation.runner import ANSWERED, EvalRun
from navigator.strategies.build import FOR_PEOPLE
from navigator.strategies.strategy import StrategyBounds


def command(
    questions_file: Annotated[
        Path | None, typer.Argument(metavar="QUESTIONS", help="A file of questions, one JSON object a line.")
    ] = None,
    router: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Score the router of rdr2 instead, on examples that ritbot curate held out."),
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(help="A strategy to compare; once for each. None: all that answer from the documentation."),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(help="A number to vary: n=10,25,50 (rit), k=5,10 (the others), expansions=0,3 (rdr2)."),
    ] = None,
    no_structure: Annotated[
        bool, typer.Option("--no-structure", help="rdr2 also without headings in front of its router.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Where results go; else eval/NAME of the file.")] = None,
    limit: Limit = None,
    site: SiteNames = None,
    version: Version = None,
    max_cost: Annotated[float | None, typer.Option(help="US dollars that this run may cost.")] = None,
    max_tokens: MaxTokens = None,
    judge: Annotated[bool | None, typer.Option("--judge/--no-judge", help="Whether a model judges answers.")] = None,
    grades: Annotated[bool, typer.Option("--grades", help="Grade seven qualities too, a call each.")] = False,
    reader: Annotated[
        list[str] | None,
        typer.Option(help="A scripted reader, top or oracle, in the place of the model; both where no model is set."),
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="Write the answers under letters too, for people to judge by.")
    ] = False,
    verdicts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The form of --blind, filled in: what people said counts.")
    ] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, max=64, help="Questions under way side by side.")] = None,
    as_json: AsJson = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    positive(max_cost, "--max-cost")
    told = errors if as_json else console
    if router is not None:
        if any(
            (
                questions_file,
                strategy,
                sweep,
                no_structure,
                out,
                site,
                version,
                judge is not None,
                grades,
                reader,
                blind,
                verdicts,
            )
        ):
            fail("--router takes --limit, --max-cost, --max-tokens, --concurrency and --json, nothing else.")
        scored = RouterScoreOptions(router, limit, max_cost, max_tokens, concurrency)
        raise typer.Exit(run(score(settings, scored, told, as_json=as_json)))
    if questions_file is None:
        fail("Name a file of questions, or one of examples with --router.")
    needs_index(settings)
    known = known_sites(settings, settings.index.folder)
    wanted = EvalOptions(
        questions=questions_file,
        strategies=tuple(strategy or FOR_PEOPLE),
        sweeps=sweeps_of(sweep or ()),
        without_structure=no_structure,
        out=out,
        limit=limit,
        max_cost=max_cost,
        max_tokens=max_tokens,
        judge=judge,
        grades=grades,
        readers=tuple(dict.fromkeys(reader or ())),
        blind=blind,
        verdicts=verdicts,
        concurrency=concurrency,
    )
    status = run(evaluate(settings, wanted, known.scope(site or (), version), known.languages(), told))
    if as_json:
        print_json_text((wanted.folder / "report.json").read_text(encoding="utf-8").rstrip("\n"))
    raise typer.Exit(status)


async def evaluate(
    settings: Settings, wanted: EvalOptions, scope: Scope, languages: Sequence[str], console: Console
) -> int:
    """0: every question was asked and judged; 1: something is left; 130: interrupted. Raises IngestError, SettingsError,
    OSError."""
    questions = questions_in(wanted.questions)
    wanted = checked_options(settings, wanted, questions)
    asked = questions[: wanted.limit]
    with RunFolder(wanted.folder) as folder:
        if folder.questions and folder.questions.isdisjoint(question.id for question in questions):
            raise SettingsError(f"{folder.path} holds answers to other questions: name another folder with --out")
        async with open_stores(settings, "ritbot eval") as stores, AsyncExitStack() as stack:
            await check_scope(stores, scope)
            outlines = await outlines_in(stores, scope)
            aliases = await gold_aliases(stores, asked, outlines)
            ledger = Ledger(dollars=wanted.max_cost, tokens=wanted.max_tokens)
            entered = await candidates(stack, stores, wanted, languages, scope, outlines, aliases, ledger)
            judges = None
            if wanted.judge:
                judge = metered_model(settings.judging, ledger, cold=True)
                judges = Judges(await stack.enter_async_context(judge), folder)
            run = EvalRun(
                asked,
                entered,
                folder,
                scope=scope,
                examination=Examination(judges, graded=wanted.grades) if judges else None,
                ledger=ledger,
                workers=_workers(settings, wanted),
            )
            _announce(console, run, folder)
            if not wanted.readers:
                console.print(_told(_estimate(settings, run)), soft_wrap=True)
            known = await index_facts(stores, languages, scope, asked, outlines, aliases)
            filled = wanted.verdicts.read_text(encoding="utf-8", errors="replace") if wanted.verdicts else None
            status = await _carry_out(run, console)
            if filled is not None:
                run.people = people_said(folder.path, filled, run)
            notes = _notes(settings, wanted, judges)
            summary = write_reports(folder.path, run, known, wanted.questions.stem, notes, page_writer())
            if wanted.blind:
                write_blind_form(folder.path, run)
                console.print(BLIND_TOLD.format(folder=folder.path), soft_wrap=True)
    print_summary(console, summary, run, folder.path)
    return status


def _workers(settings: Settings, wanted: EvalOptions) -> int:
    return wanted.concurrency or DEFAULT_WORKERS


def _announce(console: Console, run: EvalRun, folder: RunFolder) -> None:
    """What is going to be done."""
    progress = run.progress
    asked, contenders = len(run.questions), len(run.contenders)
    there = f", {progress.known} of them there already" if progress.known else ""
    console.print(
        f"{counted(asked, 'question')}, {counted(contenders, 'contender')}: {counted(progress.total or 0, 'answer')}{there}. Into {folder.path}.",
        soft_wrap=True,
    )
    for remark in (
        f"{counted(run.outdated, 'answer')} of other pages, settings, words or models: asked for again."
        if run.outdated
        else "",
        f"{folder.unreadable} lines there cannot be read: they are passed over." if folder.unreadable else "",
    ):
        if remark:
            console.print(remark, style="yellow", soft_wrap=True)


def _estimate(settings: Settings, run: EvalRun) -> Estimate:
    unanswered, judge = run.unanswered(), run.examination
    missing = [question for question, _ in unanswered] + run.unjudged()
    inquiries = [i for question in missing for i in judge.asked(question, "").values()] if judge else []
    return estimate(
        [candidate.contender for _, candidate in unanswered],
        inquiries,
        budgets=(settings.navigator.budget, StrategyBounds().budget),
        prices=prices_of(settings),
        judge_prices=prices_of(settings.judging),
    )


def _told(will: Estimate) -> str:
    turns = f"{will.least:,}" if will.least == will.most else f"{will.least:,} to {will.most:,}"
    judge = f", the judge {will.replies:,} times" if will.replies else ""
    cost = "at a price that is not known" if will.cost is None else f"for at least about {money(will.cost)}"
    return f"The model will be asked {turns} times{judge}, {cost}."


def _notes(settings: Settings, wanted: EvalOptions, judges: Judges | None) -> tuple[str, ...]:
    """What a report says of how it was made."""
    if wanted.readers:
        who = "No model answered: scripted readers stand in its place, and their tokens are an estimate."
    else:
        whom = [
            *(["people who did not know whose they were"] if wanted.verdicts else []),
            *([judges.name] if judges else []),
        ]
        who = f"Answers by {settings.model.name}, judged by {' and '.join(whom) or 'nobody'}."
    return who, f"Seconds are measured with {counted(_workers(settings, wanted), 'question')} under way side by side."


async def _carry_out(run: EvalRun, console: Console) -> int:
    def told(progress: Progress) -> tuple[int, str]:
        return progress.known + progress.outcomes[ANSWERED], spent(run.ledger.used)

    with batch_bar(console, "answers", run.progress.total or 0, told, run.progress.known) as show:
        try:
            await run.run(show)
        except asyncio.CancelledError:
            run.progress.ended = "it was interrupted"
            return INTERRUPTED
    return 0 if run.complete else 1
