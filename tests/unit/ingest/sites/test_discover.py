"""ingest.sites.discover: finding the pages of a site and handing them out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from ingest.errors import FetchFailed, SiteUnusable
from ingest.model import Site
from ingest.sites.discover import Frontier, discover
from tests.unit.ingest.sites.shelf import Shelf
from tests.unit.ingest.sites.test_sitemap import urlset

ROOT = "https://a.test/docs/"
SITE = Site(name="docs", start=ROOT)


async def walk(frontier: Frontier, links: Mapping[str, list[str]] | None = None, workers: int = 3) -> list[str]:
    """Visit all, side by side; the pages in the order given."""
    given: list[str] = []

    async def worker() -> None:
        async for url in frontier:
            given.append(url)
            await asyncio.sleep(0)
            frontier.done(url, (links or {}).get(url, ()))

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(worker())
    return given


class TestFrontier:
    async def test_links_are_followed_to_the_end_and_each_page_is_given_once(self) -> None:
        links = {
            ROOT: [
                ROOT + "b",
                ROOT + "a#x",
                ROOT + "a?utm_source=y",
                "https://other.test/",
                "mailto:x",
                "https://a.test/blog/",
            ],
            ROOT + "a": [ROOT, ROOT + "c/d", ROOT + "logo.png"],
            ROOT + "c/d": [ROOT + "a/../b", "http://a.test/docs/b"],
        }
        frontier = Frontier(SITE, "links", [ROOT])
        assert await walk(frontier, links) == [ROOT, ROOT + "b", ROOT + "a", ROOT + "c/d"]
        assert frontier.found == 4

    async def test_it_waits_for_pages_in_work_that_may_bring_links(self) -> None:
        frontier = Frontier(SITE, "links", [ROOT])
        first = await anext(frontier)
        waiting = [asyncio.ensure_future(anext(frontier, None)) for _ in range(2)]
        await asyncio.sleep(0.01)
        assert not any(task.done() for task in waiting)
        frontier.done(first, [ROOT + "a"])
        await asyncio.sleep(0.01)
        assert [task.result() for task in waiting if task.done()] == [ROOT + "a"]
        frontier.done(ROOT + "a")
        assert sorted(map(str, await asyncio.gather(*waiting))) == ["None", ROOT + "a"]

    async def test_a_visit_that_fails_ends_it_all_the_same(self) -> None:
        frontier = Frontier(SITE, "links", [ROOT])
        frontier.done(await anext(frontier))
        assert await walk(frontier) == []

    async def test_it_is_over_at_once_without_pages(self) -> None:
        assert await walk(Frontier(SITE, "sitemap", [])) == []

    async def test_http_links_of_an_https_site_are_asked_for_by_https(self) -> None:
        assert await walk(Frontier(SITE, "links", [ROOT]), {ROOT: ["http://a.test/docs/x"]}) == [ROOT, ROOT + "x"]

    async def test_a_site_on_http_stays_on_http(self) -> None:
        site = Site(name="s", start="http://a.test:8000/")
        frontier = Frontier(site, "links", [site.start])
        assert await walk(frontier, {site.start: ["http://a.test:8000/x"]}) == [site.start, "http://a.test:8000/x"]

    async def test_a_vouched_list_is_taken_as_it_is(self) -> None:
        frontier = Frontier(SITE, "sitemap", [ROOT])
        assert await walk(frontier, {ROOT: [f"{ROOT}{n}" for n in range(9)]}) == [ROOT]
        assert frontier.complete
        assert frontier.warnings == []

    async def test_a_doubted_list_is_given_up_when_links_lead_to_more_pages_than_it_holds(self) -> None:
        links = {ROOT: [ROOT + "a", ROOT + "b"], ROOT + "b": [ROOT + "c"]}
        frontier = Frontier(SITE, "sitemap", [ROOT], doubted=True)
        assert await walk(frontier, links) == [ROOT, ROOT + "a", ROOT + "b", ROOT + "c"]
        assert frontier.source == "links"
        assert not frontier.complete
        assert "lists 1 page, which links to 2 more" in frontier.warnings[0]

    async def test_a_doubted_list_stands_when_few_links_lead_outside_it(self) -> None:
        frontier = Frontier(SITE, "sitemap", [ROOT, ROOT + "a"], doubted=True)
        assert await walk(frontier, {ROOT: [ROOT + "a", ROOT + "tags"]}) == [ROOT, ROOT + "a"]
        assert frontier.source == "sitemap"

    async def test_no_more_than_max_pages_are_given_and_it_says_so_once(self) -> None:
        frontier = Frontier(Site(name="s", start=ROOT, max_pages=3), "links", [ROOT])
        given = await walk(frontier, {ROOT: [f"{ROOT}{n}" for n in range(9)]})
        assert len(given) == 3
        assert len(frontier.warnings) == 1
        assert "more than 3 pages" in frontier.warnings[0]

    async def test_exactly_max_pages_are_no_reason_to_warn(self) -> None:
        frontier = Frontier(Site(name="s", start=ROOT, max_pages=2), "folder", [ROOT + "a", ROOT + "b", ROOT + "a"])
        assert len(await walk(frontier)) == 2
        assert frontier.complete

    async def test_a_list_cut_off_by_max_pages_is_not_complete(self) -> None:
        frontier = Frontier(Site(name="s", start=ROOT, max_pages=1), "folder", [ROOT + "a", ROOT + "b"])
        assert not frontier.complete

    async def test_an_interrupted_round_goes_on_where_it_was(self) -> None:
        frontier = Frontier(SITE, "sitemap", [ROOT, ROOT + "a", ROOT + "b"], handled=[ROOT, ROOT + "b"])
        assert await walk(frontier) == [ROOT + "a"]

    async def test_by_links_handled_pages_are_visited_again_for_their_links(self) -> None:
        frontier = Frontier(SITE, "links", [ROOT], handled=[ROOT])
        assert await walk(frontier, {ROOT: [ROOT + "a"]}) == [ROOT, ROOT + "a"]

    async def test_handled_pages_are_visited_when_a_doubted_list_is_given_up(self) -> None:
        links = {ROOT: [ROOT + "x"], ROOT + "a": [ROOT + "b", ROOT + "c", ROOT + "d"]}
        frontier = Frontier(SITE, "sitemap", [ROOT, ROOT + "a"], handled=[ROOT], doubted=True)
        assert sorted(await walk(frontier, links)) == [ROOT] + [ROOT + path for path in "abcdx"]


class TestDiscover:
    async def test_a_sitemap_beside_the_start_is_found(self) -> None:
        shelf = Shelf({ROOT + "sitemap.xml": urlset(ROOT, ROOT + "a")})
        frontier = await discover(SITE, shelf)
        assert (frontier.source, frontier.complete) == ("sitemap", True)
        assert await walk(frontier) == [ROOT, ROOT + "a"]
        assert shelf.asked == ["https://a.test/robots.txt", ROOT + "sitemap.xml"]

    async def test_else_the_one_at_the_root(self) -> None:
        shelf = Shelf({"https://a.test/sitemap.xml": urlset(ROOT + "a", "https://a.test/blog/")})
        assert await walk(await discover(SITE, shelf)) == [ROOT + "a"]

    async def test_robots_txt_comes_first(self) -> None:
        shelf = Shelf(
            {
                "https://a.test/robots.txt": "Sitemap: https://a.test/one.xml\nSitemap: /two.xml",
                "https://a.test/one.xml": urlset(ROOT + "a"),
                "https://a.test/two.xml": urlset(ROOT + "b"),
                ROOT + "sitemap.xml": urlset(ROOT + "c"),
            }
        )
        assert await walk(await discover(SITE, shelf)) == [ROOT + "a", ROOT + "b"]

    async def test_a_broken_one_that_robots_txt_names_is_a_warning_and_the_next_place_counts(self) -> None:
        files: dict[str, bytes | str | int | FetchFailed] = {
            "https://a.test/robots.txt": "Sitemap: /one.xml",
            "https://a.test/one.xml": "<html>",
            ROOT + "sitemap.xml": urlset(ROOT + "c"),
        }
        frontier = await discover(SITE, Shelf(files))
        assert await walk(frontier) == [ROOT + "c"]
        assert "one.xml was not read" in frontier.warnings[0]

    async def test_without_any_links_are_followed_from_the_start_without_complaint(self) -> None:
        frontier = await discover(SITE, Shelf({ROOT + "sitemap.xml": "<html>Our 404 page says 200"}))
        assert (frontier.source, frontier.complete, frontier.warnings) == ("links", False, [])
        assert await walk(frontier, {ROOT: [ROOT + "a"]}) == [ROOT, ROOT + "a"]

    async def test_a_sitemap_of_another_place_is_named_in_a_warning(self) -> None:
        shelf = Shelf({"https://a.test/sitemap.xml": urlset("http://localhost:8000/x")})
        frontier = await discover(SITE, shelf)
        assert frontier.source == "links"
        assert f"1 address, none of them a page of site docs under {ROOT}" in frontier.warnings[0]

    async def test_the_start_is_visited_by_links_even_if_no_include_matches_it(self) -> None:
        site = Site(name="docs", start=ROOT, include=("/guide/",))
        links = {ROOT: [ROOT + "guide/a", ROOT + "b"]}
        assert await walk(await discover(site, Shelf({})), links) == [ROOT, ROOT + "guide/a"]

    async def test_when_robots_txt_cannot_be_read_the_visit_will_say_so(self) -> None:
        failure = FetchFailed("status 503")
        shelf = Shelf({f"https://a.test/{name}": failure for name in ("robots.txt", "docs/sitemap.xml", "sitemap.xml")})
        assert await walk(await discover(SITE, shelf)) == [ROOT]

    @pytest.mark.parametrize("start", [ROOT + "map.xml", ROOT + "map.xml.gz", ROOT + "sitemap.txt"])
    async def test_a_start_that_is_a_sitemap_is_the_only_one_read(self, start: str) -> None:
        shelf = Shelf({start: urlset(ROOT + "a"), ROOT + "sitemap.xml": urlset(ROOT + "b")})
        frontier = await discover(Site(name="docs", start=start), shelf)
        assert await walk(frontier, {ROOT + "a": [ROOT + "x", ROOT + "y"]}) == [ROOT + "a"]
        assert shelf.asked == [start]

    async def test_the_sitemap_that_the_site_names_counts_and_may_be_relative(self) -> None:
        shelf = Shelf({ROOT + "maps/all.xml": urlset(ROOT + "a"), ROOT + "sitemap.xml": urlset(ROOT + "b")})
        frontier = await discover(Site(name="docs", start=ROOT, sitemap="maps/all.xml"), shelf)
        assert await walk(frontier) == [ROOT + "a"]

    @pytest.mark.parametrize("answer", [503, "<html>", urlset(), FetchFailed("timed out")])
    async def test_a_named_sitemap_without_pages_of_the_site_is_an_error(self, answer: str | int | FetchFailed) -> None:
        site = Site(name="docs", start=ROOT, sitemap=ROOT + "map.xml")
        with pytest.raises(SiteUnusable, match=r"Sitemap https://a\.test/docs/map\.xml lists 0 addresses, none"):
            await discover(site, Shelf({ROOT + "map.xml": answer}))

    @pytest.mark.parametrize("named", [True, False])
    async def test_a_named_sitemap_of_another_place_only_is_told_and_links_are_followed(self, named: bool) -> None:
        map_url = ROOT + "map.xml"
        site = Site(name="docs", start=ROOT, sitemap=map_url) if named else Site(name="docs", start=map_url)
        frontier = await discover(site, Shelf({map_url: urlset("https://b.test/a", "https://b.test/b")}))
        assert await walk(frontier, {ROOT: [ROOT + "a"]}) == [ROOT, ROOT + "a"]
        assert frontier.astray
        assert frontier.warnings[0].startswith(f"Sitemap {map_url} lists 2 addresses, none of them a page of site docs")
        assert frontier.warnings[0].endswith(f"Links are followed from {ROOT} instead.")

    async def test_part_of_a_sitemap_that_was_not_read_makes_the_list_incomplete(self) -> None:
        index = f"<sitemapindex><sitemap><loc>{ROOT}1.xml</loc></sitemap><sitemap><loc>{ROOT}2.xml</loc></sitemap></sitemapindex>"
        shelf = Shelf({ROOT + "sitemap.xml": index, ROOT + "1.xml": urlset(ROOT + "a"), ROOT + "2.xml": 503})
        frontier = await discover(SITE, shelf)
        assert await walk(frontier) == [ROOT + "a"]
        assert not frontier.complete
        assert "2.xml was not read" in frontier.warnings[0]

    @pytest.mark.parametrize("listed", [True, False])
    async def test_known_pages_are_visited_too_listed_or_not(self, listed: bool) -> None:
        shelf = Shelf({ROOT + "sitemap.xml": urlset(ROOT + "a")} if listed else {})
        known = [ROOT + "a", ROOT + "gone", "https://a.test/no-longer-in-scope/"]
        first = [] if listed else [ROOT]
        assert await walk(await discover(SITE, shelf, known=known)) == [*first, ROOT + "a", ROOT + "gone"]
