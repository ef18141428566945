"""`make play`: ritbot in a workspace on a local page, on its own manual or on a folder of HTML; no account, no key.

    python -m tests.play [build/manual] [--folder build/play] [--port 8484]

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
from deploy.serving.http import serving
from deploy.serving.roles import run_roles, stopped_by_signals
from deploy.settings.messages import SettingsError
from deploy.settings.process import HttpSettings
from deploy.settings.root import Settings
from tests.play.whole import index_docs, open_bot, play_on, settings_on, site_name

PORT = 8484
MANUAL = Path("build/manual")


async def play(settings: Settings, docs: Path, port: int, out: Console) -> None:
    """Until SIGINT or SIGTERM. Raises IngestError, BotError, SettingsError."""
    async with AsyncExitStack() as stack:
        try:
            slack = await stack.enter_async_context(play_on(docs, port))
        except OSError:
            raise SettingsError(f"port {port} cannot be had: make play PORT=8485") from None
        health = Health()
        pages = await stack.enter_async_context(serving(health.app, HttpSettings(port=0)))
        settings = settings_on(slack, settings, pages)
        await index_docs(slack, settings, docs, out)
        async with open_bot(settings, health) as roles:
            with stopped_by_signals() as stop:
                out.print(Text.assemble("\nOpen ", (f"{slack.url}/", "bold"), " in a browser and ask. Ctrl-C ends."))
                await run_roles(roles, stop, health)


def main(
    docs: Annotated[Path, typer.Argument(help="The folder of HTML to answer from.")] = MANUAL,
    folder: Folder = None,
    port: Annotated[int, typer.Option(help="Where the page is served, on this machine only.")] = PORT,
) -> None:
    docs = docs.expanduser()
    if not docs.is_dir():
        fail(f"There is no folder {docs}. Name one of HTML: make play FOLDER=docs/build/html")
    own = Path("build/play") if docs == MANUAL else Path(f"build/play-{site_name(docs)}")
    run(play(settings_of(None, folder or own), docs, port, console))


if __name__ == "__main__":
    typer.run(main)
