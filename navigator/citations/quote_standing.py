"""Whether what an answer quoted still stands, and what stands there now where it does not. Pure; no model.

Each sentence that was quoted is looked for in the section as it is now, and in the sections that its words went to. White
space, and how quotation marks and dashes are set, count for nothing; everything else does. Another word anywhere else,
another title or another place does not touch what was quoted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from ingest.model import Node
from ingest.text.scripts import UNSPACED
from ingest.text.sentences import sentences
from navigator.answer import Citation, Passage

QuoteState = Literal["stands", "marked", "stale", "gone"]
"""As it was read; what was quoted is the same, other words of the section are not; what was quoted changed or went; the
section or its page is there no more, nor the words where it went."""

MIN_LIKENESS = 0.4
"""Of words in common (difflib's ratio), from where on a sentence is what became of another."""
MAX_COMPARED_SENTENCES = 300
"""Of a section now, so many sentences are compared with those that are missing."""

_LOOKS = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—―", '\'\'\'\'""""""------', "\u00ad\u200b\u200c\u200d\u2060\ufeff")
"""Signs that a site may set otherwise without saying anything else."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_OPENING, _CLOSING = "([{\"'", ".,;:!?)]}\"'…"


@dataclass(frozen=True, slots=True)
class QuoteStanding:
    """`before`: the quoted sentences that stand no more; `after`: what stands in their place, "" where nothing like them
    does. Both empty where all stand."""

    state: QuoteState
    before: str = ""
    after: str = ""


def quote_standing(
    citation: Citation, read: Passage | None, now: Node | None, parts: Sequence[Node] = ()
) -> QuoteStanding:
    """`read`: the passage that was cited; `now`: the section, None where it is there no more; `parts`: other sections that
    have had words of it since."""
    if now is not None and now.own_hash == citation.node_hash:
        return QuoteStanding("stands")
    places = [node.text for node in (*([now] if now else []), *parts)]
    text = " \n ".join(map(_plain, places))
    quoted = list(_quoted(citation, read))
    missing = [each.sentence for each in quoted if not each.stands_in(text)]
    if quoted and not missing:
        return QuoteStanding("marked")
    after = [found for sentence in missing if (found := _successor(sentence, places, read))]
    return QuoteStanding("gone" if now is None else "stale", "\n".join(missing), "\n".join(dict.fromkeys(after)))


@dataclass(frozen=True, slots=True)
class _Quoted:
    """A quoted sentence, and the text that it was read in with the sentences around it, all as `_plain` gives them."""

    sentence: str
    was: str = ""
    before: str = ""
    after: str = ""

    def stands_in(self, text: str) -> bool:
        """Where it was read more often than it stands now, it is by its neighbours whether this is the one that stands."""
        sought = _plain(self.sentence)
        whole_words = not self.was or _count(sought, self.was, whole_words=True) > 0
        there = _count(sought, text, whole_words=whole_words)
        if not there or there >= _count(sought, self.was, whole_words=whole_words):
            return bool(there)
        around = [f"{self.before} {sought}" if self.before else "", f"{sought} {self.after}" if self.after else ""]
        return any(pair and _count(pair, text, whole_words=False) for pair in around)


def _quoted(citation: Citation, read: Passage | None) -> Iterator[_Quoted]:
    own = [sentence.strip() for sentence in sentences(citation.quote) if _plain(sentence)]
    blocks = [block.text for block in read.blocks] if read else []
    above = "\n".join(blocks[: citation.block - read.at]) if read else ""
    whole = "\n".join(blocks)
    start = whole.find(citation.quote, len(above))
    if read is None or start < 0:
        yield from map(_Quoted, own)
        return
    was = _plain(whole)
    before = [_plain(each) for each in sentences(whole[:start]) if _plain(each)][-1:]
    after = [_plain(each) for each in sentences(whole[start + len(citation.quote) :]) if _plain(each)][:1]
    line = [*(before or [""]), *map(_plain, own), *(after or [""])]
    for position, sentence in enumerate(own):
        yield _Quoted(sentence, was, line[position], line[position + 2])


def _plain(text: str) -> str:
    """What a reader takes in, on one line."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_LOOKS).split())


def _count(sought: str, text: str, *, whole_words: bool) -> int:
    count, start = 0, text.find(sought)
    while start >= 0:
        count += not whole_words or _is_whole(text, start, start + len(sought))
        start = text.find(sought, start + len(sought))
    return count


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] begins and ends with words: "5" does not in "15", "5.5" and "5-fold"."""
    head, tail = start, end
    while head and text[head - 1] in _OPENING:
        head -= 1
    while tail < len(text) and text[tail] in _CLOSING:
        tail += 1
    left, right = text[max(0, head - 1) : head], text[tail : tail + 1]
    return not any(
        beyond and not beyond.isspace() and not _UNSPACED.match(beyond) and not _UNSPACED.match(own)
        for beyond, own in ((left, text[start]), (right, text[end - 1]))
    )


def _successor(sentence: str, places: Sequence[str], read: Passage | None) -> str:
    """What the sentence became: the most alike of those that were not there before."""
    was = {_plain(each) for block in (read.blocks if read else ()) for each in sentences(block.text)}
    new = [each.strip() for place in places for each in sentences(place) if _plain(each) not in {*was, ""}]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(_plain(sentence).split())
    best, chosen = MIN_LIKENESS, ""
    for each in new[:MAX_COMPARED_SENTENCES]:
        matcher.set_seq1(_plain(each).split())
        if matcher.real_quick_ratio() >= best and matcher.quick_ratio() >= best and (alike := matcher.ratio()) >= best:
            best, chosen = alike + 1e-9, each
    return chosen
