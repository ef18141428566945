"""The crash test on both columns, and of the command itself: `make chaos [SEED=7] [SECONDS=120] [ROUNDS=20] [COLUMN=cluster]`.

Each column gets as many seconds, or as many rounds, and then what it needs to come to rest. Ends with 1 where anything
is not as it should be, and says what. The same seed and rounds choose the same changes and strikes again.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import math
import random
import sys
import tempfile
import time
from collections.abc import Coroutine
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import structlog

from tests.chaos.commands import run_commands
from tests.chaos.runs import TWO_WATCHERS, Plan, run_cluster, run_embedded
from tests.chaos.storm import Report
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import served

DONE = ("rounds", "changes", "kills", "freezes", "Kafka stops", "OpenSearch stops", "Qdrant fails", "reembeds")
COLUMNS = {
    "embedded": "embedded: one process on SQLite and Qdrant Edge",
    "command": "embedded: the command `ritbot watch` itself",
    "cluster": "cluster: two watchers, two indexers on Kafka, OpenSearch and Qdrant's API",
}
SENT = ("events", "duplicates", "reorders", "other partitions", "echoes", "refused by the log", "dead letters")


def main() -> int:
    asked = arguments()
    quiet()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folders = {column: Path(name, column) for column in (*COLUMNS, "kafka", "qdrant")}
        for folder in folders.values():
            folder.mkdir()

        def plan(column: str, **changes: Any) -> Plan:
            return replace(Plan(folders[column], asked.seed, asked.rounds, asked.seconds), **changes)

        said: list[Report] = []
        for column in [asked.column] if asked.column else COLUMNS:
            match column:
                case "embedded":
                    run = run_embedded(plan(column))
                case "command":
                    run = run_commands(plan(column, rounds=3, seconds=math.inf))
                case _:
                    kafka = stack.enter_context(Kafka(folders["kafka"]))
                    opensearch = stack.enter_context(OpenSearch())
                    qdrant = stack.enter_context(served(folders["qdrant"]))
                    run = run_cluster(plan(column), kafka, opensearch, qdrant, TWO_WATCHERS)
            said.append(tell(COLUMNS[column], run))
    wrong = sum(len(report.wrong) for report in said)
    print(f"{wrong} differences. Seed {asked.seed}.")  # noqa: T201
    return 1 if wrong else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.chaos", description="Everything goes wrong; nothing may be lost.")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--seconds", type=float, default=None, help="for each column; 120 if no rounds are named")
    parser.add_argument("--rounds", type=float, default=math.inf, help="for each column")
    parser.add_argument("--column", choices=COLUMNS, help="this one alone")
    asked = parser.parse_args()
    if asked.seconds is None:
        asked.seconds = 120.0 if asked.rounds == math.inf else math.inf
    return asked


def quiet() -> None:
    """That servers are away is no news here."""
    structlog.configure(
        logger_factory=structlog.ReturnLoggerFactory(), processors=[structlog.processors.JSONRenderer()]
    )
    logging.disable(logging.CRITICAL)


def tell(what: str, run: Coroutine[object, object, Report]) -> Report:
    print(f"{what} …", flush=True)  # noqa: T201
    began = time.monotonic()
    report = asyncio.run(run)
    counts = report.counts
    over = {name: count for name, count in counts.items() if name.startswith("kills of reembed")}
    named = {*DONE, *SENT, *over, "pages compared"}
    lines = {
        "done": ", ".join(f"{counts[name]} {name}" for name in DONE if counts[name]),
        "sent": ", ".join(f"{counts[name]} {name}" for name in SENT if counts[name]),
        "reembed": ", ".join(f"{count} {name}" for name, count in sorted(over.items())),
        "handled": ", ".join(f"{count} {name}" for name, count in sorted(counts.items()) if name not in named),
        "compared": f"{counts['pages compared']} pages, {len(report.wrong)} differences",
        "took": f"{time.monotonic() - began:.0f} s",
    }
    for name, line in lines.items():
        print(f"  {name:9} {line}")  # noqa: T201
    for wrong in report.wrong:
        print(f"  WRONG     {wrong}")  # noqa: T201
    return report


if __name__ == "__main__":
    sys.exit(main())
