"""Settings of the conversation in Slack, and of how much may be asked."""

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
        default=None, description="http: with client_secret, several workspaces may install the app at /slack/install."
    )
    client_secret: SecretStr | None = Field(default=None, description="http: the app's client secret.")
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
    ping: float = Field(default=10.0, gt=0, description="socket: seconds between two signs that the connection lives.")

    @property
    def wanted(self) -> bool:
        """Whether ritbot talks to Slack at all."""
        return any((self.bot_token, self.app_token, self.signing_secret, self.client_id))

    def check(self, *, listens: bool = True) -> None:
        """Raises SettingsError that says what must still be set. `listens` False: for who only answers."""
        if self.mode == "http" and self.bot_token and self.client_id:
            raise SettingsError(
                "slack.bot_token is for one workspace, slack.client_id where workspaces install the app: set one of them"
            )
        if unset := [name for name in self._needed(listens) if getattr(self, name) is None]:
            names = " and ".join(f"slack.{name}" for name in unset)
            variables = ", ".join(f"RITBOT_SLACK__{name.upper()}" for name in unset)
            raise SettingsError(f"{names} must be set ({variables}): `ritbot slack init` says how")

    def _needed(self, listens: bool) -> list[str]:
        several = self.mode == "http" and self.client_id is not None
        heard_by = ["app_token" if self.mode == "socket" else "signing_secret"] if listens else []
        if several:
            return [*heard_by, "client_secret"] if listens else []
        return ["bot_token", *heard_by]


class AnswersSettings(SettingsTable):
    parallel: int = Field(default=8, ge=1, le=256, description="Questions answered side by side in one process.")
    timeout: float = Field(default=180.0, ge=1, description="Seconds after which an answer is given up.")
    lease: float = Field(
        default=60.0, ge=3, description="Seconds after which another process goes on with the answer of one that died."
    )
    per_user: int = Field(default=30, ge=0, description="Questions that a person may ask in an hour; 0: any number.")
    per_channel: int = Field(default=120, ge=0, description="The same for a channel.")
    daily_cost: float = Field(
        default=0.0, ge=0, description="US dollars that answers may cost in a day (UTC); 0: any sum."
    )
