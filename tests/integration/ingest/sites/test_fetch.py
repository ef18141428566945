"""HttpFetcher against a real server on loopback that misbehaves in the ways servers do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
import pytest_asyncio

from ingest.errors import Blocked, FetchFailed, SiteUnusable
from ingest.model import Site
from ingest.sites.fetch import MAX_HOPS, HttpFetcher
from tests.fakes.docsite import (
    DocSite,
    dripping,
    fails_first,
    flipping,
    gzip_bomb,
    gzipped,
    page,
    redirect,
    slow,
    status,
    truncated,
)
from tests.unit.ingest.sites.shelf import SleepClock

MODIFIED = "Tue, 01 Jul 2025 10:00:00 GMT"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[DocSite]:
    async with DocSite() as running:
        yield running


@pytest.fixture
def docs(server: DocSite) -> DocSite:
    server.clear()
    return server


def site_of(docs: DocSite, **changes: object) -> Site:
    site = Site(name="docs", start=docs.url("/"), allow_private=True, obey_robots=False, timeout=5.0)
    return replace(site, **changes)  # type: ignore[arg-type]


def fetcher_of(site: Site, clock: SleepClock | None = None, attempts: int = 4) -> HttpFetcher:
    """One that never waits in earnest."""
    sleep = (clock or SleepClock()).sleep
    return HttpFetcher(site, user_agent="ritbot/0 (+test)", rng=random.Random(0), sleep=sleep, attempts=attempts)


class TestAnswers:
    async def test_a_page_comes_back_with_all_that_was_said_about_it(self, docs: DocSite) -> None:
        docs.pages["/a"] = page("<h1>ü</h1>".encode("latin-1"), content_type="text/html; charset=utf-8", etag='"1"')
        async with fetcher_of(site_of(docs)) as fetcher:
            fetched = await fetcher.fetch(docs.url("/a#part"))
        assert (fetched.url, fetched.status, fetched.body) == (docs.url("/a"), 200, b"<h1>\xfc</h1>")
        assert (fetched.content_type, fetched.headers["etag"]) == ("text/html; charset=utf-8", '"1"')
        assert fetched.hops == ()

    @pytest.mark.parametrize("code", [204, 400, 401, 403, 404, 410, 418])
    async def test_statuses_are_returned_and_not_raised(self, docs: DocSite, code: int) -> None:
        docs.pages["/a"] = status(code)
        async with fetcher_of(site_of(docs)) as fetcher:
            assert (await fetcher.fetch(docs.url("/a"))).status == code
        assert docs.count("/a") == 1

    async def test_validators_make_an_unchanged_page_a_304(self, docs: DocSite) -> None:
        docs.pages["/a"] = page("A", etag='"1"')
        docs.pages["/b"] = page("B", last_modified=MODIFIED)
        async with fetcher_of(site_of(docs)) as fetcher:
            assert (await fetcher.fetch(docs.url("/a"), etag='"1"')).status == 304
            assert (await fetcher.fetch(docs.url("/a"), etag='"0"')).body == b"A"
            assert (await fetcher.fetch(docs.url("/b"), last_modified=MODIFIED)).status == 304
            assert (await fetcher.fetch(docs.url("/b"))).body == b"B"
        assert "if-none-match" not in docs.requests[-1].headers

    async def test_flipping_validators_bring_the_same_bytes(self, docs: DocSite) -> None:
        docs.pages["/a"] = flipping("A")
        async with fetcher_of(site_of(docs)) as fetcher:
            first = await fetcher.fetch(docs.url("/a"))
            second = await fetcher.fetch(docs.url("/a"), etag=first.headers["etag"])
        assert first.body == second.body == b"A"
        assert first.headers["etag"] != second.headers["etag"]

    async def test_it_says_who_asks(self, docs: DocSite) -> None:
        async with fetcher_of(site_of(docs)) as fetcher:
            await fetcher.fetch(docs.url("/"))
        assert docs.requests[0].headers["user-agent"] == "ritbot/0 (+test)"
        assert "cookie" not in docs.requests[0].headers

    async def test_cookies_are_not_kept(self, docs: DocSite) -> None:
        docs.pages["/"] = status(200, set_cookie="session=1")
        async with fetcher_of(site_of(docs)) as fetcher:
            await fetcher.fetch(docs.url("/"))
            await fetcher.fetch(docs.url("/"))
        assert "cookie" not in docs.requests[-1].headers

    async def test_the_environment_has_no_say(self, docs: DocSite, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
        monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
        docs.pages["/"] = "start"
        async with fetcher_of(site_of(docs)) as fetcher:
            assert (await fetcher.fetch(docs.url("/"))).status == 200


class TestRedirects:
    async def test_they_are_followed_and_every_hop_is_recorded(self, docs: DocSite) -> None:
        docs.pages |= {"/a": redirect("/b", 301), "/b": redirect("c?x=1#y", 302), "/c": "C"}
        async with fetcher_of(site_of(docs)) as fetcher:
            fetched = await fetcher.fetch(docs.url("/a"))
        assert (fetched.url, fetched.body) == (docs.url("/c?x=1"), b"C")
        assert fetched.hops == ((docs.url("/a"), 301), (docs.url("/b"), 302))

    @pytest.mark.parametrize("to", ["http://localhost:{port}/", "//evil.test/", "ftp://127.0.0.1/", "file:///etc/passwd",
                                    "mailto:a@b.test", "http://[::1", "http://127.0.0.1:1/"])  # fmt: skip
    async def test_none_leads_off_the_site(self, docs: DocSite, to: str) -> None:
        docs.pages["/a"] = redirect(to.format(port=docs.port))
        async with fetcher_of(site_of(docs)) as fetcher:
            with pytest.raises(Blocked, match=r"redirects to .*not one of the hosts of site docs"):
                await fetcher.fetch(docs.url("/a"))
        assert docs.paths() == ["/a"]

    async def test_one_to_another_host_of_the_site_is_followed(self, docs: DocSite) -> None:
        docs.pages |= {"/a": redirect(docs.url("/b", host="localhost")), "/b": "B"}
        async with fetcher_of(site_of(docs, hosts=(f"localhost:{docs.port}",))) as fetcher:
            fetched = await fetcher.fetch(docs.url("/a"))
        assert (fetched.url, fetched.body) == (docs.url("/b", host="localhost"), b"B")
        assert docs.requests[-1].headers["host"] == f"localhost:{docs.port}"

    async def test_a_circle_is_noticed(self, docs: DocSite) -> None:
        docs.pages |= {"/a": redirect("/b"), "/b": redirect("/a")}
        async with fetcher_of(site_of(docs)) as fetcher:
            with pytest.raises(FetchFailed, match="in a circle"):
                await fetcher.fetch(docs.url("/a"))
        assert docs.paths() == ["/a", "/b"]

    async def test_there_are_at_most_ten(self, docs: DocSite) -> None:
        docs.pages |= {f"/{n}": redirect(f"/{n + 1}") for n in range(MAX_HOPS + 1)}
        docs.pages[f"/{MAX_HOPS + 1}"] = "end"
        async with fetcher_of(site_of(docs)) as fetcher:
            assert (await fetcher.fetch(docs.url("/1"))).body == b"end"
            with pytest.raises(FetchFailed, match="more than 10 times"):
                await fetcher.fetch(docs.url("/0"))

    async def test_a_redirect_without_a_target_is_an_answer(self, docs: DocSite) -> None:
        docs.pages["/a"] = status(302)
        async with fetcher_of(site_of(docs)) as fetcher:
            assert (await fetcher.fetch(docs.url("/a"))).status == 302


class TestWhere:
    @pytest.mark.parametrize("url", ["https://example.test/", "file:///etc/passwd", "nonsense", "http://127.0.0.1:1/"])
    async def test_nothing_off_the_site_is_asked_for(self, docs: DocSite, url: str) -> None:
        async with fetcher_of(site_of(docs)) as fetcher:
            with pytest.raises(Blocked, match="not on the hosts of site docs"):
                await fetcher.fetch(url)

    async def test_private_addresses_need_permission(self, docs: DocSite) -> None:
        async with fetcher_of(site_of(docs, allow_private=False)) as fetcher:
            with pytest.raises(Blocked, match=r"127\.0\.0\.1 is in a private network; .*allow_private"):
                await fetcher.fetch(docs.url("/"))
        assert docs.requests == []

    async def test_a_name_with_a_private_address_is_private_too(self, docs: DocSite) -> None:
        site = site_of(docs, start=docs.url("/", host="localhost"), allow_private=False)
        async with fetcher_of(site) as fetcher:
            with pytest.raises(Blocked, match=r"localhost \(.*\) is in a private network"):
                await fetcher.fetch(site.start)
        assert docs.requests == []

    async def test_login_headers_go_to_the_site_and_never_in_clear_where_it_starts_on_https(self) -> None:
        seen: list[tuple[str, str | None]] = []

        def answer(request: httpx.Request) -> httpx.Response:
            seen.append((str(request.url), request.headers.get("authorization")))
            target = {"/a": "http://docs.test/b", "/b": "https://docs.test/c"}.get(request.url.path)
            return httpx.Response(302, headers={"location": target}) if target else httpx.Response(200)

        site = Site(name="s", start="https://docs.test/", headers=(("Authorization", "Bearer ü"),), obey_robots=False)
        async with HttpFetcher(site, user_agent="ritbot/0", transport=httpx.MockTransport(answer)) as fetcher:
            await fetcher.fetch("https://docs.test/a")
        bearer = "Bearer ü"
        assert seen == [("https://docs.test/a", bearer), ("http://docs.test/b", None), ("https://docs.test/c", bearer)]

    async def test_a_site_on_http_gets_its_headers_and_they_replace_our_own(self, docs: DocSite) -> None:
        site = site_of(docs, headers=(("x-token", "t"), ("user-agent", "other")))
        async with fetcher_of(site) as fetcher:
            await fetcher.fetch(docs.url("/"))
        assert docs.requests[0].headers["x-token"] == "t"
        assert docs.requests[0].headers["user-agent"] == "other"

    async def test_a_header_that_cannot_be_sent_is_an_error_that_keeps_its_secret(self, docs: DocSite) -> None:
        async with fetcher_of(site_of(docs, headers=(("Authorization", "hunter2\n"),))) as fetcher:
            with pytest.raises(FetchFailed, match="headers is not valid") as caught:
                await fetcher.fetch(docs.url("/"))
        assert "hunter2" not in str(caught.value)

    async def test_a_proxy_is_asked_instead_of_the_host(self, docs: DocSite) -> None:
        docs.pages["http://docs.test/a"] = "by proxy"
        site = Site(name="s", start="http://docs.test/", proxy=docs.url(""), obey_robots=False)
        async with fetcher_of(site) as fetcher:
            assert (await fetcher.fetch("http://docs.test/a")).body == b"by proxy"
        assert docs.requests[0].headers["host"] == "docs.test"

    @pytest.mark.parametrize(
        ("changes", "what"), [({"ca_file": "/nowhere/ca.pem"}, "ca_file"), ({"proxy": "nonsense://x"}, "proxy")]
    )
    async def test_settings_that_cannot_be_used_say_so_when_it_opens(
        self, docs: DocSite, changes: dict[str, str], what: str
    ) -> None:
        with pytest.raises(SiteUnusable, match=f"{what} of site docs"):
            async with fetcher_of(site_of(docs, **changes)):
                pass


class TestLimits:
    @pytest.mark.parametrize("body", [page("x" * 1001), gzip_bomb(5), dripping([b"x" * 400] * 3, 0)])
    async def test_what_is_too_large_is_refused_unpacked_too(self, docs: DocSite, body: object) -> None:
        docs.pages["/a"] = body  # type: ignore[assignment]
        async with fetcher_of(site_of(docs, max_bytes=1000)) as fetcher:
            with pytest.raises(FetchFailed, match="larger than 1,000 bytes; raise max_bytes"):
                await fetcher.fetch(docs.url("/a"))
        assert docs.count("/a") == 1

    async def test_the_limit_itself_is_allowed(self, docs: DocSite) -> None:
        docs.pages |= {"/a": "x" * 1000, "/b": gzipped(b"x" * 1000)}
        async with fetcher_of(site_of(docs, max_bytes=1000)) as fetcher:
            assert len((await fetcher.fetch(docs.url("/a"))).body) == 1000
            assert len((await fetcher.fetch(docs.url("/b"))).body) == 1000

    @pytest.mark.parametrize("late", [slow(2, "late"), dripping([b"x"] * 20, 0.05)])
    async def test_a_slow_answer_and_an_endless_one_are_given_up_in_time(self, docs: DocSite, late: object) -> None:
        docs.pages["/a"] = late  # type: ignore[assignment]
        async with fetcher_of(site_of(docs, timeout=0.3), attempts=1) as fetcher:
            with pytest.raises(FetchFailed, match=r"no complete answer within 0\.3 seconds$"):
                await fetcher.fetch(docs.url("/a"))

    @pytest.mark.parametrize("broken", [truncated("x" * 100, 10), gzipped(b"x" * 1000, cut=-8)])
    async def test_a_truncated_body_is_no_page(self, docs: DocSite, broken: object) -> None:
        docs.pages["/a"] = fails_first(1, broken, page("whole"))  # type: ignore[arg-type]
        async with fetcher_of(site_of(docs), attempts=1) as fetcher:
            with pytest.raises(FetchFailed, match="broke off"):
                await fetcher.fetch(docs.url("/a"))
            assert (await fetcher.fetch(docs.url("/a"))).body == b"whole"

    async def test_an_encoding_nobody_asked_for_is_refused(self, docs: DocSite) -> None:
        docs.pages["/a"] = gzipped(b"x", encoding="br")
        async with fetcher_of(site_of(docs)) as fetcher:
            with pytest.raises(FetchFailed, match="encoded as 'br'"):
                await fetcher.fetch(docs.url("/a"))
        assert docs.requests[0].headers["accept-encoding"] == "gzip"


class TestRetries:
    @pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
    async def test_a_busy_server_is_asked_again_later_and_later(self, docs: DocSite, code: int) -> None:
        docs.pages["/a"] = fails_first(3, status(code), page("A"))
        clock = SleepClock()
        async with fetcher_of(site_of(docs), clock) as fetcher:
            assert (await fetcher.fetch(docs.url("/a"))).body == b"A"
        assert docs.count("/a") == 4
        assert 0.25 <= clock.slept[0] <= 0.5 <= clock.slept[1] <= 1 <= clock.slept[2] <= 2

    async def test_it_gives_up_after_the_attempts_and_says_so(self, docs: DocSite) -> None:
        docs.pages["/a"] = status(503, retry_after="5")
        clock = SleepClock()
        async with fetcher_of(site_of(docs), clock) as fetcher:
            with pytest.raises(FetchFailed, match="status 503, in 4 attempts") as caught:
                await fetcher.fetch(docs.url("/a"))
        assert caught.value.retry_after == 5
        assert clock.slept == [5, 5, 5]
        assert docs.count("/a") == 4

    async def test_a_wait_longer_than_anyone_has_is_left_to_the_next_run(self, docs: DocSite) -> None:
        docs.pages["/a"] = status(503, retry_after="3600")
        clock = SleepClock()
        async with fetcher_of(site_of(docs), clock) as fetcher:
            with pytest.raises(FetchFailed, match=r"status 503$") as caught:
                await fetcher.fetch(docs.url("/a"))
        assert caught.value.retry_after == 3600
        assert clock.slept == []

    async def test_429_slows_down_all_requests_to_the_host(self, docs: DocSite) -> None:
        docs.pages |= {"/a": status(429, retry_after="3600"), "/b": "B"}
        async with fetcher_of(site_of(docs)) as fetcher:
            for path in ("/a", "/b"):
                with pytest.raises(FetchFailed) as caught:
                    await fetcher.fetch(docs.url(path))
                assert caught.value.retry_after == pytest.approx(3600, abs=5)
        assert docs.count("/b") == 0

    async def test_a_server_that_is_not_there_is_a_plain_error(self) -> None:
        async with DocSite() as gone:
            pass
        async with fetcher_of(site_of(gone)) as fetcher:
            with pytest.raises(FetchFailed, match=r"no connection .*, in 4 attempts"):
                await fetcher.fetch(gone.url("/"))

    @pytest.mark.parametrize(
        ("error", "message", "asked"),
        [
            (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"), "not trusted .*set ca_file", 1),
            (httpx.ProxyError("407"), "proxy refused", 1),
            (httpx.ReadError(""), r"broke off \(ReadError\), in 2 attempts", 2),
            (httpx.ConnectTimeout("slow"), "no connection within 10 seconds, in 2 attempts", 2),
        ],
    )
    async def test_each_failure_of_the_network_is_one_sentence(
        self, error: httpx.HTTPError, message: str, asked: int
    ) -> None:
        requests: list[httpx.Request] = []

        def fail(request: httpx.Request) -> httpx.Response:
            requests.append(request)
            raise error

        site = Site(name="s", start="https://docs.test/", obey_robots=False)
        transport = httpx.MockTransport(fail)
        async with HttpFetcher(
            site, user_agent="ritbot/0", transport=transport, sleep=SleepClock().sleep, attempts=2
        ) as fetcher:
            with pytest.raises(FetchFailed, match=message):
                await fetcher.fetch("https://docs.test/")
        assert len(requests) == asked


class TestManners:
    async def test_no_more_requests_at_once_than_allowed(self, docs: DocSite) -> None:
        docs.pages |= {f"/{n}": slow(0.02, "x") for n in range(9)}
        async with fetcher_of(site_of(docs, concurrency=3)) as fetcher:
            await asyncio.gather(*(fetcher.fetch(docs.url(f"/{n}")) for n in range(9)))
        assert docs.most_at_once == 3

    async def test_robots_txt_is_read_once_and_obeyed_on_redirects_too(self, docs: DocSite) -> None:
        docs.pages |= {
            "/robots.txt": page("User-agent: ritbot\nDisallow: /private", content_type="text/plain"),
            "/a": redirect("/private"),
            "/b": "B",
            "/private": "secret",
        }
        async with fetcher_of(site_of(docs, obey_robots=True)) as fetcher:
            fetched, blocked = await asyncio.gather(
                fetcher.fetch(docs.url("/b")), fetcher.fetch(docs.url("/a")), return_exceptions=True
            )
            assert not isinstance(fetched, BaseException)
            assert fetched.body == b"B"
            assert isinstance(blocked, Blocked)
            assert "does not allow" in str(blocked)
            assert b"Disallow" in (await fetcher.fetch(docs.url("/robots.txt"))).body
        assert docs.count("/robots.txt") == 1
        assert docs.count("/private") == 0

    async def test_a_start_with_a_password_is_refused_with_what_to_do_instead(self) -> None:
        site = Site(name="docs", start="https://me:secret@docs.test/")
        with pytest.raises(SiteUnusable, match="set headers for this site instead") as caught:
            async with HttpFetcher(site, user_agent="ritbot/0 (+test)"):
                pass
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize("packed", [False, True])
    async def test_of_a_robots_txt_500_kib_are_read_and_the_rest_is_left(self, docs: DocSite, packed: bool) -> None:
        rules = b"User-agent: *\nDisallow: /private\n" + b"# more\n" * 200_000 + b"Disallow: /late\n"
        docs.pages |= {"/robots.txt": gzipped(rules) if packed else page(rules), "/private": "secret", "/late": "late"}
        async with fetcher_of(site_of(docs, obey_robots=True, max_bytes=600_000)) as fetcher:
            assert len((await fetcher.fetch(docs.url("/robots.txt"))).body) == 500 * 1024
            assert (await fetcher.fetch(docs.url("/late"))).body
            with pytest.raises(Blocked):
                await fetcher.fetch(docs.url("/private"))

    async def test_robots_txt_can_be_set_aside(self, docs: DocSite) -> None:
        docs.pages |= {"/robots.txt": page("User-agent: *\nDisallow: /"), "/a": "A"}
        async with fetcher_of(site_of(docs)) as fetcher:
            assert (await fetcher.fetch(docs.url("/a"))).body == b"A"
        assert docs.paths() == ["/a"]

    async def test_its_crawl_delay_is_kept_where_it_is_longer_than_the_sites_own(self, docs: DocSite) -> None:
        docs.pages |= {"/robots.txt": page("User-agent: *\nCrawl-delay: 7"), "/a": "A"}
        clock = SleepClock()
        site = site_of(docs, obey_robots=True, delay=2.0)
        async with HttpFetcher(site, user_agent="ritbot/0", sleep=clock.sleep, monotonic=clock.monotonic) as fetcher:
            for _ in range(3):
                await fetcher.fetch(docs.url("/a"))
        assert clock.slept == [2.0, 7.0, 7.0]  # robots.txt, then three pages

    @pytest.mark.parametrize("code", [500, 503, 429])
    async def test_a_robots_txt_that_cannot_be_read_forbids_all(self, docs: DocSite, code: int) -> None:
        docs.pages |= {"/robots.txt": status(code), "/a": "A"}
        async with fetcher_of(site_of(docs, obey_robots=True)) as fetcher:
            for _ in range(2):
                with pytest.raises(FetchFailed, match=r"Nothing is fetched from .* robots\.txt could not be read"):
                    await fetcher.fetch(docs.url("/a"))
        assert docs.count("/robots.txt") == 4
        assert docs.count("/a") == 0
