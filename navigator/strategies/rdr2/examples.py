"""One example of routing as a line of chat JSON: what trainers take, and what a router is scored with. Pure.

    {"messages": [{"role": "system", …}, {"role": "user", …}, {"role": "assistant", …}],
     "metadata": {"question_id": …, "question": …, "page": …, "visible": […], "folded": […], "expelled": 0}}

The messages are what a router is told and what it should write: the paper's triple of question, subtree and actions (RDR2
section 3.3). `visible` and `folded` are the ids that ANS and EXP may name; `expelled` (our `invalid_lines`) counts the lines that the model which
made the example wrote in vain.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from navigator.strategies.rdr2.actions import Routed, read_actions
from navigator.strategies.rdr2.tree import Choices, lines_shown

_ROLES = ("system", "user", "assistant")


class ExamplesError(ValueError):
    """A file of examples that cannot be used."""


@dataclass(frozen=True, slots=True)
class Example:
    """`prompt` is the user's message, `actions` the reply."""

    question_id: str
    question: str
    page: str
    system: str
    prompt: str
    actions: str
    visible: tuple[int, ...]
    folded: tuple[int, ...]
    invalid_lines: int = 0

    @property
    def choices(self) -> Choices:
        """What the prompt lets a router choose from; texts as the prompt shows them."""
        return Choices(lines_shown(self.prompt) or {}, frozenset(self.visible), frozenset(self.folded))

    @property
    def routed(self) -> Routed:
        return read_actions(self.actions, self.choices)


def dump_example(example: Example) -> str:
    """One line without its line break, in ASCII: whatever reads it, no sign of a text can break it."""
    contents = (example.system, example.prompt, example.actions)
    row = {
        "messages": [{"role": role, "content": text} for role, text in zip(_ROLES, contents, strict=True)],
        "metadata": {
            "question_id": example.question_id,
            "question": example.question,
            "page": example.page,
            "visible": list(example.visible),
            "folded": list(example.folded),
            "expelled": example.invalid_lines,
        },
    }
    return json.dumps(row)


def load_example(line: str | bytes) -> Example:
    """Raises ValueError."""
    try:
        row: Any = json.loads(line)
        by_role = {message["role"]: message["content"] for message in row["messages"]}
        about: Mapping[str, Any] = row["metadata"]
        found = Example(
            question_id=about["question_id"],
            question=about["question"],
            page=about["page"],
            system=by_role["system"],
            prompt=by_role["user"],
            actions=by_role["assistant"],
            visible=tuple(about["visible"]),
            folded=tuple(about["folded"]),
            invalid_lines=about["expelled"],
        )
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"this is no example of routing ({error})") from None
    texts = (found.question_id, found.question, found.page, found.system, found.prompt, found.actions)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("this is no example of routing: a text is something else")
    if not all(type(number) is int for number in (*found.visible, *found.folded, found.invalid_lines)):
        raise ValueError("this is no example of routing: an id is no number")
    return found


def load_examples(text: str) -> Sequence[Example]:
    """The examples of a file that `ritbot curate` wrote. Raises ExamplesError."""
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append(load_example(line))
            except ValueError as error:
                raise ExamplesError(f"line {number}: {error}; give a file that ritbot curate wrote") from None
    if not found:
        raise ExamplesError("there is no example in this file; give one that ritbot curate wrote")
    return found
