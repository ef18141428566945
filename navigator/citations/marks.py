"""From a model's words to an answer's text, sources and unsupported claims. Pure.

Two ways to the same shape: citations that came with the stream (`AnswerDraft`), and [n] marks that the model
wrote itself and that are checked against what was read (`from_marks`). Either way a mark stands only
where a passage stands behind it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.text.words import terms
from navigator.answer import Citation, CitedSource, Passage

_CODE_BLOCK = re.compile(r"^ {0,3}```.*?(?:^ {0,3}```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE_OR_MARK = re.compile(
    r"(?<!`)(?P<ticks>`++).+?(?P=ticks)|(?<![ \t])[ \t]*+\[(?P<numbers>\d++(?:\s*+,\s*+\d++)*+)\]", re.DOTALL
)


@dataclass(slots=True)
class AnswerDraft:
    """Collects a streamed answer. Sources are numbered by their first citation."""

    said: str = ""
    cited: dict[str, list[Citation]] = field(default_factory=dict)
    marks: list[tuple[int, int]] = field(default_factory=list)
    """Where in `said` a source number stands, in the order of the citations."""

    def say(self, text: str) -> None:
        self.said += text

    def cite(self, citation: Citation) -> None:
        """What was said last rests on this."""
        rows = self.cited.setdefault(citation.node_id, [])
        if citation not in rows:
            rows.append(citation)
        mark = (len(self.said.rstrip()), list(self.cited).index(citation.node_id) + 1)
        if mark not in self.marks:
            self.marks.append(mark)

    def until(self, position: int) -> AnswerDraft:
        """The draft as it was when so many characters had been said and cited."""
        marks = [mark for mark in self.marks if mark[0] <= position]
        numbers = {number for _, number in marks}
        cited = {node: rows for n, (node, rows) in enumerate(self.cited.items(), start=1) if n in numbers}
        return AnswerDraft(self.said[:position], cited, marks)

    @property
    def text(self) -> str:
        """The answer with its marks; a mark never falls inside a code block, but behind it."""
        blocks = [(m.start(), m.end()) for m in _CODE_BLOCK.finditer(self.said)]
        moved: dict[int, list[int]] = {}
        for position, number in self.marks:
            end = next((end for start, end in blocks if start < position <= end), position)
            if number not in moved.setdefault(end, []):
                moved[end].append(number)
        fence_ends = {end for _, end in blocks}
        text, last = "", 0
        for position in sorted(moved):
            gap = "\n" if position in fence_ends else " "
            text += self.said[last:position] + gap + "".join(f"[{n}]" for n in moved[position])
            last = position
        return (text + self.said[last:]).strip()

    @property
    def sources(self) -> tuple[CitedSource, ...]:
        return tuple(CitedSource(n, tuple(rows)) for n, rows in enumerate(self.cited.values(), start=1))


def from_marks(text: str, passages: Mapping[int, Passage]) -> tuple[str, tuple[CitedSource, ...], tuple[str, ...]]:
    """Validate [n] marks, n being a number that was read: (text with renumbered marks, sources,
    paragraphs that make a claim without a mark). Marks of unread numbers are taken out; code is left
    as it is."""
    cited: dict[str, list[Citation]] = {}
    out: list[str] = []
    unsupported: list[str] = []
    for paragraph, code in paragraphs(text):
        marked, supported = (paragraph, True) if code else _renumbered(paragraph, passages, cited)
        out.append(marked)
        claim = marked.strip()
        if not code and claim and not supported and not claim.startswith("#") and not claim.endswith(":"):
            unsupported.append(claim)
    sources = tuple(CitedSource(n, tuple(rows)) for n, rows in enumerate(cited.values(), start=1))
    return "".join(out).strip(), sources, tuple(unsupported)


def _renumbered(paragraph: str, passages: Mapping[int, Passage], cited: dict[str, list[Citation]]) -> tuple[str, bool]:
    """One paragraph with its marks in the numbers of the sources, and whether it has any; `cited` grows by what it
    cites. A mark rests on what was said since the mark before it."""
    made, last, said, supported = "", 0, 0, False
    for match in _CODE_OR_MARK.finditer(paragraph):
        if match["numbers"] is None:
            continue
        numbers = [int(n) for n in match["numbers"].split(",") if int(n) in passages]
        attached = match.group().startswith("[") and paragraph[: match.start()][-1:].isalnum()
        if not numbers and attached:
            continue  # an index such as items[0], not a mark
        claim = paragraph[said : match.start()] if match.start() > said else paragraph
        marks = [_mark(passages[number], claim, cited) for number in numbers]
        supported = supported or bool(marks)
        made += paragraph[last : match.start()] + (" " + "".join(dict.fromkeys(marks)) if marks else "")
        last = said = match.end()
    return made + paragraph[last:], supported


def _mark(passage: Passage, claim: str, cited: dict[str, list[Citation]]) -> str:
    rows = cited.setdefault(passage.node_id, [])
    citation = passage.cite(_nearest_block(claim, passage))
    if citation not in rows:
        rows.append(citation)
    return f"[{list(cited).index(passage.node_id) + 1}]"


def paragraphs(text: str) -> list[tuple[str, bool]]:
    """Paragraphs with the line breaks after them, and whether each is a fenced code block."""
    found: list[tuple[str, bool]] = []
    current: list[str] = []
    fence = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("```"):
            if not fence and current:
                found.append(("".join(current), False))
                current = []
            current.append(line)
            if fence:
                found.append(("".join(current), True))
                current = []
            fence = not fence
            continue
        current.append(line)
        if not fence and not line.strip():
            found.append(("".join(current), False))
            current = []
    if current:
        found.append(("".join(current), fence))
    return found


def settled_length(text: str) -> int:
    """Where the last paragraph begins that may still change: what stands before it is followed by other words, so that
    no citation of it can still come."""
    border = end = 0
    for paragraph, _ in paragraphs(text):
        if paragraph.strip():
            border = end
        end += len(paragraph)
    return border


def _nearest_block(claim: str, passage: Passage) -> int:
    """The block that shares most words with the claim; the first of equals."""
    wanted = set(terms(claim))
    shared = [len(wanted.intersection(terms(block.text))) for block in passage.blocks]
    return max(range(len(shared)), key=lambda i: (shared[i], -i))
