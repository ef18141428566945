"""Commands that run until they are stopped: one role each, or all roles in one process."""

from __future__ import annotations

from typing import Annotated

import typer

from deploy.command_line import Config, Folder, console, fail, run, settings_of
from deploy.commands import watch as watching
from deploy.known_sites import known_sites, named_on_command_line

app = typer.Typer()


@app.command()
def watch(
    target: Annotated[str | None, typer.Argument(help="A folder, a URL, or a site's name; none: all sites.")] = None,
    accept: Annotated[str | None, typer.Option(help="Let the pages of this site go that are held back.")] = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Keep the index in step with the sites until stopped."""
    settings = settings_of(config, folder, server=True)
    if accept is not None:
        raise typer.Exit(run(watching.let_go(settings, accept, console)))
    known = known_sites(settings, settings.index.folder)
    named = [named_on_command_line(settings, known, target, {})] if target else list(known.sites.values())
    run(watching.watch(settings, named or fail("There is no site yet. Name a folder or URL."), console))
