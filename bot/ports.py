"""The ports of the bot: its own store, the texts that links and answers rest on, gaps, and how its answers reach people.

Two adapters of each store (SQLite, OpenSearch) pass its contract suite in tests/contract.

Adapters are opened with `async with`; their constructors do no I/O. All methods raise only errors of ingest.errors and
bot.errors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.gaps.gap import Gap
from bot.model import ChannelSettings, Edition, Exchange, Installation, Posted, Question
from navigator.answer import Answer, Passage, Step


@dataclass(frozen=True, slots=True)
class VersionedExchange:
    """An exchange and the revision to hand back to `keep` as `expected`."""

    exchange: Exchange
    revision: str


@dataclass(frozen=True, slots=True)
class AskedInVain:
    """A question of which the documentation fell short (Exchange.shortfall). `gap` "": it belongs to none yet."""

    question: str
    asked_at: datetime
    gap: str


class BotStore(Protocol):
    """The answer log with its leases, channel settings, installations, counters."""

    async def exchange(self, question_id: str) -> VersionedExchange | None:
        """As last kept, by any process: never an older state."""
        ...

    async def keep(self, exchange: Exchange, expected: str | None) -> str:
        """Replace the exchange whose revision is `expected` (None: it must not exist yet); the new revision. Raises
        Conflict, and then nothing has changed."""
        ...

    async def conversation(self, key: str, most: int = 20) -> Sequence[Exchange]:
        """The newest `most` exchanges of a conversation (Question.conversation), oldest first; what was kept before the
        call is among them."""
        ...

    def exchanges(self, since: datetime | None = None, until: datetime | None = None) -> AsyncIterator[Exchange]:
        """All that were asked in [since, until), oldest first."""
        ...

    def citing(self, nodes: Iterable[str]) -> AsyncIterator[str]:
        """Ids of the questions whose exchange names one of these sections (Exchange.nodes), each once, by when they were
        asked; what was kept before the call is among them."""
        ...

    async def due_notes(self, until: datetime, most: int = 20) -> Sequence[str]:
        """Ids of the questions whose note is due by then (ChangeNote.due_at), those that have waited longest first."""
        ...

    async def asked_in_vain(self, gap: str | None = None) -> Sequence[AskedInVain]:
        """All questions of which the documentation fell short, or those of one gap ("": of none yet), oldest first; what was
        kept before the call is among them."""
        ...

    async def expire(self, before: datetime) -> int:
        """Remove exchanges asked before; how many. Counters that have expired go too."""
        ...

    async def forget(self, user: str) -> int:
        """Remove a person's questions with their answers, the person's name and words from feedback, the name from channel
        settings, and counters that have it between colons; how many exchanges went."""
        ...

    async def channel(self, team: str, channel: str) -> ChannelSettings | None: ...

    async def set_channel(self, settings: ChannelSettings) -> None: ...

    def channels(self) -> AsyncIterator[ChannelSettings]: ...

    async def add(self, counter: str, amount: float, until: datetime) -> float:
        """Add to a counter, made at 0 where it is not there or has expired, and its new value; no addition is lost,
        whoever adds at the same time. It expires at the `until` that it was made with."""
        ...

    async def counted(self, counter: str, now: datetime) -> float:
        """0.0 where it is not there or has expired."""
        ...

    async def installation(self, enterprise: str, team: str) -> Installation | None: ...

    async def install(self, installation: Installation) -> None:
        """Raises KeyMissing (bot.errors) where no key for encryption is set."""
        ...

    async def uninstall(self, enterprise: str, team: str) -> None:
        """Not there is no error."""
        ...

    def installations(self) -> AsyncIterator[Installation]: ...


class Editions(Protocol):
    """What sections said when answers cited them or links were made of them: each text of a section once, by its hash."""

    async def keep(self, editions: Iterable[Edition]) -> None:
        """A text that is there is kept once more (Edition.after)."""
        ...

    async def of(self, node: str) -> Sequence[Edition]:
        """All texts of a section, the last read first; what was kept before the call is among them."""
        ...

    async def expire(self, before: datetime) -> int:
        """Remove those without a link that were last kept before; how many."""
        ...

    def all(self) -> AsyncIterator[Edition]:
        """Those that were kept before the call, in no order."""
        ...


@dataclass(frozen=True, slots=True)
class VersionedGap:
    """A gap and the revision to hand back to `keep` as `expected`."""

    gap: Gap
    revision: str


class Gaps(Protocol):
    """What is known of each gap in the documentation; its questions are in the answer log (Exchange.need)."""

    async def gap(self, gap_id: str) -> VersionedGap | None:
        """As last kept, by any process."""
        ...

    async def keep(self, gap: Gap, expected: str | None) -> str:
        """As BotStore.keep."""
        ...

    def all(self) -> AsyncIterator[Gap]:
        """Those that were kept before the call, by their ids."""
        ...

    async def watching(self, nodes: Iterable[str]) -> Sequence[str]:
        """Ids of the gaps that watch one of these sections (Gap.watched), sorted."""
        ...

    async def due(self, until: datetime) -> Sequence[str]:
        """Ids of the gaps whose questions are to be asked again by then (Gap.due_at), sorted."""
        ...

    async def remove(self, gap_id: str) -> None:
        """Not there is no error."""
        ...


class AnswerMessage(Protocol):
    """One answer being given: at most one message that people see, however often it is begun again. Raises DeliveryFailed
    (bot.errors) from `answer` and `plainly` only: signs of life and beginnings are passed over where they cannot be shown."""

    async def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        """Show what is going on."""
        ...

    async def wrote(self, text: str) -> None:
        """Show the answer so far (Listener.wrote)."""
        ...

    async def answer(self, answer: Answer) -> None:
        """The finished answer, in place of what was shown so far."""
        ...

    async def plainly(self, text: str, *, retry: bool) -> None:
        """A plain message instead of an answer: why there is none. What was shown so far stays above it."""
        ...

    async def withdraw(self) -> None:
        """The question is gone: what was shown so far goes too, where it can."""
        ...


class Delivery(Protocol):
    """How answers reach the people who asked."""

    def open(
        self, exchange: Exchange, keep: Callable[[Posted], Awaitable[None]]
    ) -> AbstractAsyncContextManager[AnswerMessage]:
        """Where an earlier worker began a message (exchange.posted), the answer goes on in it. `keep` is awaited as soon
        as there is a message, and whenever it has changed. Leaving without an answer takes back the sign of life."""
        ...

    async def tell_changed(self, exchange: Exchange, *, post: bool) -> str:
        """Mark in an answer which of its sources changed (exchange.changed), where it can still be changed; with `post` also
        post the note, unless it is there. Its ts, "" where there is none. Raises DeliveryFailed, passing or not."""
        ...

    async def thread_before(self, question: Question) -> Sequence[str]:
        """What people said in the thread before this question, oldest first, read once from where it was said. Empty
        where it cannot be read."""
        ...
