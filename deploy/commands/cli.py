"""The `ritbot` command. Each command is a few lines: read the settings, do one thing, say how it went.

Here stand the commands of a person at a terminal; those that run until stopped are in cli_roles, those of an
operator in cli_upkeep, those that measure in cli_evaluation. What they share, and what their exit status says, is in
command_line. A command's work is imported when it runs, so that `ritbot ask` beside `ritbot serve` loads nothing that
it does not need.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.padding import Padding
from rich.text import Text

from deploy.commands import cli_evaluation, cli_roles, cli_upkeep
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
from deploy.settings.known_sites import known_sites, named_on_command_line
from deploy.settings.messages import SettingsError
from deploy.settings.root import describe
from deploy.settings.site import StrategyName

app = typer.Typer(
    name="ritbot",
    help="Answers questions from a documentation site and links every claim to the section it read.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
sites_app = typer.Typer(invoke_without_command=True)
app.add_typer(sites_app, name="sites")
app.add_typer(cli_roles.app)
app.add_typer(cli_upkeep.app)
app.add_typer(cli_evaluation.app)


@app.command()
def index(
    target: Annotated[str | None, typer.Argument(help="A folder, a URL, or a site's name; none: all sites.")] = None,
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
    """Index a folder of HTML or a website, or bring its index up to date."""
    from deploy.commands import index as indexing

    settings = settings_of(config, folder)
    known = known_sites(settings, settings.index.folder)
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
    if target is not None:
        sites = [named_on_command_line(settings, known, target, given)]
    elif given:
        fail(f"Name the folder, URL or site that {', '.join(sorted(given))} is for.")
    else:
        sites = list(known.sites.values()) or fail("There is no site yet. Name one: ritbot index FOLDER or URL.")
    summaries = run(indexing.index_sites(settings, sites, console, accept=accept_removals, rebuild=rebuild))
    raise typer.Exit(indexing.exit_status(summaries, asked=len(sites)))


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="The question; none: you are asked for it.")] = None,
    site: Annotated[list[str] | None, typer.Option(help="Only this site.")] = None,
    version: Annotated[str | None, typer.Option(help="Only this version of the documentation.")] = None,
    strategy: Annotated[
        str | None, typer.Option(help=f"How to look: {', '.join(get_args(StrategyName))}; none: as the settings say.")
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show the whole way: what was offered, read, cited.")] = False,
    as_json: Json = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Ask a question; the answer links to the sections that were read."""
    from deploy.commands import ask as asking
    from deploy.serving.answer_source import AskRequest

    settings = settings_of(config, folder)
    try:
        scope = asking.scope_of(known_sites(settings, settings.index.folder), site or [], version)
    except ValueError as error:
        fail(str(error))
    if strategy is not None and (wrong := settings.why_not(strategy)):
        fail(f"--strategy {strategy}: {wrong}")
    needs_index(settings)
    if question is None and not sys.stdin.isatty():
        question = sys.stdin.buffer.read().decode(errors="replace")
    asked = AskRequest(question or "", scope, strategy=strategy or "", version_given=version is not None)
    if question is None:
        run(asking.converse(settings, asked, console, trace=trace))
        return
    text = question.encode(errors="surrogateescape").decode(errors="replace")  # bytes that are no UTF-8
    answer = run(asking.ask(settings, replace(asked, question=text), console, trace=trace, as_json=as_json))
    raise typer.Exit({"answered": 0, "greeting": 0, "not_found": 1, "failed": 3}[answer.outcome])


@app.command()
def tree(
    target: Annotated[str, typer.Argument(help="An HTML file, a URL, or the id of an indexed node.")],
    as_json: Json = False,
    url: Annotated[str | None, typer.Option(help="The URL that a file was fetched from.")] = None,
    status: Annotated[int, typer.Option(help="The HTTP status that it came with.")] = 200,
    content_type: Annotated[str | None, typer.Option(help="The Content-Type that it came with.")] = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Draw a page as ritbot reads it, or a node with what stands around it."""
    from deploy.commands import tree as drawing

    settings = settings_of(config, folder)
    if target.startswith(("http://", "https://")) or Path(target).is_file():
        page = drawing.show_page(
            settings, target, console, url=url, status=status, content_type=content_type, as_json=as_json
        )
        raise typer.Exit(run(page))
    if no_index(settings):
        fail(f"{target} is no file and no URL, and there is no index at {settings.index.folder}.")
    raise typer.Exit(run(drawing.show_node(settings, target, console, as_json=as_json)))


@sites_app.callback()
def sites(context: typer.Context, config: Config = None, folder: Folder = None) -> None:
    """List the sites with what is indexed of them and what is wrong with their pages."""
    from deploy.commands import sites as listing

    if context.invoked_subcommand is None:
        raise typer.Exit(run(listing.list_sites(settings_of(config, folder), console)))


@sites_app.command()
def remove(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The site's name.")],
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Remove a site's pages from the index, and nothing else."""
    from deploy.commands import sites as listing

    before = context.parent.params if context.parent else {}
    settings = settings_of(config or before.get("config"), folder or before.get("folder"))
    raise typer.Exit(run(listing.remove_site(settings, name, console)))


@app.command()
def doctor(config: Config = None, folder: Folder = None) -> None:
    """Check settings, weights, data folder, index and model, and say what to do."""
    from deploy.commands import doctor as diagnosis

    raise typer.Exit(run(diagnosis.doctor(settings_of(config, folder), console, config)))


@app.command()
def demo(
    manual: Annotated[Path, typer.Option(help="The folder of the built manual.")] = Path("build/manual"),
) -> None:
    """Index ritbot's own manual, ask it four questions, then take yours."""
    from deploy.commands import demo as demonstration

    if not manual.is_dir():
        fail(f"There is no built manual at {manual}. Run: make demo")
    settings = settings_of(None, manual.parent / "demo-index")
    settings = settings.model_copy(update={"model": settings.model.model_copy(update={"provider": "extractive"})})
    run(demonstration.demo(settings, manual, console, interactive=sys.stdin.isatty()))


@app.command()
def settings() -> None:
    """List every setting with what it takes, its default and what it is for."""
    for row in describe():
        console.print(
            Text.assemble((row.name, "bold"), f" = {row.default}", (f"   ({row.takes})", "dim")), soft_wrap=True
        )
        console.print(Padding(Text(row.help), (0, 0, 1, 4)))


def main() -> None:
    """The console script. Settings errors that occur before a command runs end as plainly. What ritbot writes is for its
    owner alone: questions, answers and pages behind a login lie in it."""
    os.umask(0o077)
    try:
        app()
    except SettingsError as error:
        errors.print(Text(str(error), style="red"), soft_wrap=True)
        raise SystemExit(2) from None
