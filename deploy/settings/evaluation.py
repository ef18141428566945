"""Settings of `ritbot eval`: who judges answers, and how many questions are under way."""

from __future__ import annotations

from pydantic import Field, SecretStr

from deploy.settings.model import PriceSettings
from deploy.settings.site import SettingsTable, Text, Web


class EvaluationSettings(SettingsTable):
    judge: Text | None = Field(
        default=None, description="The model that judges answers; not set: the one that answers, which judges itself."
    )
    judge_api_key: SecretStr | None = Field(default=None, description="Its endpoint's key; not set: model.api_key.")
    judge_base_url: Web | None = Field(
        default=None, description="Its endpoint, with the Messages API; not set: model.base_url."
    )
    judge_prices: PriceSettings = PriceSettings()
    concurrency: int = Field(
        default=4, ge=1, le=64, description="Questions under way side by side; seconds a question are measured at this."
    )
