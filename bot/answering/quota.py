"""How much may be asked: questions a person and a channel in an hour, and what a day may cost, shared by all processes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.model import Question
from bot.ports import BotStore
from ingest.counted import counted
from navigator.answer import Usage


@dataclass(frozen=True, slots=True)
class Quota:
    """0: no limit. `daily_cost` in US dollars, for a day in UTC; only models with known prices cost anything."""

    per_user: int = 30
    per_channel: int = 120
    daily_cost: float = 0.0

    async def refusal(self, store: BotStore, question: Question, now: datetime) -> str:
        """Count the question; "" or a polite reason for not answering it. Raises StoreUnavailable."""
        hour = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        minutes = max(1, round((hour - now).total_seconds() / 60))
        later = f"Please ask again in {minutes} minute{'s' if minutes > 1 else ''}."
        if self.daily_cost and await spent(store, now) >= self.daily_cost:
            return "I have used up what I may spend on answers today. Please ask again tomorrow, or ask a person."
        if (
            self.per_user
            and await store.add(_asked(f"user:{question.team}:{question.user}", hour), 1, hour) > self.per_user
        ):
            return f"You have asked me {counted(self.per_user, 'question')} within the hour, which is as many as I may answer. {later}"
        channel = _asked(f"channel:{question.team}:{question.channel}", hour)
        if self.per_channel and await store.add(channel, 1, hour) > self.per_channel:
            return f"I have been asked {counted(self.per_channel, 'question')} here within the hour, which is as many as I may answer. {later}"
        return ""


async def spent(store: BotStore, now: datetime) -> float:
    """What answers cost today, in US dollars. Raises StoreUnavailable."""
    return await store.counted(_costs(now), now)


async def spend(store: BotStore, usage: Usage, now: datetime) -> None:
    """Count what an answer cost. Raises StoreUnavailable."""
    if usage.cost:
        await store.add(_costs(now), usage.cost, now + timedelta(days=2))


def _asked(who: str, hour: datetime) -> str:
    return f"asked:{who}:{hour:%Y-%m-%dT%H}"


def _costs(now: datetime) -> str:
    return f"cost:{now:%Y-%m-%d}"
