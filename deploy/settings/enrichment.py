"""Settings of `ritbot enrich`: what a run may cost, and how long what it writes may be."""

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
    summary_words: int = Field(
        default=25, ge=8, le=60, description="Words of a summary that are asked for; a fifth more is taken."
    )
    long_section: int = Field(
        default=1_500,
        ge=300,
        description="A section without headings of more than about so many tokens is split under titles.",
    )
