"""Pages are parsed in a process of their own, in turn, within limits of time and memory.

A stranger's page is read by a parser in C and by patterns; whatever may still be made to run long there can neither be
interrupted in this process nor leave its event loop any time. So one child, kept between pages, reads them: its own clock
ends it when a page takes too much processor time, its address space is bounded, and it gets no environment,
so that it holds no secret. It is started with the first page, again after it ended, and ends with its owner.
"""

from __future__ import annotations

import asyncio
import gc
import pickle
import resource
import signal
import struct
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO, Any, Self

from ingest.errors import PageTooCostly
from ingest.model import Document

MAX_SECONDS = 20.0
"""Of processor time for one page; 10 MB of documentation take about 3."""
MAX_MEGABYTES = 1_000
"""Address space while a page is read; of the largest pages that are read some take about 750 in memory."""
_WALL_FACTOR = 10
"""A busy machine gives a process a tenth of its time before the page is given up."""
_KEPT_MEGABYTES = 150
"""A child that grew larger than this ends after its page: memory that was free'd does not go back by itself."""
_LENGTH = struct.Struct("<Q")


class ParseProcess:
    """`seconds` and `megabytes`: what one page may take. Pages wait for each other, so large ones never add up. One a
    process, opened in the composition root, for all who read pages there."""

    def __init__(self, seconds: float = MAX_SECONDS, megabytes: int = MAX_MEGABYTES) -> None:
        self._seconds = seconds
        self._megabytes = megabytes
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._turns = ThreadPoolExecutor(max_workers=1, thread_name_prefix="parse")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._closed = True
        self._turns.shutdown(wait=False, cancel_futures=True)
        if self._child is not None:
            self._child.kill()  # a page that is being read is nobody's any more
        await asyncio.to_thread(self._turns.shutdown)
        self._end()

    async def parse(self, body: bytes, url: str, **options: Any) -> Document:
        """As ingest.ports.PageParser. Cancelled, it ends the child."""
        turn = self._turns.submit(self._ask, body, url, options)
        try:
            return await asyncio.wrap_future(turn)
        except asyncio.CancelledError:
            if not turn.cancel() and not turn.done() and self._child is not None:
                self._child.kill()
            raise

    def _end(self) -> None:
        """The child's end. The next page starts another."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            with suppress(BrokenPipeError):
                child.communicate()

    def _ask(self, body: bytes, url: str, options: Mapping[str, Any]) -> Document:
        child = self._child = self._child or self._started()
        if self._closed:  # while the child was started, and who closed could not see it yet
            child.kill()
        assert child.stdin is not None
        assert child.stdout is not None
        with suppress(BrokenPipeError):
            _send(child.stdin, (body, url, options))
        in_time = wait([child.stdout.fileno()], self._seconds * _WALL_FACTOR)
        answer = _receive(child.stdout) if in_time else None
        if answer is None:
            ended = child.wait() if in_time else None
            self._end()
            raise self._too_costly(url, ended)
        found: Any
        found, last = answer
        if last:
            self._end()
        if isinstance(found, MemoryError):
            raise PageTooCostly(f"{url} takes more than {self._megabytes:,} MB to read; exclude the page")
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, Document)
        return found

    def _too_costly(self, url: str, ended: int | None) -> Exception:
        """`ended`: how the child did, None if it still runs."""
        if ended is None or ended == -signal.SIGPROF:
            return PageTooCostly(f"{url} takes more than {self._seconds:g} seconds to read; exclude the page")
        if ended < 0:
            return PageTooCostly(
                f"{url} ended the process that read it ({signal.Signals(-ended).name}); exclude the page"
            )
        return RuntimeError(f"the process that reads pages ended by itself, with status {ended}")

    def _started(self) -> subprocess.Popen[bytes]:
        code = (
            f"import sys; sys.path[:] = {sys.path!r}\n"
            f"from {__name__} import serve; serve({self._seconds!r}, {self._megabytes!r})"
        )
        command = [sys.executable, "-I", "-c", code]
        # A session of its own: Ctrl-C is the parent's to handle.
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}, start_new_session=True)


def serve(seconds: float, megabytes: int) -> None:
    """What the child does: parse what comes in on standard input, until it ends."""
    from ingest.html.parse import parse  # its patterns take a tenth of the start of a command that reads no page

    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000,) * 2)
    gc.disable()  # a tree is all cycles, and it is swept when its page is done
    gc.freeze()
    last = False
    while not last and (request := _receive(requests)) is not None:
        body, url, options = request
        signal.setitimer(signal.ITIMER_PROF, seconds)  # nobody handles SIGPROF: it ends the process, in C code too
        found: Document | Exception
        try:
            found = parse(body, url, **options)
        except Exception as error:
            found = error
        signal.setitimer(signal.ITIMER_PROF, 0)
        last = isinstance(found, MemoryError) or _resident_megabytes() > _KEPT_MEGABYTES
        _send(answers, (found, last))
        del request, body, found
        if not last:
            gc.collect()


def _resident_megabytes() -> float:
    """Not getrusage's highest: on Linux a child begins with its parent's, which may have loaded a model."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # another Unix, where the highest is the process's own, in bytes
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000_000
    return pages * resource.getpagesize() / 1_000_000


def _send(pipe: IO[bytes], message: object) -> None:
    packed = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(packed)))
    pipe.write(packed)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """None where the other side has ended."""
    header = pipe.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    [length] = _LENGTH.unpack(header)
    packed = pipe.read(length)
    return pickle.loads(packed) if len(packed) == length else None
