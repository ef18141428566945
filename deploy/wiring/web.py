"""The pages that show sections to whoever kept a link to them."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from bot.permalinks.cited_in import cited_in
from bot.permalinks.lookup import Permalinks
from bot.ports import BotStore
from bot.web.access import OpenAccess, ProxyAccess, WebAccess
from bot.web.app import NodeWeb
from deploy.settings.root import Settings
from deploy.settings.web import WebSettings
from deploy.wiring.stores import SystemClock


def web_routes(settings: Settings, permalinks: Permalinks, store: BotStore) -> Sequence[BaseRoute]:
    access, public_url = web_access(settings.web), settings.web.public_url or ""
    return NodeWeb(permalinks, access, SystemClock(), public_url, cited_in(store)).routes()


def web_access(web: WebSettings) -> WebAccess:
    return OpenAccess() if web.access == "open" else ProxyAccess(web.user_header, web.trusted_proxies)
