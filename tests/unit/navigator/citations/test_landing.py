"""Links that land on the cited block, also where its words stand earlier on the page. What a browser does with them is in
tests/e2e/test_landing.py."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import unquote

from ingest.model import Block, Node, Page
from navigator.answer import Citation, Passage
from navigator.citations.landing import landing_link

URL = "https://a.test/p"
SAFE = "The default is safe for most installations."


def page(*sections: tuple[str, ...]) -> Page:
    """Sections of a title and paragraphs, each under an anchor of its own."""
    nodes = [Node("n", None, 0, "Guide")]
    for number, (title, *texts) in enumerate(sections):
        blocks = tuple(Block("text", text) for text in texts)
        nodes.append(Node(f"n{number}", "n", 2, title, f"s{number}", (), blocks))
    return Page(key=URL, url=URL, canonical=URL, title="Guide", nodes=tuple(nodes))


def cite(of: Page, section: int, block: int) -> Citation:
    node = of.nodes[section + 1]
    link = f"{URL}#{node.anchor}"
    when = datetime(2026, 1, 1, tzinfo=UTC)
    return Passage(1, node.id, node.own_hash, URL, URL, link, (node.title,), node.blocks, when).cite(block)


def directive(link: str) -> str:
    return unquote(link.partition(":~:text=")[2])


def test_a_link_to_words_that_stand_once_stays_as_it_is() -> None:
    there = page(("Install", SAFE), ("Upgrade", "Read the notes first."))
    citation = cite(there, 1, 0)
    assert landing_link(citation, there) == citation.link


def test_the_first_of_equal_blocks_needs_no_context() -> None:
    there = page(("Install", SAFE), ("Upgrade", SAFE))
    assert landing_link(cite(there, 0, 0), there) == cite(there, 0, 0).link


def test_a_later_one_is_told_by_the_words_before_it() -> None:
    there = page(("Install", SAFE), ("Upgrade", SAFE))
    link = landing_link(cite(there, 1, 0), there)
    assert link.startswith(f"{URL}#s1:~:text=")
    assert directive(link).startswith("upgrade-,")


def test_or_by_those_after_it_where_those_before_are_the_same() -> None:
    there = page(("Upgrade", SAFE, "First case."), ("Upgrade", SAFE, "Second case."))
    assert directive(landing_link(cite(there, 1, 0), there)).endswith(",-second case.")


def test_of_a_block_only_the_lines_that_are_quoted_are_cited() -> None:
    rows = Block("table", "Code\tMeaning\n11\tlost\n1\tlost\n2\tlost")
    there = page(("Codes", SAFE))
    there = replace(there, nodes=(there.nodes[0], replace(there.nodes[1], blocks=(rows,))))
    node = there.nodes[1]
    when = datetime(2026, 1, 1, tzinfo=UTC)
    read = Passage(1, node.id, node.own_hash, URL, URL, f"{URL}#s0", (node.title,), node.blocks, when)
    assert directive(landing_link(read.cite(0, quote="1\tlost"), there)) == "lost-,1"


def test_where_nothing_tells_it_apart_the_link_goes_to_the_section() -> None:
    there = page(("Upgrade", SAFE, "The end."), ("Upgrade", SAFE, "The end."))
    assert landing_link(cite(there, 1, 0), there) == f"{URL}#s1"


def test_a_page_that_has_changed_changes_no_link() -> None:
    before, after = page(("Install", SAFE), ("Upgrade", SAFE)), page(("Install", SAFE), ("Upgrade", SAFE, "More."))
    citation = cite(before, 1, 0)
    assert landing_link(citation, after) == citation.link


def test_words_of_which_the_last_goes_on_are_no_match() -> None:
    there = page(("Kits", "Pumps and valvesets"), ("Parts", "Pumps and valves"))
    citation = cite(there, 1, 0)
    assert directive(citation.link) == "Pumps and valves"
    assert landing_link(citation, there) == citation.link
