"""`ritbot` commands as processes that need not load torch first: a fork server (fork_server.py) has done it.

What such a process does is what one from a shell does, but for three things: its libraries are loaded already, it
shares their hash seed with its siblings, and the libraries are not taken down at its end. A test about starting, about
what is imported or about memory starts a Python of its own; so does one test of every command.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import IO, Any

SCRIPT = Path(__file__).with_name("fork_server.py")
OURS = ("RITBOT_", "ANTHROPIC_", "COLUMNS")
"""What may differ from the environment of the tests: libraries read the rest when they are loaded."""


class Forked:
    """A command's process. It has of subprocess.Popen what the tests need, and it means the same."""

    returncode: int | None = None

    def __init__(self, args: Sequence[str], told: socket.socket, pid: int, outputs: Sequence[IO[str] | None]) -> None:
        self.args = args
        self.pid = pid
        self.stdout, self.stderr = outputs
        self._told = told

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                status = self._told.recv(4)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0) from None
            self._told.close()
            if not status:
                raise RuntimeError(f"nobody tells how process {self.pid} ended")
            self.returncode = os.waitstatus_to_exitcode(int.from_bytes(status, "little"))
        return self.returncode

    def poll(self) -> int | None:
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Its whole output. It is killed where it takes longer."""
        with ThreadPoolExecutor(2) as readers:
            read = [readers.submit(stream.read if stream else str) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            finally:
                self.kill()
        for stream in (self.stdout, self.stderr):
            if stream:
                stream.close()
        return read[0].result(), read[1].result()


class ForkServer:
    """Starts with the first command."""

    def __init__(self) -> None:
        self._starting = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(
        self, *arguments: str, cwd: Path, env: Mapping[str, str], stdin: int, stdout: int, stderr: int
    ) -> Forked:
        """Run `ritbot` with these arguments. The streams are descriptors, or subprocess.PIPE or DEVNULL."""
        differs = {name for name, _ in env.items() ^ os.environ.items() if not name.startswith(OURS)}
        assert not differs, f"for another {', '.join(sorted(differs))} start a Python of its own"
        with self._starting:
            if self._process is None:
                self._start()
