"""The role that answers the questions of other processes on this machine, through the socket of the data folder."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import ValidationError

from deploy.serving.answer_source import ASK, ASKED, Ask, asks
from deploy.serving.local_socket import Json, LocalServer, NotAnswered, Work
from deploy.serving.roles import Role
from deploy.wiring.stores import Stores
from navigator.codec import dump_answer
from navigator.navigator import Navigator


@asynccontextmanager
async def open_local_answers(stores: Stores, navigator: Navigator) -> AsyncIterator[tuple[Role, ...]]:
    """One role, for as long as this is open; none on a cluster, where everybody asks the servers."""
    if stores.settings.stores.kind == "cluster":
        yield ()
        return
    async with LocalServer(stores.settings.index.folder, {ASK: answering(asks(stores, navigator))}) as server:
        yield (Role("local answers", server.run, server.stop),)


def answering(ask: Ask) -> Work:
    """What the socket does with a question."""

    async def work(fields: Json) -> Json:
        try:
            asked = ASKED.validate_python(fields)
        except ValidationError:
            raise NotAnswered("the question is not understood") from None
        done: Json = json.loads(dump_answer(await ask(asked)))
        return done

    return work
