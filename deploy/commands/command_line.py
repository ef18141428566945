"""What every command shares: its options, its settings, how it runs and how it fails.

Exit status of all commands: 0 done; 1 done, but with a finding (no answer, a page that is not indexed, a fault that
doctor found); 2 wrong settings or arguments; 3 something needed is not there or does not answer; 130 interrupted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from bot.errors import BotError
from deploy import log
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings, load
from ingest.errors import IngestError
from navigator.errors import NavigatorError

T = TypeVar("T")

console = Console()
errors = Console(stderr=True)

Config = Annotated[Path | None, typer.Option("--config", "-c", help="The settings file; else ritbot.toml here.")]
Folder = Annotated[Path | None, typer.Option("--folder", help="The data folder, instead of index.folder.")]
Json = Annotated[bool, typer.Option("--json", help="Everything, as JSON.")]


def settings_of(config: Path | None, folder: Path | None = None, *, server: bool = False) -> Settings:
    settings = load(config)
    if folder is not None:
        settings = settings.model_copy(update={"index": settings.index.model_copy(update={"folder": folder})})
    log.configure(settings.log, server=server)
    return settings


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
        raise typer.Exit(130) from None


def no_index(settings: Settings) -> bool:
    return settings.stores.kind == "embedded" and not settings.index.folder.exists()


def needs_index(settings: Settings) -> None:
    """Ends the command where nothing was indexed yet."""
    if no_index(settings):
        fail(f"There is no index at {settings.index.folder} yet. Make one: ritbot index FOLDER or URL.", 3)


def fail(reason: str, status: int = 2) -> NoReturn:
    errors.print(Text(reason, style="red"), soft_wrap=True)
    raise typer.Exit(status)
