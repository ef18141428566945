"""A model for MessagesApi.always that writes a summary of every section, and titles inside long ones."""

from __future__ import annotations

import json

from tests.fakes.messages_api import Answer, Request, text

USAGE = {"input_tokens": 200, "output_tokens": 40}


class Annotator:
    """`asked`: the titles of the sections it was asked about, in order, each behind `summary` or `outline`. `every`: a
    part begins at each so-many-th block, behind the first. `pace`: seconds before each reply."""

    def __init__(self, every: int = 10, pace: float = 0.0) -> None:
        self.asked: list[str] = []
        self._every = every
        self._pace = pace

    def __call__(self, request: Request) -> Answer:
        prompt = request.last[0]["text"]
        title = prompt.partition("<title>")[2].partition("</title>")[0]
        kind = "outline" if "<blocks>" in prompt else "summary"
        self.asked.append(f"{kind} {title}")
        reply = self._parts(prompt) if kind == "outline" else {"summary": f"All about {title}.", "keywords": [title]}
        return Answer((text(f"```json\n{json.dumps(reply)}\n```"),), usage=USAGE, delay=self._pace)

    def _parts(self, prompt: str) -> dict[str, object]:
        numbers = [int(line.partition(":")[0]) for line in prompt.splitlines()[2:-1]]
        return {"sections": [{"first": n, "title": f"Part from {n}"} for n in numbers[1 :: self._every]]}
