"""Every setting of ritbot in one model tree, and where each value comes from.

`load` takes, the stronger first: RITBOT_* variables (RITBOT_INDEX__FOLDER is index.folder), the TOML
file, what the machine says (its data folder, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL), the defaults
below. All that is wrong is told at once, in one SettingsError. No other module reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from pydantic import (
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict
from pydantic_settings import PydanticBaseSettingsSource as Source

from deploy.settings import sources
from deploy.settings.bot import BotSettings
from deploy.settings.enrichment import EnrichmentSettings
from deploy.settings.evaluation import EvaluationSettings
from deploy.settings.messages import TAKES, default, did_you_mean, fields, takes
from deploy.settings.messages import SettingsError as SettingsError
from deploy.settings.model import ModelSettings, RouterSettings
from deploy.settings.site import WITHOUT_A_MODEL, SettingsTable, Share, Sites, SiteSettings, StrategyName, Text
from deploy.settings.slack import AnswersSettings, SlackSettings
from deploy.settings.stores import EventsSettings, HttpSettings, StoresSettings
from deploy.settings.strategies import StrategiesSettings
from ingest.model import Scope, Site

FILE = "ritbot.toml"


class IndexSettings(SettingsTable):
    folder: Path = Field(description="Where the index is kept. One process at a time holds it.")
    concurrency: int = Field(default=16, ge=1, le=256, description="Pages handled side by side.")
    chunk_tokens: int = Field(
        default=160,
        ge=16,
        le=512,
        description="Tokens of text in a chunk, at most what the embedding model reads. The paper takes 512; "
        "all-MiniLM-L6-v2 reads 256 and drops the rest in silence, and 160 was measured best with it.",
    )
    path_tokens: int = Field(
        default=64, ge=0, le=256, description="Tokens kept free in a chunk for the titles above it."
    )
    max_page_bytes: int = Field(default=10_000_000, ge=1, description="Pages larger than this are skipped.")
    guard_share: Share = Field(default=0.10, description="Nothing goes if a larger share of a site's pages would go.")
    guard_pages: int = Field(default=5, ge=0, description="As many pages may go whatever their share.")


class WatchSettings(SettingsTable):
    every: float = Field(default=300.0, ge=1, description="Seconds between two rounds of looks at a site.")
    first: float = Field(default=3_600.0, ge=1, description="Seconds until a new page is looked at again.")
    soonest: float = Field(default=300.0, ge=1, description="Seconds between looks at a page that changes often.")
    slowest: float = Field(default=86_400.0, ge=1, description="Seconds between looks at a page that never changes.")
    full: float = Field(
        default=604_800.0, ge=1, description="Seconds after which what a server says of change is checked."
    )
    misses: int = Field(default=3, ge=1, description="Looks in a row that find nothing before a page is gone.")
    missing_for: float = Field(default=86_400.0, ge=0, description="Seconds for which a page must have been missing.")


class EmbeddingSettings(SettingsTable):
    model: Text = Field(
        default="all-MiniLM-L6-v2",
        description="The sentence-transformers model: a folder (begins with /, . or ~), a name whose weights are "
        "installed, or, with allow_download, a name on the model hub. After a change, run ritbot reembed.",
    )
    batch_size: int = Field(default=32, ge=1, le=4096, description="Chunks embedded in one go.")
    threads: int | None = Field(default=None, ge=1, description="CPU threads for embedding; not set: torch decides.")
    allow_download: bool = Field(default=False, description="Whether weights may be fetched from the model hub.")


class RetrievalSettings(SettingsTable):
    n: int = Field(default=50, ge=1, le=1000, description="The best nodes, which make the forest (the paper's n).")
    k_per_node: int = Field(default=4, ge=1, le=100, description="Chunks searched for each node (the paper: k' = 4n).")
    recipe: Literal["ritbot", "plain"] = Field(
        default="ritbot",
        description="How the best nodes are chosen. plain: as in the paper. ritbot: kappa 30, a page speaks for its "
        "sections, and a section above another found one takes none of the n places.",
    )
    rrf_kappa: int | None = Field(
        default=None, ge=1, description="Kappa of reciprocal rank fusion; not set: 30, and 60 (the paper's) for plain."
    )
    outline: Literal["outline", "json"] = Field(
        default="outline",
        description="How the model sees the forest: an indented outline (about a seventh of the tokens) or the paper's JSON.",
    )
    summaries: bool = Field(
        default=True, description="Whether the forest shows the summaries and keywords that ritbot enrich has made."
    )


class NavigatorSettings(SettingsTable):
    strategy: StrategyName = Field(
        default="rit",
        description="How questions are answered where neither the site nor the channel says. All but rit and vanilla "
        "need a model.",
    )
    budget: int = Field(default=10, ge=2, le=100, description="Tool calls for one question (the paper's B).")
    toc_budget: int = Field(default=3, ge=1, description="How many of them may be GetToC (the paper's B_s).")
    read_limit: int = Field(default=10, ge=1, le=50, description="The most sections that one Read takes.")
    read_characters: int = Field(
        default=60_000, ge=1000, description="The most text that one Read gives, in characters."
    )
    context_warning: float = Field(
        default=0.80, gt=0, le=1, description="Share of the model's context at which it must answer (the paper's)."
    )

    @field_validator("toc_budget")
    @classmethod
    def _leaves_a_read(cls, value: int, info: ValidationInfo) -> int:
        budget = info.data.get("budget", value + 1)
        if value < budget:
            return value
        raise PydanticCustomError(TAKES, "a whole number below navigator.budget, so that a call is left to read")


class LogSettings(SettingsTable):
    level: Literal["auto", "debug", "info", "warning", "error"] = Field(
        default="auto",
        description="From which level events are logged. auto: warning for terminal commands, info for servers.",
    )
    format: Literal["console", "json"] = Field(default="console", description="Lines for people, or JSON objects.")


class Settings(BaseSettings):
    """All settings. Made by `load`; made directly, it takes its arguments and nothing from outside."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    index: IndexSettings
    stores: StoresSettings = StoresSettings()
    events: EventsSettings = EventsSettings()
    http: HttpSettings = HttpSettings()
    watch: WatchSettings = WatchSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    navigator: NavigatorSettings = NavigatorSettings()
    model: ModelSettings = ModelSettings()
    strategies: StrategiesSettings = StrategiesSettings()
    router: RouterSettings = RouterSettings()
    enrichment: EnrichmentSettings = EnrichmentSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    bot: BotSettings = BotSettings()
    slack: SlackSettings = SlackSettings()
    answers: AnswersSettings = AnswersSettings()
    log: LogSettings = LogSettings()
    sites: Sites = Field(default=(), description="The sites, one [[sites]] table each.")

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: Source, env_settings: Source, *_: Source, **__: Source
    ) -> tuple[Source, ...]:
        return (init_settings,)

    @field_validator("events")
    @classmethod
    def _kafka_needs_servers(cls, value: EventsSettings, info: ValidationInfo) -> EventsSettings:
        """Files have one holder, so that nobody would be at the other end of Kafka."""
        stores = info.data.get("stores")
        if value.kind == "kafka" and isinstance(stores, StoresSettings) and stores.kind == "embedded":
            reason = PydanticCustomError(TAKES, '"kafka" only where stores.kind is "cluster"')
            raise ValidationError.from_exception_data(
                "events", [{"type": reason, "loc": ("kind",), "input": value.kind}]
            )
        return value

    @field_validator("sites")
    @classmethod
    def _names_differ(cls, sites: tuple[SiteSettings, ...]) -> tuple[SiteSettings, ...]:
        names = [site.name for site in sites]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise PydanticCustomError(TAKES, "every name once, and {names} is there twice", {"names": ", ".join(twice)})
        return sites

    @property
    def extracting(self) -> Settings:
        """The same, without a model."""
        return self.model_copy(update={"model": self.model.model_copy(update={"provider": "extractive"})})

    @property
    def routing(self) -> Settings:
        """The same, with the model that routes as its model. A key goes nowhere but to its own endpoint."""
        router, model = self.router, self.model
        elsewhere = router.base_url is not None and router.base_url != model.base_url
        made = model.model_copy(
            update={
                "name": router.name or model.name,
                "base_url": router.base_url or model.base_url,
                "api_key": router.api_key or (None if elsewhere else model.api_key),
                "prices": router.prices,
            }
        )
        return self.model_copy(update={"model": made})

    def strategy_of(self, scope: Scope) -> str:
        """What the sites of a scope agree on, else the one set for all."""
        sites = [site for site in self.sites if scope.sites is None or site.name in scope.sites]
        found = {site.strategy or self.navigator.strategy for site in sites}
        return found.pop() if len(found) == 1 else self.navigator.strategy

    def why_not(self, strategy: str) -> str:
        """Why questions cannot be answered that way; "" where they can."""
        if strategy not in get_args(StrategyName):
            return f"it takes one of {', '.join(get_args(StrategyName))}"
        if self.model.chosen == "extractive" and strategy not in WITHOUT_A_MODEL:
            return f"needs a model: set model.api_key, or take {' or '.join(WITHOUT_A_MODEL)}"
        return ""

    def site(self, name: str, environ: Mapping[str, str] = os.environ) -> Site:
        """The site of that name, with `env:NAME` replaced by what the environment holds. Raises SettingsError."""
        found = next((site for site in self.sites if site.name == name), None)
        if found is None:
            raise SettingsError(f"there is no site called {name}{did_you_mean(name, (s.name for s in self.sites))}")
        secrets = {f"headers.{key}": value for key, value in found.headers.items()}
        if found.proxy:
            secrets["proxy"] = found.proxy
        plain = sources.revealed(f"sites.{name}", secrets, environ)
        return Site(
            **found.model_dump(exclude={"headers", "proxy", "ca_file", "max_bytes", "strategy"}),
            headers=tuple((key, plain[f"headers.{key}"]) for key in found.headers),
            proxy=plain.get("proxy"),
            ca_file=str(found.ca_file) if found.ca_file else None,
            max_bytes=found.max_bytes or self.index.max_page_bytes,
        )


