"""ingest.urls: the names of pages, sections and quoted words."""

from __future__ import annotations

import itertools
import re
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.urls import equivalent, fragment, node_link, page_key, preferred, resolve, same_page

PAGE = "https://docs.example.test/guide/install/"

hosts = st.sampled_from(["docs.example.test", "DOCS.Example.test", "bücher.example", "127.0.0.1", "[::1]", "a_b.test"])
odd_text = st.text(alphabet=st.sampled_from("aZ0-._~%/:@!$&'()*+,;= <>\"{}|\\^`[]ä説\U0001f600"), max_size=12)
paths = st.lists(odd_text | st.sampled_from([".", "..", "%2e", "%2E%2e", "%7Euser", "%c3%a4", ""]), max_size=6)
absolute_urls = st.builds(
    lambda scheme, host, port, path, query, mark: f"{scheme}://{host}{port}/{'/'.join(path)}{query}{mark}",
    st.sampled_from(["http", "https", "HTTPS"]),
    hosts,
    st.sampled_from(["", ":", ":80", ":443", ":8443"]),
    paths,
    odd_text.map(lambda q: f"?{q}") | st.just(""),
    odd_text.map(lambda f: f"#{f}") | st.just(""),
)


class TestPageKey:
    @pytest.mark.parametrize(
        "spelling",
        [
            PAGE,
            "HTTPS://DOCS.example.test:443/guide/./install/",
            "https://docs.example.test/guide/x/../install/",
            "https://docs.example.test/guide/%69nstall/",
            "https://docs.example.test/guide/%2e/install/",
            "https://docs.example.test/guide/install/#linux",
            "https://docs.example.test/guide/install/?",
            "https://docs.example.test/guide/install/?utm_source=mail&gclid=1&fbclid=2&mc_eid=3&msclkid=4",
            "https://user:secret@docs.example.test/guide/install/",
        ],
    )
    def test_spellings_of_one_url_are_one_key(self, spelling: str) -> None:
        assert page_key(spelling) == PAGE

    @pytest.mark.parametrize(
        "other",
        [
            "http://docs.example.test/guide/install/",
            "https://docs.example.test:8443/guide/install/",
            "https://docs.example.test/guide/install",
            "https://docs.example.test/guide/Install/",
            "https://docs.example.test/guide//install/",
            "https://docs.example.test/guide/install/?view=v2",
            "https://docs.example.test/guide/install/?topic=linux",
        ],
    )
    def test_what_may_be_another_page_is_another_key(self, other: str) -> None:
        assert page_key(other) == other

    def test_parameters_keep_their_order_when_tracking_ones_go(self) -> None:
        assert page_key("https://a.test/?topic=b&utm_medium=x&view=a&&Fbclid=1") == "https://a.test/?topic=b&view=a"

    def test_percent_encoding_takes_one_form(self) -> None:
        assert (
            page_key("https://a.test/ü/%c3%bc/%7euser/100%/a b/%2f")
            == "https://a.test/%C3%BC/%C3%BC/~user/100%25/a%20b/%2F"
        )

    def test_the_host_is_in_its_idna_form(self) -> None:
        assert page_key("https://BÜCHER.example") == "https://xn--bcher-kva.example/"

    def test_files_have_keys_too(self) -> None:
        assert page_key("file:///srv/docs/./a%20b.html#x") == "file:///srv/docs/a%20b.html"

    @pytest.mark.parametrize(
        "bad",
        ["", "guide/install", "//docs.test/a", "mailto:a@b.test", "https://", "http:///a", "file:a", "https://a b/"],
    )
    def test_what_names_no_page_is_refused(self, bad: str) -> None:
        with pytest.raises(ValueError, match="not a"):
            page_key(bad)

    @given(absolute_urls)
    def test_it_is_idempotent_and_plain_ascii(self, url: str) -> None:
        key = page_key(url)
        assert page_key(key) == key
        assert re.fullmatch(r"[!-~]+", key)
        assert "#" not in key

    @given(st.text(max_size=40))
    def test_any_text_gives_a_key_or_a_value_error(self, text: str) -> None:
        try:
            key = page_key(text)
        except ValueError:
            return
        assert page_key(key) == key


URL_VARIANTS = [  # fetched URL, what its body hashed to, group
    ("https://docs.example.test/guide/install/", "A", 0),
    ("https://docs.example.test/guide/install", "A", 0),
    ("https://docs.example.test/guide/install/index.html", "A", 0),
    ("http://docs.example.test/guide/install/", "A", 0),
    ("https://DOCS.example.test:443/guide/./install/", "A", 0),
    ("https://docs.example.test/guide/install/#linux", "A", 0),
    ("https://docs.example.test/guide/install/?utm_source=mail&gclid=1", "A", 0),
    ("https://docs.example.test/guide/%69nstall/", "A", 0),
    ("https://docs.example.test/guide/Install/", "C", 1),
    ("https://docs.example.test/guide/install/?view=v2", "D", 2),
    ("https://docs.example.test/guide/install/?topic=linux", "E", 3),
    ("https://docs.example.test/guide/install/?print=1", "A", 0),
]


class TestEquivalent:
    def test_variants_with_equal_content_are_one_document(self) -> None:
        def name(variant: tuple[str, str, int]) -> tuple[str, str]:
            return equivalent(variant[0]), variant[1]

        groups = [{v[2] for v in group} for _, group in itertools.groupby(sorted(URL_VARIANTS, key=name), key=name)]
        assert sorted(map(sorted, groups)) == [[0], [1], [2], [3]]

    def test_the_clean_url_of_an_html_file_may_be_the_same(self) -> None:
        assert equivalent("http://a.test/types.html") == equivalent("https://a.test/types")

    def test_a_root_stays_a_root(self) -> None:
        assert equivalent("https://a.test/index.html") == equivalent("https://a.test") == "https://a.test/"

    @given(absolute_urls)
    def test_urls_with_one_key_are_equivalent(self, url: str) -> None:
        assert equivalent(url) == equivalent(page_key(url))


