"""The operator who brings the index to another embedding model while everything else goes wrong, and whose command is
killed: at any time, and between the actions by which Qdrant lets the new collection take over and the one before go.

    python -m tests.chaos.reembeds COLUMN NUMBER        is the command: `ritbot reembed`, with a model of no weight
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

from deploy.settings.index import IndexSettings
from deploy.settings.root import Settings
from deploy.settings.stores import StoresSettings
from deploy.wiring.cluster_stores import open_cluster_successor
from ingest.errors import IngestError
from ingest.indexing.reembed import Reembedding
from tests.chaos.columns import Column, model_of
from tests.fakes.qdrant_server import Applies, QdrantServer
from tests.fakes.qdrant_server import Fault as QdrantFault

STEPS: tuple[tuple[str, Applies], ...] = (
    ("change_aliases", "nothing"),
    ("change_aliases", "half"),
    ("change_aliases", "all"),
    ("drop", "nothing"),
    ("drop", "all"),
)
"""What Qdrant was asked for last, and how much of it was done when nobody was there any more to hear of it."""
_ANSWERS_AFTER = 2.0
_ENDS_WITHIN = 600.0
"""Of all tries together, on a busy machine too."""
_MAX_KILLS = 3


class Reembeds:
    """A fault of the storm (tests.chaos.storm.Fault). `kills` of the command, by the step."""

    def __init__(self, column: Column, qdrant: QdrantServer | None) -> None:
        self._column = column
        self._qdrant = qdrant
        self.kills: Counter[str] = Counter()

    async def __call__(self, chance: random.Random) -> str:
        """To the next model; processes of the one before are to start again with it afterwards. Raises TimeoutError
        where the command never ends well."""
        number = self._column.model_number + 1
        left = chance.randint(0, _MAX_KILLS)
        async with asyncio.timeout(_ENDS_WITHIN):
            while True:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "tests.chaos.reembeds", self._column.dump(), str(number)),
                    stdin=DEVNULL,
                    stdout=DEVNULL,
                    stderr=PIPE,
                )
                try:
                    if left:
                        left -= 1
                        await self._strike(process, chance)
                    _, said = await process.communicate()
                finally:
                    if process.returncode is None:
                        process.kill()
                if process.returncode == 0:
                    break
                assert process.returncode in (-9, UNAVAILABLE), said.decode()
        self._column.set_model(number)
        return "reembeds"

    async def _strike(self, process: Process, chance: random.Random) -> None:
        """Kill it at a step, if it comes so far, or at any time."""
        if self._qdrant is None or chance.random() < 0.3:
            await asyncio.sleep(chance.uniform(0.5, 4.0))
            what = "kills of reembed"
        else:
            operation, applies = chance.choice(STEPS)
            self._qdrant.next(operation, QdrantFault(status=500, applies=applies, delay=_ANSWERS_AFTER))
            before = self._qdrant.requests.count(operation)
            while self._qdrant.requests.count(operation) == before and process.returncode is None:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            what = f"kills of reembed at {operation}, {applies} done"
        if process.returncode is None:
            process.kill()
            self.kills[what] += 1


UNAVAILABLE = 3
"""The exit status where a server was away: the operator tries again."""


async def reembed(column: Column, number: int) -> None:
    settings = Settings(
        index=IndexSettings(folder=Path(column.models).parent),
        stores=StoresSettings(
            kind="cluster", name=column.name, opensearch_url=column.opensearch, qdrant_url=column.qdrant
        ),
    )
    model, sizes = model_of(number)
    async with AsyncExitStack() as stack:
        trees, successor = await open_cluster_successor(stack, settings, model)
        await Reembedding(trees, successor, model, sizes, {"docs": "en"}).run()
        await successor.drop_before()


if __name__ == "__main__":
    try:
        asyncio.run(reembed(Column(**json.loads(sys.argv[1])), int(sys.argv[2])))
    except IngestError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(UNAVAILABLE)
