"""Who may see sections: everybody who reaches the address, or whom a proxy in front of ritbot names.

A header is believed only from the proxy's own address; everybody else could write it too. An answer log is shown to people
with a name alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Protocol

from starlette.requests import Request

MAX_NAME_CHARACTERS = 200
"""Of who somebody is, as a proxy says it."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who may see sections. `name` "": nobody in particular, who is let in to nothing else."""

    name: str = ""

    @property
    def let_in(self) -> bool:
        """Whether they may see where answers cited a section."""
        return bool(self.name)


class WebAccess(Protocol):
    def visitor(self, request: Request) -> Visitor | None:
        """None where whoever asks may see nothing."""
        ...


class OpenAccess:
    """Everybody."""

    def visitor(self, _: Request) -> Visitor | None:
        return Visitor()


class ProxyAccess:
    """Whom a proxy at one of `trusted` (networks) names in the header `name`."""

    def __init__(self, name: str, trusted: Sequence[str]) -> None:
        self._name = name
        self._trusted = [ip_network(network) for network in trusted]

    def visitor(self, request: Request) -> Visitor | None:
        said = request.headers.getlist(self._name)
        if len(said) != 1 or not self._is_trusted(request.client.host if request.client else ""):
            return None
        name = said[0].strip()
        return Visitor(name) if 0 < len(name) <= MAX_NAME_CHARACTERS and name.isprintable() else None

    def _is_trusted(self, peer: str) -> bool:
        try:
            address = ip_address(peer.partition("%")[0])
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None) or address
        return any(mapped in network for network in self._trusted)
