"""What a model is asked about one content, once. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ingest.notes import InducedOutline, NoteKind, SectionSummary

OUTPUT_TOKENS = 512
"""What a reply may take (RIT-RAG appendix D)."""


@dataclass(frozen=True, slots=True)
class NotePrompt:
    """`hash`: of the content (Node.own_hash). `form`: the version of the question; what was answered in another form is
    asked again. `output`: tokens that an answer usually takes. `read` makes the note of a reply, and raises
    ValueError, which quotes nothing, where the reply is of no use."""

    kind: NoteKind
    hash: str
    form: str
    system: str
    prompt: str
    output: int
    read: Callable[[str], SectionSummary | InducedOutline]

    @property
    def input(self) -> int:
        """Tokens of the question, at most about."""
        return tokens(self.system) + tokens(self.prompt)


def tokens(text: str) -> int:
    """About how many tokens a language model takes for a text, rather too many than too few: one for three bytes. It
    holds for prose, code, and scripts without spaces, and needs no model."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


def one_line(text: object) -> str:
    """A text of a reply without line breaks and what cannot be shown; empty for what is no text."""
    return "".join(filter(str.isprintable, " ".join(text.split()))) if isinstance(text, str) else ""