class TestSamePage:
    def test_http_and_https_are_one_on_their_usual_ports_only(self) -> None:
        assert same_page("http://a.test/x") == same_page("https://a.test/x") == "https://a.test/x"
        assert same_page("http://a.test:8080/x") == "http://a.test:8080/x"
        assert same_page("file:///a") == "file:///a"


class TestPreferred:
    def test_the_plain_directory_url_wins_whatever_the_order(self) -> None:
        copies = [url for url, sha, _ in URL_VARIANTS if sha == "A"]
        assert preferred(copies) == preferred(reversed(copies)) == PAGE

    @pytest.mark.parametrize(
        ("better", "worse"),
        [
            ("https://a.test/long/path.html", "http://a.test/"),
            ("https://a.test/long/path.html", "https://a.test/?v=1"),
            ("https://a.test/longer/", "https://a.test/b"),
            ("https://a.test/b", "https://a.test/bb"),
            ("https://a.test/a", "https://a.test/b"),
        ],
    )
    def test_its_reasons_have_an_order(self, better: str, worse: str) -> None:
        assert preferred([worse, better]) == better


class TestResolve:
    @pytest.mark.parametrize(
        ("href", "absolute"),
        [
            ("pipes", "https://docs.example.test/v2/docs/pipes"),
            ("#b", "https://docs.example.test/v2/docs/#b"),
            ("/abs", "https://docs.example.test/abs"),
            ("//cdn.test/x", "https://cdn.test/x"),
            (" ../x\ty.html\n", "https://docs.example.test/v2/xy.html"),
            ("..\\old\\help.html?a\\b", "https://docs.example.test/v2/old/help.html?a%5Cb"),
            ("ü 1.html?q=ä#Überblick", "https://docs.example.test/v2/docs/%C3%BC%201.html?q=%C3%A4#%C3%9Cberblick"),
            ("%7Ea%20b", "https://docs.example.test/v2/docs/%7Ea%20b"),
            ("https://me:pw@other.test:443", "https://other.test/"),
            ("", "https://docs.example.test/v2/docs/"),
        ],
    )
    def test_links_become_absolute(self, href: str, absolute: str) -> None:
        assert resolve("https://docs.example.test/v2/docs/", href) == absolute

    @pytest.mark.parametrize(
        "href",
        [
            "mailto:a@b.test",
            "javascript:void(0)",
            "data:text/html,x",
            "tel:1",
            "http://[::1",
            "http://a.test:99999/",
            "http:///x",
        ],
    )
    def test_what_is_no_page_address_is_none(self, href: str) -> None:
        assert resolve("https://docs.example.test/", href) is None

    def test_only_files_may_point_at_files(self) -> None:
        assert resolve("https://docs.example.test/", "file:///etc/passwd") is None
        assert resolve("file:///srv/docs/a.html", "b.html") == "file:///srv/docs/b.html"

    @given(
        absolute_urls | st.just("file:///srv/docs/a.html"),
        st.lists(st.sampled_from(["..", "a", "-b", "c.d", "e_1", "~f", "..g", "%41", ""]), max_size=6).map("/".join),
        st.sampled_from(["", "#", "#top", "#a b", "#%zz"]),
    )
    @example("https://docs.example.test/a//b/../c/d;p?q#r", "../x/y.html", "#s")
    def test_a_plain_path_leads_where_the_same_path_in_other_words_leads(self, base: str, path: str, mark: str) -> None:
        if path[:1] not in ("", "/"):
            assert resolve(base, path + mark) == resolve(base, f"./{path}{mark}")
        root = path.lstrip("/")
        assert resolve(base, f"/{root}{mark}") == resolve(base, f"/./{root}{mark}")

    @given(absolute_urls, st.text(max_size=30) | odd_text)
    @example("http://docs.example.test:8443/;", "")
    def test_it_never_raises_and_what_it_gives_has_a_key(self, base: str, href: str) -> None:
        absolute = resolve(base, href)
        if absolute is not None:
            assert re.fullmatch(r"[!-~]+", absolute)
            assert resolve(base, absolute) == absolute
            page_key(absolute)


class TestNodeLink:
    @pytest.mark.parametrize(
        ("anchor", "encoded"),
        [
            ("4-1-8-バッチ", "4-1-8-%E3%83%90%E3%83%83%E3%83%81"),
            ("Überblick", "%C3%9Cberblick"),
            ("put(java.lang.Object,java.lang.Object)", "put(java.lang.Object,java.lang.Object)"),
            ("<init>(int)", "%3Cinit%3E(int)"),
            ("my id", "my%20id"),
            ("ns:item", "ns:item"),
            ("100%", "100%25"),
            ("a%20b", "a%2520b"),
            ("a:~:b", "a:%7E:b"),
        ],
    )
    def test_an_id_is_encoded_once(self, anchor: str, encoded: str) -> None:
        assert fragment(anchor) == encoded

    @given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
    def test_decoding_a_fragment_gives_the_id_back(self, anchor: str) -> None:
        assert unquote(fragment(anchor)) == anchor
        assert re.fullmatch(r"[A-Za-z0-9/?!$&'()*+,;=:@._~%-]*", fragment(anchor))  # RFC 3986

    def test_the_nearest_anchor_counts(self) -> None:
        assert node_link(PAGE, [None, "", "near", "far"]) == PAGE + "#near"

    def test_without_anchors_it_is_the_bare_page(self) -> None:
        assert node_link(PAGE + "#old", [None]) == PAGE
