"""Units of reading: what of a section is quoted together or not at all. Pure.

A unit is a paragraph or, of a long one, a sentence with what it needs around it; a listing with the sentence that says what
it does; a term with its definition; a row under its header; a step in its list. It is made of pieces, each a part of one
block, so that what is quoted can be cited to the block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from ingest.model import Block
from ingest.text.sentences import sentences
from navigator.answer import Passage
from navigator.citations.cited_lines import unit_lines

MAX_PARAGRAPH_CHARACTERS = 420
"""A longer paragraph is quoted in part: sentences in a row, at most so many characters."""
MAX_LIST_CHARACTERS = 900
MAX_LIST_ITEMS = 12
"""A longer list is quoted by the item."""
MAX_TABLE_ROWS = 8
"""A longer table is quoted by the row, each under the first."""
MAX_DEFINITION_CHARACTERS = 700
"""Of a longer definition the first paragraph is quoted, and the one that answers."""
MIN_PROSE_WORDS, PROSE_SHARE = 6, 0.8
"""A listing of so many words, so many of them plain, is text."""
MIN_CUT_CHARACTERS, MIN_TOPICS, MAX_TOPIC_CHARACTERS = 8_000, 5, 80
"""A section so long is cut at its bare lines, if it has so many and they are so short."""
MAX_WEIGHED_CHARACTERS, BLOCKS_AROUND = 40_000, 3
"""Of a longer section only the blocks that hold most of the question's words are weighed, with so many on either side."""
MAX_CODE_LINES = 18
"""A longer listing is no answer in an extract: it is left on the page."""

