"""`make play`: ritbot in a workspace on a local page, on its own manual; no account, no key.

    python -m tests.play [--manual build/manual] [--folder build/play] [--port 8484]

Settings are read as by every command (ritbot.toml here, RITBOT_… in the environment): with a key for a model, a model
answers.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from deploy.commands.command_line import Folder, console, fail, run, settings_of
from deploy.serving.health import Health
from deploy.serving.roles import run_roles, stopped_by_signals
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from tests.play.whole import index_docs, open_bot, play_on, settings_on

PORT = 8484


async def play(settings: Settings, manual: Path, port: int, out: Console) -> None:
    """Until SIGINT or SIGTERM. Raises IngestError, BotError, SettingsError."""
    async with AsyncExitStack() as stack:
        try:
            slack = await stack.enter_async_context(play_on(manual, port))
        except OSError:
            raise SettingsError(f"port {port} cannot be had: make play PORT=8485") from None
        settings = settings_on(slack, settings)
        await index_docs(slack, settings, manual, out)
        async with open_bot(settings) as roles:
            with stopped_by_signals() as stop:
                out.print(Text.assemble("\nOpen ", (f"{slack.url}/", "bold"), " in a browser and ask. Ctrl-C ends."))
                await run_roles(roles, stop, Health())


def main(
    manual: Annotated[Path, typer.Option(help="The folder of HTML to answer from.")] = Path("build/manual"),
    folder: Folder = Path("build/play"),
    port: Annotated[int, typer.Option(help="Where the page is served, on this machine only.")] = PORT,
) -> None:
    if not manual.is_dir():
        fail(f"There is no folder {manual}. Run: make play")
    run(play(settings_of(None, folder), manual, port, console))


if __name__ == "__main__":
    typer.run(main)
