"""A server's process lives as long as whoever started it wants."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.servers.java import Process

_SERVER = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit("asked to stop"))
print("up", flush=True)
time.sleep(60)
"""


def test_a_server_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    server = Process("A server", [sys.executable, "-c", _SERVER], tmp_path)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(server.start, lambda: "up" in server.log_tail()).result()
    server.stop()
    assert "asked to stop" in server.log_tail()
