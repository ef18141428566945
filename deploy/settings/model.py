"""[model], [router], [judge]: the models that answer, route and judge."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from deploy.settings.site import SettingsTable, Share, Text, Web


class PriceSettings(SettingsTable):
    input: float | None = Field(
        default=None, ge=0, description="US dollars for a million input tokens; not set: as published."
    )
    output: float | None = Field(default=None, ge=0, description="The same for output tokens.")
    cache_read: float | None = Field(default=None, ge=0, description="The same for tokens read from the cache.")
    cache_write: float | None = Field(default=None, ge=0, description="The same for tokens written to the cache.")


class EndpointSettings(SettingsTable):
    """A model behind an endpoint with the Messages API. [router] and [judge] are no more than that: what they leave out is
    as in [model]."""

    name: Text | None = Field(default=None, description="The model's name at the endpoint; not set: model.name.")
    api_key: SecretStr | None = Field(
        default=None, description="The endpoint's key; not set: model.api_key, for model.base_url alone."
    )
    base_url: Web | None = Field(
        default=None, description="The endpoint, with the Messages API; not set: model.base_url."
    )
    prices: PriceSettings = PriceSettings()

    @property
    def wanted(self) -> bool:
        """Whether another model is named, or another endpoint."""
        return self.name is not None or self.base_url is not None


class ModelSettings(EndpointSettings):
    """The model that answers. `name`, `api_key` and `base_url` are what the other two fall back to."""

    name: Text = Field(default="claude-haiku-5-5", description="The model's name at the endpoint.")
    api_key: SecretStr | None = Field(default=None, description="The endpoint's key; not set: ANTHROPIC_API_KEY.")
    base_url: Web | None = Field(
        default=None, description="Another endpoint with the Messages API; not set: ANTHROPIC_BASE_URL."
    )
    provider: Literal["auto", "extractive", "anthropic"] = Field(
        default="auto",
        description="Who answers. extractive: no model, sentences of the pages; needs no key. anthropic: a model behind "
        "the Messages API. auto: anthropic if api_key is set, else extractive.",
    )
    proxy: SecretStr | None = Field(default=None, description="Address of a proxy to the endpoint.")
    ca_file: Path | None = Field(
        default=None, description="A file of certificate authorities to trust at the endpoint."
    )
    max_tokens: int = Field(default=8192, ge=1, description="Tokens that the model may write in one turn.")
    timeout: float = Field(default=60.0, gt=0, description="Seconds of silence after which a request has failed.")
    retries: int = Field(default=3, ge=0, le=20, description="Further tries after a failed request.")
    context_window: int = Field(default=200_000, ge=1000, description="Tokens that the model can take in.")
    citations: bool | None = Field(
        default=None, description="Whether the endpoint gives citations; not set: found out."
    )
    prompt_caching: bool = Field(default=True, description="Whether the endpoint is asked to cache prompts.")
    extract_threshold: Share = Field(
        default=0.40, description="extractive: how much of the question an extract must cover to be an answer."
    )

    @property
    def chosen(self) -> Literal["extractive", "anthropic"]:
        """The provider, with `auto` decided."""
        if self.provider == "auto":
            return "anthropic" if self.api_key else "extractive"
        return self.provider
