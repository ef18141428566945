"""Sentence borders in running text. Pure and lossless."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import sentencex

WINDOW_CHARACTERS = 10_000
"""Characters looked at together. The time sentencex takes grows with the square of the text where quotation marks
never close."""

_LINE = re.compile(r"\s*[^\n]*\n?\s*")
_FOREIGN = re.compile(r"[^\S\t\n\r ]|[\ud800-\udfff]")
"""White space of several bytes, on which sentencex 1.0.32 panics after an initial, and what has no UTF-8 at all."""


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a text; joined with nothing between they are the text.

    White space stays with the sentence before it, at the start of the text with the first. A line break always ends a
    sentence: in the text of a block it is one that the reader sees (an item of a list, a row of a table, a `br`).
    `language` is a tag such as "en" or "pt-BR"; unknown ones are cut by general rules.
    """
    code = re.split("[-_]", language.lower())[0]
    return [sentence for line in _LINE.findall(text) for sentence in _of_line(line, code)]


def _of_line(line: str, code: str) -> Iterator[str]:
    start = 0
    while start < len(line):
        window = line[start : start + WINDOW_CHARACTERS]
        ends = _ends(window, code)
        if start + WINDOW_CHARACTERS < len(line) and len(ends) > 1:
            ends.pop()  # that sentence may go on beyond the window
        for begin, end in pairwise((0, *ends)):
            yield window[begin:end]
        start += ends[-1]


def _ends(text: str, code: str) -> list[int]:
    """Where the sentences of a text end, white space included; the last at the end of the text."""
    ends: list[int] = []
    end = len(text) - len(text.lstrip())
    for boundary in sentencex.get_sentence_boundaries(code, _FOREIGN.sub(" ", text)):
        if boundary["end_index"] > end:
            end = boundary["end_index"]
            while end < len(text) and text[end].isspace():
                end += 1
            ends.append(end)
    return ends if end == len(text) and ends else [*ends, len(text)]
