"""Who may see sections: everybody who reaches the address, or whom a proxy in front of ritbot names; and bot.web.sign_in.

A header is believed only from the proxy's own address; everybody else could write it too. An answer log is shown to people
with a name alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.web.pages import Message
from bot.web.responses import told

MAX_NAME_CHARACTERS = 200
"""Of who somebody is, as a proxy says it."""
FORBIDDEN = Message(
    "You are not let in",
    "This page is for people of your company. Open it through the address that your company uses for it, and sign in there.",
)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who may see sections. `name` "": nobody in particular, who is let in to nothing else. `signs_out`: whether it
    is here that they signed in, and can sign out. `account`: what nobody else can be called; a name in Slack is anybody's."""

    name: str = ""
    signs_out: bool = False
    account: str = ""

    @property
    def let_in(self) -> bool:
        """Whether they may see where answers cited a section."""
        return bool(self.name)


class WebAccess(Protocol):
    async def visitor(self, request: Request) -> Visitor | Response:
        """Who asks; where they may see nothing, what they get instead. Raises StoreUnavailable."""
        ...

    def routes(self) -> Sequence[BaseRoute]:
        """What it takes for people to say who they are."""
        ...


class OpenAccess:
    """Everybody."""

    async def visitor(self, _: Request) -> Visitor | Response:
        return Visitor()

    def routes(self) -> Sequence[BaseRoute]:
        return ()


class ProxyAccess:
    """Whom a proxy at one of `trusted` (networks) names in the header `name`."""

    def __init__(self, name: str, trusted: Sequence[str]) -> None:
        self._name = name
        self._trusted = [ip_network(network) for network in trusted]

    async def visitor(self, request: Request) -> Visitor | Response:
        said = request.headers.getlist(self._name)
        name = said[0].strip() if len(said) == 1 else ""
        trusted = self._is_trusted(request.client.host if request.client else "")
        sound = 0 < len(name) <= MAX_NAME_CHARACTERS and name.isprintable()
        return Visitor(name, account=name) if trusted and sound else told(request, FORBIDDEN, 403)

    def routes(self) -> Sequence[BaseRoute]:
        return ()

    def _is_trusted(self, peer: str) -> bool:
        try:
            address = ip_address(peer.partition("%")[0])
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None) or address
        return any(mapped in network for network in self._trusted)
