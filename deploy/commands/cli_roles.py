"""Commands that run until they are stopped: one role each, or all roles in one process."""

from __future__ import annotations

from typing import Annotated

import typer

from deploy.commands.command_line import Config, Folder, console, fail, run, settings_of
from deploy.settings.known_sites import known_sites, named_on_command_line
from deploy.settings.root import Settings
from ingest.model import Site

app = typer.Typer()
slack_app = typer.Typer(invoke_without_command=True)
app.add_typer(slack_app, name="slack")


Target = Annotated[str | None, typer.Argument(help="A folder, a URL, or a site's name; none: all sites.")]


@app.command()
def serve(target: Target = None, config: Config = None, folder: Folder = None) -> None:
    """Do everything in one process until stopped: watch, index, and answer."""
    from deploy.commands.roles import serve as serving

    settings = settings_of(config, folder, server=True)
    run(serving.serve(settings, _named(settings, target), console))


@app.command()
def watch(
    target: Target = None,
    accept: Annotated[str | None, typer.Option(help="Let the pages of this site go that are held back.")] = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Keep the index in step with the sites until stopped."""
    from deploy.commands.roles import watch as watching

    settings = settings_of(config, folder, server=True)
    if accept is not None:
        raise typer.Exit(run(watching.let_go(settings, accept, console)))
    run(watching.watch(settings, _named(settings, target), console))


@app.command()
def indexer(config: Config = None, folder: Folder = None) -> None:
    """Index what the watcher announces on Kafka, until stopped; any number of them share the work."""
    from deploy.commands.roles import indexer as indexing

    settings = settings_of(config, folder, server=True)
    sites = known_sites(settings, settings.index.folder).sites
    run(indexing.index_events(settings, sites or fail("There is no site yet. Add it to the settings."), console))


@app.command()
def answer(config: Config = None, folder: Folder = None) -> None:
    """Answer the questions that people ask in Slack, until stopped; any number of them share the work."""
    from deploy.commands.roles import slack as talking

    run(talking.answer(settings_of(config, folder, server=True), console))


@slack_app.callback()
def slack(context: typer.Context, config: Config = None, folder: Folder = None) -> None:
    """Listen to Slack and write down what is asked, until stopped; `init` sets it up."""
    if context.invoked_subcommand is not None:
        return
    from deploy.commands.roles import slack as talking

    run(talking.listen(settings_of(config, folder, server=True), console))


@slack_app.command()
def init(context: typer.Context, config: Config = None, folder: Folder = None) -> None:
    """Say how to set the app up in Slack, and try the tokens that are set."""
    from deploy.commands.roles import slack_init

    before = context.parent.params if context.parent else {}
    settings = settings_of(config or before.get("config"), folder or before.get("folder"))
    raise typer.Exit(run(slack_init.init(settings, console)))


def _named(settings: Settings, target: str | None) -> list[Site]:
    """The sites that a command is for."""
    known = known_sites(settings, settings.index.folder)
    named = [named_on_command_line(settings, known, target, {})] if target else list(known.sites.values())
    return named or fail("There is no site yet. Name a folder or URL.")
