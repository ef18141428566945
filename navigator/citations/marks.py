"""From a model's words to an answer's text, sources and unsupported claims. Pure.

Two ways to the same shape: citations that came with the stream (`AnswerDraft`), and marks that the model wrote itself,
in whichever form, and that are checked against what was read (`from_marks`). Either way a mark stands only where a
passage stands behind it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingest.text.words import terms
from navigator.answer import Citation, CitedSource, Passage
from navigator.citations.cited_lines import as_in_text, nearest_unit
from navigator.citations.markup import (
    Outside,
    code_spans,
    inline_code,
    paragraphs,
    unwrapped,
    with_plain_marks,
    without_calls,
    without_reasoning,
    without_stock_phrases,
)

_FENCED = re.compile(r"[ \t]{0,20}(?:```|~~~)")
_NAMED = (
    r"(?:sources?|src|ref|refs|references?|docs?|documents?|passages?|citations?|cite|quellen?|fuentes?|fontes?"
    r"|来源|來源|出典|参考|參考|参照|引用)"
)
_LABEL = (
    rf"(?:[\^#§@]|(?:{_NAMED}|sections?|sec|results?|nodes?|no|nr|ids?|abschnitte?|secci[oó]n(?:es)?|se[cç][aã]o)"
    r"(?![^\W\d_])[ .:#=_-]{0,3})?"
)
_NUMBERS = r"\d(?:[\d ,;&–—-]|\band\b){0,40}"
_BRACKETS = re.compile(
    r"\[\[([^\[\]\n]{1,80})\]\([^\s()]{0,300}\)\]"
    r"|\\?[\[［【〔〖⟦]{1,2}([^\[\]［］【】〔〕〖〗⟦⟧\n]{1,80}?)\\?[\]］】〕〗⟧]{1,2}(?:\([^\s()]{0,300}\))?"
    rf"|<sup>({_NUMBERS})</sup>|\(({_NAMED}[ .:#]{{1,3}}{_NUMBERS})\)",
    re.IGNORECASE,
)
_LOOSE = re.compile(r"(?<=[\w.!?])\s?\((\d{1,3}(?:, ?\d{1,3}){0,9})\)(?=[.,;:!?]|\s*$)", re.MULTILINE)
"""Numbers in parentheses where a sentence or a part of one ends: a mark only in an answer that has no other."""
_PLAIN = re.compile(r"\[[\d ,;–—-]{1,80}\]")
_BETWEEN_NUMBERS = re.compile(r"[,;、，；&]|\band\b")
_LINE = r"(?:lines?|l|pp?|pages?|para|paragraphs?|zeilen?|seiten?)\b\.?\s?\d{1,6}(?:\s?[-–—]\s?\d{1,6})?"
_LOCATOR = re.compile(rf"\s{{0,3}}{_LINE}\s{{0,3}}", re.IGNORECASE)
_LINE_BEHIND = re.compile(r"(?<=\d)[:：]\d{1,6}(?:-\d{1,6})?")
_ONE_OR_RANGE = re.compile(
    rf"\s{{0,3}}{_LABEL}\s{{0,3}}#?(\d{{1,6}})(?:\s{{0,3}}[-–—]\s{{0,3}}{_LABEL}#?(\d{{1,6}}))?\s{{0,3}}(?:†.*|{_LINE}\s{{0,3}}|[.^])?",
    re.IGNORECASE | re.DOTALL,
)
_WITH_TITLE = re.compile(
    rf"\s{{0,3}}{_LABEL}\s{{0,3}}#?(\d{{1,6}})(?:\s{{0,3}}[:†|](?!\d)|\s[-–—]\s(?!\d)).*", re.IGNORECASE | re.DOTALL
)
_WRAPPINGS = (("<sup>", "</sup>"), ("**", "**"), ("_", "_"), ("(", ")"), ("^", ""))
_IN_CODE_BEFORE = re.compile(r"[._$)]\w{0,40}$")
_IN_CODE_BEHIND = re.compile(r"\.\w|\s?=[^=]?")
_TITLED = re.compile(rf"[\[［【](?:{_NAMED}[ .:]{{1,3}})?([^\[\]［］【】\n]{{1,200}})[\]］】](?!\()", re.IGNORECASE)
_LIST_HEAD = re.compile(
    rf"\s{{0,8}}(?:\#{{1,6}} {{1,3}})?(?:\*\*|__)?{_NAMED}(?:\*\*|__)?(?:[:：]?$|[:：](?:\*\*|__)?(?P<listed>[\s\d,;&()［］【】\[\]^#-]{{0,400}}$))",
    re.IGNORECASE,
)
_LIST_ROW = re.compile(
    r"\s{0,8}(?:[-*•+] {1,3}|\d{1,3}[.)] {1,3})?(?P<mark>[\[［【]\^?#?\d{1,6}[\]］】])(?P<defines>:?)[^\n]{0,400}"
)
MAX_RANGE = 20
"""Numbers that [1-20] may stand for."""
MAX_UNNAMED_SOURCES = 5
"""Sections that are listed under an answer that names none of those that were read."""


@dataclass(frozen=True, slots=True)
class Written:
    """An answer's text with its marks, its sources, and the paragraphs that make a claim without a mark."""

    text: str
    sources: tuple[CitedSource, ...]
    unsupported: tuple[str, ...]


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

    @property
    def claim(self) -> str:
        """What was said since the last citation that stands before it."""
        end = len(self.said.rstrip())
        return self.said[max((position for position, _ in self.marks if position < end), default=0) :]

    def until(self, position: int) -> AnswerDraft:
        """The draft as it was when so many characters had been said and cited."""
        marks = [mark for mark in self.marks if mark[0] <= position]
        numbers = {number for _, number in marks}
        cited = {node: rows for n, (node, rows) in enumerate(self.cited.items(), start=1) if n in numbers}
        return AnswerDraft(self.said[:position], cited, marks)

    @property
    def text(self) -> str:
        """The answer with its marks, in the numbers of its sources."""
        return self.marked(range(1, len(self.cited) + 1))

    def marked(self, names: Sequence[int]) -> str:
        """What was said with its marks, under this number for each source. A mark never falls inside a code block, but
        behind it."""
        code = code_spans(self.said)
        moved: dict[int, list[int]] = {}
        fence_ends: set[int] = set()
        for position, number in self.marks:
            at = bisect_left(code, (position, 0)) - 1
            end = position
            if at >= 0 and position <= code[at][1]:
                start, end = code[at][0], len(self.said[: code[at][1]].rstrip("\n"))
                if _FENCED.match(self.said, start):
                    fence_ends.add(end)
            if number not in moved.setdefault(end, []):
                moved[end].append(number)
        text, last = "", 0
        for position in sorted(moved):
            gap = "\n" if position in fence_ends else " "
            text += self.said[last:position] + gap + "".join(f"[{names[n - 1]}]" for n in moved[position])
            last = position
        return (text + self.said[last:]).strip()

    @property
    def sources(self) -> tuple[CitedSource, ...]:
        return tuple(CitedSource(n, tuple(rows)) for n, rows in enumerate(self.cited.values(), start=1))


