"""What a model writes for machines and no person should read: reasoning between tags, tags of citations, tokens of its
chat template. Pure.

Code is left as it is: documentation may show such tags. Whatever is written, the work grows with its length alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from navigator.answer import Passage

Span = tuple[int, int]
"""From and to, in characters of the text."""

_REASONING_TAG = re.compile(
    r"<\s?(?P<end>/)?\s?(?:[a-z]{1,20}:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis|inner_monologue|cot"
    r"|chain_of_thought|(?:thought|thinking|reasoning)_process)(?:\s[^<>]{0,100})?>"
    r"|\[(?P<bracket_end>/)?THINK\]|◁(?P<triangle_end>/)?think▷|<unused94>|(?P<unused_end><unused95>)"
    r"|<\|(?:(?P<pipe_end>/|end_of_|end_)|begin_of_|start_)?(?:think|thinking|thought)\|>"
    r"|<\|channel\|>(?:analysis|commentary(?!\s?to=))\b[^<>\n]{0,80}<\|message\|>"
    r"|(?P<final><\|channel\|>final\b[^<>\n]{0,80}<\|message\|>)",
    re.IGNORECASE,
)
CALL_TAG = re.compile(
    r"<(?P<end>/)?(?:[a-z]{1,20}:|｜DSML｜)?(?:[a-z]{1,20}_)?(?:tool_?calls?|function_?calls?|invoke|tool_use|tool_code)(?:\s[^<>]{0,200})?>"
    r"|<(?:function=[\w.:-]{1,100}|(?P<function_end>/)function)>|\[TOOL_CALLS\]|<start_function_call>|<\|channel\|>commentary\s?to="
    r"|<[|｜](?:[^<>|｜\n]{0,30}?(?:tool|function)[^<>|｜\n]{0,30}|action_start|start_action|python_tag)[|｜]>",
    re.IGNORECASE,
)
_MACHINE_TAG = re.compile(
    r"<(?P<end>/)?(?:antml:)?(?P<name>cite|citations?|answer|final_answer|response)\b(?P<attributes>[^<>]{0,200})>"
    r"|<(?:start|end)_of_turn>|<[be]os>|\[/?INST\]|</s>(?=\s{0,20}\Z)|<\|[^<>|\n]{1,40}\|>|<｜[^<>｜\n]{1,40}｜>"
    r"|[ \t]{0,3}\ue200[^\ue201\n]{0,200}\ue201|[ \t]{0,3}:contentReference\[oaicite:\d{1,6}\](?:\{index=\d{1,6}\})?",
    re.IGNORECASE,
)
_NUMBER_TAG = re.compile(
    r"<(?P<name>cite|citations?|refs?|references?|sources?|docs?|document_index|passages?)>"
    r"\s{0,3}\[?(?P<numbers>\d[\d ,;–—-]{0,40}?)\]?\s{0,3}</(?P=name)>",
    re.IGNORECASE,
)
"""A tag that holds nothing but numbers is a mark."""
_PLACE = re.compile(r"(\d{1,6})(?:-\d{1,6})?(?::\d{1,6})?")
_GIVEN = r"(?:provided|given|retrieved|supplied)"
_STOCK_PHRASE = re.compile(
    rf"\b(?P<the>the|these)\s(?:{_GIVEN}\s)?(?P<what>text|context|material|passages?|sections?|excerpts?|search\sresults?)\s"
    rf"(?:(?:that\s|which\s)?I(?:\shave|\swas|\swere|'ve)?\s(?:read|been\sgiven|found|given|shown|provided)|{_GIVEN}(?:\sto\sme)?)\b"
    rf"|\b(?P<the_given>the|these)\s{_GIVEN}\s(?P<given>text|context|passages?|sections?|excerpts?|search\sresults?)\b",
    re.IGNORECASE,
)
"""How models speak of what they were given; whoever asked sees nothing of it."""
_TICKS = re.compile("`+")
_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)[ \t]*+(\w*+)[^\n]*")
MAX_PLACES = 20
"""Citations that are read in one tag."""


def paragraphs(text: str) -> list[tuple[str, bool]]:
    """Paragraphs with the line breaks after them, and whether each is a fenced code block."""
    found: list[tuple[str, bool]] = []
    current: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        begins = line.lstrip()[:3]
        if begins in ("```", "~~~") and fence in ("", begins):
            if not fence and current:
                found.append(("".join(current), False))
                current = []
            current.append(line)
            if fence:
                found.append(("".join(current), True))
                current = []
            fence = "" if fence else begins
            continue
        current.append(line)
        if not fence and not line.strip():
            found.append(("".join(current), False))
            current = []
    if current:
        found.append(("".join(current), bool(fence)))
    return found


def inline_code(paragraph: str) -> list[Span]:
    """Where code between ticks stands, ticks included: a run of ticks ends at the next one of its length."""
    runs = [match.span() for match in _TICKS.finditer(paragraph)]
    later: dict[int, list[int]] = {}
    for index in reversed(range(len(runs))):
        later.setdefault(runs[index][1] - runs[index][0], []).append(index)
    found: list[Span] = []
    for start, end in runs:
        same = later[end - start]
        same.pop()  # this one
        if same and (not found or start >= found[-1][1]):
            found.append((start, runs[same[-1]][1]))
    return found


def code_spans(text: str) -> list[Span]:
    """Where code stands, fenced and between ticks, in order."""
    found: list[Span] = []
    begin = 0
    for paragraph, code in paragraphs(text):
        inner = [(0, len(paragraph))] if code else inline_code(paragraph)
        found += [(begin + start, begin + end) for start, end in inner]
        begin += len(paragraph)
    return found


def without_reasoning(text: str) -> str:
    """The text without what stands between tags of reasoning. A closing tag alone ends reasoning that began with the
    text; an opening one alone, at the beginning of a line, begins what goes on to the end."""
    return _outside_reasoning(_after_opening_reasoning(text)) if _REASONING_TAG.search(text) else text


def without_calls(text: str) -> str:
    """The text without calls of tools that were written into it."""
    if not CALL_TAG.search(text):
        return text
    outside = Outside(text)
    kept, position, depth = "", 0, 0
    for tag in CALL_TAG.finditer(text):
        if not depth and outside.is_code(tag.start()):
            continue
        if not depth:
            kept += text[position : tag.start()]
        depth, position = max(0, depth - 1) if _ends(tag) else depth + 1, tag.end()
    return kept if depth else kept + text[position:]


def _outside_reasoning(text: str) -> str:
    outside = Outside(text)
    kept, position, opened = "", 0, -1
    for tag in _REASONING_TAG.finditer(text):
        ends = _ends(tag)
        if (opened < 0 or not ends) and outside.is_code(tag.start()):
            continue
        if ends:
            if opened < 0:  # alone: all before it was reasoning, unless nothing follows
                kept = "" if text[tag.end() :].strip() else kept + text[position : tag.start()]
            opened, position = -1, tag.end()
        elif opened < 0:
            kept += text[position : tag.start()]
            opened, position = tag.start(), tag.end()
    if opened >= 0 and not text[text.rfind("\n", 0, opened) + 1 : opened].strip():
        return kept
    return kept + text[position:]


def _after_opening_reasoning(text: str) -> str:
    """Without the reasoning that the text begins with: what stands in it, ticks too, is not looked at."""
    begin = 0
    while True:
        first = _REASONING_TAG.match(text, len(text) - len(text[begin:].lstrip()))
        if first is None or _ends(first):
            return text[begin:]
        last = next((tag for tag in _REASONING_TAG.finditer(text, first.end()) if _ends(tag)), None)
        if last is None:
            return ""
        begin = last.end()


def _ends(tag: re.Match[str]) -> bool:
    """All groups of these patterns name ways to end."""
    return any(tag.groups())


class Outside:
    """Tells code from what stands outside of it."""

    def __init__(self, text: str) -> None:
        spans = code_spans(text)
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def is_code(self, position: int) -> bool:
        at = bisect_right(self._starts, position) - 1
        return at >= 0 and position < self._ends[at]


def unwrapped(text: str) -> str:
    """An answer that is all in one fence of Markdown, without that fence."""
    lines = text.strip().splitlines()
    first = _FENCE.fullmatch(lines[0]) if len(lines) > 2 else None
    if first is None or first[2].lower() not in ("markdown", "md"):
        return text
    depth = 1
    for line in lines[1:-1]:
        fence = _FENCE.fullmatch(line)
        if fence and fence[1][0] == first[1][0]:
            depth += 1 if fence[2] else -1
        if not depth:
            return text
    return "\n".join(lines[1:-1]) if depth == 1 and lines[-1].strip() == first[1] else text


def without_stock_phrases(text: str) -> str:
    """The text with what a model was given called the documentation."""
    outside = Outside(text) if _STOCK_PHRASE.search(text) else None
    if outside is None:
        return text

    def renamed(match: re.Match[str]) -> str:
        if outside.is_code(match.start()):
            return match[0]
        several = (match["what"] or match["given"]).endswith("s")
        said = "the pages of the documentation" if several else "the documentation"
        return said.capitalize() if match[0][0].isupper() else said

    return _STOCK_PHRASE.sub(renamed, text)


def with_plain_marks(text: str, passages: Sequence[Passage]) -> str:
    """The text with no tags of a model's in it: tags of citations as marks [n], n being a number that was read, behind
    the words that they enclose; the others left out. `passages`: all that were read, in their order."""
    numbers = {passage.number for passage in passages}
    if _NUMBER_TAG.search(text):
        code = Outside(text)
        text = _NUMBER_TAG.sub(lambda tag: tag[0] if code.is_code(tag.start()) else f"[{tag['numbers']}]", text)
    outside = Outside(text) if _MACHINE_TAG.search(text) else None
    if outside is None:
        return text
    made, position = "", 0
    open_tags: list[str] = []
    for tag in _MACHINE_TAG.finditer(text):
        if outside.is_code(tag.start()):
            continue
        made += text[position : tag.start()]
        position = tag.end()
        attributes, cites = tag["attributes"] or "", (tag["name"] or "").lower().startswith("cit")
        if cites and not tag["end"]:
            marks = _marks_of(attributes, passages, numbers)
            if attributes.rstrip().endswith("/"):
                made += marks
            else:
                open_tags.append(marks)
        elif cites and open_tags:
            made += open_tags.pop()
    return made + text[position:] + "".join(open_tags)


def _marks_of(attributes: str, passages: Sequence[Passage], numbers: set[int]) -> str:
    """What `index="0-1,2-0"` names: the first number of each counts what was read from 0. A number alone is a
    section's own, where one was read."""
    found: list[int] = []
    for place in list(_PLACE.finditer(attributes))[:MAX_PLACES]:
        number = int(place[1])
        if number in numbers and place[0] == place[1]:
            found.append(number)
        elif number < len(passages):
            found.append(passages[number].number)
        elif number in numbers:
            found.append(number)
    return "".join(f" [{number}]" for number in dict.fromkeys(found))