_LEANS = re.compile(
    r"(?:it|its|this|that|these|those|they|their|he|she|however|but|so|also|otherwise|then|thus|hence|therefore|instead"
    r"|moreover|similarly|in this case|in that case|for example|for instance|e\.g\.|i\.e\.)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says nothing without the one before it."""
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|resp|approx|incl|no|fig|sec|ch|vol|dr|mr|ms|st|z\.b|d\.h|p\. ?ex|ca|bzw)|\b[A-Za-z])\.\W{0,2}$",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"\b(?:(?:does|did|do|will|would|is|are)(?: not|n['’]t) (?:\w+ )?(?:compile|work|valid|allowed|correct)|won['’]t (?:\w+ )?(?:compile|work)"
    r"|can(?:not|['’]t) (?:compile|be compiled)|wrong|incorrect(?:ly)?|mistake|fails? to compile|compil(?:er|ation) error)\b"
    r"|^\W{0,3}(?:before|don['’]t|do not|bad|wrong|invalid|not)\W{0,3}$",
    re.IGNORECASE | re.MULTILINE,
)
"""How a page marks the code behind a sentence as what not to write."""
_OF_THE_LISTING = re.compile(
    r"\W*(?:this|that|the (?:above|code|example|program|listing|last)|it|but|however)\b", re.IGNORECASE
)
WRONG_CODE = frozenset({"compile_fail", "does_not_compile", "panics", "not_desired_behavior", "should_panic"})


_PUNCTUATION = ".,;:!?()[]\"'`"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of block `block`: lines or sentences as they are shown. `at` orders the pieces of a passage; two with
    neighbouring `at` stood side by side."""

    block: int
    at: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Unit:
    """`core` is what is weighed, `pieces` all that is quoted with it, in document order. `key`: the terms of a definition,
    the first cell of a row. `first`: the section begins with it. `wrong`: the page marks its code as what not to do.
    """

    passage: int
    core: str
    pieces: tuple[Piece, ...]
    key: str = ""
    first: bool = False
    wrong: bool = False

    @property
    def text(self) -> str:
        return "\n".join(piece.text for piece in self.pieces)

    @property
    def has_code(self) -> bool:
        return any(piece.kind == "code" for piece in self.pieces)

    @property
    def code_alone(self) -> bool:
        """Nothing says what it does."""
        return all(piece.kind in ("code", "math") and not _reads_as_text(piece.text) for piece in self.pieces)


def units_of(passages: Sequence[Passage], asked_for: Callable[[str], float] = lambda text: 0.0) -> list[Unit]:
    """All units, in order; of a very long passage those of the blocks that hold most of what is `asked_for`, and around
    them."""
    return [unit for index, passage in enumerate(passages) for unit in _of_passage(index, passage.blocks, asked_for)]


def _worth_reading(blocks: Sequence[Block], topics: Set[int], asked_for: Callable[[str], float]) -> set[int]:
    """Indices of blocks, as many as MAX_WEIGHED_CHARACTERS hold: those that hold most, they or the topic above them, with
    what stands around them."""
    if sum(len(block.text) for block in blocks) <= MAX_WEIGHED_CHARACTERS:
        return set(range(len(blocks)))
    kept: set[int] = set()
    size = 0
    held: list[float] = []
    topic = 0.0
    for index, block in enumerate(blocks):
        here = asked_for(block.text)
        if index in topics:
            topic = max(topic, here * here) if index - 1 in topics else here * here
        held.append(here + topic)
    for best in sorted(range(len(blocks)), key=lambda i: (-held[i], i)):
        around = set(range(max(0, best - BLOCKS_AROUND), min(len(blocks), best + BLOCKS_AROUND + 1))) - kept
        size += sum(len(blocks[i].text) for i in around)
        if kept and size > MAX_WEIGHED_CHARACTERS:
            break
        kept |= around
    return kept


def _of_passage(passage: int, blocks: Sequence[Block], asked_for: Callable[[str], float]) -> Iterator[Unit]:
    blocks = [
        replace(block, kind="text", text=_unwrapped(block.text)) if is_prose(block) else block for block in blocks
    ]
    topics = _topics(blocks)
    worth = _worth_reading(blocks, topics, asked_for)
    pieces = _pieces(blocks, worth | topics)
    first = True
    topic: tuple[Piece, ...] = ()
    for index, block in enumerate(blocks):
        if index in topics:
            topic = (*topic, *pieces[index]) if index - 1 in topics else tuple(pieces[index])
            first = True
            continue
        if index not in worth:
            continue
        if block.kind in ("text", "quote"):
            made = _of_text(passage, index, blocks, pieces)
        elif block.kind in ("code", "math"):
            made = _of_code(passage, index, blocks, pieces)
        elif block.kind == "terms":
            made = _of_terms(passage, index, blocks, pieces)
        else:
            made = _of_rows(passage, index, blocks, pieces)
        for unit in _under(topic, made) if topic else made:
            if first and not unit.code_alone:
                yield replace(unit, first=True)
                first = False
            else:
                yield unit


def is_prose(block: Block) -> bool:
    """Whether a listing is text that the page sets in columns (manuals written for a terminal): sentences over lines that
    begin at the margin."""
    lines = [line for line in block.text.split("\n") if line.strip()]
    if block.kind != "code" or block.language or not lines or any(line[0].isspace() for line in lines):
        return False
    return _reads_as_text(block.text) and block.text.rstrip()[-1] in ".:!?)"


def _reads_as_text(text: str) -> bool:
    words = text.split()
    plain = sum(word.strip(_PUNCTUATION).replace("-", "").replace("'", "").isalpha() for word in words)
    return len(words) >= MIN_PROSE_WORDS and plain >= PROSE_SHARE * len(words)


def _unwrapped(text: str) -> str:
    """Paragraphs in a line each."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text).replace("\n\n", "\n")


def _topics(blocks: Sequence[Block]) -> set[int]:
    """Lines by which a long section is cut though they are no headings: short, without an end, each said once, over text."""
    if sum(len(block.text) for block in blocks) < MIN_CUT_CHARACTERS:
        return set()
    said = Counter(block.text for block in blocks)
    short = {
        index
        for index, block in enumerate(blocks[:-1])
        if block.kind == "text"
        and len(block.text) <= MAX_TOPIC_CHARACTERS
        and said[block.text] == 1
        and "\n" not in block.text
        and block.text.rstrip()[-1:] not in ".:;!?,"
    }
    return short if len(short) >= MIN_TOPICS else set()


def _under(topic: tuple[Piece, ...], units: Iterable[Unit]) -> Iterator[Unit]:
    """Units as definitions of the line above them."""
    names = "\n".join(piece.text for piece in topic)
    for unit in units:
        yield replace(unit, pieces=(*topic, *unit.pieces), key=f"{names}\n{unit.key}".strip())


def _pieces(blocks: Sequence[Block], worth: Set[int]) -> list[list[Piece]]:
    """Of each block worth reading its sentences, items, terms with definitions, rows; a listing whole."""
    found: list[list[Piece]] = []
    at = 0
    for index, block in enumerate(blocks):
        texts = _texts(block) if index in worth else []
        row = [Piece(index, at + n, text, block.kind) for n, text in enumerate(texts)]
        at += max(1, len(row))
        found.append(row)
    return found


def _texts(block: Block) -> list[str]:
    if block.kind == "code" and not block.language and block.text.count("\n") >= MAX_CODE_LINES:
        return [part for part in re.split(r"\n[ \t]*\n", block.text) if part.strip()]
    if block.kind in ("code", "math"):
        return [block.text]
    if block.kind in ("text", "quote"):
        return [s.strip() + ("\n" if s.endswith("\n") else "") for s in whole_sentences(block.text) if s.strip()]
    lines = block.shown.split("\n")
    if block.marks:
        return ["\n".join(lines[span.start : span.stop]) for span in unit_lines(block)]
    return [line for line in lines if line.strip()]


def whole_sentences(text: str) -> list[str]:
    """Sentences, not cut behind an abbreviation, a name that ends in a sign (`panic!`), nor before what goes on in small
    letters or digits; joined with nothing between they are the text."""
    found: list[str] = []
    for piece in sentences(text):
        before = found[-1] if found else ""
        if before and not before.endswith("\n") and _goes_on(before, piece):
            found[-1] += piece
        else:
            found.append(piece)
    return found


def _goes_on(before: str, piece: str) -> bool:
    begin = piece.lstrip("\"'`(“‘«[")[:1]
    if _ABBREVIATED.search(before.rstrip()[-20:]):
        return True
    if begin.islower():
        return True
    return begin.isdigit() and before.rstrip().endswith(".") and before.rstrip()[-2:-1].isdigit()


def _of_text(passage: int, index: int, blocks: Sequence[Block], pieces: list[list[Piece]]) -> Iterator[Unit]:
    """A paragraph, or the sentences of a long one; the last one with the list or listing that it introduces."""
    row = pieces[index]
    if not row:
        return
    behind = _introduced(index, blocks, pieces)
    if sum(len(piece.text) for piece in row) <= MAX_PARAGRAPH_CHARACTERS:
        listing = index + 1 < len(blocks) and blocks[index + 1].kind == "code"
        if (_heads(blocks[index]) and (behind or listing)) or _is_other_name(index, blocks):
            return  # a line that only announces comes with what it announces
        core = " ".join(piece.text.strip() for piece in row)
        lead = _lead(row[0], index, blocks, pieces)
        yield Unit(passage, core, (*lead, *row, *behind))
        return
    for n, piece in enumerate(row):
        around = _window(row, n)
        yield Unit(passage, piece.text.strip(), (*around, *(behind if row[-1] in around and n == len(row) - 1 else ())))


def _is_other_name(index: int, blocks: Sequence[Block]) -> bool:
    """Whether a section begins with a bare name over its text: the other one of the option that its title is."""
    follows = index == 0 and len(blocks) > 1 and blocks[1].kind == "text"
    return follows and len(blocks[0].text) <= MAX_TOPIC_CHARACTERS and blocks[0].text.rstrip()[-1:] not in ".:;!?,"


def _heads(block: Block) -> bool:
    return block.text.rstrip().endswith(":") and len(block.text) <= 80


def _window(row: Sequence[Piece], n: int) -> tuple[Piece, ...]:
    """Sentence n with the one that it leans on, and those that follow while there is room."""
    start = n
    while start and n - start < 2 and _LEANS.match(row[start].text):
        start -= 1
    end, size = n + 1, sum(len(piece.text) for piece in row[start : n + 1])
    while end < len(row) and size + len(row[end].text) <= MAX_PARAGRAPH_CHARACTERS:
        size += len(row[end].text)
        end += 1
    return tuple(row[start:end])


def _lead(piece: Piece, index: int, blocks: Sequence[Block], pieces: list[list[Piece]]) -> tuple[Piece, ...]:
    """The sentence before a paragraph that says nothing without it, or the other name of what it tells of."""
    if index == 1 and _is_other_name(0, blocks):
        return tuple(pieces[0])
    if index and _LEANS.match(piece.text) and blocks[index - 1].kind == "text" and pieces[index - 1]:
        return (pieces[index - 1][-1],)
    return ()


def _introduced(index: int, blocks: Sequence[Block], pieces: list[list[Piece]]) -> tuple[Piece, ...]:
    """What stands behind a paragraph and belongs to it: a listing, or, behind a colon, a list or table that is short."""
    found: list[Piece] = []
    colon = blocks[index].text.rstrip().endswith(":")
    for nearby in range(index + 1, len(blocks)):
        block = blocks[nearby]
        lines = block.text.count("\n") + 1
        if block.kind == "text" and blocks[index].kind == "terms" and nearby == index + 1:
            found += pieces[nearby][:2]  # a definition that the page does not set in
            continue
        if block.kind == "code" and _is_wrong(nearby, blocks, pieces):
            break
        if block.kind == "code" and lines <= MAX_CODE_LINES and sum(piece.kind == "code" for piece in found) < 2:
            found += pieces[nearby]
            continue
        if nearby > index + 1 and _is_explained(nearby - 1, blocks, pieces):
            found += pieces[nearby]
        if (
            colon
            and nearby == index + 1
            and block.kind in ("list", "table", "terms", "quote")
            and _short(block, pieces[nearby])
        ):
            found += pieces[nearby]
        break
    return tuple(found)


def _short(block: Block, row: Sequence[Piece]) -> bool:
    limit = MAX_TABLE_ROWS if block.kind == "table" else MAX_LIST_ITEMS
    return len(row) <= limit and len(block.text) <= MAX_LIST_CHARACTERS


def _of_code(passage: int, index: int, blocks: Sequence[Block], pieces: list[list[Piece]]) -> Iterator[Unit]:
    """A listing under the sentence before it; of one that is long and in no language (a table or list drawn in characters)
    each paragraph. The notes on its lines come with it. Without a sentence it is a unit of its own, which speaks only where nothing else does."""
    said = _said_before(index, blocks, pieces)
    before = " ".join(piece.text for piece in said)
    wrong = _is_wrong(index, blocks, pieces)
    notes = tuple(pieces[index + 1]) if _is_explained(index, blocks, pieces) else ()
    core = "\n".join(piece.text for piece in notes)
    for code in pieces[index]:
        if code.text.count("\n") < MAX_CODE_LINES:
            yield Unit(passage, f"{before}\n{code.text}\n{core}".strip(), (*said, code, *notes), wrong=wrong)


def _is_explained(index: int, blocks: Sequence[Block], pieces: list[list[Piece]]) -> bool:
    """Whether the block behind a listing is the list of notes on its lines: numbered from 1, and nothing announces it."""
    notes = blocks[index + 1] if index + 1 < len(blocks) else None
    if notes is None or notes.kind != "list" or notes.marks[:1] != ("1. ",) or blocks[index].kind != "code":
        return False
    return len(pieces[index]) == 1 and _short(notes, pieces[index + 1])


def _is_wrong(index: int, blocks: Sequence[Block], pieces: list[list[Piece]]) -> bool:
    """Whether the page marks a listing as what not to write: in its markup, in the sentence before it, or in one behind it
    that speaks of it."""
    marked = set(re.split(r"[,\s]+", blocks[index].language or ""))
    before = pieces[index - 1][-1].text if index and pieces[index - 1] and blocks[index - 1].kind != "code" else ""
    after = (
        pieces[index + 1][0].text
        if index + 1 < len(blocks) and blocks[index + 1].kind == "text" and pieces[index + 1]
        else ""
    )
    spoken = bool(_OF_THE_LISTING.match(after)) and bool(_WRONG.search(after[:120]))
    return not marked.isdisjoint(WRONG_CODE) or bool(_WRONG.search(before[-160:])) or spoken


def _said_before(index: int, blocks: Sequence[Block], pieces: list[list[Piece]]) -> tuple[Piece, ...]:
    """The last sentences of the paragraph before block `index`, or the step or definition before it."""
    if not index or not pieces[index - 1]:
        return ()
    kind, row = blocks[index - 1].kind, pieces[index - 1]
    if kind in ("text", "quote"):
        return tuple(row) if sum(len(p.text) for p in row) <= MAX_PARAGRAPH_CHARACTERS else (_window_before(row))
    if kind in ("list", "terms") and len(row[-1].text) <= MAX_PARAGRAPH_CHARACTERS:
        return (row[-1],)
    if kind == "code" and index >= 2 and blocks[index - 2].kind == "text" and pieces[index - 2]:
        return (pieces[index - 2][-1], *row)
    return ()


def _window_before(row: Sequence[Piece]) -> tuple[Piece, ...]:
    start = len(row) - 1
    if start and _LEANS.match(row[start].text):
        start -= 1
    return tuple(row[start:])


def _of_terms(passage: int, index: int, blocks: Sequence[Block], pieces: list[list[Piece]]) -> Iterator[Unit]:
    for piece in pieces[index]:
        lines = piece.text.split("\n")
        depth = min(len(line) - len(line.lstrip()) for line in lines)
        names = [line for line in lines if len(line) - len(line.lstrip()) == depth]
        told = [line for line in lines if line not in names]
        key = "\n".join(name.strip() for name in names)
        if not told and piece is pieces[index][-1]:
            behind = _introduced(index, blocks, pieces)
            yield Unit(passage, "\n".join([piece.text, *(p.text for p in behind)]), (piece, *behind), key)
        elif len(piece.text) <= MAX_DEFINITION_CHARACTERS or len(told) < 2:
            yield Unit(passage, piece.text, (piece,), key)
        else:
            for n, line in enumerate(told):
                shown = [told[0], *(["  …"] if n > 1 else []), line] if n else _fitting(told)
                part = Piece(index, piece.at, "\n".join([*names, *shown]), piece.kind)
                yield Unit(passage, f"{key}\n{line.strip()}", (part,), key)


def _fitting(lines: Sequence[str]) -> list[str]:
    """The first lines, as many as there is room for."""
    kept, size = [lines[0]], len(lines[0])
    for line in lines[1:]:
        size += len(line)
        if size > MAX_PARAGRAPH_CHARACTERS:
            break
        kept.append(line)
    return kept


def _of_rows(passage: int, index: int, blocks: Sequence[Block], pieces: list[list[Piece]]) -> Iterator[Unit]:
    """A list or table whole where it is short, else each item under what announces the list, each row under the header."""
    block, row = blocks[index], pieces[index]
    if not row:
        return
    if index and _is_explained(index - 1, blocks, pieces) and pieces[index - 1][0].text.count("\n") < MAX_CODE_LINES:
        return  # told with its listing
    said = _said_before(index, blocks, pieces) if index and blocks[index - 1].kind == "text" else ()
    table = block.kind == "table"
    if _short(block, row):
        lead = said if said and (said[-1].text.rstrip().endswith(":") or len(said[-1].text) <= 200) else ()
        if not table and len(row) > 4:
            for piece in row:
                yield Unit(passage, piece.text, (*lead, *row), _key(piece.text, table))
        yield Unit(passage, "\n".join(piece.text for piece in row), (*lead, *row))
        return
    head = row[:1] if table else [piece for piece in said[-1:] if len(piece.text) <= 200]
    for piece in row[1:] if table else row:
        yield Unit(passage, piece.text, (*head, piece), _key(piece.text, table))


def _key(text: str, table: bool) -> str:
    """The first cell of a row; of an item what stands before a colon or dash, where that is short."""
    if table:
        return text.split(" | ")[0]
    head = re.split(r":\s| [–—-] ", re.sub(r"^\s*(?:[-*] |\d+[.)] )?", "", text), maxsplit=1)
    return head[0] if len(head) > 1 and len(head[0]) <= 60 else ""
