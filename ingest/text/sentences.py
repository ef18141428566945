"""Sentence borders in running text. Pure and lossless."""

from __future__ import annotations

import sentencex


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a text; joined with nothing between they are the text. White space between two
    sentences stays with the first."""
    found: list[str] = []
    start = 0
    for boundary in sentencex.get_sentence_boundaries(language.partition("-")[0], text):
        end = boundary["end_index"]
        while end < len(text) and text[end].isspace():
            end += 1
        if end > start:
            found.append(text[start:end])
            start = end
    if start < len(text):
        found.append(text[start:])
    return found
