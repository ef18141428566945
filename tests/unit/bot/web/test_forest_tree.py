"""The tree of what a question was offered: each section once, where it stands, with what became of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.web.forest_tree import Branch, forest_tree
from navigator.answer import Answer, CitedSource, Trace
from tests.fakes.exchanges import passage

Shown = tuple[str, ...]


def tree(shown: list[Shown], read: tuple[int, ...] = (), cited: tuple[int, ...] = ()) -> list[str]:
    """Lines of the tree: depth as dots, title, use. Section n is the n-th of `shown`, from 1."""
    passages = tuple(replace(passage(n), path=shown[n - 1]) for n in read)
    sources = tuple(CitedSource(n, (each.cite(0),)) for n, each in enumerate(passages, 1) if each.number in cited)
    offered = tuple((n, f"n{n}", path) for n, path in enumerate(shown, 1))
    answer = Answer("?", "", "answered", sources=sources, trace=Trace(shown=offered, passages=passages))
    return [line for branch in forest_tree(answer) for line in drawn(branch, "")]


def drawn(branch: Branch, depth: str) -> list[str]:
    lines = [f"{depth}{branch.title} {branch.use}".rstrip()]
    return lines + [line for under in branch.under for line in drawn(under, f"{depth}.")]


@pytest.mark.parametrize(
    ("shown", "read", "cited", "lines"),
    [
        ([], (), (), []),
        ([("Docs", "Keys", "Rotate")], (), (), ["Docs", ".Keys", "..Rotate offered"]),
        (
            [("Docs",), ("Docs", "Keys"), ("Docs", "Keys", "Rotate"), ("Docs", "Ports")],
            (2, 3),
            (3,),
            ["Docs offered", ".Keys read", "..Rotate cited", ".Ports offered"],
        ),
        # what stands above is offered later
        ([("Docs", "Keys"), ("Docs",)], (), (), ["Docs offered", ".Keys offered"]),
        # sections of one title, each with what stands under it
        (
            [("Docs", "Notes"), ("Docs", "Notes", "a"), ("Docs", "Notes"), ("Docs", "Notes", "b")],
            (),
            (),
            ["Docs", ".Notes offered", "..a offered", ".Notes offered", "..b offered"],
        ),
        ([()], (), (), []),
    ],
)
def test_sections_stand_where_they_stand(
    shown: list[Shown], read: tuple[int, ...], cited: tuple[int, ...], lines: list[str]
) -> None:
    assert tree(shown, read, cited) == lines


def test_a_section_that_was_offered_in_parts_is_there_once() -> None:
    trace = Trace(shown=((1, "n1", ("Docs", "Long")), (2, "n1", ("Docs", "Long"))))
    [docs] = forest_tree(Answer("?", "", "not_found", trace=trace))
    assert drawn(docs, "") == ["Docs", ".Long offered"]
    assert (docs.offered, docs.was_read) == (1, False)


def test_what_was_at_hand_from_before_is_there_too() -> None:
    [docs] = forest_tree(Answer("?", "", "answered", trace=Trace(passages=(passage(1),))))
    assert drawn(docs, "") == ["Docs", ".Keys", "..Rotating 1 read"]
    assert (docs.offered, docs.was_read) == (1, True)
