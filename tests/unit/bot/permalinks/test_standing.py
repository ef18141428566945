"""What became of a section, from what it said and what there is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.permalinks.permalink import Permalink
from bot.permalinks.standing import Part, Standing, nearest_first, where_words_went
from ingest.model import Block, Node
from tests.fakes.editions import NODE, edition, section, texts
from tests.fakes.exchanges import NOON

PORT = "Pump listens on port 7070 unless it is told otherwise."
RESTART = "Restart the service whenever the file was changed by hand."
TLS = "Certificates lie in the folder that the setting names."


def node(node_id: str, *said: str, title: str = "") -> Node:
    return Node(node_id, "page", 2, title or node_id, blocks=texts(*said))


@pytest.mark.parametrize(
    ("own", "others", "went"),
    [
        (node("n", PORT, RESTART), [], {}),
        (node("n", PORT), [node("a", RESTART)], {"a": 0.5}),
        (node("n", PORT), [node("a", TLS)], {}),
        (None, [node("a", TLS, PORT, RESTART)], {"a": 1.0}),
        (None, [node("a", PORT), node("b", RESTART)], {"a": 0.5, "b": 0.5}),
        (None, [node("a", PORT.replace("7070", "8080"))], {"a": 0.5}),
        (None, [node("a", "Pump listens.")], {}),
        (node("n", PORT, RESTART), [node("a", RESTART)], {}),
        (node("n"), [node("n", PORT), node("a", RESTART)], {"a": 0.5}),
    ],
    ids=["kept", "split", "lost", "merged", "both parts", "edited", "a phrase", "a copy", "itself"],
)
def test_words_are_found_where_they_went(own: Node | None, others: list[Node], went: dict[str, float]) -> None:
    found = where_words_went(texts(PORT, RESTART), own, others)
    assert found == pytest.approx(went, abs=0.05)


def test_words_without_spaces_and_single_words_are_found_too() -> None:
    then = (*texts("水泵默认监听端口七千零七十。"), Block("code", "systemctl"))
    assert set(where_words_went(then, None, [node("a", "前言。", "水泵默认监听端口七千零七十。")])) == {"a"}
    assert where_words_went(texts("systemctl"), None, [node("a", "run systemctl now")]) == {"a": 1.0}


def test_a_section_without_text_went_nowhere() -> None:
    assert where_words_went((), None, [node("a", PORT)]) == {}
    assert where_words_went(texts("…"), None, [node("a", "…")]) == {}


def test_the_nearest_sections_share_most_words() -> None:
    nodes = [node("a", TLS), node("b", "Pump listens on a socket.", RESTART), node("c", "zzz"), node("d")]
    assert nearest_first(edition(texts(PORT, RESTART)), nodes, 5) == ["b", "a"]
    assert nearest_first(edition(texts(PORT, RESTART)), nodes, 1) == ["b"]


THEN = edition(texts(PORT))
SAME = section(texts(PORT))
OTHER = section(texts(RESTART))
PLAIN, NAMED = Permalink(NODE), Permalink(NODE, THEN.section.node_hash)
PART = Part(section(texts(RESTART), node="p"), 0.5)


@pytest.mark.parametrize(
    ("standing", "kinds"),
    [
        (Standing(PLAIN, SAME), ("current",)),
        (Standing(NAMED, SAME, THEN), ("current",)),
        (Standing(PLAIN, OTHER, THEN), ("current",)),
        (Standing(NAMED, OTHER, THEN), ("changed",)),
        (Standing(NAMED, OTHER, None, lost=True), ("changed",)),
        (Standing(NAMED, replace(SAME, path=("Else", "Choose a port")), THEN), ("current", "moved")),
        (Standing(NAMED, replace(SAME, page_url="https://docs.example.com/b"), THEN), ("current", "moved")),
        (Standing(NAMED, replace(SAME, path=(*SAME.path[:-1], "Pick a port")), THEN), ("current",)),
        (Standing(NAMED, OTHER, THEN, parts=(PART,)), ("changed", "split")),
        (Standing(PLAIN, None, THEN, parts=(PART,)), ("merged",)),
        (Standing(NAMED, None, THEN, gone_by=NOON + timedelta(days=1)), ("removed",)),
    ],
)
def test_all_that_is_true_of_it_is_said(standing: Standing, kinds: tuple[str, ...]) -> None:
    assert standing.kinds == kinds