def written(draft: AnswerDraft, passages: Sequence[Passage]) -> Written:
    """What a model said as people read it, whichever way it cites: citations of the endpoint, tags that leaked, marks of
    its own. `passages`: all that were read, in their order."""
    numbers = {passage.node_id: passage.number for passage in passages}
    text = without_reasoning(draft.marked([numbers.get(node, 0) for node in draft.cited]))
    text = without_stock_phrases(with_plain_marks(unwrapped(without_calls(text)), passages))
    text, listed = _without_source_list(_with_titles_numbered(text, passages))
    read = {passage.number: passage for passage in passages}
    made = from_marks(text, read, draft.cited)
    if listed and not made.sources:
        made = from_marks(f"{text} {listed}", read, draft.cited)
    return made if not draft.cited else replace(made, unsupported=())


def _with_titles_numbered(text: str, passages: Sequence[Passage]) -> str:
    """The text with a number in each mark that gives the title or the path of a section that was read, and of one alone."""
    numbers: dict[str, set[int]] = {}
    for passage in passages:
        for name in {passage.path[-1], " > ".join(passage.path)} if passage.path else ():
            numbers.setdefault(name.casefold(), set()).add(passage.number)
    outside = Outside(text) if _TITLED.search(text) else None
    if outside is None:
        return text

    def numbered(match: re.Match[str]) -> str:
        named = numbers.get(match[1].strip().casefold(), ())
        return f"[{next(iter(named))}]" if len(named) == 1 and not outside.is_code(match.start()) else match[0]

    return _TITLED.sub(numbered, text)


