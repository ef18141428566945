"""What every command shares: its options, its settings, how it runs and how it fails.

Exit status of all commands: 0 done; 1 done, but with a finding (no answer, a page that is not indexed, a fault that
doctor found); 2 wrong settings or arguments; 3 something needed is not there or does not answer; 130 interrupted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.text import Text
from structlog.typing import Processor

from bot.errors import BotError
from bot.terminal.console import SafeConsole
from deploy import log
from deploy.settings.known_sites import known_sites, named_on_command_line
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings, load
from ingest.errors import IngestError
from ingest.model import Site
from navigator.errors import NavigatorError

T = TypeVar("T")

console = SafeConsole()
errors = SafeConsole(stderr=True)

Config = Annotated[Path | None, typer.Option("--config", "-c", help="The settings file; else ritbot.toml here.")]
Folder = Annotated[Path | None, typer.Option("--folder", help="The data folder, instead of index.folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Everything, as JSON.")]
Target = Annotated[str | None, typer.Argument(help="A folder, a URL, or a site's name; none: all sites.")]
OneSite = Annotated[str | None, typer.Argument(help="Only this site.")]
SiteNames = Annotated[list[str] | None, typer.Option("--site", help="Look only in this site.")]
Version = Annotated[str | None, typer.Option(help="Look only in this version of the documentation.")]
QuestionsFile = Annotated[
    Path, typer.Argument(metavar="QUESTIONS", help="A file of questions, one JSON object a line.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only so many questions, the first.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Tokens that this run may take.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what there is to do and what it costs.")]


def settings_of(
    config: Path | None, folder: Path | None = None, *, server: bool = False, above: Mapping[str, Any] | None = None
) -> Settings:
    """The settings in force, with logging as they say. `above`: the options that stand before a command's name. Raises
    SettingsError."""
    before = above or {}
    config, folder = config or before.get("config"), folder or before.get("folder")
    settings = load(config)
    for notice in settings.notices:
        errors.print(Text(notice, style="yellow"), soft_wrap=True)
    if folder is not None:
        settings = settings.model_copy(update={"index": settings.index.model_copy(update={"folder": folder})})
    log.configure(settings.log, server=server, observe=_metrics() if server else None)
    return settings


def _metrics() -> Processor:
    from deploy.serving.metrics import PROCESS  # what commands at the terminal do not need

    return PROCESS.observe


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work; its expected errors end the process with a plain sentence."""
    try:
        with log.traced():
            return asyncio.run(work)
    except (IngestError, NavigatorError, BotError) as error:
        fail(str(error), 3)
    except SettingsError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.strerror or error}: {error.filename}" if error.filename else str(error), 3)
    except KeyboardInterrupt:
        errors.print(Text("Interrupted.", style="yellow"))
        raise typer.Exit(130) from None


def named_sites(settings: Settings, target: str | None, given: Mapping[str, object] | None = None) -> list[Site]:
    """The sites that a command is for, with what is `given` of one; ends it where there is none."""
    known = known_sites(settings, settings.index.folder)
    named = [named_on_command_line(settings, known, target, given or {})] if target else list(known.sites.values())
    return named or fail("There is no site yet. Name a folder or URL.")


def positive(value: float | None, option: str) -> None:
    """Ends the command where a ceiling is not above 0."""
    if value is not None and not value > 0:
        fail(f"{option} takes a number above 0.")


def no_index(settings: Settings) -> bool:
    return settings.stores.kind == "embedded" and not settings.index.folder.exists()


def needs_index(settings: Settings) -> None:
    """Ends the command where nothing was indexed yet."""
    if no_index(settings):
        fail(f"There is no index at {settings.index.folder} yet. Make one: ritbot index FOLDER or URL.", 3)


def fail(reason: str, status: int = 2) -> NoReturn:
    errors.print(Text(reason, style="red"), soft_wrap=True)
    raise typer.Exit(status)
