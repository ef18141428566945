"""Trees for the tests of RDR2: one by hand, and any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from ingest.model import Block
from ingest.ports import OutlineHeading
from navigator.strategies.rdr2.tree import DocumentTree

ANY_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)


def heading(name: str, parent: str | None, title: str = "") -> OutlineHeading:
    return OutlineHeading(name, parent, 1, title or name.title(), None, "heading", True)


def blocks(*texts: str) -> list[Block]:
    return [Block("text", text) for text in texts]


PUMPS: Sequence[OutlineHeading] = [
    heading("pumps", None),
    heading("prime", "pumps", "Priming"),
    heading("cold", "prime", "In the cold"),
    heading("care", "pumps"),
    heading("seals", "care"),
    heading("oil", "care"),
]
PUMPS_BLOCKS: Mapping[str, Sequence[Block]] = {
    "pumps": blocks("Pumps move water."),
    "prime": blocks("Fill the pump.", "Open the valve.", "Start it."),
    "cold": blocks("Warm it first."),
    "seals": blocks("Grease the seal."),
    "oil": blocks("Change the oil.", "Every year."),
}


def pumps() -> DocumentTree:
    """0 Pumps (1) > 2 Priming (3, 4, 5) > 6 In the cold (7); 8 Care, without text > 9 Seals (10), 11 Oil (12, 13)."""
    return DocumentTree.of(PUMPS, PUMPS_BLOCKS)


@st.composite
def trees(draw: st.DrawFn) -> DocumentTree:
    """Any tree: headings at any depth, any number of blocks under each, any text."""
    headings = [OutlineHeading("0", None, 0, draw(ANY_TEXT), None, "page", True)]
    path = ["0"]
    for number in range(1, draw(st.integers(1, 8))):
        path = path[: draw(st.integers(1, len(path)))]
        headings.append(OutlineHeading(str(number), path[-1], len(path), draw(ANY_TEXT), None, "heading", True))
        path.append(str(number))
    texts = {each.id: draw(st.lists(ANY_TEXT, max_size=4)) for each in headings}
    return DocumentTree.of(headings, {name: blocks(*each) for name, each in texts.items()})
