"""`make play`: ritbot in a workspace on a local page, on its own manual; no account, no key.

    python -m tests.play [--manual build/manual] [--folder build/play] [--port 8484]

Settings are read as by every command (ritbot.toml here, RITBOT_… in the environment): with a key for a model, a model
answers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from deploy.command_line import console, fail, run, settings_of
from deploy.health import Health
from deploy.roles import run_roles, stopped_by_signals
from deploy.settings import Settings
from tests.play.whole import index_docs, open_bot, play_on, settings_on

PORT = 8484


async def play(settings: Settings, manual: Path, port: int, out: Console) -> None:
    """Until SIGINT or SIGTERM. Raises IngestError, BotError, OSError where the port is taken."""
    async with play_on(manual, port) as slack:
        settings = settings_on(slack, settings)
        await index_docs(slack, settings, manual, out)
        async with open_bot(settings) as roles:
            with stopped_by_signals() as stop:
                out.print(Text.assemble("\nOpen ", (f"{slack.url}/", "bold"), " in a browser and ask. Ctrl-C ends."))
                await run_roles(roles, stop, Health())


def main() -> None:
    parser = argparse.ArgumentParser(prog="make play", description=__doc__)
    parser.add_argument("--manual", type=Path, default=Path("build/manual"), help="a folder of HTML to answer from")
    parser.add_argument("--folder", type=Path, default=Path("build/play"), help="where its index is kept")
    parser.add_argument("--port", type=int, default=PORT)
    chosen = parser.parse_args()
    if not chosen.manual.is_dir():
        fail(f"There is no folder {chosen.manual}. Run: make play")
    run(play(settings_of(None, chosen.folder), chosen.manual, chosen.port, console))


if __name__ == "__main__":
    main()
