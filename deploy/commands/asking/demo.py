"""`ritbot demo`: index ritbot's own manual, ask it four questions, then take the user's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.rule import Rule

from deploy.commands.asking.ask import show, take_questions
from deploy.commands.command_line import console, fail, run, settings_of
from deploy.commands.documents.index import index_sites
from deploy.serving.answer_source import AskRequest, asks
from deploy.settings.root import Settings
from deploy.wiring.navigation import open_navigator
from deploy.wiring.stores import open_stores
from ingest.errors import IndexMismatch
from ingest.model import Scope, Site

DEMO_QUESTIONS = (
    "How do I index my own documentation site?",
    "What happens to links in old tickets when a heading is renamed?",
    "How does ritbot choose which sections to read?",
    "Can ritbot book a flight to Paris for me?",
)


def command(
    manual: Annotated[Path, typer.Option(help="The folder of the built manual.")] = Path("build/manual"),
) -> None:
    if not manual.is_dir():
        fail(f"There is no built manual at {manual}. Run: make demo")
    settings = settings_of(None, manual.parent / "demo-index").extracting
    run(demo(settings, manual, console, interactive=sys.stdin.isatty()))


async def demo(settings: Settings, manual: Path, console: Console, *, interactive: bool) -> None:
    """Raises IngestError. The index of the demo is kept beside the manual, so that a second run is quick."""
    console.print(Rule("ritbot demo: its own manual, no key, no server"))
    site = Site("manual", str(manual))
    try:
        await index_sites(settings, [site], console, accept=True)
    except IndexMismatch:  # left behind by an older ritbot
        await index_sites(settings, [site], console, accept=True, rebuild=True)
    async with open_stores(settings, "ritbot demo") as stores, open_navigator(stores, ("en",)) as navigator:
        for question in DEMO_QUESTIONS:
            console.print(Rule(question, align="left", style="bold"))
            show(await navigator.ask(question, Scope()), console)
        if interactive:
            await take_questions(asks(stores, navigator), AskRequest("", Scope()), console)
