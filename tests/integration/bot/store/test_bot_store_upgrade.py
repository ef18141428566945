"""A bot's store of the version before: what it keeps is found by what is searched for today."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from bot import codec
from bot.model import Exchange, Feedback
from bot.store.sealing import KeySeal
from bot.store.sqlite import BOT_SCHEMA, SqliteBotStore
from bot.store.stored import moment
from tests.fakes.exchanges import NOON, SetClock, answer, answered, question, waiting

NEW = {1: ("cited", "by_note", "by_gap"), 2: ("by_gap",)}
COLUMNS = {1: ", note TEXT, gap TEXT)", 2: ", gap TEXT)"}


def of_version(path: Path, version: int, *exchanges: Exchange) -> None:
    """A store as that version left it."""
    schema = [each for each in BOT_SCHEMA if not any(name in each for name in NEW[version])]
    with sqlite3.connect(path) as old:
        for statement in schema:
            old.execute(statement.replace(COLUMNS[version], ")"))
        for each in exchanges:
            asked = each.question
            row = (asked.id, asked.conversation, asked.user, moment(asked.asked_at), 1, codec.dump_exchange(each))
            columns = "question, conversation, asker, asked, revision, exchange"
            old.execute(f"INSERT INTO exchanges ({columns}) VALUES (?, ?, ?, ?, ?, ?)", row)
        old.execute(f"PRAGMA user_version = {version}")
    old.close()


async def test_answers_of_the_version_before_are_found_by_the_sections_that_they_cite(tmp_path: Path) -> None:
    path = tmp_path / "bot.sqlite"
    of_version(path, 1, answered(1), waiting(2))
    async with SqliteBotStore(path, KeySeal(()), SetClock()) as store:
        assert [each async for each in store.citing(["n1"])] == [answered(1).question.id]
        kept = await store.exchange(answered(1).question.id)
        assert kept is not None
        assert kept.exchange == answered(1)
        await store.keep(kept.exchange, kept.revision)
        assert [each async for each in store.citing(["n1", "n2"])] == [answered(1).question.id]


@pytest.mark.parametrize("version", [1, 2])
async def test_what_was_asked_in_vain_before_is_found_to_be_grouped(tmp_path: Path, version: int) -> None:
    path, made = tmp_path / "bot.sqlite", answer()
    whole, lacking = replace(made, unsupported=()), replace(made, unsupported=(), outcome="not_found", sources=())
    good = Feedback("U9", "good", NOON)
    kept = [
        replace(answered(1), answer=whole),
        replace(answered(2), answer=lacking, feedback=()),
        replace(answered(3), answer=whole, feedback=(good,)),
        replace(answered(4), answer=made, feedback=()),
        replace(answered(5), answer=replace(whole, outcome="failed")),
        waiting(6),
    ]
    of_version(path, version, *kept)
    async with SqliteBotStore(path, KeySeal(()), SetClock()) as store:
        found = [each.question for each in await store.asked_in_vain("")]
        assert found == [each.question.id for each in kept if each.shortfall] == [question(n).id for n in (1, 2, 4)]
