"""The same commands with other settings: trees and words in a real OpenSearch, vectors behind Qdrant's API."""

import json
from pathlib import Path

import pytest

from tests.e2e.commands import lay_out, ritbot, site
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import own_name


@pytest.fixture
def place(tmp_path: Path, opensearch: OpenSearch, qdrant: str) -> Path:
    stores = f'kind = "cluster"\nname = "{own_name()}"\nopensearch_url = "{opensearch.url}"\nqdrant_url = "{qdrant}"\n'
    return lay_out(tmp_path, settings=f"{site()}[stores]\n{stores}")


def test_index_ask_doctor_and_remove_work_on_opensearch_and_qdrant(place: Path) -> None:
    assert "3 new" in ritbot(place, "index").stdout
    assert "3 unchanged" in ritbot(place, "index").stdout
    asked = ritbot(place, "ask", "How often should I rotate the signing keys?", "--json")
    answer = json.loads(asked.stdout)
    assert answer["sources"][0]["citations"][0]["node_link"] == "https://pumpkin.example/docs/keys.html#rotate"
    assert "Everything is in order." in ritbot(place, "doctor").stdout
    assert "Removed pumpkin: 3 pages." in ritbot(place, "sites", "remove", "pumpkin").stdout
    assert ritbot(place, "ask", "How often should I rotate the signing keys?").returncode == 3


def test_a_store_that_does_not_answer_is_a_plain_sentence(tmp_path: Path) -> None:
    (tmp_path / "ritbot.toml").write_text(
        '[stores]\nkind = "cluster"\nopensearch_url = "http://127.0.0.1:9"\npatience = 1\n', encoding="utf-8"
    )
    done = ritbot(tmp_path, "ask", "x y")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "127.0.0.1:9" in done.stderr
