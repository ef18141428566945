"""Which site a command line means, and what is remembered of it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from deploy.settings.index import IndexSettings
from deploy.settings.known_sites import KnownSites, known_sites, named_on_command_line
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.settings.site import SiteSettings
from ingest.model import Site

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        index=IndexSettings(folder=tmp_path / "data"),
        sites=(SiteSettings(name="configured", start="https://configured.test/"),),
    )


@pytest.fixture
def known(settings: Settings) -> KnownSites:
    return known_sites(settings, settings.index.folder)


def test_a_folder_is_a_site_named_after_it(settings: Settings, known: KnownSites, tmp_path: Path) -> None:
    (tmp_path / "My docs").mkdir()
    site = named_on_command_line(settings, known, str(tmp_path / "My docs"), {})
    assert (site.name, site.start) == ("My-docs", str(tmp_path / "My docs"))


def test_an_address_is_a_site_named_after_its_host(settings: Settings, known: KnownSites) -> None:
    assert named_on_command_line(settings, known, "https://docs.test/x/", {}).name == "docs.test"


def test_a_configured_site_is_taken_as_it_stands_in_the_settings(settings: Settings, known: KnownSites) -> None:
    assert named_on_command_line(settings, known, "configured", {}) == settings.site("configured")
    with pytest.raises(SettingsError, match="settings file: change exclude there"):
        named_on_command_line(settings, known, "configured", {"exclude": ["x"]})


def test_a_remembered_site_keeps_what_it_was_given_and_takes_what_is_new(settings: Settings, known: KnownSites) -> None:
    first = named_on_command_line(settings, known, "https://docs.test/", {"include": ["/a/"], "language": "de"})
    known.with_site(first).save()
    again = known_sites(settings, settings.index.folder)
    assert named_on_command_line(settings, again, "docs.test", {}) == first
    changed = named_on_command_line(settings, again, "https://docs.test/", {"include": ["/b/"]})
    assert (changed.include, changed.language) == (("/b/",), "de")


def test_two_sites_do_not_silently_share_a_name(settings: Settings, known: KnownSites) -> None:
    known = known.with_site(Site("docs.test", "https://docs.test/a/"))
    with pytest.raises(SettingsError, match=r"already .*--name"):
        named_on_command_line(settings, known, "https://docs.test/b/", {})
    assert named_on_command_line(settings, known, "https://docs.test/b/", {"name": "b"}).name == "b"


@pytest.mark.parametrize(
    ("target", "given", "says"),
    [
        ("https://docs.test/", {"include": ["["]}, r"--include got '\[\['\]|--include got"),
        ("https://docs.test/", {"base_url": "foo"}, "--base-url got 'foo'"),
        ("https://", {"name": "x"}, "the folder or address got 'https://'"),
        ("nowhere", {}, "there is no folder .*nowhere"),
    ],
)
def test_what_is_wrong_is_told_and_not_remembered(
    settings: Settings, known: KnownSites, target: str, given: dict[str, object], says: str
) -> None:
    with pytest.raises(SettingsError, match=says):
        named_on_command_line(settings, known, target, given)
    assert not known.path.exists()


def test_an_interrupted_round_keeps_its_first_beginning_until_it_ends(settings: Settings, known: KnownSites) -> None:
    site = Site("docs.test", "https://docs.test/")
    known.with_site(site).began("docs.test", NOW).save()
    again = known_sites(settings, settings.index.folder).began("docs.test", NOW.replace(hour=5))
    assert again.interrupted == {"docs.test": NOW}
    assert again.ended("docs.test").interrupted == {}


def test_no_secret_is_written(settings: Settings, known: KnownSites) -> None:
    known.with_site(
        Site("s", "https://s.test/", headers=(("Authorization", "Bearer s3cret"),), proxy="http://u:s3cret@p")
    ).save()
    assert "s3cret" not in known.path.read_text(encoding="utf-8")


def test_a_damaged_file_says_what_to_do(settings: Settings, known: KnownSites) -> None:
    known.save()
    known.path.write_text("{", encoding="utf-8")
    with pytest.raises(SettingsError, match="damaged"):
        known_sites(settings, settings.index.folder)
