"""A bot's store of the version before: what it keeps is found by what is searched for today."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bot import codec
from bot.store.sealing import KeySeal
from bot.store.sqlite import BOT_SCHEMA, SqliteBotStore
from bot.store.stored import moment
from tests.fakes.exchanges import SetClock, answered, waiting

NEW = ("cited", "by_note")


async def test_answers_of_the_version_before_are_found_by_the_sections_that_they_cite(tmp_path: Path) -> None:
    path = tmp_path / "bot.sqlite"
    before = [
        statement.replace(", note TEXT)", ")") for statement in BOT_SCHEMA if not any(n in statement for n in NEW)
    ]
    with sqlite3.connect(path) as old:
        for statement in before:
            old.execute(statement)
        for each in (answered(1), waiting(2)):
            asked = each.question
            row = (asked.id, asked.conversation, asked.user, moment(asked.asked_at), 1, codec.dump_exchange(each))
            columns = "question, conversation, asker, asked, revision, exchange"
            old.execute(f"INSERT INTO exchanges ({columns}) VALUES (?, ?, ?, ?, ?, ?)", row)
        old.execute("PRAGMA user_version = 1")
    old.close()
    async with SqliteBotStore(path, KeySeal(()), SetClock()) as store:
        assert [each async for each in store.citing(["n1"])] == [answered(1).question.id]
        kept = await store.exchange(answered(1).question.id)
        assert kept is not None
        assert kept.exchange == answered(1)
        await store.keep(kept.exchange, kept.revision)
        assert [each async for each in store.citing(["n1", "n2"])] == [answered(1).question.id]
