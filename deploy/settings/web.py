"""[web]: the permalinks of sections, where people reach them, and who may."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from deploy.settings.messages import TAKES, SettingsError
from deploy.settings.site import SettingsTable, Text, Web
from deploy.settings.slack import SlackSettings

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Hosts that Slack sends people back to without TLS."""


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
    access: Literal["open", "proxy", "slack"] = Field(
        default="open",
        description="Who may see sections. open: whoever reaches the address, and nothing of the answer log. proxy: whom a "
        "proxy in front of ritbot names. slack: who signs in with Slack, and may ask ritbot there.",
    )
    user_header: HeaderName = Field(
        default="X-Forwarded-User", description="proxy: the header in which the proxy says who it is."
    )
    trusted_proxies: tuple[Network, ...] = Field(
        default=("127.0.0.1/32", "::1/128"),
        description="proxy: from where that header is believed. From anywhere else nobody is let in.",
    )
    operators: tuple[Text, ...] = Field(
        default=(),
        description="Who may see the pages of answers, stale answers, sites and events, private questions too: people as the "
        "proxy names them, or by their id in Slack (U…). Empty: there are no such pages.",
    )

    @property
    def signs_in(self) -> bool:
        return self.access == "slack"

    def check(self, slack: SlackSettings) -> None:
        """Raises SettingsError that says what must still be set for people to sign in with Slack, or to be told apart."""
        if self.operators and self.access == "open":
            raise SettingsError(
                'web.operators names people, and web.access is "open", which tells nobody apart: set it to "proxy" or "slack"'
            )
        if not self.signs_in:
            return
        needed = {
            "web.public_url": self.public_url,
            "slack.client_id": slack.client_id,
            "slack.client_secret": slack.client_secret,
        }
        if unset := [name for name, value in needed.items() if value is None]:
            variables = ", ".join(f"RITBOT_{name.replace('.', '__').upper()}" for name in unset)
            raise SettingsError(f'web.access is "slack": {" and ".join(unset)} must be set ({variables})')
        at = urlsplit(self.public_url or "")
        if at.scheme != "https" and at.hostname not in LOOPBACK:
            raise SettingsError(
                'web.access is "slack": web.public_url must begin with https://, or Slack sends nobody back'
            )
