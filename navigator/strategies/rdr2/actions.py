"""What a router writes, as actions (RDR2 section 3.3): a line each, `[ACTION] id: first words`. Pure.

Lenient in form: case, spaces, bullets, emphasis and code fences do not matter. Strict in what counts: ANS takes a visible
block, EXP a heading under which something is folded, and the words behind the id must be the beginning of that node's text
(letters and digits are compared). REF stands alone. One heading a round: the first counts.

What is not such a line is an invalid line, and counted. A reply without one line in the form of an action is collapsed. The names
are those of the paper's Table 4 (XPL, COL).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from navigator.strategies.rdr2.tree import Choices

ActionKind = Literal["ANS", "EXP", "REF"]

MAX_LINES = 500
"""Lines of a reply that are looked at, and the characters of each."""
MAX_LINE_CHARACTERS = 2_000
MAX_REASON_WORDS = 8
"""How many first words the written form of an action has, and how many characters at most."""
MAX_REASON_CHARACTERS = 60

_ACTION_TAG = re.compile(r"\[\s*(ANS|EXP|REF)\s*\]", re.IGNORECASE)
_TARGET = re.compile(r"[\s*_`:\[(#]*([0-9]{1,9})(?![0-9])[\s*_`\])]*[:.|–—-]?(.*)")
_FENCE = re.compile(r"\s*(?:```|~~~)[\w-]*\s*")


@dataclass(frozen=True, slots=True)
class Routed:
    """What a reply comes to. `selected` blocks in document order; `expand`: the heading to unfold; `refused`: REF, and
    nothing else. `invalid_lines`: why each line that does not count does not; `lines`: how many there were."""

    selected: tuple[int, ...] = ()
    expand: int | None = None
    refused: bool = False
    invalid_lines: tuple[str, ...] = ()
    lines: int = 0
    collapsed: bool = False

    def written(self, choices: Choices) -> str:
        """The actions that count, in the form in which a router should write them; "" where none does."""
        lines = [f"[ANS] {block}: {first_words(choices.texts[block])}" for block in self.selected]
        if self.expand is not None:
            lines.append(f"[EXP] {self.expand}: {first_words(choices.texts[self.expand])}")
        return "\n".join(lines) or ("[REF]" if self.refused else "")


@dataclass(frozen=True, slots=True)
class Action:
    """One line in the form of an action; `target` is None for REF."""

    kind: ActionKind
    target: int | None = None
    words: str = ""


def read_actions(reply: str, choices: Choices, *, may_expand: bool = True) -> Routed:
    """`may_expand`: whether EXP is among the actions at all."""
    lines = [
        line
        for line in reply.split("\n", MAX_LINES)[:MAX_LINES]
        if line.strip() and not _FENCE.fullmatch(line[:MAX_LINE_CHARACTERS])
    ]
    actions = [parse_action(line[:MAX_LINE_CHARACTERS]) for line in lines]
    selected: set[int] = set()
    expand: int | None = None
    refusals = sum(action is not None and action.kind == "REF" for action in actions)
    invalid_lines: list[str] = []
    for line, action in zip(lines, actions, strict=True):
        if action is None:
            invalid_lines.append(f"no action: {line.strip()[:MAX_REASON_CHARACTERS]}")
        elif action.target is None:
            continue
        elif wrong := _wrong(action.kind, action.target, action.words, choices, may_expand):
            invalid_lines.append(wrong)
        elif action.kind == "ANS":
            selected.add(action.target)
        elif expand is None:
            expand = action.target
        elif expand != action.target:
            invalid_lines.append(f"EXP {action.target}: a second heading")
    refused = bool(refusals) and not selected and expand is None
    if refusals and not refused:
        invalid_lines += ["REF: not alone"] * refusals
    collapsed = not any(actions)
    return Routed(tuple(sorted(selected)), expand, refused, tuple(invalid_lines), len(lines), collapsed)


def parse_action(line: str) -> Action | None:
    """The action that a line has the form of: no letter stands before its tag."""
    tag = _ACTION_TAG.search(line)
    if tag is None or any(character.isalpha() for character in line[: tag.start()]):
        return None
    kind: ActionKind = "ANS" if tag[1].upper() == "ANS" else "EXP" if tag[1].upper() == "EXP" else "REF"
    if kind == "REF":
        return Action(kind)
    target = _TARGET.match(line, tag.end())
    return Action(kind, int(target[1]), target[2]) if target else None


def _wrong(kind: ActionKind, target: int, words: str, choices: Choices, may_expand: bool) -> str:
    """Why an action cannot be done; "" where it can."""
    if target not in choices.texts:
        return f"{kind} {target}: not shown"
    if kind == "ANS" and target not in choices.visible:
        return f"ANS {target}: a heading"
    if kind == "EXP" and not may_expand:
        return f"EXP {target}: nothing can be unfolded"
    if kind == "EXP" and target not in choices.folded:
        return f"EXP {target}: {'no heading' if target in choices.visible else 'nothing is folded under it'}"
    return "" if grounded(words, choices.texts[target]) else f"{kind} {target}: other words than those of this id"


def grounded(words: str, text: str) -> bool:
    """Whether the words are the beginning of the text. Words without a letter or digit are compared sign by sign."""
    said = _letters(words)
    if said:
        return _letters(text).startswith(said)
    signs = "".join(words.split())
    return "".join(text.split()).startswith(signs) and bool(signs or not text)


def first_words(text: str) -> str:
    return " ".join(text.split()[:MAX_REASON_WORDS])[:MAX_REASON_CHARACTERS]


def kinds(routed: Iterable[Routed]) -> dict[ActionKind, int]:
    """How many actions of each kind (RDR2 Table 3)."""
    counted: dict[ActionKind, int] = {"ANS": 0, "EXP": 0, "REF": 0}
    for each in routed:
        counted["ANS"] += len(each.selected)
        counted["EXP"] += each.expand is not None
        counted["REF"] += each.refused
    return counted


def _letters(text: str) -> str:
    """Letters and digits alone, so that quotes, dashes, accents and case do not matter."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())
