"""Modals: how an answer was found, from the question on, and the reason for a verdict. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
    "get_toc": "searched for",
    "search": "searched for",
    "keyword": "looked for the words",
    "entity": "looked for the name",
    "page": "searched one page for",
    "around": "read what stands around",
    "pick_page": "chose a page for",
    "route": "looked through a page for",
    "read": "read",
}
"""What a call of a tool did, by the tools of all strategies."""

_NODE_NUMBER = re.compile(r"^\s*(\d+): ")


def trace_modal(answer: Answer, question_id: str) -> Block:
    """The view for views.open: queries, forests (○ read, ● cited), what was read and cited, cost, seconds."""
    asked = answer.understood or answer.question
    made = [
        blocks.section(f"*{escaped(shortened(plain_line(asked), 300)) or '(nothing asked)'}*"),
        *_steps(answer),
        *_ends(answer),
    ]
    return _modal(actions.TRACE_VIEW, "How I found this", question_id, _within(made))


def reason_modal(feedback_value: str) -> Block:
    """The view that asks why, after a verdict. Saying nothing is an answer too."""
    asked = {
        "type": "input",
        "block_id": actions.REASON_BLOCK,
        "optional": True,
        "label": plain_text("What was good or bad about it?", 200),
        "element": {
            "type": "plain_text_input",
            "action_id": actions.REASON_INPUT,
            "multiline": True,
            "max_length": 2_000,
        },
    }
    view = _modal(actions.REASON_VIEW, "Thank you", feedback_value, [asked])
    return {**view, "submit": plain_text("Send", 24), "close": plain_text("Skip", 24)}


def _modal(callback_id: str, title: str, metadata: str, made: Sequence[Block]) -> Block:
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": metadata,
        "title": plain_text(title, 24),
        "close": plain_text("Close", 24),
        "blocks": list(made),
    }


def _steps(answer: Answer) -> Iterator[Block]:
    passages = {passage.number: passage for passage in answer.trace.passages}
    cited = _cited(answer)
    for position, step in enumerate(answer.trace.steps, start=1):
        query = escaped(shortened(plain_line(step.query or ""), 300))
        what = DONE.get(step.tool, step.tool) + (f" “{query}”" if query else "")
        head = f"*{position}* · {what} · {step.seconds:.1f} s"
        rows = [_row(passages[n], cited) for n in step.numbers if n in passages and not step.error]
        yield from blocks.sections([head, *rows])
        small = [shortened(step.reasoning, MAX_REASONING_CHARACTERS)] if step.reasoning else []
        small += [f"Refused: {shortened(step.error, MAX_REASONING_CHARACTERS)}"] if step.error else []
        if small:
            yield blocks.context(small)
        yield from _forest(step, set(passages), cited)


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


def _ends(answer: Answer) -> Iterator[Block]:
    """What was read and cited, and what it took."""
    trace, cited = answer.trace, _cited(answer)
    head = f"*{len(trace.passages)} section{'' if len(trace.passages) == 1 else 's'} read, {len(cited)} cited*"
    yield from blocks.sections([head, *(_row(passage, cited) for passage in trace.passages)])
    yield blocks.context(
        [
            f"{trace.calls} tool calls in {trace.turns} turns · {_tokens(trace.usage)} · {_cost(trace.usage)} · "
            f"{trace.seconds:.1f} s",
            " · ".join(part for part in (answer.strategy, answer.model, f"trace id {answer.trace_id}") if part),
            "○ read   ● cited",
        ]
    )


def _row(passage: Passage, cited: set[int]) -> str:
    mark = "●" if passage.number in cited else "○"
    return f"{mark} {passage.number}: {blocks.link(passage.link, blocks.path(passage.path))}"


def _cited(answer: Answer) -> set[int]:
    nodes = {source.first.node_id for source in answer.sources}
    return {passage.number for passage in answer.trace.passages if passage.node_id in nodes}


def _tokens(usage: Usage) -> str:
    into = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return f"{into:,} tokens in, {usage.output_tokens:,} out"


def _cost(usage: Usage) -> str:
    return f"${usage.cost:.4f}" if usage.cost is not None else "cost not known"


def _within(made: Sequence[Block]) -> list[Block]:
    """The beginning that fits, and a note where something is left out."""
    kept: list[Block] = []
    size = 0
    for position, block in enumerate(made):
        size += blocks.characters([block])
        last = position == len(made) - 1
        if len(kept) >= MAX_MODAL_BLOCKS - (0 if last else 1) or size > MAX_MODAL_CHARACTERS:
            left = len(made) - position
            return [*kept, blocks.context([f"There was more than fits here: {left} parts are left out."])]
        kept.append(block)
    return kept