def _without_source_list(text: str) -> tuple[str, str]:
    """The text without the list of sources, or the footnotes, that it ends with, since every answer's sources stand under
    it; and the marks of that list."""
    lines = text.rstrip().split("\n")
    listed: list[str] = []
    defined = 0
    for at in reversed(range(1, len(lines))):
        head, row = _LIST_HEAD.match(lines[at]), _LIST_ROW.fullmatch(lines[at])
        if head:
            named = "".join((head["listed"] or "").split())
            return "\n".join(lines[:at]).rstrip(), "".join([f"[{named}]" if named[:1].isdigit() else named, *listed])
        if row:
            listed.insert(0, row["mark"])
            defined = at if row["defines"] else 0
        elif lines[at].strip():
            break
    return ("\n".join(lines[:defined]).rstrip(), "".join(listed)) if defined else (text, "")


def from_marks(
    text: str, passages: Mapping[int, Passage], given: Mapping[str, Sequence[Citation]] | None = None
) -> Written:
    """Validate marks, n being a number that was read. Marks of unread numbers are taken out; code is left as it is. Where
    no mark is found, numbers in parentheses behind a sentence are. `given`: citations of the endpoint by node id, where the
    text has marks for them; what else stands in brackets is then more likely to be a value than a mark."""
    made = _with_marks(text, passages, given or {}, _marks_in)
    loose = made if made.sources else _with_marks(text, passages, {}, _loose_marks_in)
    return loose if loose.sources else made


def _with_marks(
    text: str,
    passages: Mapping[int, Passage],
    given: Mapping[str, Sequence[Citation]],
    marks_in: Callable[[str], Sequence[_Mark]],
) -> Written:
    cited: dict[str, list[Citation]] = {}
    out: list[str] = []
    unsupported: list[str] = []
    for paragraph, code in paragraphs(text):
        marked, supported = (
            (paragraph, True) if code else _renumbered(paragraph, marks_in(paragraph), passages, given, cited)
        )
        out.append(marked)
        claim = marked.strip()
        if not code and claim and not supported and not claim.startswith("#") and not claim.endswith(":"):
            unsupported.append(claim)
    sources = tuple(CitedSource(n, tuple(rows)) for n, rows in enumerate(cited.values(), start=1))
    return Written("".join(out).strip(), sources, tuple(unsupported))


def read_sections_as_sources(text: str, passages: Sequence[Passage]) -> tuple[CitedSource, ...]:
    """What was read, as the sources of a text that names none: each section once, at the block nearest to the text."""
    cited: dict[str, list[Citation]] = {}
    for passage in passages:
        if passage.blocks:
            cited.setdefault(passage.node_id, [_cite_nearest(text, passage)])
    rows = list(cited.values())[:MAX_UNNAMED_SOURCES]
    return tuple(CitedSource(n, tuple(citations)) for n, citations in enumerate(rows, start=1))


def _renumbered(
    paragraph: str,
    marks: Sequence[_Mark],
    passages: Mapping[int, Passage],
    given: Mapping[str, Sequence[Citation]],
    cited: dict[str, list[Citation]],
) -> tuple[str, bool]:
    """One paragraph with its marks in the numbers of the sources, and whether it has any; `cited` grows by what it
    cites. A mark rests on what was said since the mark before it."""
    made, last, said, supported = "", 0, 0, False
    for mark in marks:
        numbers = [number for number in mark.numbers if number in passages]
        if mark.start < last or _is_value(mark, numbers, paragraph, passages, native=bool(given)):
            continue
        claim = paragraph[said : mark.start] if mark.start > said else paragraph
        names = dict.fromkeys(_name(passages[number], claim, given, cited) for number in numbers)
        before = paragraph[last : mark.start]
        made += before.rstrip(" \t") if before.strip(" \t") else before
        joined = not made or made.endswith(("\n", "(")) or (not before and made.endswith("]"))
        made += ("" if joined else " ") + "".join(names) if names else ""
        supported = supported or bool(names)
        last = said = mark.end
    return made + paragraph[last:], supported


@dataclass(frozen=True, slots=True)
class _Mark:
    """What may be a mark: where, which numbers, and whether it can be anything else (`plain`)."""

    start: int
    end: int
    numbers: tuple[int, ...]
    plain: bool


def _marks_in(paragraph: str) -> list[_Mark]:
    """In order. A mark that stands alone between ticks is one; anything else between ticks is code."""
    code = inline_code(paragraph)
    found: list[_Mark] = []
    for start, end in code:
        inner = _BRACKETS.fullmatch(paragraph[start:end].strip("` "))
        numbers = _numbers_of(inner) if inner else ()
        if numbers:
            found.append(_Mark(start, end, numbers, plain=True))
    starts = [start for start, _ in code]
    for match in _BRACKETS.finditer(paragraph):
        at = bisect_right(starts, match.start()) - 1
        if at >= 0 and match.start() < code[at][1]:
            continue
        if numbers := _numbers_of(match):
            start, end = _with_wrapping(paragraph, *match.span())
            found.append(_Mark(start, end, numbers, plain=_PLAIN.fullmatch(match[0]) is not None))
    return sorted(found, key=lambda mark: mark.start)


