"""The settings of one documentation site, and the kinds of values that settings take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr
from pydantic_core import PydanticCustomError

from deploy.settings.messages import TAKES


def _regex(value: str, groups: int = 0) -> str:
    try:
        if re.compile(value).groups >= groups:
            return value
    except re.error as error:
        raise PydanticCustomError(TAKES, "a regular expression ({why})", {"why": str(error)}) from None
    raise PydanticCustomError(TAKES, "a regular expression with a group around the version")


def _web(value: str) -> str:
    try:
        parts = urlsplit(value)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return value
    except ValueError:
        pass
    raise PydanticCustomError(TAKES, "an http:// or https:// address")


def _start(value: str) -> str:
    if "://" not in value:
        return value
    if "@" in urlsplit(_web(value)).netloc:
        raise PydanticCustomError(TAKES, "an address without a password; set Authorization in headers for that")
    return value


Text = Annotated[str, Field(min_length=1)]
Regex = Annotated[str, AfterValidator(_regex), "a regular expression"]
VersionRegex = Annotated[str, AfterValidator(lambda value: _regex(value, 1)), "a regular expression with a group"]
Web = Annotated[str, AfterValidator(_web), "an http:// or https:// address"]
Start = Annotated[Text, AfterValidator(_start), "an http:// or https:// address or a folder"]
Share = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"), "a name of letters, digits, dots, _ and -"]
Language = Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$"), "a language code such as en or pt-BR"]


StrategyName = Literal["rit", "vanilla", "agentic", "interact", "pageindex", "rdr2"]
"""Those that answer people; `none`, the model alone, is for evaluation only."""
WITHOUT_A_MODEL = ("rit", "vanilla")
"""Those that extracts can follow."""


def secret_text(secret: SecretStr | None) -> str | None:
    """A secret as it is, for the adapter that sends it."""
    return secret.get_secret_value() if secret else None


class SettingsTable(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SiteSettings(SettingsTable):
    """One [[sites]] table; the fields are those of ingest.model.Site."""

    name: Name = Field(description="What the site is called.")
    start: Start = Field(description="A page to start from, a sitemap.xml, or a folder of HTML.")
    base_url: Web | None = Field(default=None, description="Where a folder's files are published.")
    include: tuple[Regex, ...] = Field(default=(), description="Only pages whose URL holds one of these.")
    exclude: tuple[Regex, ...] = Field(default=(), description="No pages whose URL holds one of these.")
    hosts: tuple[Text, ...] = Field(default=(), description="Further hosts that belong to the site.")
    sitemap: Web | None = Field(default=None, description="The sitemap's address, where it is not found by itself.")
    headers: dict[str, SecretStr] = Field(
        default={}, description='Sent with every request. "env:NAME" takes a value from the environment.'
    )
    language: Language = Field(default="en", description="The language of the pages.")
    versions: VersionRegex | None = Field(default=None, description="Finds the version in a URL, as its first group.")
    index_versions: tuple[Text, ...] = Field(default=(), description="The versions that are indexed; none named: all.")
    default_version: Text | None = Field(default=None, description="The version meant where a question names none.")
    strategy: StrategyName | None = Field(
        default=None, description="How questions about this site are answered; not set: navigator.strategy."
    )
    index_noindex: bool = Field(default=False, description="Whether pages marked noindex are indexed all the same.")
    allow_private: bool = Field(default=False, description="Whether private network addresses may be fetched.")
    obey_robots: bool = Field(default=True, description="Whether robots.txt is obeyed.")
    delay: float = Field(default=0.0, ge=0, description="Seconds between two requests.")
    concurrency: int = Field(default=8, ge=1, le=256, description="Requests at once.")
    timeout: float = Field(default=20.0, gt=0, description="Seconds that one request may take.")
    max_bytes: int | None = Field(default=None, ge=1, description="Not set: index.max_page_bytes.")
    max_pages: int = Field(default=100_000, ge=1, description="Pages beyond this number are left out.")
    proxy: SecretStr | None = Field(default=None, description='Address of a proxy, or "env:NAME".')
    ca_file: Path | None = Field(default=None, description="A file of certificate authorities to trust.")


Sites = Annotated[tuple[SiteSettings, ...], "a list of tables, each under its own [[sites]]"]
