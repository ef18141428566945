"""ingest.sites.scope: which URLs belong to a site."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.model import Site
from ingest.sites.scope import base_url, in_scope, on_site, version_of

DOCS = Site(name="docs", start="https://docs.example.test/en/latest/index.html")


class TestBaseUrl:
    @pytest.mark.parametrize(
        ("start", "base"),
        [
            ("https://a.test", "https://a.test/"),
            ("https://a.test/docs/index.html", "https://a.test/docs/"),
            ("https://a.test/docs/", "https://a.test/docs/"),
            ("https://a.test/docs", "https://a.test/docs/"),
            ("https://a.test/docs/3.11", "https://a.test/docs/3.11/"),
            ("https://a.test/docs/sitemap.xml.gz", "https://a.test/docs/"),
            ("https://a.test/docs/?view=v2#top", "https://a.test/docs/"),
        ],
    )
    def test_a_start_page_gives_its_directory(self, start: str, base: str) -> None:
        assert base_url(Site(name="s", start=start)) == base

    def test_a_folder_gives_its_published_address_or_its_file_url(self, tmp_path: Path) -> None:
        assert base_url(Site(name="s", start=str(tmp_path), base_url="https://a.test/x")) == "https://a.test/x/"
        assert base_url(Site(name="s", start=str(tmp_path / "a b"))) == f"{tmp_path.as_uri()}/a%20b/"


class TestOnSite:
    @pytest.mark.parametrize(
        "url", ["https://docs.example.test/", "http://DOCS.example.test/x", "https://docs.example.test:443/y?z"]
    )
    def test_the_hosts_of_the_start_on_the_usual_ports_are(self, url: str) -> None:
        assert on_site(DOCS, url)

    @pytest.mark.parametrize(
        "url",
        [
            "https://example.test/",
            "https://docs.example.test.evil.test/",
            "https://docs.example.test@evil.test/",
            "https://docs.example.test:9200/",
            "ftp://docs.example.test/",
            "file:///etc/passwd",
            "nonsense",
        ],
    )
    def test_nothing_else_is(self, url: str) -> None:
        assert not on_site(DOCS, url)

    def test_a_start_with_a_port_means_that_port_alone(self) -> None:
        site = Site(name="s", start="http://localhost:8000/")
        assert on_site(site, "http://localhost:8000/a")
        assert not on_site(site, "http://localhost/a")

    def test_further_hosts_are_named_with_or_without_a_port(self) -> None:
        site = Site(name="s", start="https://a.test/", hosts=("Cdn.test", "intra.test:8443", "bücher.test"))
        assert on_site(site, "http://cdn.test/x")
        assert on_site(site, "https://intra.test:8443/x")
        assert not on_site(site, "https://intra.test/x")
        assert on_site(site, "https://xn--bcher-kva.test/")


class TestInScope:
    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("https://docs.example.test/en/latest/", True),
            ("http://docs.example.test/en/latest/guide/a.html?view=v2#x", True),
            ("https://docs.example.test/en/latest", True),
            ("https://docs.example.test/en/latest-draft/a.html", False),
            ("https://docs.example.test/en/latest/../stable/a.html", False),
            ("https://docs.example.test/de/latest/", False),
            ("https://docs.example.test/en/latest/img/logo.PNG", False),
            ("https://docs.example.test/en/latest/all.pdf?download=1", False),
            ("https://docs.example.test/en/latest/what-is-a.pdf/", True),
            ("https://other.test/en/latest/", False),
            ("nonsense", False),
        ],
    )
    def test_pages_under_the_start_are(self, url: str, expected: bool) -> None:
        assert in_scope(DOCS, url) is expected

    def test_exclude_wins_over_include(self) -> None:
        site = Site(
            name="s", start="https://a.test/", include=("/guide/", "/ref/"), exclude=(r"/ref/old/", r"[?&]print=")
        )
        urls = ["/guide/a", "/ref/b", "/ref/old/c", "/guide/a?print=1", "/blog/"]
        assert [path for path in urls if in_scope(site, f"https://a.test{path}")] == ["/guide/a", "/ref/b"]

    def test_another_host_of_the_site_is_in_scope_as_a_whole(self) -> None:
        site = Site(name="s", start="https://a.test/docs/", hosts=("api.test",))
        assert in_scope(site, "https://api.test/reference/")
        assert not in_scope(site, "https://a.test/reference/")

    def test_only_chosen_versions_are_and_pages_of_no_version(self) -> None:
        site = Site(name="s", start="https://a.test/", versions=r"/(v\d+|latest)/", index_versions=("v2", "latest"))
        paths = ["/v1/a", "/v2/a", "/latest/a", "/about"]
        assert [path for path in paths if in_scope(site, f"https://a.test{path}")] == ["/v2/a", "/latest/a", "/about"]

    def test_a_folder_has_what_lies_under_its_base(self) -> None:
        site = Site(name="s", start="/srv/docs", base_url="https://a.test/docs")
        assert in_scope(site, "https://a.test/docs/a.html")
        assert not in_scope(site, "https://a.test/blog/a.html")


class TestVersionOf:
    @pytest.mark.parametrize(
        ("pattern", "url", "version"),
        [
            (None, "https://a.test/v1/", ""),
            (r"/(v[\d.]+|latest)/", "https://a.test/en/v1.2/x", "v1.2"),
            (r"/(v[\d.]+|latest)/", "https://a.test/en/x", ""),
            (r"v\d+", "https://a.test/v3/x", "v3"),
            (r"/x(y)?", "https://a.test/x", ""),
        ],
    )
    def test_it_is_the_first_group_or_the_whole_match(self, pattern: str | None, url: str, version: str) -> None:
        assert version_of(Site(name="s", start="https://a.test/", versions=pattern), url) == version
