"""How much memory each role takes as a process of its own, once it has indexed a small site."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.chaos.commands import RITBOT, SETTINGS
from tests.chaos.fleet import Fleet, Heard
from tests.fakes.docsite import DocSite
from tests.fakes.qdrant_server import QdrantServer
from tests.fakes.site import html
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch

CLUSTER = """
[stores]
kind = "cluster"
name = "memory"
opensearch_url = "{opensearch}"
qdrant_url = "{qdrant}"
[events]
kind = "kafka"
servers = "{kafka}"
prefix = "memory."
"""
_PAGES = 20
_WITHIN = 120.0


async def memory(folder: Path, kafka: Kafka, opensearch: OpenSearch, qdrant: QdrantServer) -> dict[str, int]:
    """Megabytes that are resident, by role."""
    servers = CLUSTER.format(opensearch=opensearch.url, qdrant=qdrant.url, kafka=kafka.address)
    alone = await _measured(folder / "alone", {"ritbot watch, embedded": "watch"}, "")
    apart = {"ritbot watch, on Kafka": "watch", "ritbot indexer, on Kafka": "indexer"}
    return {**alone, **await _measured(folder / "apart", apart, servers)}


async def _measured(folder: Path, roles: Mapping[str, str], servers: str) -> dict[str, int]:
    folder.mkdir()  # noqa: ASYNC240
    async with DocSite() as docs:
        for number in range(_PAGES):
            docs.pages[f"/p{number}"] = html(f"Page {number}", f"<p>This is page number {number}.</p>")
        listed = "".join(f"<url><loc>{docs.url(path)}</loc></url>" for path in docs.pages)
        docs.pages["/sitemap.xml"] = f"<urlset>{listed}</urlset>"
        config = folder / "ritbot.toml"
        config.write_text(SETTINGS.format(folder=folder, start=docs.url("/")) + servers, encoding="utf-8")
        commands: dict[str, Sequence[str]] = {
            name: [*RITBOT, command, "--config", str(config)] for name, command in roles.items()
        }
        heard = Heard()
        async with Fleet(commands, heard) as fleet, asyncio.timeout(_WITHIN):
            while len({key for key, _ in heard.handled}) < _PAGES or not heard.cycles:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            return {name: _resident(fleet.pid(name)) for name in commands}


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    [kilobytes] = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return int(kilobytes) // 1024
