"""The crash test in short; `make chaos` is the long form."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from tests.chaos.runs import Plan, run_cluster, run_embedded
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import served

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


async def test_one_process_that_is_killed_at_random_ends_with_what_an_index_from_scratch_holds(tmp_path: Path) -> None:
    report = await run_embedded(Plan(tmp_path, seed=3, rounds=4))
    assert report.wrong == []
    assert report.counts["kills"] >= 3
    assert report.counts["pages compared"] >= 10


async def test_roles_on_servers_that_go_away_end_with_what_an_index_from_scratch_holds(
    tmp_path: Path, kafka: Kafka, opensearch: OpenSearch
) -> None:
    folder = tmp_path / f"chaos-{uuid4().hex[:8]}"
    folder.mkdir()
    with served(tmp_path / "qdrant") as qdrant:
        report = await run_cluster(Plan(folder, seed=5, rounds=2), kafka, opensearch, qdrant)
    assert report.wrong == []
    assert report.counts["kills"] >= 2
    assert report.counts["Kafka stops"] + report.counts["OpenSearch stops"] >= 1
    assert report.counts["pages compared"] >= 10
