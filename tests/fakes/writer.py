"""A model for MessagesApi.always that answers any number of questions at once: it searches, reads, and writes its answer
paragraph by paragraph, each with a citation of the first section."""

from __future__ import annotations

from tests.fakes.messages_api import Answer, Request, cited, tool

EVENTS = 4
"""Of a paragraph in the stream."""


class Writer:
    """`pace`: seconds between two paragraphs; it may be changed while it runs."""

    def __init__(self, paragraphs: int = 16, pace: float = 0.0) -> None:
        self.pace = pace
        self.last = f"Step {paragraphs} is done."
        self._steps = tuple(cited(f"Step {n} is done.\n\n", (0, 0, 0)) for n in range(1, paragraphs + 1))

    def __call__(self, request: Request) -> Answer:
        match len(request.body["messages"]):
            case 1:
                return Answer((tool("get_toc", {"query": "prime pump"}),))
            case 3:
                return Answer((tool("read", {"sections": [1, 2]}),))
        return Answer(self._steps, pace=self.pace / EVENTS)
