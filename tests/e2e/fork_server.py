"""Python that has loaded what ritbot builds on, and forks into `ritbot` commands. A script: forked.py starts it.

    fork_server.py CONTROL                                              CONTROL: the number of a socket

To load libraries takes most of a command's time, and every command does it anew. Here it is done once, and nothing
else is: no module of ritbot is imported, no model loaded, no thread started. A command forked from here reads
its settings, sets up its log and imports all of ritbot itself, as one started from a shell does.

A message on CONTROL is a byte with four descriptors: a socket of the command, and its stdin, stdout and stderr. On
its socket comes one line of JSON, {"arguments": [...], "cwd": "...", "environ": {...}}; back go its pid and, when it
has ended, its status as os.waitpid gives it, four bytes each. The server ends when CONTROL is closed.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import sys
from contextlib import suppress

LIBRARIES = """
    aiohttp aiokafka anthropic cryptography.fernet defusedxml.ElementTree httpx httpx2 markdown_it opensearchpy
    protego pydantic pydantic_settings qdrant_client qdrant_edge rich.progress rich.table selectolax.lexbor
    safetensors.numpy sentencex simplemma slack_bolt.async_app snowballstemmer starlette.applications structlog
    tokenizers typer uvicorn watchfiles
""".split()


def serve(control: socket.socket) -> None:
    """Comes back only in a forked process, which has become a command."""
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests and their commands
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 4)
        if not descriptors:
            os._exit(0)
        if os.fork() == 0:
            control.close()
            keep(socket.socket(fileno=descriptors[0]), descriptors[1:])
            signal.signal(signal.SIGINT, interrupt)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):  # there is none, or none has ended: all that have are waited for
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def keep(command: socket.socket, streams: list[int]) -> None:
    """Fork a command, tell its pid, wait for its end and tell its status. Comes back only in the command."""
    with command, command.makefile("rb") as lines:
        request = json.loads(lines.readline())
        if pid := os.fork():
            for stream in streams:
                os.close(stream)
            command.sendall(pid.to_bytes(4, "little"))
            command.sendall(os.waitpid(pid, 0)[1].to_bytes(4, "little"))
            os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environ"])
    sys.argv[1:] = request["arguments"]


class Ending:
    """How a command ends: as Python does, but that no library is taken to pieces, which would take two seconds.

    What ritbot left open complains as usual, since it is collected.
    """

    status: int | None = None

    def last(self) -> None:
        if self.status is not None:
            gc.collect()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self.status)


if __name__ == "__main__":
    ending = Ending()
    atexit.register(ending.last)  # the first to be registered is the last to be called
    sys.argv[0], sys.path[0] = "-c", ""  # as in `python -c`
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.freeze()  # or each collection would copy what was loaded here
    serve(socket.socket(fileno=int(sys.argv[1])))

    from deploy.commands.cli import main

    try:
        main()
    except SystemExit as end:
        ending.status = end.code if isinstance(end.code, int) else None
        raise
