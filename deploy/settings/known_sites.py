"""The sites that this data folder knows: those of the settings, and those that were indexed by name on
the command line, which are remembered beside the index (sites.json) with when a crawl began that has
not ended. No secret is ever written there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from deploy.settings.messages import SettingsError, did_you_mean, takes
from deploy.settings.root import Settings
from deploy.settings.site import SiteSettings
from ingest.model import Scope, Site

_SECRET = ("headers", "proxy")


@dataclass(frozen=True, slots=True)
class KnownSites:
    """Sites by name. `interrupted`: when the unfinished crawl of a site began."""

    path: Path
    sites: dict[str, Site]
    interrupted: dict[str, datetime]

    def languages(self) -> tuple[str, ...]:
        """Each language once; a question is analysed in all of them."""
        return tuple(dict.fromkeys(site.language for site in self.sites.values())) or ("en",)

    def scope(self, names: Sequence[str], version: str | None) -> Scope:
        """Where to look: the named sites or all; the named version, else each site's default. Pages without a version
        are always in. Raises SettingsError for a site that is not known."""
        if unknown := [name for name in names if name not in self.sites]:
            known = ", ".join(sorted(self.sites)) or "none yet"
            raise SettingsError(f"There is no site called {unknown[0]}. Known: {known}.")
        asked = [self.sites[name] for name in names] if names else list(self.sites.values())
        sites = frozenset(names) or None
        if version:
            return Scope(sites, frozenset({version, ""}))
        if any(site.versions and not site.default_version for site in asked):
            return Scope(sites)
        defaults = {site.default_version for site in asked if site.default_version}
        return Scope(sites, frozenset({*defaults, ""}) if defaults else None)

    def need(self, name: str | None) -> None:
        """Raises SettingsError where a name is given and no site has it."""
        if name is not None and name not in self.sites:
            raise SettingsError(f"there is no site called {name}{did_you_mean(name, self.sites)}")

    def with_site(self, site: Site) -> KnownSites:
        return replace(self, sites={**self.sites, site.name: site})

    def without(self, name: str) -> KnownSites:
        return replace(self, sites={n: s for n, s in self.sites.items() if n != name})

    def began(self, name: str, when: datetime) -> KnownSites:
        """A crawl began; one that had begun before and never ended goes on."""
        return replace(self, interrupted={name: when, **self.interrupted})

    def ended(self, name: str) -> KnownSites:
        return replace(self, interrupted={n: t for n, t in self.interrupted.items() if n != name})

    def rows(self) -> list[dict[str, object]]:
        """The sites as they are kept: without secrets."""
        return [{k: v for k, v in asdict(site).items() if k not in _SECRET} for site in self.sites.values()]

    def save(self) -> KnownSites:
        times = {name: when.isoformat() for name, when in self.interrupted.items()}
        half = self.path.with_suffix(".half")
        half.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(json.dumps({"sites": self.rows(), "interrupted": times}, indent=1), encoding="utf-8")
        os.replace(half, self.path)
        return self


def known_sites(settings: Settings, folder: Path) -> KnownSites:
    """What the settings say wins over what is remembered. Raises SettingsError."""
    path = folder / "sites.json"
    kept: dict[str, Site] = {}
    interrupted: dict[str, datetime] = {}
    if path.is_file():
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            kept = {row["name"]: site_of(row) for row in data["sites"]}
            interrupted = {name: datetime.fromisoformat(when) for name, when in data["interrupted"].items()}
        except (ValueError, KeyError, TypeError) as error:
            raise SettingsError(
                f"{path} is damaged ({error}): remove it; sites of ritbot.toml are not affected"
            ) from None
    configured = {site.name: settings.site(site.name) for site in settings.sites}
    return KnownSites(path, {**kept, **configured}, interrupted)


def remember(settings: Settings, sites: Sequence[Site]) -> KnownSites:
    """All that is known, with these sites, which are known from now on. Raises SettingsError, OSError."""
    known = known_sites(settings, settings.index.folder)
    new = [site for site in sites if known.sites.get(site.name) != site]
    for site in new:
        known = known.with_site(site)
    return known.save() if new else known


def named_on_command_line(settings: Settings, known: KnownSites, target: str, given: Mapping[str, object]) -> Site:
    """The site that `ritbot index TARGET …` means: one that is known (by its name or its start), with what is
    `given` changed, or a new one. Raises SettingsError, and then nothing is remembered."""
    start = target if "://" in target else str(Path(target).expanduser().resolve())
    same_start = (
        site for site in known.sites.values() if site.start == start and given.get("name") in (None, site.name)
    )
    found = known.sites.get(target) or next(same_start, None)
    if found and found.name in {site.name for site in settings.sites}:
        if given:
            raise SettingsError(f"{found.name} is a site of the settings file: change {', '.join(sorted(given))} there")
        return settings.site(found.name)
    if found:
        given = {"name": found.name, **{k: v for k, v in _kept(found).items() if v}, **given}
    name = str(given.get("name") or named_after(target))
    if not found and "://" not in target and not Path(start).is_dir():
        raise SettingsError(f"there is no folder {start}, and no site called {target}")
    taken = known.sites.get(name)
    if taken and not found:
        raise SettingsError(f"there is a site called {name} already ({taken.start}): give this one another by --name")
    try:
        made = SiteSettings.model_validate({**given, "name": name, "start": found.start if found else start})
    except ValidationError as error:
        raise SettingsError(*(_complaint(found_wrong) for found_wrong in error.errors())) from None
    return settings.model_copy(update={"sites": (made,)}).site(name)


def _kept(site: Site) -> dict[str, object]:
    """What a remembered site was given, as settings take it."""
    names = SiteSettings.model_fields.keys() - {"headers", "proxy", "name", "start"}
    return {name: value for name, value in asdict(site).items() if name in names}


def _complaint(wrong: ErrorDetails) -> str:
    """One wrong option: which, what it got, what it takes."""
    name = str(wrong["loc"][0]) if wrong["loc"] else "start"
    option = "the folder or address" if name == "start" else f"--{name.replace('_', '-')}"
    field = SiteSettings.model_fields.get(name)
    taken = takes(field.annotation, field.metadata) if field else wrong["msg"]
    return f"{option} got {wrong['input']!r}; it takes {taken}"


def site_of(row: Mapping[str, object]) -> Site:
    """The site of a row (KnownSites.rows). Raises TypeError."""
    names = {field.name for field in fields(Site)}
    return Site(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items() if k in names})  # type: ignore[arg-type]


def named_after(target: str) -> str:
    """A site's name made from its folder or host."""
    last = urlsplit(target).hostname if "://" in target else Path(target).resolve().name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last or "docs").strip("-.") or "docs"
