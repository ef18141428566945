"""Modals: how an answer was found, from the question on, and the reason for a verdict. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bot.model import Verdict
from bot.slack.render import actions, blocks
from bot.slack.render.blocks import LIMITS, Block, plain_text, shortened
from bot.slack.render.sanitize import escaped, plain_line
from navigator.answer import Answer, Passage, Step, Usage

MAX_MODAL_BLOCKS = 100
"""Of a modal."""
MAX_MODAL_CHARACTERS = 60_000
"""Of all blocks; beyond what anybody reads."""
MAX_FOREST_LINE_CHARACTERS = 160
"""Characters of a forest's line."""
MAX_REASONING_CHARACTERS = 600
MAX_FOREST_SECTIONS = 4
"""Sections that one forest may fill."""

DONE = {
    "get_toc": "Searched for",
    "search": "Searched for",
    "keyword": "Looked for the words",
    "entity": "Looked for the name",
    "page": "Searched one page for",
    "around": "Looked around for",
    "pick_page": "Chose a page for",
    "route": "Looked through a page for",
}
"""What a call of a tool did, by the tools of all strategies."""

REASONS: Mapping[Verdict, tuple[str, tuple[str, ...], str]] = {
    "good": ("Good to hear", ("It answered my question", "It was quick", "The sources were right"), "Choose what fits"),
    "bad": (
        "What was wrong?",
        (
            "It is wrong",
            "It does not answer what I asked",
            "It is out of date",
            "It is hard to understand",
            "The sources do not fit",
        ),
        "Choose what fits",
    ),
}
"""By verdict: title, what may be chosen, what is asked."""

_OFFERED = re.compile(r"^ *\d+: |\"is_readable\": true", re.MULTILINE)
"""A line of a forest that the model may read."""
_NODE_NUMBER = re.compile(r"^\s*(\d+): ")


def trace_modal(answer: Answer, question_id: str, *, details: bool = False) -> Block:
    """The view for views.open and views.update: a short story of what was searched, looked at and read, each thing once. With
    `details` also the reasoning, the forests (○ read, ● cited), the seconds and what it cost."""
    asked = answer.understood or answer.question
    label, value = ("Less", actions.LESS) if details else ("Details", actions.MORE)
    made = [
        blocks.section(f"*{escaped(shortened(plain_line(asked), 300)) or '(nothing asked)'}*"),
        *_story(answer, details=details),
        *(_costs(answer) if details else ()),
    ]
    fold = blocks.buttons([blocks.button(actions.SHOW_DETAILS, label, f"{value}:{question_id}")])
    return _modal(actions.TRACE_VIEW, "How I found this", question_id, _within(made, [fold]))


def reason_modal(feedback_value: str) -> Block:
    """The view that asks why, after a verdict: what fits the thumb. Saying nothing is an answer too."""
    verdict, _ = actions.feedback_of(feedback_value)
    title, choices, asked = REASONS[verdict]
    kinds: Block = {
        "type": "input",
        "block_id": actions.REASON_CHOICE,
        "optional": True,
        "label": plain_text(asked, 200),
        "element": {
            "type": "checkboxes",
            "action_id": actions.REASON_CHOICE,
            "options": [{"text": plain_text(choice, 75), "value": choice} for choice in choices],
        },
    }
    words = _words("Anything else that would help" if verdict == "bad" else "Anything to add")
    view = _modal(actions.REASON_VIEW, title, feedback_value, [kinds, words])
    return {**view, "submit": plain_text("Send", 24), "close": plain_text("Skip", 24)}


def escalation_modal(metadata: str, *, whom: str, in_thread: bool) -> Block:
    """The view that asks before a person is asked: who will see what, and what they should know. `whom`: the mention of who
    is asked, which calls nobody from a modal."""
    where = "the thread" if in_thread else "this channel"
    said = f"I will notify {whom} in {where}, where everyone sees it, with your question, my answer and what I read for it."
    view = _modal(
        actions.ESCALATION_VIEW, "Ask a person", metadata, [blocks.section(said), _words("What should they know?")]
    )
    return {**view, "submit": plain_text("Ask", 24), "close": plain_text("Cancel", 24)}


def _words(label: str) -> Block:
    return {
        "type": "input",
        "block_id": actions.REASON_BLOCK,
        "optional": True,
        "label": plain_text(label, 200),
        "element": {
            "type": "plain_text_input",
            "action_id": actions.REASON_INPUT,
            "multiline": True,
            "max_length": 2_000,
        },
    }


def _modal(callback_id: str, title: str, metadata: str, made: Sequence[Block]) -> Block:
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": metadata,
        "title": plain_text(title, 24),
        "close": plain_text("Close", 24),
        "blocks": list(made),
    }


