"""Servers written in Java, run beside the tests: jars from Maven Central once, free loopback ports, small heaps.

Jars lie in .cache/servers/NAME-DIGEST, where the digest is of the artifacts' names: what is there is never changed,
so that sessions side by side and later ones (offline) share it. A server that does not start fails with its log's tail.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.sax.saxutils import escape

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "servers"
JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For a process that lives for minutes on a core of its own at most."""
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
_STARTER = ThreadPoolExecutor(1, "server-starter")
"""Linux takes the thread that started a process for its parent: one that lives as long as the session."""


class ServerFailed(Exception):
    """A server did not start, or its jars could not be fetched; the message ends with the log's tail."""


def jars(name: str, artifacts: Sequence[str]) -> Path:
    """The folder with the artifacts (group:artifact:version) and all that they need at run time."""
    digest = hashlib.sha256("\n".join(sorted(artifacts)).encode()).hexdigest()[:12]
    folder = CACHE / f"{name}-{digest}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _fetch(folder, artifacts)
    return folder


def _fetch(folder: Path, artifacts: Sequence[str]) -> None:
    if shutil.which("mvn") is None:
        raise ServerFailed(f"Maven (mvn) is needed once, to fetch {', '.join(artifacts)} to {folder}")
    work = folder.with_suffix(".part")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "pom.xml").write_text(_pom(artifacts), encoding="utf-8")
    command = ["mvn", "-q", "-B", "-f", str(work / "pom.xml"), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={work / 'jars'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ServerFailed(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    (work / "jars").rename(folder)
    shutil.rmtree(work)


def _pom(artifacts: Sequence[str]) -> str:
    def dependency(artifact: str) -> str:
        group, name, version = (escape(part) for part in artifact.split(":"))
        return f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>"

    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>ritbot</groupId><artifactId>test-server</artifactId><version>1</version>"
        f"<dependencies>{''.join(map(dependency, artifacts))}</dependencies></project>"
    )


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on just now, all different."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in held:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in held]


def accepts(port: int) -> bool:
    """Whether someone listens on this loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """A server's process. It can be started again with the same command after `stop` or `kill`."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, user: str | None = None) -> None:
        self._name = name
        self._command = list(command)
        self._folder = folder
        self._user = user
        self._log = folder / "console.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, f"{self._name} was not started"
        return self._process.pid

    def start(self, ready: Callable[[], bool], within: float = 90.0) -> None:
        """Returns when `ready` says so. From any thread. Raises ServerFailed."""
        self._process = _STARTER.submit(self._begin).result()
        deadline = time.monotonic() + within
        while not ready():
            if self._process.poll() is not None:
                raise ServerFailed(f"{self._name} ended with {self._process.returncode}:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                self.kill()
                raise ServerFailed(f"{self._name} did not answer within {within:g} s:\n{self.log_tail()}")
            time.sleep(0.1)

    def _begin(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._command,
                cwd=self._folder,
                stdout=log,
                stderr=log,
                user=self._user,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - it calls one loaded C function and takes no lock
            )

    def stop(self, within: float = 20.0) -> None:
        """SIGTERM, and SIGKILL to what does not listen."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """SIGKILL: a crash."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def log_tail(self, lines: int = 40) -> str:
        if not self._log.is_file():
            return "(no log)"
        return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def _die_with_parent() -> None:
    """On Linux a server does not outlive a session that is killed."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