def _loose_marks_in(paragraph: str) -> list[_Mark]:
    found = [
        _Mark(match.start(), match.end(), _numbers_in(match[1]), plain=True) for match in _LOOSE.finditer(paragraph)
    ]
    outside = Outside(paragraph)
    return [mark for mark in found if not outside.is_code(mark.start)]


def _with_wrapping(paragraph: str, start: int, end: int) -> tuple[int, int]:
    """With what stands around a mark alone, which would be left empty."""
    for opening, closing in _WRAPPINGS:
        if paragraph.endswith(opening, 0, start) and paragraph.startswith(closing, end):
            return start - len(opening), end + len(closing)
    return start, end


def _numbers_of(match: re.Match[str]) -> tuple[int, ...]:
    content = next(filter(None, match.groups()))
    return _numbers_in(_LINE_BEHIND.sub("", content) if match[0][0] == "【" else content)


def _numbers_in(content: str) -> tuple[int, ...]:
    """The numbers of a mark in the order written; none where it is no mark. Lines and pages behind a number are no numbers."""
    found: list[int] = []
    for part in _BETWEEN_NUMBERS.split(content):
        if found and _LOCATOR.fullmatch(part):
            continue
        one = _ONE_OR_RANGE.fullmatch(part)
        if one is None:
            titled = _WITH_TITLE.fullmatch(content)
            return (int(titled[1]),) if titled else ()
        first, last = int(one[1]), int(one[2] or one[1])
        if not first <= last < first + MAX_RANGE or (one[2] and not first):
            return ()
        found += range(first, last + 1)
    return tuple(dict.fromkeys(found))


def _is_value(
    mark: _Mark, numbers: Sequence[int], paragraph: str, passages: Mapping[int, Passage], *, native: bool
) -> bool:
    """Whether brackets hold an index such as items[0], or a value, and no mark."""
    before = paragraph[max(0, mark.start - 64) : mark.start]
    attached = mark.plain and (before[-1:].isalnum() or before.endswith("()")) and paragraph[mark.start] == "["
    if attached and (native or not numbers):
        return True
    if attached and (_IN_CODE_BEFORE.search(before) or _IN_CODE_BEHIND.match(paragraph, mark.end)):
        return True
    if mark.plain and not numbers:
        ranged = len(mark.numbers) > 1 and "," not in paragraph[mark.start : mark.end]
        ticked = paragraph[mark.start] == "`"
        return ranged or ticked or (native and min(mark.numbers) > len(passages))
    return False


def _name(
    passage: Passage, claim: str, given: Mapping[str, Sequence[Citation]], cited: dict[str, list[Citation]]
) -> str:
    rows = cited.setdefault(passage.node_id, list(given.get(passage.node_id, ())))
    citation = _cite_nearest(claim, passage) if passage.node_id not in given else rows[0]
    if citation not in rows:
        rows.append(citation)
    return f"[{list(cited).index(passage.node_id) + 1}]"


def settled_length(text: str) -> int:
    """Where the last paragraph begins that may still change: what stands before it is followed by other words, so that
    no citation of it can still come."""
    border = end = 0
    for paragraph, _ in paragraphs(text):
        if paragraph.strip():
            border = end
        end += len(paragraph)
    return border


def cite_claim(claim: str, passage: Passage, first: int, last: int, quote: str) -> Citation:
    """A citation of blocks first..last, of which the endpoint says that they bear the claim; of one block alone that unit of
    it, unless `quote` names a part already. Raises IndexError off the passage."""
    if first != last:
        return passage.cite(first, last, quote)
    block = passage.blocks[first]
    words = as_in_text(quote, block)
    return passage.cite(first, last, nearest_unit(claim, block) if words in ("", block.text) else words)


def _cite_nearest(claim: str, passage: Passage) -> Citation:
    block = _nearest_block(claim, passage)
    return passage.cite(block, quote=nearest_unit(claim, passage.blocks[block]))


def _nearest_block(claim: str, passage: Passage) -> int:
    """The block that shares most words with the claim; the first of equals."""
    wanted = set(terms(claim))
    shared = [len(wanted.intersection(terms(block.text))) for block in passage.blocks]
    return max(range(len(shared)), key=lambda i: (shared[i], -i))
