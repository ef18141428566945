"""What writers are told of a gap: how often it was met and when, who owns its place, in which words people asked.

Nobody's name is in it: not who asked, and none that stands in a question as Slack or a mail address writes it. What was asked in
private is counted and never quoted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args

from bot.gaps.gap import Gap, GapState
from bot.model import Question, first_attempt
from bot.ports import AskedInVain, BotStore, Gaps

STATES: tuple[GapState, ...] = get_args(GapState)
EXAMPLES = 3
"""Questions that are quoted of a gap where it is one of many."""
MAX_QUESTIONS_SHOWN = 200
"""The same where it is shown alone."""
WEEKS = 8
"""Of the trend."""
_BARS = "▁▂▃▄▅▆▇█"
_PERSON = re.compile(r"<@[A-Z0-9]{1,40}(?:\|[^<>]{0,200})?>|(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,190}")


@dataclass(frozen=True, slots=True)
class GapOwner:
    """Whose pages they are. `pattern`: a regular expression that the link of a place or its path (" › " between titles) holds.
    `channel`: where they are told, "" nowhere; `team`: the workspace of that channel, "" the only one."""

    pattern: str
    name: str
    channel: str = ""
    team: str = ""

    def owns(self, gap: Gap) -> bool:
        place = gap.pin
        return place is not None and any(re.search(self.pattern, said) for said in (place.link, " › ".join(place.path)))


@dataclass(frozen=True, slots=True)
class GapReport:
    """`times`: when each of its questions was asked, oldest first. `examples`: in people's words, the newest first. `private`:
    questions, of those that were looked at for examples, that are not quoted."""

    gap: Gap
    times: tuple[datetime, ...]
    owner: GapOwner | None = None
    examples: tuple[str, ...] = ()
    private: int = 0

    @property
    def count(self) -> int:
        return len(self.times)

    @property
    def where(self) -> str:
        return " › ".join(self.gap.pin.path) if self.gap.pin else "nowhere yet"

    def asked_since(self, then: datetime) -> int:
        return sum(at >= then for at in self.times)

    def trend(self, now: datetime) -> tuple[int, ...]:
        """Questions in each of the last WEEKS weeks, this one last."""
        weeks = [(now - at) // timedelta(weeks=1) for at in self.times]
        return tuple(weeks.count(ago) for ago in reversed(range(WEEKS)))

    def bars(self, now: datetime) -> str:
        """The trend, drawn with letters."""
        weeks = self.trend(now)
        return "".join(_BARS[round(each / max(*weeks, 1) * (len(_BARS) - 1))] for each in weeks)


def state_line(gap: Gap) -> str:
    """ "taken", "fixed by the change of … · asked again on 2026-05-04: 2 of 2 answered"."""
    state = f"fixed by {gap.fixed_by}" if gap.fixed_by else gap.state
    again = gap.asked_again
    if again is None:
        return state
    answered = "still not answered" if not again.answered else f"{again.answered} of {again.asked} answered"
    return f"{state} · asked again on {again.at:%Y-%m-%d}: {answered}"


def week_line(report: GapReport, now: datetime) -> str:
    """ "3 this week, 1 the week before"."""
    *_, before, this = report.trend(now)
    return f"{this} this week, {before} the week before"


MayQuote = Callable[[Question], Awaitable[bool]]
"""Whether a question may be shown to people who did not see it asked."""


async def asked_openly(question: Question) -> bool:
    """For those who may see the answer log anyway."""
    return not question.private


async def gap_reports(
    store: BotStore,
    gaps: Gaps,
    owners: Sequence[GapOwner],
    *,
    only: str | None = None,
    examples: int = EXAMPLES,
    may_quote: MayQuote = asked_openly,
) -> list[GapReport]:
    """Of all gaps that have questions, or of one by its id: open ones first, of those the most asked. Raises StoreUnavailable."""
    members: defaultdict[str, dict[str, AskedInVain]] = defaultdict(dict)
    for each in await store.asked_in_vain(only):
        members[each.gap].setdefault(first_attempt(each.question), each)
    found: list[GapReport] = []
    for gap_id, questions in members.items():
        if gap_id and (kept := await gaps.gap(gap_id)):
            owner = next((owner for owner in owners if owner.owns(kept.gap)), None)
            quoted, private = await _quoted(store, list(questions.values()), examples, may_quote)
            times = tuple(each.asked_at for each in questions.values())
            found.append(GapReport(kept.gap, times, owner, quoted, private))
    return sorted(found, key=lambda each: (STATES.index(each.gap.state), -each.count, each.gap.id))


async def _quoted(
    store: BotStore, questions: Sequence[AskedInVain], most: int, may_quote: MayQuote
) -> tuple[tuple[str, ...], int]:
    """The newest that differ, and how many were passed over on the way since they may not be quoted."""
    texts: dict[str, None] = {}
    private = 0
    for each in reversed(questions):
        if len(texts) == most:
            break
        if kept := await store.exchange(each.question):
            if await may_quote(kept.exchange.question):
                texts.setdefault(without_people(kept.exchange.asked))
            else:
                private += 1
    return tuple(texts), private


def without_people(text: str) -> str:
    """On one line, people as "someone"."""
    return " ".join(_PERSON.sub("someone", text).split())
