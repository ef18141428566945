"""`ritbot` commands as a user types them, and the working directories that they are typed in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.forked import FORKS, Forked
from tests.fakes.site import html
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import own_name

RITBOT = (sys.executable, "-c", "from deploy.commands.cli import main; main()")
WITH_MODULES = (sys.executable, "-c", "import atexit, sys\nfrom deploy.commands.cli import main\n"
                "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\nmain()")  # fmt: skip


def on_servers(kafka: Kafka, opensearch: OpenSearch, qdrant: str) -> str:
    """Settings of stores and topics that nobody else has."""
    name = own_name()
    return f"""
        [stores]
        kind = "cluster"
        name = "{name}"
        opensearch_url = "{opensearch.url}"
        qdrant_url = "{qdrant}"
        [embedding]
        threads = 1
        [events]
        kind = "kafka"
        servers = "{kafka.address}"
        prefix = "{name}."
        """


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RITBOT_", "ANTHROPIC_"))}
    return {**kept, "COLUMNS": "100", "RITBOT_HTTP__PORT": "0", **more}


PUMPKIN = {
    "install": html(
        "Installing Pumpkin",
        "<p>Pumpkin runs on Linux.</p><h2 id='apt'>With apt</h2><p>To install Pumpkin with apt, run this:</p>"
        "<pre>apt install pumpkin</pre><h2 id='port'>Changing the port</h2>"
        "<p>Pumpkin listens on port 8080. Set PUMPKIN_PORT to listen on another port.</p>",
    ),
    "keys": html(
        "Signing keys",
        "<p>Every release is signed.</p><h2 id='rotate'>Rotating keys</h2><p>Rotate the signing keys once a year "
        "with pumpkin-keys rotate. The old key stays valid for thirty days.</p>",
    ),
    "backup": html("Backups", "<p>Copy the folder /var/lib/pumpkin while nothing runs. A backup holds all data.</p>"),
}
"""Pages by name, three of a documentation."""


def site(name: str = "pumpkin", start: str | Path = "html") -> str:
    """Settings: data in the working directory, one site."""
    return (
        f'[index]\nfolder = "data"\n[[sites]]\nname = "{name}"\nstart = "{start}"\n'
        f'base_url = "https://{name}.example/docs/"\n'
    )


def lay_out(folder: Path, pages: Mapping[str, str] = PUMPKIN, settings: str = site()) -> Path:
    """A working directory: pages in html/, settings in ritbot.toml."""
    (folder / "html").mkdir(parents=True)
    for name, page in pages.items():
        (folder / "html" / f"{name}.html").write_text(page, encoding="utf-8")
    (folder / "ritbot.toml").write_text(settings, encoding="utf-8")
    return folder


def indexed(folder: Path) -> Path:
    done = ritbot(folder, "index")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def keyed(url: str, **more: str) -> dict[str, str]:
    """The environment of a command with a model behind this URL."""
    return {"RITBOT_MODEL__API_KEY": "test", "RITBOT_MODEL__BASE_URL": url, "RITBOT_MODEL__CITATIONS": "true", **more}


@dataclass(frozen=True)
class Imported:
    """What a command printed, and the packages that it had loaded at its end."""

    stdout: str
    modules: frozenset[str]


def imported(folder: Path, *arguments: str) -> Imported:
    """A command that goes well, in a Python of its own."""
    command = [*WITH_MODULES, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True)
    return Imported(done.stdout, frozenset(name.partition(".")[0] for name in done.stderr.split()))


def start(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, fresh: bool = False
) -> Forked | subprocess.Popen[str]:
    """Forked from a Python that has loaded the libraries; `fresh`: in a Python of its own, as a shell starts it."""
    environ = environment(**(env or {}))
    if not fresh:
        return FORKS.start(folder, *arguments, env=environ)
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(
        [*RITBOT, *arguments], cwd=folder, env=environ, stdin=nothing, stdout=pipe, stderr=pipe, text=True
    )


def ritbot(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, fresh: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    process = start(folder, *arguments, env=env, fresh=fresh)
    try:
        out, err = process.communicate(timeout=110)
    finally:
        process.kill()
        status = process.wait()
    return subprocess.CompletedProcess(arguments, status, out, err)
