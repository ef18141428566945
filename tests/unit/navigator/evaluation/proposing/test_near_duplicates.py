"""When two questions are one."""

from __future__ import annotations

from navigator.evaluation.proposing.near_duplicates import KnownQuestions
from tests.fakes.embedder import HashingEmbedder


async def known(*questions: str) -> KnownQuestions:
    found = KnownQuestions(HashingEmbedder())
    for sense in await found.senses(questions):
        found.add(sense)
    return found


async def has(found: KnownQuestions, question: str) -> bool:
    (sense,) = await found.senses([question])
    return found.has(sense)


async def test_the_same_words_are_the_same_question_whatever_the_signs() -> None:
    there = await known("How do I change the port of Pump?")
    assert await has(there, "how do I change  the PORT of `Pump`")


async def test_nearly_the_same_meaning_is_the_same_question() -> None:
    there = await known("How do I change the port that the Pump service listens on?")
    assert await has(there, "How do I change the port that the Pump service listens on today?")
    assert not await has(there, "How often is the seal greased, and with what?")


async def test_nothing_is_known_at_first() -> None:
    there = await known()
    assert not await has(there, "How do I change the port?")
    assert await there.senses([]) == []
