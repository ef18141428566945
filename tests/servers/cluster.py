"""Kafka, OpenSearch and a stand-in for Qdrant on this machine, for developers without containers: `make cluster`.
RITBOT_TEST_QDRANT_URL names a real Qdrant to take instead.

They listen on free loopback ports until Ctrl-C. Everything that they hold is thrown away at the end: it is a cluster to
try things on. While it runs, .cache/cluster/ritbot.toml holds the settings for it; of two at once the second is refused.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.servers.java import CACHE, ServerFailed, accepts
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import URL, own_name, served

HOME = CACHE.parent / "cluster"

SETTINGS = """\
[index]
folder = "data"

[stores]
kind = "cluster"
name = "{name}"
opensearch_url = "{opensearch}"
qdrant_url = "{qdrant}"

[events]
kind = "kafka"
servers = "{kafka}"
"""


def main(home: Path = HOME) -> int:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        with _held(home), ExitStack() as stack:
            vectors = "your Qdrant" if os.environ.get(URL) else "a stand-in for Qdrant"
            _say(f"Starting Kafka, OpenSearch and {vectors} (half a minute; the first time longer) …")
            kafka = stack.enter_context(Kafka(_made(home / "kafka")))
            opensearch = stack.enter_context(OpenSearch())
            qdrant = stack.enter_context(served(home / "qdrant"))
            settings = SETTINGS.format(
                name="ritbot" if qdrant.stand_in else own_name("cluster"),
                kafka=kafka.address,
                opensearch=opensearch.url,
                qdrant=qdrant.url,
            )
            _say_hello(home, settings)
            while not stop.wait(1.0):
                for server in (kafka.address, opensearch.url):
                    if not accepts(int(server.rpartition(":")[2])):
                        raise ServerFailed(f"The server at {server} ended.")
    except ServerFailed as error:
        if not stop.is_set():  # Ctrl-C ends the servers too
            _say(str(error))
            return 1
    _say("Stopped.")
    return 0


def _say_hello(home: Path, settings: str) -> None:
    file = home / "ritbot.toml"
    file.write_text(settings, encoding="utf-8")
    _say(f"{settings}\nThese settings are in {file}. In another terminal, for example:\n")
    _say(f"    export RITBOT_CONFIG={file}\n    ritbot index FOLDER\n    ritbot serve\n")
    _say("Ready. Ctrl-C stops the servers and throws away what they hold.")


@contextmanager
def _held(home: Path) -> Iterator[None]:
    """The folder, empty, for this process alone; it goes at the end. Raises ServerFailed."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ServerFailed(f"A cluster is running already; its settings are in {home / 'ritbot.toml'}") from None
        shutil.rmtree(home, ignore_errors=True)
        _made(home)
        try:
            yield
        finally:
            shutil.rmtree(home, ignore_errors=True)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
