"""`ritbot ask`: one question, or a conversation on a terminal."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args

import typer
from rich.console import Console
from rich.text import Text

from bot.terminal.answer_view import print_answer, print_trace
from bot.terminal.console import print_json
from deploy.commands.command_line import (
    AsJson,
    Config,
    Folder,
    SiteNames,
    Version,
    console,
    fail,
    needs_index,
    run,
    settings_of,
)
from deploy.serving.answer_source import Ask, AskRequest, open_asker
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.settings.site import StrategyName
from navigator.answer import Answer
from navigator.question.rewrite import REMEMBERED_EXCHANGES, Earlier

Form = Literal["usual", "brief", "trace", "json"]
"""How an answer is shown: `trace` has the way to it before it."""


def command(
    question: Annotated[str | None, typer.Argument(help="The question; none: you are asked for it.")] = None,
    site: SiteNames = None,
    version: Version = None,
    strategy: Annotated[
        str | None, typer.Option(help=f"How to look: {', '.join(get_args(StrategyName))}; none: as the settings say.")
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show the whole way: what was offered, read, cited.")] = False,
    brief: Annotated[bool, typer.Option("--brief", help="The answer and its links, nothing else.")] = False,
    as_json: AsJson = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    scope = known_sites(settings, settings.index.folder).scope(site or (), version)
    if strategy is not None and (wrong := settings.why_not(strategy)):
        fail(f"--strategy {strategy}: {wrong}")
    needs_index(settings)
    form: Form = "json" if as_json else "trace" if trace else "brief" if brief else "usual"
    if question is None and not sys.stdin.isatty():
        question = sys.stdin.buffer.read().decode(errors="replace")
    asked = AskRequest(question or "", scope, strategy=strategy or "", version_given=version is not None)
    if question is None:
        run(converse(settings, asked, console, form))
        return
    text = question.encode(errors="surrogateescape").decode(errors="replace")  # bytes that are no UTF-8
    answer = run(ask(settings, replace(asked, question=text), console, form))
    raise typer.Exit({"answered": 0, "greeting": 0, "not_found": 1, "failed": 3}[answer.outcome])


async def ask(settings: Settings, asked: AskRequest, console: Console, form: Form) -> Answer:
    """Ask once. Raises IngestError, SettingsError."""
    async with open_asker(settings) as asker:
        answer = await asker(asked)
    show(answer, console, form)
    return answer


async def converse(settings: Settings, asked: AskRequest, console: Console, form: Form) -> None:
    """Take questions until an empty line or the end of input, each asked as `asked` is. Raises IngestError,
    SettingsError."""
    console.print("Loading …", style="dim")
    async with open_asker(settings) as asker:
        await take_questions(asker, asked, console, form)


async def take_questions(asker: Ask, asked: AskRequest, console: Console, form: Form = "usual") -> None:
    """A conversation: what was said counts for what is asked next."""
    console.print("Your question (an empty line ends):")
    earlier: list[Earlier] = []
    while True:
        try:
            question = console.input(Text("> ", style="bold"))
        except EOFError:
            return
        if not question.strip():
            return
        answer = await asker(replace(asked, question=question, earlier=tuple(earlier[-REMEMBERED_EXCHANGES:])))
        show(answer, console, form)
        if answer.outcome in ("answered", "not_found"):
            cited = tuple(source.first.node_id for source in answer.sources)
            earlier.append(Earlier(answer.understood or question, answer.text, cited))


def show(answer: Answer, console: Console, form: Form = "usual") -> None:
    if form == "json":
        print_json(asdict(answer), default=_plain)
        return
    if form == "trace":
        print_trace(console, answer)
    print_answer(console, answer, datetime.now(UTC), brief=form == "brief")


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
