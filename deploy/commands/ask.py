"""`ritbot ask`: one question, or a conversation of single questions on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.console import Console

from bot.terminal import print_answer, print_trace
from deploy.compose import Stores, open_navigator, open_stores
from deploy.known_sites import KnownSites, known_sites
from deploy.settings import Settings
from ingest.errors import SiteUnusable
from ingest.model import Scope
from navigator.answer import Answer
from navigator.loop import Navigator

PATIENCE = 20.0
"""Seconds that a question waits for another one that is being answered, or for the end of an index run."""


async def ask(
    settings: Settings, question: str, console: Console, *, scope: Scope, trace: bool, as_json: bool
) -> Answer:
    """Ask once. Raises IngestError, SettingsError."""
    known = known_sites(settings, settings.index.folder)
    async with (
        open_stores(settings, "ritbot ask", patience=PATIENCE) as stores,
        open_navigator(stores, known.languages()) as navigator,
    ):
        await check_scope(stores, scope)
        answer = await navigator.ask(question, scope)
        show(answer, stores, console, trace=trace, as_json=as_json)
        return answer


async def converse(settings: Settings, console: Console, *, scope: Scope, trace: bool) -> None:
    """Take questions until an empty line or the end of input."""
    known = known_sites(settings, settings.index.folder)
    console.print("[dim]Loading …[/dim]")
    async with (
        open_stores(settings, "ritbot ask", patience=PATIENCE) as stores,
        open_navigator(stores, known.languages()) as navigator,
    ):
        await check_scope(stores, scope)
        await take_questions(navigator, stores, console, scope=scope, trace=trace)


async def check_scope(stores: Stores, scope: Scope) -> None:
    """Raises SiteUnusable where there is nothing to look in: an empty index, a version that no page has."""
    if await stores.index.count(scope):
        return
    live = [state async for state in stores.trees.scan() if state.state == "live"]
    if not live:
        raise SiteUnusable("Nothing is indexed yet. Run: ritbot index FOLDER or URL.")
    if not await stores.index.count():
        raise SiteUnusable(f"The search index is lost; {len(live)} pages are known. Run: ritbot index --rebuild")
    versions = sorted({state.version for state in live if state.version})
    known = f" Versions there are: {', '.join(versions)}." if versions else ""
    raise SiteUnusable(f"No page is indexed for the site or version that you named.{known}")


async def take_questions(
    navigator: Navigator, stores: Stores, console: Console, *, scope: Scope, trace: bool = False
) -> None:
    console.print("Your question (an empty line ends):")
    while True:
        try:
            question = console.input("[bold]> [/bold]")
        except EOFError:
            return
        if not question.strip():
            return
        show(await navigator.ask(question, scope), stores, console, trace=trace, as_json=False)


def show(answer: Answer, stores: Stores, console: Console, *, trace: bool, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(asdict(answer), ensure_ascii=False, indent=1, default=_plain) + "\n")
        return
    if trace:
        print_trace(console, answer)
    print_answer(console, answer, stores.clock.now())


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
