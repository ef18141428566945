"""Real pages of every generator, judged as their authors would: title, nesting, addresses, trail, and what
must not be there. Where a page is served from does not matter except for trails."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.html.parse import parse
from ingest.model import Document, Node, Page

NOWHERE = "https://docs.example.test/x/page.html"
EVERYWHERE_ABSENT = (
    "¶",
    "\uf0c1",
    "\u200b",
    "Skip to content",
    "Edit this page",
    "Permalink to",
    "Section titled",
    "On this page\n",
)


def read(real: Path, name: str, url: str = NOWHERE) -> Document:
    return parse((real / name).read_bytes(), url)


def page_of(real: Path, name: str, url: str = NOWHERE) -> Page:
    page = read(real, name, url).page
    assert page is not None, name
    return page


def path(page: Page, node: Node) -> tuple[str, ...]:
    nodes = {n.id: n for n in page.nodes}
    titles = [node.title]
    while node.parent is not None:
        node = nodes[node.parent]
        titles.append(node.title)
    return tuple(reversed(titles))


def paths(page: Page) -> dict[tuple[str, ...], str | None]:
    return {path(page, node): node.anchor for node in page.nodes}


def everything(page: Page) -> str:
    return "\n".join(f"{node.title}\n{node.text}" for node in page.nodes)


def prose(page: Page) -> str:
    """Titles and text without listings, which may show any sign."""
    return "\n".join(part for n in page.nodes for part in (n.title, *(b.text for b in n.blocks if b.kind != "code")))


SECTIONS: list[tuple[str, str, tuple[str, ...], str | None]] = [
    ("antora/k8s-jobs-cronjobs.html", "Jobs & CronJobs", ("CronJobs", "Clean Up"), "_clean_up_2"),
    ("asciidoc-py/git-log.html", "git-log(1) Manual Page", ("OPTIONS", "Commit Limiting"), "_commit_limiting"),
    ("asciidoctor/resilience4j-userguide.html", "Resilience4j User Guide", ("2. Getting started", "2.1. Gradle"), "_gradle"),
    ("docbook/debref-ch02.en.html", "Chapter 2. Debian package management", ("2.3. Examples of aptitude operations",), "_examples_of_aptitude_operations"),
    ("docsy/docs-file-format-bloomfilter.html", "Bloom Filter", ("Technical Approach", "File Format"), "file-format"),
    ("docusaurus/getting-started.html", "Getting started", ("Run Kvrocks with Docker", "Tuning Docker"), "tuning-docker"),
    ("gitbook-legacy/docs-api-selector.html", "enzyme Selectors", ("1. A Valid CSS Selector",), "1-a-valid-css-selector"),
    ("javadoc17/java.base-java-util-HashMap.html", "Class HashMap<K,V>", ("Method Details", "put"), "put(java.lang.Object,java.lang.Object)"),
    ("javadoc11/tuple-Pair.html", "Class Pair<L,R>", ("Method Details", "getKey"), "getKey()"),
    ("jekyll/administration-caching.html", "Caching", ("Caching", "Configuration"), "configuration"),
    ("mdbook/reference-types-closure.html", "Closure types", ("Other traits",), "other-traits"),
    ("mediawiki/wiki_duck.html", "Duck", ("Behaviour", "Feeding"), "Feeding"),
    ("mediawiki/wikipedia-3.html", "Hermitian matrix", ("Alternative characterizations", "Spectral properties"), "Spectral_properties"),
    ("mkdocs-classic/user-guide-configuration.html", "Configuration", ("Project information", "site_url"), "site_url"),
    ("mkdocs-material/reference-document_converter.html", "Document converter", ("document_converter", "DocumentConverter", "convert"), "docling.document_converter.DocumentConverter.convert"),
    ("nextra/docs-advanced-latex.html", "LaTeX", ("API", "MathJax", "MathJax CDN"), "mathjax-cdn"),
    ("rdoc/Reader.html", "class Asciidoctor::Reader", ("Public Instance Methods", "advance()"), "method-i-advance"),
    ("rustdoc/std-vec-struct.Vec.html", "Struct std::vec::Vec", ("Guarantees",), "guarantees"),
    ("sphinx-cmake/prop_tgt-OBJC_STANDARD.html", "OBJC_STANDARD", (), "objc-standard"),
    ("sphinx-flask/views.html", "Class-based Views", ("URL Variables",), "url-variables"),
    ("sphinx-python/library-json.html", "json — JSON encoder and decoder", ("Exceptions", "exception json.JSONDecodeError(msg, doc, pos)", "msg"), "json.JSONDecodeError.msg"),
    ("sphinx-rtd/hashing.html", "Hashing", ("Hash Code Caching",), "hash-code-caching"),
    ("starlight/components-tabs.html", "Tabs", ("Usage", "Sync tabs"), "sync-tabs"),
    ("vitepress/fa-guide-markdown.html", "افزونه\u200cهای Markdown", (), "markdown-extensions"),
    ("vitepress/reference-site-config.html", "Site Config", ("Site Metadata", "head", "Example: Adding a favicon"), "example-adding-a-favicon"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "title", "section", "anchor"), SECTIONS, ids=[case[0] for case in SECTIONS])
def test_title_and_a_section_with_its_path_and_address(
    real: Path, name: str, title: str, section: tuple[str, ...], anchor: str | None
) -> None:
    page = page_of(real, name)
    assert page.title == title
    assert paths(page).get((title, *section), "no such section") == anchor
    assert [sign for sign in EVERYWHERE_ABSENT if sign in prose(page)] == []


@pytest.mark.parametrize(
    ("name", "title", "anchors"),
    [
        ("docbook/pg-functions-math.html", "9.3. Mathematical Functions and Operators", {"FUNCTIONS-MATH"}),
        ("docbook/pg-app-psql.html", "psql", {"R1-APP-PSQL-3", "APP-PSQL-EXAMPLES"}),
        ("docbook-gtkdoc/GFile.html", "GFile", {"GFile.description", "g-file-new-for-path"}),
        ("doxygen/dox-markdown.html", "Markdown support", {"markdown_std", "md_inlinelinks"}),
        ("doxygen/eigen-group__TutorialMatrixClass.html", "The Matrix class", {"TutorialMatrixVectors"}),
        ("nodejs/dgram.html", "UDP/datagram sockets", {"udpdatagram-sockets", "socketclosecallback"}),
        ("mdbook/book-ch06-02-match.html", "The match Control Flow Construct", {"matching-with-optiont"}),
    ],
)
def test_pages_without_a_first_heading_are_named_by_their_title(
    real: Path, name: str, title: str, anchors: set[str]
) -> None:
    page = page_of(real, name)
    assert page.title == title
    assert page.nodes[0].kind == "page"
    assert anchors <= {node.anchor for node in page.nodes}


TRAILS: list[tuple[str, str, str, list[str]]] = [
    ("antora/k8s-ingress.html", "https://redhat-scholars.github.io/kubernetes-tutorial/kubernetes-tutorial/v1.29/ingress.html", "breadcrumb", ["kubernetes-tutorial", "5. Advanced"]),
    ("docbook/pg-functions-math.html", "https://www.postgresql.org/docs/15/functions-math.html", "up", ["Chapter 9. Functions and Operators"]),
    ("docsy/docs-file-format-types-logicaltypes.html", "https://parquet.apache.org/docs/file-format/types/logicaltypes/", "breadcrumb", ["Documentation", "File Format", "Types"]),
    ("docusaurus/info-sections.html", "https://kvrocks.apache.org/docs/info-sections", "breadcrumb", ["Home page", "References"]),
    ("doxygen/eigen-classEigen_1_1Matrix.html", "https://eigen.test/classEigen_1_1Matrix.html", "breadcrumb", ["Eigen"]),
    ("javadoc17/java.base-java-util-HashMap.html", "https://d.test/api/java.base/java/util/HashMap.html", "breadcrumb", ["java.base", "java.util"]),
    ("mkdocs-material/examples-hybrid_chunking.html", "https://docling-project.github.io/docling/examples/hybrid_chunking/", "sidebar", ["Examples", "✂️ Serialization & chunking"]),
    ("mdbook/reference-types-closure.html", "https://doc.rust-lang.org/reference/types/closure.html", "sidebar", ["10. Type system", "10.1. Types"]),
    ("nextra/docs-advanced-table.html", "https://n.test/docs/advanced/table", "breadcrumb", ["Docs", "Advanced"]),
    ("rustdoc/std-vec-struct.Vec.html", "https://doc.rust-lang.org/std/vec/struct.Vec.html", "breadcrumb", ["std", "vec"]),
    ("sphinx-python/library-json.html", "https://docs.python.org/3.11/library/json.html", "breadcrumb", ["The Python Standard Library", "Internet Data Handling"]),
    ("sphinx-rtd/api.html", "https://www.attrs.org/en/22.2.0/api.html", "breadcrumb", ["Home"]),
    ("starlight/components-tabs.html", "https://docs.example.org/components/tabs/", "sidebar", ["Components"]),
    ("vitepress/reference-default-theme-config.html", "https://vuejs.github.io/vitepress/v1/reference/default-theme-config", "sidebar", ["Reference", "Default Theme"]),
    ("gitbook-legacy/docs-api-ReactWrapper-at.html", "https://enzymejs.github.io/enzyme/docs/api/ReactWrapper/at.html", "sidebar", ["API Reference", "Full DOM Rendering"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "url", "source", "trail"), TRAILS, ids=[case[0] for case in TRAILS])
def test_the_trail_names_the_ancestors(real: Path, name: str, url: str, source: str, trail: list[str]) -> None:
    page = page_of(real, name, url)
    assert [crumb.title for crumb in page.breadcrumb] == trail
    assert page.claims.source == source


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("antora/k8s-installation.html", ["Books", "Outer Loop"]),
        ("asciidoctor/resilience4j-userguide.html", ["Table of Contents"]),
        ("docbook/pg-functions-math.html", ["Prev ", "Home"]),
        ("docsy/docs-file-format.html", ["Create child page", "Last modified"]),
        ("docusaurus/cluster.html", ["Last updated on", "Previous", "On this page"]),
        ("doxygen/dox-tables.html", ["Generated by"]),
        ("javadoc17/java.base-java-util-HashMap.html", ["Skip navigation", "Module java.base", "SEARCH"]),
        ("jekyll/administration-caching.html", ["Edit this page", "Download"]),
        ("mediawiki/wikipedia-3.html", ["[edit]", "Jump to navigation", "\nContents\n", "Categories"]),
        ("mkdocs-material/examples-hybrid_chunking.html", ["In [1]:", "Initializing search"]),
        ("mkdocs-material/reference-document_converter.html", ["instance-attribute\n"]),
        ("nextra/docs-advanced-latex.html", ["Question? Give us feedback", "Scroll to top"]),
        ("nodejs/dgram.html", ["Table of contents", "Node.js v18.20.4 documentation"]),
        ("rustdoc/std-vec-struct.Vec.html", ["Run\n", "Notable traits", "Expand description"]),
        ("sphinx-flask/api.html", ["[source]", "Quick search"]),
        ("vitepress/guide-markdown.html", ["Next page", "Pager", "Copy Code"]),
    ],
)
def test_what_the_author_did_not_write_is_not_there(real: Path, name: str, absent: list[str]) -> None:
    said = everything(page_of(real, name))
    assert [text for text in absent if text in said] == []


def test_sphinx_definitions_nest_and_end(real: Path) -> None:
    page = page_of(real, "sphinx-python/library-json.html")
    encoder = next(node for node in page.nodes if node.anchor == "json.JSONEncoder")
    members = [node.anchor for node in page.nodes if node.parent == encoder.id]
    assert members == [f"json.JSONEncoder.{name}" for name in ("default", "encode", "iterencode")]
    after = next(node for node in page.nodes if node.anchor == "exceptions")
    assert path(page, after) == ("json — JSON encoder and decoder", "Exceptions")
    assert "¶" not in encoder.title


def test_rustdoc_titles_are_signatures_without_tooltips(real: Path) -> None:
    page = page_of(real, "rustdoc/std-vec-struct.Vec.html")
    new = next(node for node in page.nodes if node.anchor == "method.new")
    assert new.title == "pub const fn new() -> Vec<T, Global>"


def test_a_formula_is_written_once(real: Path) -> None:
    page = page_of(real, "nextra/docs-advanced-latex.html")
    assert everything(page).count("a=\\sqrt{b^2 + c^2}") == 2  # once as source in a listing, once as a formula


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("docsy/docs-_print.html", "noindex"),
        ("mdbook/book-print.html", "noindex"),
        ("mkdocs-material/404.html", "soft_404"),
        ("starlight/404.html", "soft_404"),
        ("vitepress/404.html", "soft_404"),
        ("redirect-pages/antora-root.html", "redirect"),
        ("redirect-pages/resilience4j-meta-refresh.html", "redirect"),
        ("redirect-pages/vitepress-root.html", "redirect"),
    ],
)
def test_pages_that_are_none_say_why(real: Path, name: str, reason: str) -> None:
    skip = read(real, name).skip
    assert skip is not None
    assert skip.reason == reason


def test_antora_points_to_the_newest_version_and_keeps_its_own_address(real: Path) -> None:
    url = "https://redhat-scholars.github.io/kubernetes-tutorial/kubernetes-tutorial/v1.29/ingress.html"
    assert page_of(real, "antora/k8s-ingress.html", url).canonical == url


def test_every_anchor_of_every_page_is_on_it_and_only_once(real: Path) -> None:
    for file in sorted(real.rglob("*.html")):
        page = parse(file.read_bytes(), NOWHERE, index_noindex=True).page
        if page is not None:
            anchors = [node.anchor for node in page.nodes if node.anchor is not None]
            assert len(anchors) == len(set(anchors)), file.name
