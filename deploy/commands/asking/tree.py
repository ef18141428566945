"""`ritbot tree`: how ritbot sees a page (a file, a URL), or a node and what stands around it."""

from __future__ import annotations

import asyncio
import mimetypes
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.terminal.console import print_json
from bot.terminal.tree_view import print_node, print_page
from deploy.commands.command_line import AsJson, Config, Folder, console, fail, no_index, run, settings_of
from deploy.settings.root import Settings
from deploy.wiring.stores import open_fetcher, open_trees
from ingest.errors import SiteUnusable
from ingest.html.printed import printed
from ingest.indexing.parse_process import ParseProcess
from ingest.model import Document, Site
from navigator.retrieval.passages import path_of, section_link

MIN_NODE_ID_CHARACTERS = 6
"""So many characters of a node id are enough to ask for it, if they are unambiguous."""


def command(
    target: Annotated[str, typer.Argument(help="An HTML file, a URL, or the id of an indexed node.")],
    as_json: AsJson = False,
    url: Annotated[str | None, typer.Option(help="The URL that a file was fetched from.")] = None,
    status: Annotated[int, typer.Option(help="The HTTP status that it came with.")] = 200,
    content_type: Annotated[str | None, typer.Option(help="The Content-Type that it came with.")] = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    if target.startswith(("http://", "https://")) or Path(target).is_file():
        page = show_page(settings, target, console, url=url, status=status, content_type=content_type, as_json=as_json)
        raise typer.Exit(run(page))
    if no_index(settings):
        fail(f"{target} is no file and no URL, and there is no index at {settings.index.folder}.")
    raise typer.Exit(run(show_node(settings, target, console, as_json=as_json)))


async def show_page(
    settings: Settings,
    target: str,
    console: Console,
    *,
    url: str | None = None,
    status: int = 200,
    content_type: str | None = None,
    as_json: bool = False,
) -> int:
    """Parse a file or a URL and draw or print it; the exit status. Raises IngestError, OSError."""
    if target.startswith(("http://", "https://")):
        document, address = await _fetched(settings, target)
    else:
        document, address = await _read(Path(target), url, status, content_type, settings)
    if as_json:
        print_json(printed(document, address))
        return 0
    if document.page is None:
        skip = document.skip
        what = f"{skip.reason}: {skip.detail}".rstrip(": ") if skip else "empty"
        console.print(f"This page is not indexed — {what}")
        if skip and skip.redirect_to:
            console.print(f"It redirects to {skip.redirect_to}")
        return 1
    print_page(console, document.page)
    return 0


async def _read(
    path: Path, url: str | None, status: int, content_type: str | None, settings: Settings
) -> tuple[Document, str]:
    address = url or path.absolute().as_uri()  # noqa: ASYNC240  # no file is touched
    kind = content_type if content_type is not None else (mimetypes.guess_type(path.name)[0] or "text/html")
    limit = settings.index.max_page_bytes
    body = await asyncio.to_thread(path.read_bytes)
    async with ParseProcess() as parser:
        return await parser.parse(body, address, status=status, content_type=kind, max_bytes=limit), address


async def _fetched(settings: Settings, target: str) -> tuple[Document, str]:
    site = Site("tree", target, allow_private=True, obey_robots=False, max_bytes=settings.index.max_page_bytes)
    async with open_fetcher(site) as fetcher, ParseProcess() as parser:
        answer = await fetcher.fetch(target)
        document = await parser.parse(
            answer.body,
            answer.url,
            status=answer.status,
            content_type=answer.content_type,
            headers=answer.headers,
            max_bytes=site.max_bytes,
        )
    if answer.status >= 400:
        raise SiteUnusable(f"{target} answers with HTTP {answer.status}.")
    return document, answer.url


async def show_node(settings: Settings, target: str, console: Console, *, as_json: bool = False) -> int:
    """Draw an indexed node, by its id or the beginning of it; the exit status."""
    async with open_trees(settings) as trees:
        found = await trees.find(target) if len(target) >= MIN_NODE_ID_CHARACTERS else []
        if len(found) != 1:
            shown = "\n".join(f"  {node}" for node in found)
            console.print(
                f"{target} is the beginning of several node ids:\n{shown}"
                if found
                else f"{target} is no file, no URL, and no node of the index at {settings.index.folder}."
            )
            return 1
        located = (await trees.nodes(found))[found[0]]
        place = (await trees.place([located.page.key])).get(located.page.key, ())
        link = section_link(located.page, located.node.id)
        if as_json:
            node, page = located.node, located.page
            row = {
                "id": node.id,
                "hash": node.own_hash,
                "title": node.title,
                "level": node.level,
                "kind": node.kind,
                "path": [*(p.title for p in place), *path_of(page, node.id)],
                "link": link,
                "page": page.canonical,
                "site": page.site,
                "version": page.version,
                "checked_at": page.checked_at.isoformat(),
                "text": node.text,
            }
            print_json(row)
        else:
            print_node(console, located, place, link)
    return 0
