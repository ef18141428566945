"""[slack]: how ritbot is connected with Slack, and how it behaves there."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from deploy.settings.messages import SettingsError
from deploy.settings.site import SettingsTable, Text, Web

CALLED = "/slack/events"
"""Where Slack calls over HTTP (bot.slack.inbound.http_mode.EVENTS)."""


class SlackSettings(SettingsTable):
    bot_token: SecretStr | None = Field(
        default=None, description="The bot token (xoxb-…) of the workspace. Not set: ritbot does not connect to Slack."
    )
    app_token: SecretStr | None = Field(default=None, description="socket: the app-level token (xapp-…).")
    mode: Literal["socket", "http"] = Field(
        default="socket",
        description="How Slack reaches ritbot. socket: ritbot connects, no address of its own is needed. http: Slack calls "
        "/slack/events at the address of [http].",
    )
    signing_secret: SecretStr | None = Field(default=None, description="http: the app's signing secret.")
    client_id: Text | None = Field(
        default=None,
        description="http: with client_secret and without bot_token, several workspaces may install the app at "
        '/slack/install. Both are also needed where web.access is "slack".',
    )
    client_secret: SecretStr | None = Field(default=None, description="The app's client secret, for the same.")
    person: Text | None = Field(
        default=None, description="The user group (S…) or person (U…) whom “Ask a person” pings. Not set: not offered."
    )
    managers: tuple[Text, ...] = Field(
        default=(), description="People (U…) who may change the settings of every channel."
    )
    shared_channels: bool = Field(
        default=False, description="Whether people of other companies may ask, in channels shared with them."
    )
    guests: bool = Field(default=False, description="Whether guests of the workspace may ask.")
    answer_mode: Literal["mention", "questions", "off"] = Field(
        default="mention", description="When ritbot answers in a channel, unless its own settings say otherwise."
    )
    quiet: bool = Field(
        default=False, description="Whether it says nothing where it finds nothing and nobody mentioned it."
    )
    follow_ups: bool = Field(default=True, description="Whether it answers on in a thread without a new mention.")
    api_url: Web = Field(default="https://slack.com/api/", description="The address of Slack's Web API.")
    proxy: SecretStr | None = Field(default=None, description="Address of a proxy to Slack.")

    @property
    def wanted(self) -> bool:
        """Whether ritbot talks to Slack at all."""
        return any((self.bot_token, self.app_token, self.signing_secret, self.client_id))

    @property
    def several(self) -> bool:
        """Whether workspaces install the app themselves."""
        return self.mode == "http" and self.client_id is not None and self.bot_token is None

    def check(self, *, listens: bool = True, signs_in: bool = False) -> None:
        """Raises SettingsError that says what must still be set. `listens` False: for who only answers. `signs_in`: people
        sign in with Slack, which takes the app's client ID also where it is in one workspace."""
        if self.mode == "http" and self.bot_token and self.client_id and not signs_in:
            raise SettingsError(
                "slack.bot_token is for one workspace, slack.client_id where workspaces install the app: set one of them"
            )
        if unset := [name for name in self._needed(listens) if getattr(self, name) is None]:
            names = " and ".join(f"slack.{name}" for name in unset)
            variables = ", ".join(f"RITBOT_SLACK__{name.upper()}" for name in unset)
            raise SettingsError(f"{names} must be set ({variables}): `ritbot slack init` says how")

    def _needed(self, listens: bool) -> list[str]:
        heard_by = ["app_token" if self.mode == "socket" else "signing_secret"] if listens else []
        if self.several:
            return [*heard_by, "client_secret"] if listens else []
        return ["bot_token", *heard_by]
