"""Commands of an operator: what keeps an installation healthy and brings it to another version or model."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from deploy.commands.command_line import (
    Config,
    Folder,
    Json,
    console,
    errors,
    fail,
    needs_index,
    no_index,
    run,
    settings_of,
)

app = typer.Typer()


@app.command()
def reembed(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the index of the model before, for a way back.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Bring the search index to the embedding model that is set, without fetching a page."""
    from deploy.commands.upkeep import reembed as reembedding

    settings = settings_of(config, folder)
    needs_index(settings)
    raise typer.Exit(run(reembedding.reembed(settings, console, keep=keep)))


@app.command()
def reindex(
    site: Annotated[str | None, typer.Argument(help="Only this site.")] = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """After an upgrade of ritbot, read the pages again that the version before made."""
    from deploy.commands.upkeep import reindex as reindexing

    settings = settings_of(config, folder)
    needs_index(settings)
    raise typer.Exit(run(reindexing.reindex(settings, site, console)))


@app.command()
def enrich(
    site: Annotated[str | None, typer.Argument(help="Only this site.")] = None,
    summaries: Annotated[bool, typer.Option("--summaries", help="Summaries and keywords; no outlines.")] = False,
    outlines: Annotated[bool, typer.Option("--outlines", help="Titles inside long sections; no summaries.")] = False,
    max_cost: Annotated[
        float | None, typer.Option(help="US dollars that this run may cost; else enrichment.max_cost.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Tokens that this run may take; else enrichment.max_tokens.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what there is to do and what it costs.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Let the model write summaries of sections, and titles inside long sections that have none."""
    from deploy.commands.evaluation import enrich as enriching

    settings = settings_of(config, folder)
    if (max_cost is not None and not max_cost > 0) or (max_tokens is not None and max_tokens < 1):
        fail("--max-cost and --max-tokens take a number above 0.")
    needs_index(settings)
    ceilings = {"max_cost": max_cost, "max_tokens": max_tokens}
    settings = enriching.bounded(settings, {name: value for name, value in ceilings.items() if value is not None})
    both = summaries == outlines
    wanted = enriching.EnrichOptions(site, both or summaries, both or outlines, dry_run)
    raise typer.Exit(run(enriching.enrich(settings, wanted, console)))


@app.command(name="dead-letters")
def dead_letters(
    replay: Annotated[
        str | None,
        typer.Option(help="Send back those of this page (or other key), or all that wait.", metavar="KEY|all"),
    ] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Let all that wait be.")] = False,
    as_json: Json = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """List the events that could not be handled, each with the reason, or send them back."""
    from deploy.commands.upkeep import dead_letters as letters

    settings = settings_of(config, folder)
    needs_index(settings)
    if drop and replay is not None:
        fail("Either --replay or --drop.")
    if drop or replay is not None:
        raise typer.Exit(run(letters.act(settings, console, replay=replay)))
    raise typer.Exit(run(letters.list_letters(settings, console, as_json=as_json)))


@app.command()
def answers(
    since: Annotated[str | None, typer.Option(help="Asked since: a date, or how long ago (12h, 7d).")] = None,
    channel: Annotated[str | None, typer.Option(help="Asked in the channel of this id.")] = None,
    user: Annotated[str | None, typer.Option(help="Asked by the person of this id.")] = None,
    show: Annotated[str | None, typer.Option(metavar="ID", help="The whole way of one answer.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Export: everything, one JSON object a line.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """List what people asked and what became of it, export it, or show the way of one answer."""
    from deploy.commands import answers as answering

    settings = settings_of(config, folder)
    if no_index(settings):
        fail(f"There is no data folder at {settings.index.folder}, so no answer either.", 3)
    now = datetime.now(UTC)
    if show is not None:
        raise typer.Exit(run(answering.show_answer(settings, show, console, now, as_json=as_json)))
    try:
        wanted = answering.AnswerFilter(answering.since(since, now) if since else None, channel, user)
    except ValueError as error:
        fail(str(error))
    work = answering.export_answers(settings, wanted) if as_json else answering.list_answers(settings, wanted, console)
    raise typer.Exit(run(work))


@app.command()
def forget(
    user: Annotated[str, typer.Argument(help="The id of a person, as `ritbot answers` shows it (U0123ABCD).")],
    yes: Annotated[bool, typer.Option("--yes", help="Really: what is removed does not come back.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Remove a person's questions and answers, and their name wherever it is kept."""
    from deploy.commands import answers as answering

    settings = settings_of(config, folder)
    if not yes:
        fail(f"This removes what is kept of {user} for good. If that is meant: ritbot forget {user} --yes")
    if no_index(settings):
        fail(f"There is no data folder at {settings.index.folder}, so nothing to remove.", 3)
    raise typer.Exit(run(answering.forget(settings, user, console)))


@app.command()
def reconcile(
    site: Annotated[str | None, typer.Argument(help="Only this site.")] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what differs; else it is only shown.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Compare the search index with the pages, and mend it without fetching."""
    from deploy.commands.upkeep import reconcile as reconciling

    settings = settings_of(config, folder)
    needs_index(settings)
    raise typer.Exit(run(reconciling.reconcile(settings, site, console, repair=repair)))


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="Where to write it; - is standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Write pages, ids, watch states and what the bot keeps to a file. Works while ritbot runs."""
    from deploy.commands.upkeep import backup as backing_up

    settings = settings_of(config, folder)
    if file != backing_up.STANDARD and file.exists() and not force:
        fail(f"{file} is there already: name another file, or replace it with --force.")
    if file == backing_up.STANDARD and sys.stdout.isatty():
        fail("A backup is no text for a terminal: name a file, or send it on with a pipe.")
    needs_index(settings)
    raise typer.Exit(run(backing_up.backup(settings, file, errors)))


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="The backup; - is standard input.")],
    force: Annotated[bool, typer.Option("--force", help="Put it in the place of the pages that are there.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Put a backup back into an empty store, and make the search index anew from it."""
    from deploy.commands.upkeep import backup as backing_up

    raise typer.Exit(run(backing_up.restore(settings_of(config, folder), file, console, force=force)))
