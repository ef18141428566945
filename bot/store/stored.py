"""What both adapters of the BotStore agree on: the order of exchanges, who is in one, what is sealed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from bot.model import ChannelSettings, Exchange, Installation
from bot.ports import AskedInVain
from bot.store.sealing import Seal
from ingest.errors import StoreUnavailable

MAX_EXCHANGES_READ = 20
"""Exchanges in memory while all are walked: one may be megabytes."""


def moment(at: datetime) -> str:
    """As text that sorts as time does."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def note_due(exchange: Exchange) -> str | None:
    """The moment when its note is due; None where none is."""
    return moment(exchange.note.due_at) if exchange.note and exchange.note.due_at else None


UNSORTED = "none"
"""Stands for the gap of a question that belongs to none yet."""


def gap_of(exchange: Exchange) -> str | None:
    """The gap that it belongs to, None where the documentation did not fall short of it."""
    if exchange.shortfall is None:
        return None
    return exchange.need.gap if exchange.need else UNSORTED


def in_vain(question: str, asked: str, gap: str) -> AskedInVain:
    """Of what is stored beside an exchange: its `moment` and its `gap_of`."""
    return AskedInVain(question, datetime.fromisoformat(asked), "" if gap == UNSORTED else gap)


def people(exchange: Exchange) -> set[str]:
    """Everyone whose name stands in it."""
    return {exchange.question.user, *(feedback.user for feedback in exchange.feedback)}


def without(exchange: Exchange, user: str) -> Exchange:
    """Another person's exchange: the verdict of `user` stays, name and words go."""
    feedback = (replace(each, user="", reason="") if each.user == user else each for each in exchange.feedback)
    return replace(exchange, feedback=tuple(feedback))


def nobodys(settings: ChannelSettings) -> ChannelSettings:
    return replace(settings, changed_by="")


def parts(counter: str) -> list[str]:
    """Of a counter's name, those between colons; a person may be one of them."""
    return counter.split(":")


def closed(installation: Installation, seal: Seal) -> Installation:
    return replace(installation, bot_token=seal.close(installation.bot_token), data=seal.close(installation.data))


def opened(installation: Installation, seal: Seal) -> Installation:
    return replace(installation, bot_token=seal.open(installation.bot_token), data=seal.open(installation.data))


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Bytes that are not what they should be: StoreUnavailable."""
    try:
        yield
    except ValueError as error:
        message = f"what is stored of {what} cannot be read: put a backup in its place, or remove it"
        raise StoreUnavailable(message) from error