def load(config: Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings in force. `config` is the file to read; None: RITBOT_CONFIG, else ritbot.toml in the
    working directory if it is there. Raises SettingsError."""
    path = config_file(config, environ)
    variables = sources.variables(Settings, environ)
    file = sources.file(path) if path else sources.Layer()
    if file.problems:
        raise SettingsError(*file.problems, *variables.problems)
    layers = (variables, file, sources.machine(environ))
    wrong = list(variables.problems)
    read = tuple(InitSettingsSource(Settings, init_kwargs=layer.values) for layer in layers)
    try:
        settings = Settings(_build_sources=(read, {}))  # type: ignore[call-arg]  # an argument of BaseSettings
    except ValidationError as error:
        wrong += [sources.explained(found, Settings, layers) for found in error.errors()]
    if wrong:
        raise SettingsError(*wrong)
    return settings


def config_file(config: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The file that `load` reads, None where there is none."""
    if config or environ.get(sources.CONFIG):
        return config or Path(environ[sources.CONFIG])
    return Path(FILE) if Path(FILE).exists() else None


class Described(NamedTuple):
    """A setting as `ritbot settings` and the manual show it."""

    name: str
    takes: str
    default: str
    help: str


def describe(environ: Mapping[str, str] = os.environ) -> list[Described]:
    """Every setting, in the order of this file; those of a site as `sites[].name`."""
    rows = [(".".join(path), field) for path, field in fields(Settings)]
    rows += [(f"sites[].{name}", field) for name, field in SiteSettings.model_fields.items()]
    folder = sources.machine(environ).values["index"].get("folder")
    return [
        Described(
            name,
            takes(field.annotation, field.metadata),
            str(folder) if name == "index.folder" and folder else default(field),
            field.description or "",
        )
        for name, field in rows
    ]
