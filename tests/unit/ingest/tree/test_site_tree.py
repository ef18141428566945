"""Where pages hang in the site tree (ingest/tree/site_tree.py)."""

from __future__ import annotations

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Claims, Crumb, Page, TrailSource
from ingest.ports import SiteAncestor
from ingest.tree.site_tree import MAX_ANCESTORS, place

BASE = "https://docs.example.org/"


def page(
    path: str,
    *trail: str | tuple[str, str],
    source: TrailSource = "breadcrumb",
    lists: tuple[str, ...] = (),
    canonical: str | None = None,
) -> Page:
    """A page at BASE + path. A crumb is a path (a link titled "link") or a (title, path) pair; no path, no link."""
    crumbs = tuple(
        Crumb("link", BASE + crumb)
        if isinstance(crumb, str)
        else Crumb(crumb[0], BASE + crumb[1] if crumb[1] else None)
        for crumb in trail
    )
    claims = Claims(crumbs, source if crumbs else "none", tuple(BASE + listed for listed in lists))
    return Page(BASE + path, BASE + path, canonical or BASE + path, f"T:{path}", (), claims)


def titles(*pages: Page, aliases: dict[str, str] | None = None) -> dict[str, list[str]]:
    """For each path the titles above it, pages' titles without their "T:"."""
    full = {BASE + alias: BASE + target for alias, target in (aliases or {}).items()}
    placed = place(pages, full)
    return {key.removeprefix(BASE): [above.title.removeprefix("T:") for above in path] for key, path in placed.items()}


# --- each claim in turn


def test_no_pages_have_no_places() -> None:
    assert place([]) == {}


def test_a_page_alone_hangs_under_the_site() -> None:
    assert place([page("guide/deep/x.html")]) == {BASE + "guide/deep/x.html": ()}


def test_linked_crumbs_become_the_pages_they_name_with_the_pages_own_titles() -> None:
    placed = place([page("x"), page("g", "x", canonical=BASE + "guide"), page("s", "x", ("Crumb title", "g"))])
    assert placed[BASE + "s"] == (
        SiteAncestor("T:x", BASE + "x", BASE + "x"),
        SiteAncestor("T:g", BASE + "g", BASE + "guide"),
    )


def test_unlinked_crumbs_and_links_to_elsewhere_are_named_containers() -> None:
    placed = place([page("home"), page("p", "home", ("Category", ""), ("Other site", "not-a-page"))])
    assert placed[BASE + "p"][1:] == (SiteAncestor("Category"), SiteAncestor("Other site", None, BASE + "not-a-page"))


def test_a_trail_of_names_alone_stands_under_the_site() -> None:
    assert titles(page(""), page("a/p", ("Guides", ""), ("Setup", "")))["a/p"] == ["Guides", "Setup"]


def test_what_stands_above_a_parent_is_the_parents_own_affair() -> None:
    placed = titles(page("a"), page("b"), page("mid", "a"), page("leaf", "b", "mid"))
    assert placed["leaf"] == ["a", "mid"]


def test_a_crumb_that_names_the_page_itself_is_left_out() -> None:
    assert titles(page("a"), page("b", "a", "b"))["b"] == ["a"]


def test_rel_up_and_sidebar_trails_count_like_breadcrumbs() -> None:
    placed = titles(page("top"), page("up", "top", source="up"), page("side", "up", source="sidebar"))
    assert placed["side"] == ["top", "up"]


def test_a_contents_page_counts_only_where_there_is_no_trail() -> None:
    placed = titles(page("toc", lists=("one", "two")), page("other"), page("one"), page("two", "other"))
    assert placed["one"] == ["toc"]
    assert placed["two"] == ["other"]


def test_of_several_contents_pages_the_nearest_by_url_then_the_smallest_key_counts() -> None:
    listed = ("g/sub/x.html", "g/y.html", "z.html")
    placed = titles(
        page("b-index.html", lists=listed),
        page("a-index.html", lists=listed),
        page("g/sub/toc.html", lists=listed),
        *(page(path) for path in listed),
    )
    assert placed == {
        "a-index.html": [],
        "b-index.html": [],
        "g/sub/toc.html": [],
        "g/sub/x.html": ["g/sub/toc.html"],
        "g/y.html": ["g/sub/toc.html"],
        "z.html": ["a-index.html"],
    }


def test_a_contents_page_does_not_stand_above_the_folder_it_lies_in() -> None:
    placed = titles(page("", lists=("toc.html",)), page("toc.html", lists=("", "x.html")), page("x.html"))
    assert placed == {"": [], "toc.html": [""], "x.html": ["", "toc.html"]}


def test_a_contents_page_that_lists_itself_or_nothing_that_is_known_changes_nothing() -> None:
    assert titles(page("toc", lists=("toc", "nowhere", "")), page("x")) == {"toc": [], "x": []}


def test_without_claims_the_longest_url_prefix_that_is_a_page_counts() -> None:
    placed = titles(page(""), page("guide/"), page("guide/a/b/x.html"), page("guide/a/index.html"), page("guide"))
    assert placed["guide/a/b/x.html"] == ["", "guide", "guide/a/index.html"]
    assert placed["guide/a/index.html"] == ["", "guide"]


def test_a_page_stands_above_the_folder_of_its_name() -> None:
    assert titles(page("tutorial.html"), page("tutorial/step1.html"))["tutorial/step1.html"] == ["tutorial.html"]


