"""[enrichment] and [evaluation]: what runs over many sections or questions may take."""

from __future__ import annotations

from pydantic import Field

from deploy.settings.site import SettingsTable


class EnrichmentSettings(SettingsTable):
    max_cost: float = Field(
        default=5.0, gt=0, description="US dollars that one run may cost, where the model's prices are known."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="Tokens that one run may take, read and written together; not set: any number."
    )
    concurrency: int = Field(default=4, ge=1, le=64, description="Sections that the model is asked about side by side.")


class EvaluationSettings(SettingsTable):
    concurrency: int = Field(
        default=4, ge=1, le=64, description="Questions under way side by side; seconds a question are measured at this."
    )
