"""`ritbot` commands as processes that need not load their libraries first: a fork server (fork_server.py) has done that.

Such a process does what one from a shell does, but that its libraries are there already, that it shares their hash
seed with its siblings, and that they are not taken down at its end. What is about starting, about what is imported or
about memory starts a Python of its own, and so does one test of each command.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryFile
from threading import Event, Lock, Thread
from typing import IO

import pytest

SCRIPT = Path(__file__).with_name("fork_server.py")
MAY_DIFFER = ("RITBOT_", "ANTHROPIC_", "COLUMNS", "PYTEST_")
"""Variables that a test may set for a command: libraries read the rest when they are loaded, once for all."""


class Forked:
    """A command's process. It has of subprocess.Popen[str] what tests use, and that means the same."""

    def __init__(
        self, args: tuple[str, ...], pid: int, told: socket.socket, stdout: IO[str] | None, stderr: IO[str] | None
    ) -> None:
        self.args = args
        self.pid = pid
        self.stdout = stdout
        self.stderr = stderr
        self.returncode: int | None = None
        self._ended = Event()
        Thread(target=self._learn_end, args=(told,), daemon=True).start()

    def _learn_end(self, told: socket.socket) -> None:
        with told:
            if status := told.recv(4):
                self.returncode = os.waitstatus_to_exitcode(int.from_bytes(status, "little"))
        self._ended.set()

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        assert self.returncode is not None, f"nobody knows how {self.args} ended: what waited for it is gone"
        return self.returncode

    def poll(self) -> int | None:
        return self.wait() if self._ended.is_set() else None

    def send_signal(self, number: int) -> None:
        if not self._ended.is_set():
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What is left of its output, where that was to be read. A process that takes longer is killed."""
        with ThreadPoolExecutor(2) as readers, ExitStack() as streams:
            out, err = (
                readers.submit(streams.enter_context(stream).read if stream else str)
                for stream in (self.stdout, self.stderr)
            )
            try:
                self.wait(timeout)
            finally:
                self.kill()
            return out.result(), err.result()


class ForkServer:
    """The server and the way to it. It starts with the first command and ends with `stop`."""

    def __init__(self, script: Path = SCRIPT) -> None:
        self._script = script
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, folder: Path, *args: str, env: Mapping[str, str], out: int = PIPE, err: int = PIPE) -> Forked:
        """`ritbot` with these arguments in this folder, and with nothing on stdin.

        What it says goes to the descriptors `out` and `err`, else is read from the process's `stdout` and `stderr`.
        """
        with self._lock:
            if self._process is None:
                self._begin()
        other = sorted({name for name, _ in env.items() ^ os.environ.items() if not name.startswith(MAY_DIFFER)})
        assert not other, f"a command with another {', '.join(other)} needs a Python of its own"
        told, tells = socket.socketpair()
        request = json.dumps({"arguments": args, "cwd": str(folder), "environ": dict(env)}).encode() + b"\n"
        with ExitStack() as ours:
            ours.enter_context(told)
            with ExitStack() as theirs:  # not held here for longer, or the end of what it says would not be seen
                theirs.enter_context(tells)
                nothing = theirs.enter_context(open(os.devnull))
                (out, said), (err, complained) = (_stream(wanted, ours, theirs) for wanted in (out, err))
                self._send([tells.fileno(), nothing.fileno(), out, err])
            with suppress(OSError):
                told.sendall(request)
                if pid := told.recv(4):
                    ours.pop_all()
                    return Forked(args, int.from_bytes(pid, "little"), told, said, complained)
        self._errors.seek(0)
        pytest.fail(f"The fork server is gone. It said:\n{self._errors.read().decode(errors='replace')}")

    def _send(self, descriptors: list[int]) -> None:
        with suppress(OSError):  # it is gone: nor will it answer
            socket.send_fds(self._control, [b"\n"], descriptors)

    def _begin(self) -> None:
        self._errors = TemporaryFile()  # noqa: SIM115 - `stop` closes it
        self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with control:
            self._process = subprocess.Popen(
                [sys.executable, str(self._script), str(control.fileno())],
                pass_fds=[control.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
            )

    def threads(self) -> int:
        """How many it runs: with more than one, a fork may never end."""
        assert self._process
        return len(list(Path(f"/proc/{self._process.pid}/task").iterdir()))

    def stop(self) -> None:
        if self._process is not None:
            self._control.close()
            self._process.wait()
            self._errors.close()


def _stream(wanted: int, ours: ExitStack, theirs: ExitStack) -> tuple[int, IO[str] | None]:
    """What a command writes to, and where it is read from here: nowhere if it is not PIPE."""
    if wanted != PIPE:
        return wanted, None
    reads, writes = os.pipe()
    theirs.callback(os.close, writes)
    return writes, ours.enter_context(open(reads, encoding="utf-8"))


FORKS = ForkServer()
