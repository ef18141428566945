"""What a question is made from: which sections say enough, which belong together, what gold they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator.evaluation.proposing.material import (
    KIND_SHARES,
    MAX_TEXT_BYTES,
    Material,
    SourceSection,
    groups,
    kind_of,
    says_enough,
    shuffled,
)
from navigator.evaluation.questions import Gold
from tests.unit.navigator.evaluation.proposing.made import PORT, node, page, sections

CODE = Block("code", PORT)
CHINESE = "要更改端口，请在配置文件中设置端口号，然后重新启动服务。安装程序会授予服务绑定低端口的权限。" * 3


def one(*blocks: Block | str, title: str = "Change the port", url: str = "https://docs.example.test/pump") -> bool:
    (section,) = page(node("port", *blocks, title=title), url=url)
    return says_enough(section)


def test_a_section_that_says_something_can_be_asked_about_in_any_script() -> None:
    assert one(PORT)
    assert one(CHINESE)
    assert one(Block("table", PORT.replace(". ", "\n")))


@pytest.mark.parametrize(
    "blocks",
    [
        ("Set the port.",),
        (CODE,),
        (CODE, "See this example."),
        (Block("math", PORT),),
        (Block("list", "\n".join(f"Chapter {n}: pumps" for n in range(60))),),
        (PORT * 40,),
    ],
    ids=["short", "code only", "little but code", "math only", "a list of contents", "too long"],
)
def test_a_section_without_enough_prose_or_with_too_much_text_is_left_out(blocks: tuple[Block | str, ...]) -> None:
    assert not one(*blocks)


def test_long_code_beside_prose_makes_a_section_too_long() -> None:
    assert one(PORT, CODE)
    assert not one(PORT, Block("code", "x = 1\n" * (MAX_TEXT_BYTES // 6)))


@pytest.mark.parametrize(
    ("title", "url"),
    [
        ("Changelog", "https://docs.example.test/x"),
        ("Release notes for 2.1", "https://docs.example.test/x"),
        ("What’s new", "https://docs.example.test/x"),
        ("Contents", "https://docs.example.test/x"),
        ("Index", "https://docs.example.test/x"),
        ("Version 2", "https://docs.example.test/CHANGELOG.html"),
        ("Everything", "https://docs.example.test/genindex.html"),
    ],
)
def test_lists_of_versions_and_of_pages_are_left_out(title: str, url: str) -> None:
    assert not one(PORT, title=title, url=url)


@pytest.mark.parametrize(
    "title", ["Full-text search", "Contents of a backup", "Keep a history of changes", "Releases a lock"]
)
def test_a_title_that_only_holds_such_a_word_is_no_list(title: str) -> None:
    assert one(PORT, title=title, url="https://docs.example.test/guide/index.html")


def test_a_section_and_those_under_it_belong_together_three_at_most_and_none_twice() -> None:
    top = node("top", PORT)
    under = [node(name, PORT, parent="top") for name in "abc"]
    below = [node("x", PORT, parent="b"), node("y", PORT, parent="b")]
    found = groups(page(top, under[0], under[1], *below, under[2]))
    names = [[each.node.id for each in group] for group in found]
    assert names == [["top", "a", "b"], ["x", "y"]]


def test_sections_under_a_container_belong_together_and_a_single_one_to_nothing() -> None:
    assert [
        len(group) for group in groups(page(node("top"), node("a", PORT, parent="top"), node("b", PORT, parent="top")))
    ] == [2]
    assert groups(page(node("top"), node("a", PORT, parent="top"))) == []
    assert groups([]) == []


@given(st.lists(st.integers(0, 6), max_size=14))
def test_groups_are_of_two_or_three_sections_and_share_none(parents: list[int]) -> None:
    nodes = [node("n0", PORT)]
    for number, parent in enumerate(parents, start=1):
        nodes.append(node(f"n{number}", PORT, parent=f"n{min(parent, number - 1)}"))
    found = [[each.node.id for each in group] for group in groups(page(*nodes))]
    flat = [name for group in found for name in group]
    assert all(2 <= len(group) <= 3 for group in found)
    assert len(flat) == len(set(flat))


def test_gold_is_the_node_and_the_address_that_means_the_same() -> None:
    own = node("own", PORT, anchor=None)
    nodes = [node("a", PORT, parent="own"), node("b", PORT, parent="own", anchor=None), node("c", PORT, parent="own")]
    twin = node("d", PORT, parent="own", anchor="c")
    url = "https://docs.example.test/pump"
    golds = {s.node.id: SourceSection(s, ()).gold for s in page(own, *nodes, twin)}
    assert golds["own"] == (Gold(node="own"), Gold(page=url))
    assert golds["a"] == (Gold(node="a"), Gold(page=url, anchor="a"))
    assert golds["b"] == (Gold(node="b"),)
    assert golds["c"] == (Gold(node="c"),)


def test_material_is_known_again_in_any_order_while_it_says_the_same() -> None:
    a, b = sections(PORT, CHINESE)
    assert Material((a, b)).key == Material((b, a)).key
    (changed, _) = sections(PORT + " Or not.", CHINESE)
    assert Material((changed, b)).key != Material((a, b)).key


def test_the_kind_follows_from_the_pages() -> None:
    top, *rest = [SourceSection(s, ()) for s in page(node("top", PORT), node("a", PORT, parent="top"))]
    assert kind_of([top]) == "single-section"
    assert kind_of([top, *rest]) == "multi-section"
    assert kind_of(sections(PORT, PORT)) == "multi-page"
    assert sum(KIND_SHARES.values()) == 1


@given(st.sets(st.integers()), st.integers(0, 3))
def test_an_order_by_chance_is_kept_when_other_things_come_and_go(items: set[int], seed: int) -> None:
    order = shuffled(items, "page", seed)
    assert sorted(order) == sorted(items)
    fewer = {item for item in items if item % 2}
    assert shuffled(fewer, "page", seed) == [item for item in order if item in fewer]


def test_another_number_gives_another_order() -> None:
    assert len({tuple(shuffled(range(20), "page", seed)) for seed in range(5)}) == 5
