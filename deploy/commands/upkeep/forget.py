"""`ritbot forget`: a person's questions and answers are removed, and their name wherever it is kept."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from bot.gaps.grouping import follow_log
from deploy.commands.asking.answers import printable_line
from deploy.commands.command_line import Config, Folder, console, fail, no_index, run, settings_of
from deploy.settings.root import Settings
from deploy.wiring.bot_store import open_bot_store, open_gaps
from deploy.wiring.stores import SystemClock


def command(
    user: Annotated[str, typer.Argument(help="The id of a person, as `ritbot answers` shows it (U0123ABCD).")],
    yes: Annotated[bool, typer.Option("--yes", help="Really: what is removed does not come back.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    if not yes:
        fail(f"This removes what is kept of {user} for good. If that is meant: ritbot forget {user} --yes")
    if no_index(settings):
        fail(f"There is no data folder at {settings.index.folder}, so nothing to remove.", 3)
    raise typer.Exit(run(forget(settings, user, console)))


async def forget(settings: Settings, user: str, console: Console) -> int:
    """Remove what is kept of a person, and say what may hold something of them for a while."""
    async with open_bot_store(settings) as store, open_gaps(settings) as gaps:
        gone = await store.forget(user)
        await follow_log(store, gaps, SystemClock())
    days = settings.bot.keep_events.days
    for line in (
        f"Removed {gone} question{'' if gone == 1 else 's'} of {printable_line(user)} with their answers.",
        "Their name and words are gone from feedback on other questions, and their name from channel settings; their questions "
        "from gaps.",
        f"What the event log holds of them goes by itself, {days} day{'' if days == 1 else 's'} after it was written.",
        "Backups are as they were: remove those that are older than this, if need be.",
    ):
        console.print(line, soft_wrap=True)
    return 0
