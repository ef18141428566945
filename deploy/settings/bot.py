"""[bot] and [answers]: how long is kept what people asked, the keys for the tokens that are kept, how much may be asked."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr
from pydantic_core import PydanticCustomError

from deploy.settings.messages import TAKES
from deploy.settings.site import SettingsTable

MAX_EVENT_DAYS = 14
"""The event log keeps questions and answers so long, for who must read them again after an outage."""
_KEY = re.compile(r"[A-Za-z0-9_-]{43}=")
_KEYS = "keys of 32 bytes in URL-safe base64, with commas between them"


def _keys(value: SecretStr) -> SecretStr:
    if all(_KEY.fullmatch(key) for key in _listed(value)):
        return value
    raise PydanticCustomError(TAKES, _KEYS)


def _listed(keys: SecretStr) -> list[str]:
    return [key.strip() for key in keys.get_secret_value().split(",")]


Keys = Annotated[SecretStr, AfterValidator(_keys), f"{_KEYS} (secret)"]


class BotSettings(SettingsTable):
    keep_days: int = Field(default=90, ge=1, le=36_500, description="Days that questions and answers are kept.")
    keys: Keys | None = Field(
        default=None,
        description="The keys under which Slack tokens are kept: the first one seals, all of them open. "
        "Needed where several workspaces install the app.",
    )

    @property
    def keep(self) -> timedelta:
        return timedelta(days=self.keep_days)

    @property
    def keep_events(self) -> timedelta:
        """A question that is read again from the log must still be known, or it would be answered again."""
        return timedelta(days=min(MAX_EVENT_DAYS, self.keep_days))

    @property
    def sealing_keys(self) -> tuple[str, ...]:
        return tuple(_listed(self.keys)) if self.keys else ()


class AnswersSettings(SettingsTable):
    parallel: int = Field(default=8, ge=1, le=256, description="Questions answered side by side in one process.")
    timeout: float = Field(default=180.0, ge=1, description="Seconds after which an answer is given up.")
    per_user: int = Field(default=30, ge=0, description="Questions that a person may ask in an hour; 0: any number.")
    per_channel: int = Field(default=120, ge=0, description="The same for a channel.")
    daily_cost: float = Field(
        default=0.0, ge=0, description="US dollars that answers may cost in a day (UTC); 0: any sum."
    )