def test_a_query_is_one_step_below_its_path() -> None:
    assert titles(page("doc.php"), page("doc.php?id=5"))["doc.php?id=5"] == ["doc.php"]


def test_hosts_are_apart() -> None:
    other = Page("https://api.example.org/x/y", "https://api.example.org/x/y", "https://api.example.org/x/y", "Y", ())
    assert place([page("x"), page(""), other])[other.key] == ()


def test_files_have_places_too() -> None:
    keys = ["file:///docs/index.html", "file:///docs/guide/index.html", "file:///docs/guide/x.html"]
    placed = place([Page(key, key, key, key[13:], ()) for key in keys])
    assert [above.key for above in placed[keys[2]]] == keys[:2]


# --- which page a URL names


def test_crumbs_find_pages_under_other_spellings() -> None:
    placed = titles(
        page("guide/index.html"), page("p", "guide/#top"), page("q", "guide"), page("r", "guide/?utm_source=x")
    )
    assert placed["p"] == placed["q"] == placed["r"] == ["guide/index.html"]


def test_an_exact_name_comes_before_other_spellings() -> None:
    placed = titles(page("guide"), page("guide/"), page("guide.html"), page("p", "guide.html"), page("q", "guide/"))
    assert placed["p"] == ["guide.html"]
    assert placed["q"] == ["guide/"]


def test_crumbs_find_pages_by_aliases_and_by_canonical_urls() -> None:
    home = page("docs/intro", canonical=BASE + "canonical")
    placed = titles(home, page("p", "docs/"), page("q", "canonical"), aliases={"docs/": "docs/intro", "x": "gone"})
    assert placed["p"] == placed["q"] == ["docs/intro"]


def test_a_canonical_url_that_several_pages_share_names_none_of_them() -> None:
    one, two = (page(f"{version}/x", canonical=BASE + "latest/x") for version in ("v1", "v2"))
    assert place([one, two, page("v2/y", "latest/x")])[BASE + "v2/y"] == (
        SiteAncestor("link", None, BASE + "latest/x"),
    )


def test_crumbs_that_are_no_page_addresses_are_containers() -> None:
    claims = Claims((Crumb("Home", "/relative"), Crumb("Mail", "mailto:a@b")), "breadcrumb")
    lone = Page(BASE + "p", BASE + "p", BASE + "p", "P", (), claims)
    assert [above.title for above in place([lone, page("relative")])[lone.key]] == ["Home", "Mail"]


# --- circles


def test_of_a_circle_the_weakest_claim_goes() -> None:
    placed = titles(page("a", "b"), page("b", "c", source="sidebar"), page("c", "a", source="up"))
    assert placed == {"b": [], "a": ["b"], "c": ["b", "a"]}


def test_of_equally_weak_claims_that_of_the_smallest_key_goes() -> None:
    assert titles(page("a", "b"), page("b", "a")) == {"a": [], "b": ["a"]}


def test_a_page_whose_claim_went_takes_its_next_best() -> None:
    placed = titles(page("home"), page("b", "a"), page("a", "home", ("Named", ""), "b", ("Below", "")))
    assert placed["a"] == ["home", "Named", "Below"]
    assert placed["b"] == ["home", "Named", "Below", "a"]


# --- always

PATHS = ["", "a", "a/", "a/index.html", "a/b", "a/b/c.html", "b", "b/a", "c?x=1", "c"]
some_path = st.sampled_from(PATHS)
some_crumb = some_path | st.tuples(st.sampled_from(["N", "M"]), st.just("")) | st.just("elsewhere")


@st.composite
def sites(draw: st.DrawFn) -> list[Page]:
    sources = st.sampled_from(["breadcrumb", "up", "sidebar"])
    return [
        page(
            path,
            *draw(st.lists(some_crumb, max_size=3)),
            source=draw(sources),  # type: ignore[arg-type]
            lists=tuple(draw(st.lists(some_path, max_size=4))),
        )
        for path in draw(st.lists(some_path, unique=True))
    ]


@given(sites(), st.randoms(use_true_random=False))
def test_the_order_of_the_pages_does_not_matter(site: list[Page], chance: random.Random) -> None:
    shuffled = site.copy()
    chance.shuffle(shuffled)
    assert place(shuffled) == place(site)


@given(sites())
def test_all_places_together_are_one_tree_without_circles(site: list[Page]) -> None:
    placed = place(site)
    assert set(placed) == {page.key for page in site}
    for key, path in placed.items():
        keys = [above.key for above in path if above.key is not None]
        assert key not in keys
        assert len(keys) == len(set(keys))
        for depth, above in enumerate(path):
            if above.key is not None:
                assert placed[above.key] == path[:depth]


def test_a_chain_deeper_than_the_bound_is_cut_and_stays_one_tree() -> None:
    chain = [page("p000")] + [page(f"p{i:03}", f"p{i - 1:03}", source="up") for i in range(1, 60)]
    placed = place(chain)
    assert [len(placed[page.key]) for page in chain] == [min(i, MAX_ANCESTORS) for i in range(60)]
    assert placed[chain[-1].key] == placed[chain[MAX_ANCESTORS].key]


def test_five_thousand_pages_in_one_circle_are_placed_in_seconds() -> None:
    ring = [page(f"p{i}", f"p{(i + 1) % 5_000}", source="up") for i in range(5_000)]
    started = time.perf_counter()
    placed = place(ring)
    assert time.perf_counter() - started < 10
    assert sum(not path for path in placed.values()) == 1
