"""The role that shows sections to whoever kept a link to them, over what a process has opened."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from bot.permalinks.lookup import FindSections, Permalinks
from bot.ports import Editions
from bot.web.access import OpenAccess, ProxyAccess, WebAccess
from bot.web.app import NodeWeb
from deploy.settings.root import Settings
from deploy.settings.web import WebSettings
from deploy.wiring.stores import Stores, SystemClock
from ingest.model import Scope
from ingest.ports import TreeStore
from ingest.text.words import terms

MAX_FOUND_CHUNKS = 40
"""Of the search for a section that is gone; its words lie in few sections, or in none."""
MAX_SEARCHED_CHARACTERS = 4_000
"""Of its text, so far it is searched for."""


def web_routes(
    settings: Settings, trees: TreeStore, editions: Editions, find: FindSections | None = None
) -> Sequence[BaseRoute]:
    clock = SystemClock()
    permalinks = Permalinks(trees, editions, clock, find)
    return NodeWeb(permalinks, web_access(settings.web), clock, settings.web.public_url or "").routes()


def web_access(web: WebSettings) -> WebAccess:
    return OpenAccess() if web.access == "open" else ProxyAccess(web.user_header, web.trusted_proxies)


def finder(stores: Stores, languages: Sequence[str]) -> FindSections:
    """By words alone: what a text said is known, so that its meaning need not be guessed."""

    async def find(text: str, site: str) -> Sequence[str]:
        said = text[:MAX_SEARCHED_CHARACTERS]
        searched = list(dict.fromkeys(term for language in languages for term in terms(said, language)))
        hits = await stores.index.words(searched, MAX_FOUND_CHUNKS, Scope(frozenset({site})))
        return list(dict.fromkeys(hit.node_id for hit in hits))

    return find
