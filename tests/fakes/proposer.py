"""A model that proposes a question about every material, and plays the other turns: guessing from titles, answering from
passages, judging. It is a Model, and a function for MessagesApi.always. What it does otherwise than well is said by its
arguments."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from navigator.answer import Usage
from navigator.errors import ModelUnreachable
from navigator.evaluation.proposing.turns import NO_ANSWER
from navigator.ports import ModelEvent, TextDelta, Tool, Turn, TurnEnd, UserTurn
from tests.fakes.messages_api import Answer, Failure, Json, Request, Scripted, text

USAGE = {"input_tokens": 1_000, "output_tokens": 100}
COST = 0.0015
"""US dollars of a turn, at 1 and 5 for a million tokens."""
_PASSAGE = re.compile(r"<passage (\d+) (\w+)>\n(.*?)\n\n(.*?)\n</passage \1 \2>", re.DOTALL)
_SEAL = re.compile(r'"seal": "(\w+)"')
_MATERIAL = re.compile(r"<(gold answer 1|answer) (\w+)>\n(.*?)\n</\1 \2>", re.DOTALL)

Passage = tuple[int, str, str]
"""Number, path, text."""


class Proposer:
    """`asked`: the turns in order: propose, guess, answer, judge. `spoil`: changes a proposal, or makes the whole reply of
    it; `guesses`: what is said without reading; `answers`: what is said from the passages, None: all that they hold;
    `verdict`: the judge's whole reply; `faulty`: proposals, counted from 1, that the endpoint fails at; `ends`: turns that
    end otherwise; `cost`: of a turn, in US dollars. `pace`: seconds before each reply."""

    def __init__(
        self,
        *,
        spoil: Callable[[dict[str, Any], list[Passage]], Mapping[str, Any] | str] = lambda made, passages: made,
        guesses: Callable[[str], str] = lambda question: NO_ANSWER,
        answers: Callable[[str], str | None] = lambda question: None,
        verdict: str = "",
        faulty: Collection[int] = (),
        ends: Mapping[str, Literal["refusal", "max_tokens"]] | None = None,
        cost: float | None = COST,
        pace: float = 0.0,
    ) -> None:
        self.name = "proposer"
        self.cites = False
        self.context_window = 200_000
        self.ends: Mapping[str, Literal["refusal", "max_tokens"]] = ends or {}
        self.asked: list[str] = []
        self.materials: list[list[Passage]] = []
        self._spoil = spoil
        self._guesses = guesses
        self._answers = answers
        self._verdict = verdict
        self._faulty = faulty
        self._cost = cost
        self._pace = pace

    def __call__(self, request: Request) -> Scripted:
        said = self.reply(str(request.body["system"]), request.last[0]["text"])
        if said is None:
            return Failure(529)
        blocks: tuple[Json, ...] = (text(said),) if said else ()
        return Answer(blocks, usage=USAGE, delay=self._pace)

    async def turn(
        self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False
    ) -> AsyncIterator[ModelEvent]:
        (user,) = turns
        assert isinstance(user, UserTurn)
        await asyncio.sleep(self._pace)
        said = self.reply(system, user.text)
        if said is None:
            raise ModelUnreachable("The model is overloaded.")
        yield TextDelta(said)
        yield TurnEnd(self.ends.get(self.asked[-1], "end"), Usage(*USAGE.values(), cost=self._cost))

    def reply(self, system: str, prompt: str) -> str | None:
        """None: a fault."""
        if "You write questions" in system:
            return self._proposed(prompt)
        if "You check whether an answer" in system:
            self.asked.append("judge")
            return self._verdict or self._judged(prompt)
        question = prompt.rpartition("The question: ")[2]
        if "only the titles" in system:
            self.asked.append("guess")
            return self._guesses(question)
        self.asked.append("answer")
        said = self._answers(question)
        return " ".join(map(sentence, passages_in(prompt))) if said is None else said

    def _proposed(self, prompt: str) -> str | None:
        passages = passages_in(prompt)
        self.materials.append(passages)
        if len(self.materials) in self._faulty:
            self.asked.append("fault")
            return None
        self.asked.append("propose")
        said = self._spoil(proposal(passages), passages)
        return said if isinstance(said, str) else f"```json\n{json.dumps(said)}\n```"

    def _judged(self, prompt: str) -> str:
        """Right is what holds the gold answer's words."""
        material = {name: said for name, _, said in _MATERIAL.findall(prompt)}
        seal = _SEAL.findall(prompt)[-1]
        right = material["gold answer 1"] in material["answer"]
        return json.dumps({"seal": seal, "right": right, "reason": "compared"})


def passages_in(prompt: str) -> list[Passage]:
    return [(int(number), path, said) for number, _, path, said in _PASSAGE.findall(prompt)]


def sentence(passage: Passage) -> str:
    """The first line that says something, up to its first full stop."""
    line = next(line for line in passage[2].splitlines() if len(line) >= 30)
    return line.partition(". ")[0].rstrip(".") + "."


def proposal(passages: list[Passage]) -> dict[str, Any]:
    """As a good model would make it: a question that names its matter, and a quote from every passage."""
    matters = [f"{path.rpartition(' › ')[2]}, {' '.join(said.split()[:8])}" for _, path, said in passages]
    facts = [sentence(passage) for passage in passages]
    return {
        "question": f"How do I deal with {' and '.join(matters)}?",
        "answer": " ".join(facts),
        "nuggets": facts,
        "quotes": [{"passage": passage[0], "words": fact} for passage, fact in zip(passages, facts, strict=True)],
    }
