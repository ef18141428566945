"""The words of the project as types: pages, nodes, blocks, chunks, records, events, sites.

Everything here is immutable and does no I/O. A Page is one web page, which is one document of the
papers; its nodes form the document's tree (RIT-RAG section 3, RDR2 section 3.1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from ingest.text.likeness import Likeness, likeness

PARSER_VERSION = "5"
"""Raised whenever the parser may give another tree for the same bytes."""

BlockKind = Literal["text", "code", "list", "table", "terms", "quote", "math"]
NodeKind = Literal["page", "heading", "definition", "induced"]
"""Induced: a title that a model gave to a run of blocks of the section above it (ingest.tree.induced_headings); the page has none there."""
RecordState = Literal["live", "alias", "moved", "gone", "skipped"]
SkipReason = Literal["noindex", "redirect", "needs_javascript", "soft_404", "not_html", "too_large", "empty"]
EventKind = Literal["changed", "removed"]
NodeChangeKind = Literal["changed", "moved", "split", "went", "extended"]
"""Of a section that was known: it says something else; the same in another place; something else, while words of it stand in
other sections now; it is there no more."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list, code block, table … of a node: the smallest thing a citation points at.

    `text` is what stands on the page, without bullets, numbers or cell bars: lines are separated by
    a line break, the cells of a table row by a tab. `marks`, where given, holds one prefix for each line of `text` (the
    bullets and numbers of a list, indented by depth). Code keeps every space, tab and line break. `header`: of a table of
    which this is one row, what stands above its cells; it is the text of another node.
    """

    kind: BlockKind
    text: str
    language: str | None = None
    marks: tuple[str, ...] = ()
    header: str = ""

    @property
    def shown(self) -> str:
        """The block as a reader (a person or a model) sees it: with bullets, numbers and cell bars."""
        if self.kind == "table":
            return "\n".join(part for part in (self.header, self.text) if part).replace("\t", " | ")
        if self.marks:
            lines = self.text.split("\n")
            return "\n".join(mark + line for mark, line in zip(self.marks, lines, strict=True))
        return self.text


@dataclass(frozen=True, slots=True)
class Node:
    """A section and the text under it but under none of its children (c_v in RIT-RAG).

    In a Page that comes from the parser, ids are the ordinals "0", "1", …; `identity.assign` replaces
    them by ids that last. `level` is 0 for a page node that is not itself a heading, 1-6 as written
    for headings, the enclosing level + 1 for definitions. `anchor` is the raw id or name attribute,
    None where no target on the page is this section alone. `links_only`: the text is links to other text and says
    little itself (an index, a list of child pages, "See also").
    """

    id: str
    parent: str | None
    level: int
    title: str
    anchor: str | None = None
    aliases: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    kind: NodeKind = "heading"
    links_only: bool = False

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks)

    @property
    def readable(self) -> bool:
        """False for a container: a node with no text of its own."""
        return bool(self.blocks)

    @property
    def own_hash(self) -> str:
        """sha256 of title and blocks: what a reader of this node saw."""
        return node_hash(self.title, self.blocks)


def node_hash(title: str, blocks: Iterable[Block]) -> str:
    """Node.own_hash of these."""
    return sha256(title, *(part for block in blocks for part in (block.kind, block.shown)))


@dataclass(frozen=True, slots=True)
class Crumb:
    """One ancestor in a trail. `url` is absolute, or None where the crumb is not a link."""

    title: str
    url: str | None = None


TrailSource = Literal["breadcrumb", "up", "sidebar", "none"]


@dataclass(frozen=True, slots=True)
class Claims:
    """What a page says about its place in the site; `place.place` weighs the claims of all pages.

    `trail`: ancestors only, root first, without the page itself. `lists`: the pages that this page's
    own content lists as its contents (a table of contents, an index page), in document order.
    `canonical`: another URL that the page names as its canonical one, not yet proved to say the same. `alternates`: the
    other trails that the page offers, which place it nowhere.
    """

    trail: tuple[Crumb, ...] = ()
    source: TrailSource = "none"
    lists: tuple[str, ...] = ()
    canonical: str | None = None
    alternates: tuple[tuple[Crumb, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One web page as a tree. `nodes` are in document order, the page's own node first; `key` is the
    page key (urls.page_key of the requested URL), `url` where it was fetched, `canonical` the URL
    that a citation uses."""

    key: str
    url: str
    canonical: str
    title: str
    nodes: tuple[Node, ...]
    claims: Claims = Claims()
    language: str | None = None
    parser_version: str = PARSER_VERSION

    @property
    def breadcrumb(self) -> tuple[Crumb, ...]:
        return self.claims.trail

    @property
    def content_hash(self) -> str:
        """sha256 of title and tree without ids, URL and place: equal for two copies of one page."""
        return sha256(self.title, *tree_parts(self.nodes))

    @property
    def likeness(self) -> Likeness:
        return likeness(self.key, self.title, (text for node in self.nodes for text in (node.title, node.text)))

    @property
    def hash(self) -> str:
        """sha256 of the whole tree and its place: what counts as a change."""
        trail = (part for crumb in self.claims.trail for part in (crumb.title, crumb.url or ""))
        claims = self.claims
        return sha256(
            self.content_hash, self.canonical, claims.source, *trail, "|", *claims.lists, "|", claims.canonical or ""
        )


def plain(nodes: Iterable[Node]) -> list[Node]:
    """The tree as the page itself gives it: blocks under induced titles are back in the section that they are of."""
    kept: dict[str, Node] = {}
    for node in nodes:
        above = kept.get(node.parent) if node.kind == "induced" and node.parent is not None else None
        if above is None:
            kept[node.id] = node
        else:
            kept[above.id] = replace(above, blocks=(*above.blocks, *node.blocks))
    return list(kept.values())


