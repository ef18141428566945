"""[http] and [log]: where a running process says how it is, and what it logs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_core import PydanticCustomError

from deploy.settings.messages import TAKES
from deploy.settings.site import SettingsTable, Text


class HttpSettings(SettingsTable):
    """Every role says here how it is, and the watcher takes calls of a publishing pipeline."""

    host: Text = Field(default="127.0.0.1", description="The address to listen at; 0.0.0.0: at all of this machine's.")
    port: int = Field(default=8321, ge=0, le=65535, description="The port; 0: a free one, which is printed.")
    hook_secret: SecretStr | None = Field(
        default=None,
        description="The secret under which POST /hooks/docs is signed; not set: there is no such address.",
    )

    @field_validator("hook_secret")
    @classmethod
    def _is_long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or len(value.get_secret_value()) >= 16:
            return value
        raise PydanticCustomError(TAKES, "a secret of at least 16 characters")


class LogSettings(SettingsTable):
    level: Literal["auto", "debug", "info", "warning", "error"] = Field(
        default="auto",
        description="From which level events are logged. auto: warning for terminal commands, info for servers.",
    )
    format: Literal["console", "json"] = Field(default="console", description="Lines for people, or JSON objects.")
