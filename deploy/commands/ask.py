"""`ritbot ask`: one question, or a conversation on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from bot.terminal.answer_view import print_answer, print_trace
from deploy.serving.answer_source import Ask, AskRequest, open_asker
from deploy.settings.known_sites import KnownSites
from deploy.settings.root import Settings
from ingest.model import Scope
from navigator.answer import Answer
from navigator.question.rewrite import REMEMBERED, Earlier


async def ask(settings: Settings, asked: AskRequest, console: Console, *, trace: bool, as_json: bool) -> Answer:
    """Ask once. Raises IngestError, SettingsError."""
    async with open_asker(settings) as asker:
        answer = await asker(asked)
    show(answer, console, trace=trace, as_json=as_json)
    return answer


async def converse(settings: Settings, asked: AskRequest, console: Console, *, trace: bool) -> None:
    """Take questions until an empty line or the end of input, each asked as `asked` is. Raises IngestError,
    SettingsError."""
    console.print("[dim]Loading …[/dim]")
    async with open_asker(settings) as asker:
        await take_questions(asker, asked, console, trace=trace)


async def take_questions(asker: Ask, asked: AskRequest, console: Console, *, trace: bool = False) -> None:
    """A conversation: what was said counts for what is asked next."""
    console.print("Your question (an empty line ends):")
    earlier: list[Earlier] = []
    while True:
        try:
            question = console.input("[bold]> [/bold]")
        except EOFError:
            return
        if not question.strip():
            return
        answer = await asker(replace(asked, question=question, earlier=tuple(earlier[-REMEMBERED:])))
        show(answer, console, trace=trace, as_json=False)
        if answer.outcome in ("answered", "not_found"):
            cited = tuple(source.first.node_id for source in answer.sources)
            earlier.append(Earlier(answer.understood or question, answer.text, cited))


def show(answer: Answer, console: Console, *, trace: bool, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(asdict(answer), ensure_ascii=False, indent=1, default=_plain) + "\n")
        return
    if trace:
        print_trace(console, answer)
    print_answer(console, answer, datetime.now(UTC))


def scope_of(known: KnownSites, sites: Sequence[str], version: str | None) -> Scope:
    """Where to look: the named sites or all; the named version, else each site's default. Pages without
    a version are always in. Raises ValueError for a site that is not known."""
    unknown = [name for name in sites if name not in known.sites]
    if unknown:
        raise ValueError(
            f"There is no site called {unknown[0]}. Known: {', '.join(sorted(known.sites)) or 'none yet'}."
        )
    asked = [known.sites[name] for name in sites] if sites else list(known.sites.values())
    names = frozenset(sites) or None
    if version:
        return Scope(names, frozenset({version, ""}))
    if any(site.versions and not site.default_version for site in asked):
        return Scope(names)
    defaults = {site.default_version for site in asked if site.default_version}
    return Scope(names, frozenset({*defaults, ""}) if defaults else None)


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
