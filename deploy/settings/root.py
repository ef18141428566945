"""Every setting of ritbot in one model tree, and where each value comes from.

`load` takes, the stronger first: RITBOT_* variables (RITBOT_INDEX__FOLDER is index.folder), the TOML
file, what the machine says (its data folder, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL), the defaults
below. All that is wrong is told at once, in one SettingsError. No other module reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import Field, PrivateAttr, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict
from pydantic_settings import PydanticBaseSettingsSource as Source

from deploy.settings import sources
from deploy.settings.bot import AnswersSettings, BotSettings
from deploy.settings.gaps import GapsSettings
from deploy.settings.index import EmbeddingSettings, IndexSettings, WatchSettings
from deploy.settings.messages import TAKES, default, did_you_mean, fields, shown, takes
from deploy.settings.messages import SettingsError as SettingsError
from deploy.settings.model import EndpointSettings, ModelSettings
from deploy.settings.process import HttpSettings, LogSettings
from deploy.settings.retrieval import NavigatorSettings, RetrievalSettings, StrategiesSettings
from deploy.settings.site import WITHOUT_A_MODEL, Sites, SiteSettings, StrategyName
from deploy.settings.slack import SlackSettings
from deploy.settings.stale import StaleSettings
from deploy.settings.stores import EventsSettings, StoresSettings
from deploy.settings.web import WebSettings
from ingest.model import Scope, Site

FILE = "ritbot.toml"
DEFAULT = "the default"


class Settings(BaseSettings):
    """All settings. Made by `load`; made directly, it takes its arguments and nothing from outside."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    index: IndexSettings
    stores: StoresSettings = StoresSettings()
    events: EventsSettings = EventsSettings()
    http: HttpSettings = HttpSettings()
    web: WebSettings = WebSettings()
    watch: WatchSettings = WatchSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    navigator: NavigatorSettings = NavigatorSettings()
    model: ModelSettings = ModelSettings()
    strategies: StrategiesSettings = StrategiesSettings()
    router: EndpointSettings = EndpointSettings()
    judge: EndpointSettings = EndpointSettings()
    bot: BotSettings = BotSettings()
    slack: SlackSettings = SlackSettings()
    answers: AnswersSettings = AnswersSettings()
    stale: StaleSettings = StaleSettings()
    gaps: GapsSettings = GapsSettings()
    log: LogSettings = LogSettings()
    sites: Sites = Field(default=(), description="The sites, one [[sites]] table each.")
    _notices: tuple[str, ...] = PrivateAttr(default=())

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
        """The same, with the model that routes as its model."""
        return self._at(self.router)

    @property
    def judging(self) -> Settings:
        """The same, with the model that judges as its model; at its own prices, where it is another one."""
        return self._at(self.judge) if self.judge.wanted else self

    def _at(self, endpoint: EndpointSettings) -> Settings:
        """A key goes nowhere but to its own endpoint, and prices hold for their own model."""
        model = self.model
        elsewhere = endpoint.base_url is not None and endpoint.base_url != model.base_url
        made = model.model_copy(
            update={
                "name": endpoint.name or model.name,
                "base_url": endpoint.base_url or model.base_url,
                "api_key": endpoint.api_key or (None if elsewhere else model.api_key),
                "prices": endpoint.prices,
            }
        )
        return self.model_copy(update={"model": made})

    @property
    def notices(self) -> tuple[str, ...]:
        """What is to be told of settings that an earlier version had."""
        return self._notices

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
    variables, file, _ = layers = places(config, environ)
    if file.problems:
        raise SettingsError(*file.problems, *variables.problems)
    wrong = list(variables.problems)
    read = tuple(InitSettingsSource(Settings, init_kwargs=layer.values) for layer in layers)
    try:
        settings = Settings(_build_sources=(read, {}))  # type: ignore[call-arg]  # an argument of BaseSettings
        settings._notices = tuple(notice for layer in layers for notice in layer.notices)
    except ValidationError as error:
        wrong += [sources.explained(found, Settings, layers) for found in error.errors()]
    if wrong:
        raise SettingsError(*wrong)
    return settings


def places(
    config: Path | None = None, environ: Mapping[str, str] = os.environ
) -> tuple[sources.Layer, sources.Layer, sources.Layer]:
    """What the variables, the file and the machine say, the strongest first."""
    path = config_file(config, environ)
    file = sources.file(path) if path else sources.Layer()
    return sources.variables(Settings, environ), file, sources.machine(environ)


def in_force(settings: Settings, layers: Sequence[sources.Layer], name: str) -> tuple[str, str]:
    """The value of a setting as it would be written in the file, secrets starred, and which of the layers it comes from. Of
    a site's settings (`sites[].delay`) what the sites have that set it."""
    *tables, last = name.split(".")
    if tables == ["sites[]"]:
        given = [
            f"{site.name}: {_written(getattr(site, last))}" for site in settings.sites if last in site.model_fields_set
        ]
        return "; ".join(given) or "not set", sources.origin_of(layers, ("sites",)) or DEFAULT
    value: Any = settings
    for step in (*tables, last):
        value = getattr(value, step)
    return _written(value), sources.origin_of(layers, (*tables, last)) or DEFAULT


def config_file(config: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The file that `load` reads, None where there is none."""
    if config or environ.get(sources.CONFIG):
        return config or Path(environ[sources.CONFIG])
    return Path(FILE) if Path(FILE).exists() else None


def _written(value: object) -> str:
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"[{', '.join(map(shown, value))}]"
    return "not set" if value is None else shown(value)


class Described(NamedTuple):
    """A setting as `ritbot settings` and the manual show it."""

    name: str
    takes: str
    default: str
    help: str


def describe(environ: Mapping[str, str] = os.environ) -> list[Described]:
    """Every setting, in the order of this file; those of a site as `sites[].name`. The prices of the models beside the
    one that answers are not told again."""
    again = (("router", "prices"), ("judge", "prices"), ("sites",))
    rows = [(".".join(path), field) for path, field in fields(Settings) if path[:2] not in again]
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
