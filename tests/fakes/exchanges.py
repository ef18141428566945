"""Questions and what became of them, for whoever needs some."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.model import Exchange, Feedback, Installation, Posted, Question, question_id
from ingest.model import Block
from navigator.answer import Answer, CitedSource, Passage, Step, Trace, Usage

NOON = datetime(2026, 5, 1, 12, 0, 0, 123456, UTC)
TOKEN = "xoxb-very-secret"


class SetClock:
    """Stands still until it is told."""

    def __init__(self, now: datetime = NOON) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time


def question(number: int = 1, *, thread: str = "1.0", user: str = "U1", **fields: Any) -> Question:
    """Asked `number` minutes after noon."""
    ts = f"{number}.000100"
    defaults: dict[str, Any] = {
        "id": question_id("T1", "C1", ts),
        "team": "T1",
        "channel": "C1",
        "user": user,
        "text": f"Question {number}?",
        "kind": "mention",
        "asked_at": NOON + timedelta(minutes=number),
        "thread": thread,
        "ts": ts,
    }
    return Question(**{**defaults, **fields})


def waiting(number: int = 1, **fields: Any) -> Exchange:
    return Exchange(question(number, **fields))


def passage(number: int, text: str = "Rotate the keys once a year.") -> Passage:
    return Passage(
        number=number,
        node_id=f"n{number}",
        node_hash=f"h{number}",
        page_key=f"https://docs.example.org/{number}",
        page_url=f"https://docs.example.org/{number}",
        link=f"https://docs.example.org/{number}#rotate",
        path=("Docs", "Keys", f"Rotating {number}"),
        blocks=(Block("text", text), Block("code", "pumpkin-keys rotate\n", "sh")),
        checked_at=NOON,
        version="1.2",
    )


def answer(size: int = 0, reads: int = 2) -> Answer:
    """The first of the passages read is cited; `size` characters more of text in each."""
    passages = tuple(
        passage(number, "Rotate the keys once a year." + "é word" * (size // 6)) for number in range(1, reads + 1)
    )
    trace = Trace(
        steps=(
            Step("get_toc", "First look.", "rotate keys", "Docs\n  1: Rotating 1\n  2: Rotating 2", seconds=0.5),
            Step("read", "Then read.", numbers=tuple(range(1, reads + 1)), seconds=0.25),
        ),
        shown=tuple((number, f"n{number}", ("Docs", "Keys")) for number in range(1, 51)),
        passages=passages,
        usage=Usage(1200, 80, cost=0.0031),
        turns=3,
        seconds=2.5,
    )
    return Answer(
        question="Question?",
        text="Once a year. [1]",
        outcome="answered",
        sources=(CitedSource(1, (passages[0].cite(0), passages[0].cite(1))),) if passages else (),
        nearest=(passage(9),),
        unsupported=("Übrigens 概要 🦊.",),
        trace=trace,
        model="claude",
        trace_id="abc",
    )


def answered(number: int = 1, *, size: int = 0, **fields: Any) -> Exchange:
    """With an answer, a lease that was held, a message, feedback of another person."""
    return Exchange(
        question(number, **fields),
        state="done",
        owner="worker-1",
        lease_until=NOON + timedelta(minutes=5),
        attempts=1,
        posted=Posted("C1", "9.1", streaming=True, further=("9.2",)),
        standalone="How often are keys rotated?",
        answer=answer(size),
        feedback=(Feedback("U9", "bad", NOON + timedelta(hours=1), "not what U9 meant"),),
        begun_at=NOON,
        ended_at=NOON + timedelta(seconds=3),
    )


def installation(team: str = "T1", enterprise: str = "", **fields: Any) -> Installation:
    made = Installation(
        team, enterprise, TOKEN, "UBOT", ("chat:write", "commands"), NOON, f'{{"user_token": "{TOKEN}"}}'
    )
    return replace(made, **fields)
