"""Commands of who measures: questions to measure with, and what comes of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from deploy.commands.command_line import Config, Folder, Json, console, errors, fail, needs_index, run, settings_of
from deploy.settings.known_sites import known_sites
from deploy.settings.messages import SettingsError

app = typer.Typer()


@app.command(name="eval")
def evaluate(
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
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many questions, the first.")] = None,
    site: Annotated[list[str] | None, typer.Option(help="Look only in this site.")] = None,
    version: Annotated[str | None, typer.Option(help="Look in this version of the documentation.")] = None,
    max_cost: Annotated[float | None, typer.Option(help="US dollars that this run may cost.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that this run may take.")] = None,
    judge: Annotated[bool | None, typer.Option("--judge/--no-judge", help="Whether a model judges answers.")] = None,
    grades: Annotated[bool, typer.Option("--grades", help="Grade seven qualities too, a call each.")] = False,
    reader: Annotated[
        list[str] | None,
        typer.Option(help="A scripted reader, top or oracle, in the place of the model; both where no model is set."),
    ] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, max=64, help="Questions under way side by side.")] = None,
    as_json: Json = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Ask questions whose answers are known by several strategies, and report which is right at what cost."""
    from deploy.commands.ask import scope_of
    from deploy.commands.evaluation import eval as evaluation
    from deploy.wiring.evaluation import EvalOptions
    from deploy.wiring.variants import sweeps_of
    from navigator.strategies.build import FOR_PEOPLE

    settings = settings_of(config, folder)
    if max_cost is not None and not max_cost > 0:
        fail("--max-cost takes a number above 0.")
    if router is not None:
        from deploy.commands.evaluation import router_score as scoring

        if any((questions_file, strategy, sweep, no_structure, out, site, version, judge is not None, grades, reader)):
            fail("--router takes --limit, --max-cost, --max-tokens, --concurrency and --json, nothing else.")
        scored = scoring.RouterScoreOptions(router, limit, max_cost, max_tokens, concurrency)
        raise typer.Exit(run(scoring.score(settings, scored, errors if as_json else console, as_json=as_json)))
    if questions_file is None:
        fail("Name a file of questions, or one of examples with --router.")
    needs_index(settings)
    known = known_sites(settings, settings.index.folder)
    try:
        scope, sweeps = scope_of(known, site or (), version), sweeps_of(sweep or ())
    except (ValueError, SettingsError) as error:
        fail(str(error))
    wanted = EvalOptions(
        questions=questions_file,
        strategies=tuple(strategy or FOR_PEOPLE),
        sweeps=sweeps,
        without_structure=no_structure,
        out=out,
        limit=limit,
        max_cost=max_cost,
        max_tokens=max_tokens,
        judge=judge,
        grades=grades,
        readers=tuple(dict.fromkeys(reader or ())),
        concurrency=concurrency,
    )
    work = evaluation.evaluate(settings, wanted, scope, known.languages(), errors if as_json else console)
    status = run(work)
    if as_json:
        sys.stdout.write((wanted.folder / "report.json").read_text(encoding="utf-8"))
    raise typer.Exit(status)


@app.command()
def questions(
    site: Annotated[str, typer.Argument(help="The site's name.")],
    out: Annotated[Path, typer.Option(help="The file that they are added to.")] = Path("questions.jsonl"),
    count: Annotated[int, typer.Option(min=1, help="Proposed questions that the file shall hold.")] = 50,
    examples: Annotated[
        Path | None, typer.Option(help="Questions by people; else those that people wrote or checked in the file.")
    ] = None,
    version: Annotated[str | None, typer.Option(help="Only this version of the documentation.")] = None,
    seed: Annotated[int, typer.Option(help="Another number: other sections.")] = 0,
    max_cost: Annotated[
        float | None, typer.Option(help="US dollars that this run may cost; else 2, where prices are known.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what there is to do and what it costs.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Let the model propose questions with answers from a site's own pages, to be checked by a person."""
    from deploy.commands.evaluation import questions as proposing

    settings = settings_of(config, folder)
    if max_cost is not None and not max_cost > 0:
        fail("--max-cost takes a number above 0.")
    needs_index(settings)
    wanted = proposing.ProposeOptions(site, out, count, examples, version, seed, max_cost, dry_run)
    raise typer.Exit(run(proposing.propose(settings, wanted, console)))


@app.command()
def curate(
    questions_file: Annotated[
        Path, typer.Argument(metavar="QUESTIONS", help="A file of questions, one JSON object a line.")
    ],
    out: Annotated[Path, typer.Option(help="The folder that the examples go to.")],
    held_out: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="The share of the questions that is held out.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Another number: other questions are held out.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many questions, the first.")] = None,
    site: Annotated[list[str] | None, typer.Option(help="Look only in this site.")] = None,
    version: Annotated[str | None, typer.Option(help="Look in this version of the documentation.")] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="US dollars that this run may cost; else 5, where prices are known.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that this run may take.")] = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Let the model make examples to train a router for the strategy rdr2 with."""
    from deploy.commands.ask import scope_of
    from deploy.commands.evaluation import curate as curating

    settings = settings_of(config, folder)
    if max_cost is not None and not max_cost > 0:
        fail("--max-cost takes a number above 0.")
    needs_index(settings)
    known = known_sites(settings, settings.index.folder)
    try:
        scope = scope_of(known, site or (), version)
    except ValueError as error:
        fail(str(error))
    wanted = curating.CurateOptions(questions_file, out, held_out, seed, limit, max_cost, max_tokens)
    raise typer.Exit(run(curating.curate(settings, wanted, scope, known.languages(), console)))
