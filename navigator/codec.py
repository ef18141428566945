"""Answers as JSON bytes, and back: to another process, and to the bot's store. Pure.

What comes back is equal to what went in. Fields that this version does not know are passed over, so that an older
program reads what a newer one wrote as long as nothing it needs has changed its meaning. Loading raises ValueError on
bytes that are no answer; dumping raises it on text that is not Unicode (a lone surrogate).
"""

from __future__ import annotations

from pydantic import TypeAdapter

from navigator.answer import Answer

_ANSWER = TypeAdapter(Answer)


def dump_answer(answer: Answer) -> bytes:
    return _ANSWER.dump_json(answer)


def load_answer(data: bytes) -> Answer:
    return _ANSWER.validate_json(data)