def _story(answer: Answer, *, details: bool) -> Iterator[Block]:
    passages = {passage.number: passage for passage in answer.trace.passages}
    cited, told, said = _cited(answer), set[int](), set[str]()
    of_steps = {number for step in answer.trace.steps for number in step.numbers if not step.error}
    if at_hand := [passage for number, passage in passages.items() if number not in of_steps]:
        told.update(passage.number for passage in at_hand)
        yield from blocks.sections(["Had at hand, from before:", *(_row(passage, cited) for passage in at_hand)])
    for step in answer.trace.steps:
        new = [n for n in dict.fromkeys(step.numbers) if n in passages and n not in told and not step.error]
        head = _sentence(step, len(new), again=step.query is not None and step.query in said)
        if details:
            head += f" · {step.seconds:.1f} s"
        if head and (new or details or not step.error):
            yield from blocks.sections([head, *(_row(passages[number], cited) for number in new)])
        told.update(new)
        said.add(step.query or "")
        if details:
            yield from _reasoning(step)
            yield from _forest(step, set(passages), cited)
    yield blocks.section(_ending(answer, len(passages), len(cited)))


def _sentence(step: Step, new: int, *, again: bool) -> str:
    """What a step did; "" where it did again what was told."""
    query = escaped(shortened(plain_line(step.query or ""), 300))
    count = offered(step)
    if step.tool == "read":
        return f"Read {_sections(new)}:" if new else ""
    if again and not new:
        return ""
    done = DONE.get(step.tool, f"Used {step.tool} for")
    looked = f", and looked at {_sections(count)}" if count else f", and read {_sections(new)}:" if new else ""
    return f"{done} “{query}”{looked}" if query else f"{done.removesuffix(' for')}{looked}"


def _ending(answer: Answer, read: int, cited: int) -> str:
    if answer.outcome == "answered":
        return f"*Answered* from {cited} of the {_sections(read)} read." if read else "*Answered*, and read nothing."
    return f"*Found no answer* in the {_sections(read)} read." if read else "*Found nothing* to read."


def _sections(count: int) -> str:
    return f"{count} section{'' if count == 1 else 's'}"


def offered(step: Step) -> int:
    """How many sections of a forest the model may read."""
    return len(_OFFERED.findall(step.shown or ""))


def _reasoning(step: Step) -> Iterator[Block]:
    small = [shortened(step.reasoning, MAX_REASONING_CHARACTERS)] if step.reasoning else []
    small += [f"Refused: {shortened(step.error, MAX_REASONING_CHARACTERS)}"] if step.error else []
    if small:
        yield blocks.context(small)


def _forest(step: Step, read: set[int], cited: set[int]) -> Iterator[Block]:
    """The forest as the model saw it, in monospace, with its marks."""
    lines = [_marked(one, read, cited) for one in (step.shown or "").split("\n") if one.strip()]
    parts = list(blocks.gathered(lines, LIMITS.section - 8))
    for part in parts[:MAX_FOREST_SECTIONS]:
        yield blocks.section(f"```\n{part}\n```")
    if parts[MAX_FOREST_SECTIONS:]:
        left = sum(part.count("\n") + 1 for part in parts[MAX_FOREST_SECTIONS:])
        yield blocks.context([f"… and {left} more lines"])


def _marked(shown: str, read: set[int], cited: set[int]) -> str:
    match = _NODE_NUMBER.match(shown)
    number = int(match[1]) if match else None
    mark = "●" if number in cited else "○" if number in read else " "
    indent = len(shown) - len(shown.lstrip())
    return f"{mark} {' ' * min(indent, 40)}{escaped(shortened(plain_line(shown), MAX_FOREST_LINE_CHARACTERS)).replace('`', 'ˋ')}"


def _costs(answer: Answer) -> Iterator[Block]:
    trace = answer.trace
    yield blocks.context(
        [
            f"{trace.calls} tool calls in {trace.turns} turns · {_tokens(trace.usage)} · {_cost(trace.usage)} · "
            f"{trace.seconds:.1f} s",
            " · ".join(part for part in (answer.strategy, answer.model, f"trace id {answer.trace_id}") if part),
            "○ read   ● cited",
        ]
    )


def _row(passage: Passage, cited: set[int]) -> str:
    used = " · in the answer" if passage.number in cited else ""
    return f"• {blocks.link(passage.link, blocks.path(passage.path))}{used}"


def _cited(answer: Answer) -> set[int]:
    nodes = {source.first.node_id for source in answer.sources}
    return {passage.number for passage in answer.trace.passages if passage.node_id in nodes}


def _tokens(usage: Usage) -> str:
    into = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return f"{into:,} tokens in, {usage.output_tokens:,} out"


def _cost(usage: Usage) -> str:
    return f"${usage.cost:.4f}" if usage.cost is not None else "cost not known"


def _within(made: Sequence[Block], last: Sequence[Block]) -> list[Block]:
    """The beginning that fits with what comes last, and a note where something is left out."""
    kept: list[Block] = []
    size = 0
    most = MAX_MODAL_BLOCKS - len(last)
    for position, block in enumerate(made):
        size += blocks.characters([block])
        if len(kept) >= most - (0 if position == len(made) - 1 else 1) or size > MAX_MODAL_CHARACTERS:
            left = len(made) - position
            return [*kept, blocks.context([f"There was more than fits here: {left} parts are left out."]), *last]
        kept.append(block)
    return [*kept, *last]
