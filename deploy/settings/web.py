"""[web]: the permalinks of sections, where people reach them, and who may."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from deploy.settings.messages import TAKES
from deploy.settings.site import SettingsTable, Web


def _network(value: str) -> str:
    try:
        return str(ip_network(value))
    except ValueError:
        raise PydanticCustomError(TAKES, "an IP address, or a network such as 10.0.0.0/8") from None


Network = Annotated[str, AfterValidator(_network), "an IP address or a network"]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$"), "the name of an HTTP header"]


class WebSettings(SettingsTable):
    public_url: Web | None = Field(
        default=None,
        description="The address under which people reach ritbot's pages; permalinks are made of it. Not set: ritbot serve "
        "has no such pages, and links lead to the documentation alone.",
    )
    access: Literal["open", "proxy"] = Field(
        default="open",
        description="Who may see sections. open: whoever reaches the address, and nothing of the answer log. proxy: whom a "
        "proxy in front of ritbot names.",
    )
    user_header: HeaderName = Field(
        default="X-Forwarded-User", description="proxy: the header in which the proxy says who it is."
    )
    trusted_proxies: tuple[Network, ...] = Field(
        default=("127.0.0.1/32", "::1/128"),
        description="proxy: from where that header is believed. From anywhere else nobody is let in.",
    )
