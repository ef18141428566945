"""`make cluster` as a developer uses it: servers that ritbot finds in order, and nothing left at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deploy.settings.root import load
from tests.e2e.commands import ritbot
from tests.servers.java import accepts
from tests.servers.qdrant import URL

PROGRAM = (
    "import sys; from pathlib import Path; from tests.servers.cluster import main; sys.exit(main(Path(sys.argv[1])))"
)


def started(home: Path, said: Path) -> subprocess.Popen[bytes]:
    with said.open("wb") as output:
        return subprocess.Popen([sys.executable, "-c", PROGRAM, str(home)], stdout=output, stderr=output)


@pytest.mark.slow
def test_its_servers_are_in_order_one_at_a_time_and_gone_after_an_interrupt(tmp_path: Path) -> None:
    home, said = tmp_path / "cluster", tmp_path / "said"
    running = started(home, said)
    try:
        deadline = time.monotonic() + 90
        while "Ready." not in said.read_text(encoding="utf-8"):
            assert running.poll() is None, said.read_text(encoding="utf-8")
            assert time.monotonic() < deadline, said.read_text(encoding="utf-8")
            time.sleep(0.1)
        settings = load(home / "ritbot.toml", {"HOME": str(tmp_path)})
        doctor = ritbot(tmp_path, "doctor", env={"RITBOT_CONFIG": str(home / "ritbot.toml")})
        assert "1 thing to mend." in doctor.stdout, doctor
        assert "Index: no site yet" in doctor.stdout
        second = started(home, tmp_path / "second")
        assert second.wait(60) == 1
        assert "is running already" in (tmp_path / "second").read_text(encoding="utf-8")
    finally:
        running.send_signal(signal.SIGINT)
        status = running.wait(60)
    assert status == 0
    assert said.read_text(encoding="utf-8").endswith("Stopped.\n")
    assert not home.exists()
    own = [settings.events.servers, settings.stores.opensearch_url]
    if URL not in os.environ:  # else it is somebody's
        own.append(settings.stores.qdrant_url)
    assert not any(accepts(int(address.rpartition(":")[2])) for address in own)