def tree_parts(nodes: Iterable[Node]) -> Iterable[str]:
    """Everything of a tree that counts as content, ids replaced by ordinals. Induced titles are none of it."""
    ordinal: dict[str, int] = {}
    for position, node in enumerate(plain(nodes)):
        ordinal[node.id] = position
        parent = "" if node.parent is None else str(ordinal[node.parent])
        yield from (str(node.level), parent, node.kind, node.anchor or "", *node.aliases, node.own_hash)
        yield from ("links only",) * node.links_only


@dataclass(frozen=True, slots=True)
class Skip:
    """Why a page gives no nodes; `redirect_to` (absolute) is set for `redirect` only."""

    reason: SkipReason
    detail: str = ""
    redirect_to: str | None = None


@dataclass(frozen=True, slots=True)
class Interstitial:
    """A page that may stand in for another; `what` it is, in words, and whether it `sure`ly is no page of its own."""

    what: str
    sure: bool


@dataclass(frozen=True, slots=True)
class Document:
    """What parsing gives: a page or the reason for none, and the links found either way (absolute, fragments off, in
    document order, each once). `nofollow` says that the page asks crawlers not to follow them. `targets`
    are the same links with their fragments, links to places on the page itself left out. `likeness` is that of what the page
    shows, also where it is left out; None: it could not be read. `interstitial`: it may stand in for another page."""

    page: Page | None
    skip: Skip | None
    links: tuple[str, ...] = ()
    nofollow: bool = False
    targets: tuple[str, ...] = ()
    likeness: Likeness | None = None
    interstitial: Interstitial | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive text of one node, never of two. Chunk texts of a node, concatenated in order, give
    back the node's text exactly. `id` = UUIDv5(node id, sha256 of the embedded input, occurrence)."""

    id: str
    node_id: str
    page_key: str
    site: str
    version: str
    path_text: str
    text: str
    terms: str

    @property
    def embedded(self) -> str:
        """What the embedding model reads: the path, a line break, the text."""
        return embedded_input(self.path_text, self.text)

    @property
    def input_hash(self) -> str:
        return sha256(self.embedded)


def embedded_input(path_text: str, text: str) -> str:
    """The path in front of the text; either may be empty."""
    return f"{path_text}\n{text.strip()}".strip()


@dataclass(frozen=True, slots=True)
class NodeChange:
    """What became of a section; "extended": it says what it said, and new sections stand right under it. `parts`: other sections
    that have words of it now and had them not before."""

    node: str
    kind: NodeChangeKind
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageRecord:
    """What the TreeStore keeps of one page key: the truth.

    `page` is there only while the state is live. `target` is the page key that an alias stands for or
    a moved page went to. `seq` is the last event that was handled. Times are UTC. `node_changes`: what writing this record
    changed for sections that were known; it stays here until it has surely been told (docs.nodes)."""

    key: str
    site: str
    state: RecordState
    seq: int
    checked_at: datetime
    changed_at: datetime
    version: str = ""
    page: Page | None = None
    target: str | None = None
    reason: str | None = None
    chunk_ids: tuple[str, ...] = ()
    analyser_version: str = ""
    node_changes: tuple[NodeChange, ...] = ()


@dataclass(frozen=True, slots=True)
class NodesEvent:
    """Sections of a page changed (topic docs.nodes). `id` is the same however often it is told. `key` and `state` are the
    page's, `target` the page that has its place now; `seq` is the last event that the page had handled then."""

    id: str
    key: str
    site: str
    seq: int
    state: RecordState
    at: datetime
    changes: tuple[NodeChange, ...]
    target: str | None = None


@dataclass(frozen=True, slots=True)
class PageEvent:
    """Something happened to a page (topic docs.pages). Small: no HTML travels. `seen`: what was believed of it, in brief
    (ingest.text.likeness), or where it led to (ingest.events.announce.moved_to)."""

    key: str
    site: str
    seq: int
    kind: EventKind
    url: str
    observed_at: datetime
    moved_from: str | None = None
    reason: str | None = None
    seen: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a question may look: None means everywhere."""

    sites: frozenset[str] | None = None
    versions: frozenset[str] | None = None

    def holds(self, site: str, version: str) -> bool:
        return (self.sites is None or site in self.sites) and (self.versions is None or version in self.versions)


EVERYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class Site:
    """One documentation site. `start` is an http(s) URL (a page, or a sitemap.xml) or a folder.

    `base_url` is where a folder's files are published; None: file URLs. `include` and `exclude` are regular expressions
    searched in the page URL (exclude wins). `versions` is a regular expression whose first group is
    the version in a URL; `index_versions` limits what is indexed, empty means all.
    """

    name: str
    start: str
    base_url: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    sitemap: str | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    language: str = "en"
    versions: str | None = None
    index_versions: tuple[str, ...] = ()
    default_version: str | None = None
    index_noindex: bool = False
    allow_private: bool = False
    obey_robots: bool = True
    delay: float = 0.0
    concurrency: int = 8
    timeout: float = 20.0
    max_bytes: int = 10_000_000
    max_pages: int = 100_000
    proxy: str | None = None
    ca_file: str | None = None

    @property
    def is_folder(self) -> bool:
        return not self.start.startswith(("http://", "https://"))


def sha256(*parts: str) -> str:
    """Hex digest of parts, each delimited by its length so that no two lists of parts collide."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(raw)}:".encode())
        digest.update(raw)
    return digest.hexdigest()
